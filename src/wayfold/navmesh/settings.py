"""How finely a navigation mesh is built, and what that means in voxels."""

from __future__ import annotations

import math
from dataclasses import dataclass

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.errors import ParameterError

SMALLEST_CELL = checks.SMALLEST
"""Metres: no column or voxel is smaller."""
_MOST_CELLS = 1 << 40  # of a region; no world has as many
_SLACK = 1e-6  # of a cell: 0.6 / 0.3 is two cells, whatever the last bit says
STEP_SLACK = 1e-3
"""Of the climb: how much higher a step may be, since coordinates in files are rounded."""
OPENING = 2.25
"""Radii: the agent gets through every opening between walls that is at least this wide."""
_LANE_CELLS = 14.0  # to a radius: a chain of whole cells fits into what is free in such an opening, whatever its angle
_LEAST_BREADTH = 0.99  # columns to a radius, from which on there are lanes


def usual_cell_size(agent: Agent) -> float:
    """Side of a column for an agent, metres: what is a radius away from a wall is in a column without wall."""
    return min(0.3, 0.7 * agent.radius) if agent.radius > 0 else 0.3


@checks.checked
@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the voxel pipeline.

    Parameters
    ----------
    cell_size : float, metres, 1e-9 to 1e12
        Side of a column of voxels. Half to a third of the agent's radius is usual; walls are known to about a cell.
    cell_height : float, metres, 1e-9 to 1e12
        Height of a voxel; climb and height of the agent are rounded to it.
    tile_size : int, columns, 8 to 4096, or 0
        Side of a tile; 0 makes the whole world one tile.
    min_region : float, square metres, >= 0
        Walkable islands smaller than this, away from a tile's border, are dropped. Default 64 cells.
    merge_region : float, square metres, >= 0
        Regions up to this size are merged with a neighbour where they can be. Default 400 cells.
    max_edge : float, metres, >= 0
        Longest polygon edge along a wall; 0 for no limit.
    max_error : float, cells, 0.5 to 10
        How far a simplified rim may be from the voxels' rim: how much ground it may cut off.
    max_bulge : float, cells, 0.1 to 10
        How far it may reach over the voxels' rim, and so nearer to a wall than the agent's radius. Default `max_error`.
    max_corners : int, 3 to 64
        Most corners of a polygon as built; the corners that neighbouring tiles add to a border come on top.
    detail_error : float, metres, > 0
        How far the surface may be from the sampled ground before it gets a point more. Default half a `cell_height`.
    """

    cell_size: float = 0.3
    cell_height: float = 0.2
    tile_size: int = 0
    min_region: float | None = None
    merge_region: float | None = None
    max_edge: float = 12.0
    max_error: float = 1.3
    max_bulge: float | None = None
    max_corners: int = 6
    detail_error: float | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "cell_size", checks.number(self.cell_size, "cell_size", low=SMALLEST_CELL, high=checks.LARGEST))
        put(self, "cell_height", checks.number(self.cell_height, "cell_height", low=SMALLEST_CELL, high=checks.LARGEST))
        put(self, "tile_size", checks.whole(self.tile_size, "tile_size", low=0, high=4096))
        if 0 < self.tile_size < 8:
            raise ParameterError(f"tile_size must be 0 or from 8 to 4096 columns, not {self.tile_size}")
        for name, cells in (("min_region", 64), ("merge_region", 400)):
            value = getattr(self, name)
            area = cells * self.cell_size**2 if value is None else value
            put(self, name, checks.number(area, name, low=0.0))
        put(self, "max_edge", checks.number(self.max_edge, "max_edge", low=0.0))
        put(self, "max_error", checks.number(self.max_error, "max_error", low=0.5, high=10.0))
        bulge = self.max_error if self.max_bulge is None else self.max_bulge
        put(self, "max_bulge", checks.number(bulge, "max_bulge", low=0.1, high=10.0))
        put(self, "max_corners", checks.whole(self.max_corners, "max_corners", low=3, high=64))
        error = 0.5 * self.cell_height if self.detail_error is None else self.detail_error
        put(self, "detail_error", checks.number(error, "detail_error", low=0.0, open_low=True))

    def cells(self, square_metres: float) -> int:
        """Columns that cover an area, rounded."""
        area = checks.number(square_metres, "square_metres", low=0.0, high=checks.LARGEST**2)
        return min(round(area / self.cell_size**2), _MOST_CELLS)


@dataclass(frozen=True, slots=True)
class AgentVoxels:
    """An agent measured in voxels: rounded so that the voxels never promise more room than there is.

    Attributes
    ----------
    radius : int, columns
        Rounded up.
    height : int, cell heights
        Rounded up.
    climb : float, metres
        Highest step, with `STEP_SLACK`.
    body : float, metres
        Height above which nothing blocks a column: the height and what rounding adds.
    breadth : float, columns
        The radius, not rounded.
    parts : int
        Cells that the side of a column is cut into where lanes are looked for; 0 for no lanes.
    least : int, half cells
        Distance from walls of a column in the middle of an opening that is wide enough.
    around : int, columns
        How far a lane reaches until erosion leaves something of the ground.
    deep : int, columns
        Length from which a lane is kept that leads nowhere.
    border : int, columns
        What a tile must see of its neighbours.
    """

    radius: int
    height: int
    climb: float
    body: float
    breadth: float
    parts: int
    least: int
    around: int
    deep: int
    border: int

    @classmethod
    def of(cls, agent: Agent, settings: Settings) -> AgentVoxels:
        """The agent in the voxels of a build."""
        breadth = agent.radius / settings.cell_size
        radius = math.ceil(breadth - _SLACK)
        # In larger columns openings are lost before anyone can look at them; those oblique to the columns are so from
        # three quarters of the radius on, unless they are 3 radii wide.
        lanes = breadth >= _LEAST_BREADTH
        parts = math.ceil(_LANE_CELLS / breadth - _SLACK) if lanes else 0
        # A wall is nearer to the middle of a column than to a point in it by half a diagonal at most, and a blocked
        # column's middle to the wall by as much; the column beside it, where distances begin, by one column more.
        half = 0.5 * OPENING * breadth
        least = max(2 if half > math.sqrt(5.0) else 0, math.ceil(2 * (half - 2.29)))
        around = math.ceil(math.sqrt(max(1.0, (radius + 2.29) ** 2 - half**2))) if lanes else 0
        # Erosion looks `radius` columns far, the ledge filter one more, the blurred distances another two. What is
        # narrow up to `around` columns away may lead here, and what it joins is seen as far beyond.
        height = math.ceil(agent.height / settings.cell_height - _SLACK)
        return cls(
            radius,
            height,
            agent.climb * (1 + STEP_SLACK),
            (height + 1) * settings.cell_height,
            breadth,
            parts,
            least,
            around,
            2 * around + radius,
            radius + max(3, 2 * around + 2),
        )
