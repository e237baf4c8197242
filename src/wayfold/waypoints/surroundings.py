"""The triangles around a waypoint graph and the body that moves between them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import ALL_MOTIONS, Agent, Motion
from wayfold.core import text
from wayfold.errors import OffMapError
from wayfold.geometry import Mesh, TriangleIndex
from wayfold.geometry.bvh import new_stack
from wayfold.geometry.frame import Frame
from wayfold.path import Path
from wayfold.waypoints import _kernels
from wayfold.waypoints._kernels import Body as Body

Spot = tuple[float, float, float]


class Spotted(NamedTuple):
    """Where the body of a character may be."""

    place: Spot
    """Local position."""
    motions: int
    """Motion bits that are possible there."""
    stance: str
    """"here" for the point itself, "standing" on the ground below it, or "clinging" to the nearest surface."""


_PREFERRED = {
    Motion.SURFACE: ("here", "standing", "clinging"),
    Motion.ADHESIVE: ("here", "clinging", "standing"),
    Motion.VOLUMETRIC: ("here", "standing", "clinging"),
}
_SMALLEST_STEP = 1.0 / 18.0  # of the height between samples along an edge, for agents without a radius
_HAIR = 0.02  # of the lift: how far above a point its own ground may be
_ROUNDING = 2.0 * float(np.finfo(np.float32).eps)  # of what positions are off when they are stored, and a slope's share


def body_of(agent: Agent, extent: float = 1.0) -> Body:
    """The agent in the numbers that the tests need, in a world of an extent, metres, around its local origin."""
    gap = 0.02 * agent.radius if agent.radius > 0 else 1e-3 * agent.height
    # Steps look as high as stored positions are off: without this an agent that takes none has no place on a floor.
    rounding = _ROUNDING * extent + 5e-5 * agent.radius
    lift = max(min(agent.climb + agent.radius, agent.height - agent.radius), agent.radius) + gap
    return Body(
        radius=agent.radius,
        lift=lift,
        top=max(0.0, agent.height - agent.radius - lift),
        climb=agent.climb + rounding,
        tangent=math.tan(math.radians(min(agent.slope, 89.0))),
        cosine=math.cos(math.radians(agent.slope)),
        near=2.0 * agent.radius + 2.0 * gap,
        offset=1.4 * agent.radius + gap,
        step=max(agent.radius, _SMALLEST_STEP * agent.height),
    )


def _steep(mesh: Mesh, body: Body) -> Mesh:
    """The triangles that are neither floors nor ceilings."""
    steep = np.abs(mesh.normals[:, 2]) < body.cosine
    if steep.any():
        return Mesh(mesh.vertices, mesh.triangles[steep])
    return _nothing(mesh)


def _nothing(mesh: Mesh) -> Mesh:
    """One triangle out of reach, since an index cannot be empty."""
    low, high = mesh.bounds
    size = max(float((high - low).max()), 1.0)
    return Mesh(low - 100.0 * size + size * np.eye(3), [(0, 1, 2)])


class Surroundings:
    """What the traversability tests (Wardhana et al. 2015, section 3) look at.

    Positions that it takes and gives are relative to `frame`, the mesh as it came is not.

    Parameters
    ----------
    mesh : Mesh
    agent : Agent
    closed : Mesh, optional
        Surfaces that no character may touch or stand on, such as water.
    """

    def __init__(self, mesh: Mesh, agent: Agent, closed: Mesh | None = None) -> None:
        self.mesh = mesh
        self.agent = agent
        self.closed_mesh = closed
        self.frame = Frame.of(mesh.vertices)
        self.local_mesh = self.moved(mesh)
        self.index = TriangleIndex(self.local_mesh)
        self.body = body_of(agent, float(np.abs(self.local_mesh.bounds).max()))
        self.steep = TriangleIndex(_steep(self.local_mesh, self.body))
        self._nowhere = TriangleIndex(_nothing(self.local_mesh))
        self.closed = self._nowhere if closed is None else TriangleIndex(self.moved(closed))
        self.blocks = self._nowhere
        self.block_mesh: Mesh | None = None
        self.block_depths = np.zeros(1)

    def moved(self, mesh: Mesh) -> Mesh:
        """A mesh in local coordinates."""
        return Mesh(self.frame.local(mesh.vertices), mesh.triangles)

    def with_blocks(self, blocks: Sequence[Mesh]) -> Surroundings:
        """The same with solids that characters do not stand on or cling to.

        They are upright prisms in local coordinates, and their triangles are turned outwards.
        """
        other = copy.copy(self)
        depths = [np.where(block.normals[:, 2] > 0.0, np.ptp(block.bounds[:, 2]), 0.0) for block in blocks]
        other.block_depths = np.concatenate(depths) if blocks else np.zeros(1)
        other.block_mesh = Mesh.concatenate(list(blocks)) if blocks else None
        other.blocks = TriangleIndex(other.block_mesh) if other.block_mesh is not None else self._nowhere
        return other

    def world(self) -> _kernels.TriangleWorld:
        """The triangles for kernels, with a stack of its own."""
        return _kernels.TriangleWorld(
            self.index.tree,
            self.steep.tree,
            self.local_mesh.normals,
            self.blocks.tree,
            self.block_depths,
            self.closed.tree,
            new_stack(),
        )

    def stopped(
        self, points: NDArray[np.float64], pairs: NDArray[np.int32], motions: NDArray[np.uint8]
    ) -> NDArray[np.bool_]:
        """Which moves, pairs (k, 2) of local points (n, 3) by the motions `motions`, blocks stop."""
        hit = np.zeros(len(pairs), np.bool_)
        if self.block_mesh is not None and len(pairs):
            _kernels.stopped(self.world(), self.body, points, pairs, motions, hit)
        return hit

    def positions(self, point: NDArray[np.float64], motions: Motion = ALL_MOTIONS) -> dict[Motion, Spot]:
        """Where the body's position is when a character is at `point`, for each of its motions that is possible there.

        As it is where it fits so, else on the ground below or off the nearest surface: the first of its `spots`.
        """
        return _first(self.spots(point, motions))

    def spots(self, point: NDArray[np.float64], motions: Motion = ALL_MOTIONS) -> list[Spotted]:
        """Where the body may be for a character at `point`: there, on the ground below, or off the nearest surface.

        What is above may be a ramp, a slab or a roof that the character is under: ground is looked for further up only
        where the rest leaves nothing.
        """
        world, here = self.world(), tuple(point.tolist())
        inside: list[Spotted] = []
        for rise in (_HAIR * self.body.lift, self.body.offset):
            found = self._spots(world, here, rise, int(motions))
            # Places on both sides of a surface would lead through it.
            outside = [spot for spot in found if not _kernels.enclosed(world, spot.place)]
            if outside:
                return outside
            inside = inside or found
        return inside

    def _spots(self, world: _kernels.TriangleWorld, here: Spot, rise: float, motions: int) -> list[Spotted]:
        """Where the body may be; ground is looked for from `rise` metres above `here`."""
        places = {here: "here"}
        places.setdefault(self._stand(world, here, rise), "standing")
        places.setdefault(self._cling(here), "clinging")
        found = [
            (place, _kernels.motions_at(world, self.body, place) & motions, stance) for place, stance in places.items()
        ]
        return [Spotted(*spot) for spot in found if spot[1]]

    def _cling(self, here: Spot) -> Spot:
        """The position of a body that clings to the surface nearest to a place."""
        point, body = np.array(here), self.body
        _, triangles, places = self.index.nearest(point[None], body.near, workers=1)
        if triangles[0] < 0:
            return here
        outwards = point - places[0]
        away = float(np.linalg.norm(outwards))
        outwards = outwards / away if away > 1e-6 * body.near else self.local_mesh.normals[triangles[0]]
        x, y, z = (places[0] + outwards * max(away, body.offset)).tolist()
        return x, y, z

    def _stand(self, world: _kernels.TriangleWorld, place: Spot, rise: float) -> Spot:
        """The position of a body on the first surface below a place, looked for from `rise` metres above it."""
        from wayfold.geometry.bvh_kernels import ray_nearest

        x, y, z = place
        max_distance = rise + self.body.lift + self.body.climb
        away, triangle = ray_nearest(world.tree, world.stack, (x, y, z + rise), (0.0, 0.0, -1.0), max_distance)
        return (x, y, z + rise - float(away) + self.body.lift) if triangle >= 0 else place

    def entrance(self, point: NDArray[np.float64], motions: Motion, name: str) -> Entrance:
        """Where a character at a local point is, and where it can get to in a straight line by one of its motions.

        Raises
        ------
        OffMapError
            With the reason, when the character cannot be at the point at all.
        """
        spots = self.spots(point, motions)
        world = self.world()
        if spots and all(_kernels.enclosed(world, spot.place) for spot in spots):
            raise OffMapError(f"{name} {self._where(point)} is inside of something solid")
        if not spots:
            bare = self.with_blocks(())
            if self.block_mesh is not None and bare.spots(point, motions):
                raise OffMapError(f"{name} {self._where(point)} is where the world is blocked")
            raise OffMapError(f"{name} {self._where(point)} {self._reason(point, motions)}")
        return Entrance(self, spots)

    def _where(self, point: NDArray[np.float64]) -> str:
        return f"({text.place(self.frame.world(point), self.frame.extent)})"

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
            points = self.frame.local(path.points)
            for at in (0, -1):
                spots = list(self.positions(points[at], motions).values())
                points[at] = spots[0] if spots else points[at]
            kept = np.empty(len(points), np.int64)
            count = _kernels.shortcuts(self.world(), self.body, points, int(motions), kept)
            corners = path.points[kept[:count]]
            length = float(np.linalg.norm(np.diff(corners, axis=0), axis=1).sum())
            cost = min(path.cost, length) if math.isclose(path.cost, path.length, rel_tol=1e-6) else path.cost
            return Path(path.status, corners, cost=cost, expanded=path.expanded, timings=path.timings)

        return smooth


def _first(spots: list[Spotted]) -> dict[Motion, Spot]:
    """The place that comes first for each motion that is possible at some spots."""
    found: dict[Motion, Spot] = {}
    for motion, stances in _PREFERRED.items():
        possible = {spot.stance: spot.place for spot in spots if spot.motions & motion}
        if possible:
            found[motion] = possible[min(possible, key=stances.index)]
    return found


class Entrance:
    """Where a character at a point may be, and by which motions; `Surroundings.entrance` makes it.

    A character moves from the first spot of each motion. Where its body may be at the point itself and has room on the
    way, it also moves from the other spots: one may be in reach of a wall that another is not.

    Parameters
    ----------
    surroundings : Surroundings
    spots : list of Spotted
        Local positions of the body.
    """

    def __init__(self, surroundings: Surroundings, spots: list[Spotted]) -> None:
        self.spots = spots
        self._first = _first(spots)
        self._here = next((spot.place for spot in spots if spot.stance == "here"), None)
        self._world = surroundings.world()
        self._body = surroundings.body

    def sees(self, position: NDArray[np.float64]) -> bool:
        """Whether the character can move straight to a local position."""
        x, y, z = position.tolist()
        there = x, y, z
        if any(self._legal(spot, there, motion) for motion, spot in self._first.items()):
            return True
        return self._room(there) and any(self._legal(spot.place, there, spot.motions) for spot in self.spots)

    def meets(self, other: Entrance) -> bool:
        """Whether the character can move straight to where another point is, by a motion of either."""
        if any(
            self._legal(here, there, own | others)
            for own, here in self._first.items()
            for others, there in other._first.items()
        ):
            return True
        return self._room(other._here) and any(
            self._legal(here.place, there.place, here.motions | there.motions)
            for here in self.spots
            for there in other.spots
        )

    def _legal(self, here: Spot, there: Spot, motions: int) -> bool:
        """Whether a straight move of the body is legal."""
        return bool(_kernels.motion_between(self._world, self._body, here, there, int(motions)))

    def _room(self, there: Spot | None) -> bool:
        """Whether there are more spots to try, and room on the straight way between the points as they are."""
        if self._here is None or there is None:
            return False
        return self._legal(self._here, there, Motion.VOLUMETRIC)

    def furthest(self, positions: NDArray[np.float64], count: int) -> int:
        """The last of the first `count` local positions (k, 3) that the character can move straight to, -1 for none."""
        found = (
            int(_kernels.furthest(self._world, self._body, spot, positions, int(motion), count))
            for motion, spot in self._first.items()
        )
        return max(found, default=-1)
