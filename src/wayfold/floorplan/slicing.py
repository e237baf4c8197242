"""Floor plans of 3D geometry, cut as architects cut blueprints (paper 004, introduction).

The ground planes are the heights at which a mesh has much level ground. At each of them the ground within a step of
the plane is the floor, and what stands on it, from a step above it up to the height of who walks there, is an obstacle.
Walkable slopes and stairs between two planes are the transition areas that join the floors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.core.interrupts import interruptible
from wayfold.errors import GeometryError, ParameterError
from wayfold.floorplan import _build, _sections, _transitions
from wayfold.floorplan._polygons import moved
from wayfold.floorplan._transitions import Transition
from wayfold.floorplan.decomposition import Decomposition
from wayfold.floorplan.plan import METHODS, FloorPlan
from wayfold.geometry import Mesh
from wayfold.geometry.frame import Frame
from wayfold.geometry.polygon import overlaying

Floats = NDArray[np.float64]
_LEVEL = np.cos(np.radians(1.0))  # steeper ground makes no ground plane


@checks.checked
def ground_planes(mesh: Mesh, *, agent: Agent | None = None, share: float = 0.02) -> list[float]:
    """Heights of the ground planes of a mesh, lowest first.

    Parameters
    ----------
    mesh : Mesh
    agent : Agent, optional
        Planes less than its height apart are one floor.
    share : float, 0 to 1
        A plane needs at least this part of all level ground.
    """
    who = agent or Agent()
    share = checks.number(share, "share", low=0.0, high=1.0)
    level = mesh.normals[:, 2] >= _LEVEL
    if not level.any():
        raise GeometryError("the mesh has no level ground, so there is no ground plane: give the height of one")
    z, area = _levels(mesh.corners[level, :, 2].mean(axis=1), mesh.areas[level], _sections.hair(who))
    total = area.sum()
    planes: list[float] = []
    while area.sum() > 0.0:
        sums = np.concatenate([[0.0], np.cumsum(area)])
        # The step that holds most level ground; its height is that of its largest part.
        last = np.searchsorted(z, z + who.climb * (1.0 + 1e-6), side="right")
        weight = sums[last] - sums[:-1]
        first = int(np.argmax(weight))
        if weight[first] < share * total:
            break
        height = float(z[first + np.argmax(area[first : last[first]])])
        planes.append(height)
        area = np.where(np.abs(z - height) < who.height - _sections.hair(who), 0.0, area)
    return sorted(planes)


def _levels(z: Floats, area: Floats, near: float) -> tuple[Floats, Floats]:
    """Heights that are the same but for rounding as one, lowest first, and the area at each."""
    order = np.argsort(z, kind="stable")
    z, area = z[order], area[order]
    group = np.concatenate([[0], np.cumsum(np.diff(z) > near)])
    whole = np.asarray(np.bincount(group, area), np.float64)
    first = np.searchsorted(group, np.arange(len(whole)))
    # Relative to the lowest of a group, so that heights that are equal stay as they are.
    return z[first] + np.bincount(group, area * (z - z[first][group])) / np.maximum(whole, 1e-300), whole


def slice_mesh(mesh: Mesh, height: float, agent: Agent | None, thickness: float) -> FloorPlan:
    """See `FloorPlan.slice`."""
    who = agent or Agent()
    height = checks.number(height, "height", low=-checks.LARGEST, high=checks.LARGEST)
    thickness = checks.number(thickness, "thickness", low=0.0, high=checks.LARGEST)
    frame, local = _local(mesh)
    floor, free = _floor(local, height, who, thickness)
    return _plan(frame, floor, free, height, _sections.grid(who))


def _local(mesh: Mesh) -> tuple[Frame, Mesh]:
    """A mesh relative to its frame, with heights as they are."""
    frame = Frame.of(mesh.vertices[:, :2])
    return frame, Mesh(frame.local(mesh.vertices), mesh.triangles)


def _floor(mesh: Mesh, height: float, who: Agent, thickness: float) -> tuple[Any, Any]:
    """The floor of a local mesh at a height, and what of it is free."""
    grid = _sections.grid(who)
    floor = _sections.shadow(_sections.floor(mesh, who, height), grid)
    floor = _sections.closed(floor, grid)
    if floor.area == 0.0:
        raise GeometryError(f"the mesh has no ground within {who.climb:g} of the height {height:g}")
    bottom, top = height + who.climb + _sections.hair(who), height + who.height
    cuts = [bottom + part * (top - bottom) for part in _sections.CUTS]
    obstacles = _sections.solids(mesh, cuts, floor, grid, thickness)
    solid = _sections.closed(_sections.united([*obstacles, _sections.lying(mesh, bottom, top, grid)], grid), grid)
    free = _sections.opened(_sections.without(floor, solid, grid), grid)
    return _sections.united([floor, free], grid), free


def _plan(frame: Frame, floor: Any, free: Any, height: float, grid: float) -> FloorPlan:
    """A plan of what was found in a local mesh: what of the floor is not free are its obstacles."""
    blocks = _sections.opened(_sections.without(floor, free, grid), 0.25 * grid)
    whole = _sections.closed(_sections.united([free, blocks], grid), 0.5 * grid)
    whole, blocks = (_sections.areas(shapely.make_valid(moved(shape, frame.origin[:2]))) for shape in (whole, blocks))
    return FloorPlan(whole, shapely.get_parts(blocks), height=height)


@checks.checked
class Building:
    """The floors of a mesh and the transition areas between them.

    Parameters
    ----------
    floors : sequence of FloorPlan
        Lowest first.
    transitions : sequence of Transition
        The paper's "special markups to show transition areas between different levels"; `from_mesh` finds them.
    slack : float, metres, >= 0
        How far the border of a transition area may lie from that of its floor and still be the same border.
    """

    def __init__(
        self, floors: Sequence[FloorPlan], transitions: Sequence[Transition] = (), *, slack: float = 0.0
    ) -> None:
        if not len(floors):
            raise ParameterError("a building has at least one floor")
        for floor in floors:
            checks.instance(floor, "each of floors", FloorPlan)
        for transition in transitions:
            checks.instance(transition, "each of transitions", Transition)
            if any(not 0 <= floor < len(floors) for floor in transition.floors):
                raise ParameterError(f"a transition joins floors {transition.floors}, but there are {len(floors)}")
        self.slack = checks.number(slack, "slack", low=0.0)
        self.floors = tuple(floors)
        self.transitions = tuple(transitions)

    @classmethod
    @interruptible
    @overlaying()
    def from_mesh(
        cls, mesh: Mesh, *, agent: Agent | None = None, heights: Sequence[float] | None = None, thickness: float = 0.0
    ) -> Building:
        """Find the ground planes of a mesh (or take `heights`), its floors and what joins them."""
        who = agent or Agent()
        if heights is None:
            planes = sorted(ground_planes(mesh, agent=who))
        else:
            given = checks.floats(heights, "heights")
            if given.ndim != 1 or not given.size:
                raise ParameterError(f"heights must be the heights of some floors, not {checks.shown(heights)}")
            checks.finite(given, "heights")
            planes = np.unique(given).tolist()
        thickness = checks.number(thickness, "thickness", low=0.0, high=checks.LARGEST)
        frame, local = _local(mesh)
        found = [_floor(local, z, who, thickness) for z in planes]
        grid = _sections.grid(who)
        floors = [_plan(frame, floor, free, z, grid) for z, (floor, free) in zip(planes, found, strict=True)]
        transitions = _transitions.find(local, frame, who, planes, [free for _, free in found])
        return cls(floors, transitions, slack=2.0 * grid)

    def decompose(self, method: str = "deaccon", **options: Any) -> Decomposition:
        """Cut all floors and transition areas into convex regions with one navigation graph."""
        checks.choice(method, "method", METHODS)
        frame = _build.frame_of([*self.floors, *(transition.plan for transition in self.transitions)])
        levels = [_build.level(plan, frame, method, options) for plan in self.floors]
        passages = []
        for transition in self.transitions:
            level = _build.level(transition.plan, frame, method, options, is_floor=False, ground=transition.ground)
            here = len(levels)
            for floor in transition.floors:
                mouth = transition.mouths.get(floor)
                local = None if mouth is None else frame.local(mouth.reshape(-1, 2)).reshape(-1, 4)
                passages.append(_build.Passage(floor, here, local))
            levels.append(level)
        return Decomposition(levels, frame, method, options, passages=passages, slack=self.slack)

    def __repr__(self) -> str:
        return f"<Building: {len(self.floors)} floors, {len(self.transitions)} transitions>"
