"""The triangles around a waypoint graph and the body that moves between them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Agent, Motion
from wayfold.errors import OffMapError
from wayfold.geometry import Mesh, TriangleIndex
from wayfold.geometry.bvh import new_stack
from wayfold.path import Path
from wayfold.waypoints import _kernels

Barrier = Callable[[tuple[float, float, float], tuple[float, float, float], Motion], bool]
"""Whether something that is not in the mesh is in the way from one position to another, by a motion."""
_SMALLEST_STEP = 0.1  # metres between samples along an edge, for agents without a radius
_ROUNDING = 2.0 * float(np.finfo(np.float32).eps)  # of what positions are off when they are stored, and a slope's share


def body_of(agent: Agent, furthest: float = 1.0) -> _kernels.Body:
    """The agent in the numbers that the tests need, where no coordinate is above `furthest` metres."""
    gap = max(0.02 * agent.radius, 1e-3)
    # Steps look as high as stored positions are off: without this an agent that takes none has no place on a floor.
    rounding = _ROUNDING * max(1.0, furthest) + 5e-5 * agent.radius
    lift = max(min(agent.climb + agent.radius, agent.height - agent.radius), agent.radius) + gap
    return _kernels.Body(
        radius=agent.radius,
        lift=lift,
        top=max(0.0, agent.height - agent.radius - lift),
        climb=agent.climb + rounding,
        tangent=math.tan(math.radians(min(agent.slope, 89.0))),
        cosine=math.cos(math.radians(agent.slope)),
        near=2.0 * agent.radius + 2.0 * gap,
        offset=1.4 * agent.radius + gap,
        step=max(agent.radius, _SMALLEST_STEP),
    )


def _steep(mesh: Mesh, body: _kernels.Body) -> Mesh:
    """The triangles that are neither floors nor ceilings."""
    steep = np.abs(mesh.normals[:, 2]) < body.cosine
    if steep.any():
        return Mesh(mesh.vertices, mesh.triangles[steep])
    # A world without walls: one triangle that nobody reaches, since an index needs something.
    low, high = mesh.bounds
    corner = low - 10.0 * ((high - low).max() + body.near)
    return Mesh(corner + np.eye(3), [(0, 1, 2)])


class Surroundings:
    """What the traversability tests (000, section 3) look at.

    Parameters
    ----------
    mesh : Mesh
    agent : Agent
    """

    def __init__(self, mesh: Mesh, agent: Agent) -> None:
        self.mesh = mesh
        self.agent = agent
        self.index = TriangleIndex(mesh)
        self.body = body_of(agent, float(np.abs(mesh.bounds).max()))
        self.steep = TriangleIndex(_steep(mesh, self.body))

    def world(self) -> _kernels.World:
        """The triangles for kernels, with a stack of its own."""
        return _kernels.World(self.index.tree, self.steep.tree, self.mesh.normals, new_stack())

    def positions(self, point: NDArray[np.float64]) -> dict[Motion, tuple[float, float, float]]:
        """Where the body's position is when a character is at `point`, for each motion that is possible there."""
        world, body = self.world(), self.body
        x, y, z = point.tolist()
        found = {}
        above = (x, y, z + body.offset)
        away, triangle = self._down(world, above, body.offset + body.lift + body.climb)
        if triangle >= 0:
            stand = (x, y, above[2] - away + body.lift)
            if _kernels.kind_of(world, body, stand) & Motion.SURFACE:
                found[Motion.SURFACE] = stand
        _, triangles, places = self.index.nearest(point[None], body.near, workers=1)
        if triangles[0] >= 0:
            normal = self.mesh.normals[triangles[0]]
            outwards = point - places[0]
            away = float(np.linalg.norm(outwards))
            outwards = outwards / away if away > 1e-6 else normal
            cling = tuple((places[0] + outwards * max(away, body.offset)).tolist())
            if _kernels.kind_of(world, body, cling) & Motion.ADHESIVE:
                found[Motion.ADHESIVE] = cling
        for spot in ((x, y, z), found.get(Motion.SURFACE), found.get(Motion.ADHESIVE)):
            if spot is not None and _kernels.kind_of(world, body, spot) & Motion.VOLUMETRIC:
                found[Motion.VOLUMETRIC] = spot
                break
        return found

    @staticmethod
    def _down(world: _kernels.World, origin: tuple[float, float, float], reach: float) -> tuple[float, int]:
        from wayfold.geometry._bvh_kernels import ray_nearest

        away, triangle = ray_nearest(world.tree, world.stack, origin, (0.0, 0.0, -1.0), reach)
        return float(away), int(triangle)

    def entrance(
        self, point: NDArray[np.float64], motions: Motion, name: str, barrier: Barrier | None = None
    ) -> Callable[[NDArray[np.float32]], bool]:
        """A test for whether a character at `point` can move straight to a waypoint by one of its motions.

        What `barrier` says is in the way counts like the mesh.

        Raises
        ------
        OffMapError
            With the reason, when the character cannot be at the point at all.
        """
        world, body = self.world(), self.body
        spots = {motion: spot for motion, spot in self.positions(point).items() if motion & motions}
        if spots and all(_kernels.enclosed(world, spot) for spot in spots.values()):
            raise OffMapError(f"{name} {self._where(point)} is inside of something solid")
        if not spots:
            raise OffMapError(f"{name} {self._where(point)} {self._reason(point, motions)}")
        free = {motion: spot for motion, spot in spots.items() if barrier is None or not barrier(spot, spot, motion)}
        if not free:
            raise OffMapError(f"{name} {self._where(point)} is where the world is blocked")

        def test(waypoint: NDArray[np.float32]) -> bool:
            x, y, z = waypoint.astype(np.float64).tolist()
            return any(
                _kernels.motion_between(world, body, spot, (x, y, z), int(motion))
                and (barrier is None or not barrier(spot, (x, y, z), motion))
                for motion, spot in free.items()
            )

        return test

    def _where(self, point: NDArray[np.float64]) -> str:
        return "(" + ", ".join(f"{value:.6g}" for value in point) + ")"

    def _reason(self, point: NDArray[np.float64], motions: Motion) -> str:
        away, _, _ = self.index.nearest(point[None], workers=1)
        if away[0] < self.agent.radius:
            return f"is {away[0]:.3g} m from a surface, where a body of radius {self.agent.radius:g} m does not fit"
        if motions == Motion.SURFACE:
            return "has no walkable ground with enough free height below it"
        if not motions & Motion.VOLUMETRIC:
            return "is not beside a surface that the character could hold on to, nor on walkable ground"
        return "has no room for the agent's height"

    def smoother(self, motions: Motion) -> Callable[[Path], Path]:
        """Takes shortcuts along a path that keep its motions legal."""

        def smooth(path: Path) -> Path:
            # The ends are where the character's feet are: shortcuts start from where its body is then.
            points = path.points.copy()
            for at in (0, -1):
                spots = [spot for motion, spot in self.positions(points[at]).items() if motion & motions]
                points[at] = spots[0] if spots else points[at]
            kept = np.empty(len(points), np.int64)
            count = _kernels.shortcuts(self.world(), self.body, points, int(motions), kept)
            corners = path.points[kept[:count]]
            length = float(np.linalg.norm(np.diff(corners, axis=0), axis=1).sum())
            cost = min(path.cost, length) if math.isclose(path.cost, path.length, rel_tol=1e-6) else path.cost
            return Path(path.status, corners, cost=cost, expanded=path.expanded, timings=path.timings)

        return smooth
