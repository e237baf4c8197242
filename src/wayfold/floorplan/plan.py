"""`FloorPlan`: the walkable floor of a level as a boundary and obstacles, as blueprints show it (Hale et al. 2008)."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray
from shapely import MultiPolygon, Polygon

from wayfold import formats
from wayfold.core import checks
from wayfold.core.locks import Portable
from wayfold.errors import GeometryError, ParameterError
from wayfold.floorplan import polygons
from wayfold.geometry.frame import Frame
from wayfold.geometry.polygon import overlaying

if TYPE_CHECKING:
    from wayfold.agent import Agent
    from wayfold.floorplan.decomposition import Decomposition
    from wayfold.geometry import Mesh

METHODS = ("deaccon", "space-filling", "hertel-mehlhorn")
_PRECISION = 36  # bits: coordinates are rounded to 2**-36 (1.5e-11) of the plan's extent
_SLIT = 64  # times the resolution (1e-9 of the extent): narrower passages are closed


@checks.checked
class FloorPlan(Portable):
    """A floor: the free space is `boundary` without the `obstacles`.

    Parameters
    ----------
    boundary : shapely Polygon or MultiPolygon, or (n, 2) array_like, metres
        Where the world ends; holes are not part of the floor.
    obstacles : iterable of shapely Polygons or MultiPolygons, or (n, 2) array_likes
        They may be of any shape, touch and overlap each other, and cross the boundary.
    height : float, metres
        z of the floor.

    Raises
    ------
    GeometryError
        When a polygon crosses itself, has a coordinate that is not finite, or the boundary has no area.

    Notes
    -----
    Inside, coordinates are relative to a local origin (`frame`), so that it makes no difference where a plan lies.
    Those of the free space are rounded to a power of two of about 1.5e-11 of the longer side of the boundary's box
    (`resolution`); whole numbers and cell corners stay as they are. Obstacles that touch may come apart by rounding, so
    passages narrower than 1e-9 of that side are closed. Walls thinner than about 3e-10 of it, and needles towards their
    tips, are made that thick, so that rounding opens no way through them. Instances are not changed: `with_obstacle`
    and `without_obstacle` give new plans.

    Examples
    --------
    >>> from shapely import box
    >>> plan = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)])
    >>> plan
    <FloorPlan: 10 x 4 m, 1 obstacles>
    >>> plan.area, len(plan.free.geoms)
    (34.0, 1)
    >>> round(plan.decompose().path((1, 1), (9, 1)).length, 3)
    9.211
    """

    def __init__(self, boundary: Any, obstacles: Iterable[Any] = (), *, height: float = 0.0) -> None:
        self.boundary: Polygon | MultiPolygon = polygons.check(boundary, "boundary")
        self.obstacles: tuple[Polygon | MultiPolygon, ...] = tuple(
            polygons.check(obstacle, f"obstacles[{k}]") for k, obstacle in enumerate(obstacles)
        )
        self.height = checks.number(height, "height", low=-checks.LARGEST, high=checks.LARGEST)

    @cached_property
    def frame(self) -> Frame:
        """The local origin and the extent of the plan."""
        return Frame.of(shapely.get_coordinates(self.boundary))

    @cached_property
    def resolution(self) -> float:
        """The grid that coordinates of the free space lie on, metres."""
        return float(2.0 ** (math.frexp(self.frame.extent)[1] - _PRECISION))

    @property
    def slit(self) -> float:
        """Passages narrower than this are closed, metres: obstacles that touch may come apart by rounding."""
        return _SLIT * self.resolution

    @cached_property
    def space(self) -> polygons.FreeSpace:
        """The free space relative to the origin of `frame`."""
        return self.space_in(self.frame)

    @overlaying()
    def space_in(self, frame: Frame) -> polygons.FreeSpace:
        """Return the free space relative to the origin of a frame, which may be that of a larger world.

        Parameters
        ----------
        frame : Frame
            Its origin and extent, metres. `space` is that in the plan's own frame.

        Examples
        --------
        >>> from shapely import box
        >>> plan = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)])
        >>> space = plan.space_in(Frame((100.0, 0.0, 0.0), 200.0))
        >>> space.area, space.free.bounds
        (34.0, (-100.0, 0.0, -90.0, 4.0))
        """
        origin = -frame.origin[0], -frame.origin[1]
        boundary, *obstacles = (polygons.moved(shape, origin) for shape in (self.boundary, *self.obstacles))
        thin = polygons.thin_walls(obstacles, self.resolution)
        thin += polygons.thin_walls([boundary], self.resolution, outside=True)
        solid = shapely.union_all([*obstacles, *thin], grid_size=self.resolution)
        free = shapely.difference(boundary, solid, grid_size=self.resolution)
        clean = polygons.clean(free, self.resolution)
        return polygons.FreeSpace(polygons.without_slits(clean, self.slit, self.resolution), self.resolution)

    @cached_property
    def free(self) -> MultiPolygon:
        """The free space; its parts are the places that cannot reach each other."""
        return polygons.moved(self.space.free, self.frame.origin[:2])

    @property
    def area(self) -> float:
        """Area of the free space, square metres."""
        return self.space.area

    @property
    def is_axis_aligned(self) -> bool:
        """Whether every wall runs along x or y: the paper's base case."""
        ends, _, _ = polygons.walls(self.space.free)
        return bool(((ends[:, 0] == ends[:, 2]) | (ends[:, 1] == ends[:, 3])).all())

    @cached_property
    def convex_obstacles(self) -> list[Polygon]:
        """The obstacles cut into convex ones, as Hale et al. 2008 asks for; what overlaps stays overlapping.

        Cutting them does not change a decomposition: growth meets only their common border.
        """
        from wayfold.floorplan.hertel_mehlhorn import convex_parts

        parts: list[Polygon] = []
        for obstacle in shapely.get_parts(list(self.obstacles)):
            parts += [obstacle] if polygons.is_convex(obstacle) else convex_parts(obstacle)
        return parts

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each point, (q, 2) or (q, 3), lies in the free space or on its border, as (q,) bools.

        >>> from shapely import box
        >>> plan = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)])
        >>> plan.contains([(1, 1), (5, 1), (4, 2), (11, 1)]).tolist()
        [True, False, True, False]
        """
        array = self.frame.local(checks.points3(points))
        shapely.prepare(self.space.free)
        return np.asarray(shapely.intersects_xy(self.space.free, array[:, 0], array[:, 1]))

    def decompose(self, method: str = "deaccon", **options: Any) -> Decomposition:
        """Cut the free space into convex regions.

        Parameters
        ----------
        method : "deaccon", "space-filling" or "hertel-mehlhorn"
            The paper's algorithm, or one of the two that it is compared with.
        **options
            `spacing`, `step`, `combine` for the first two, `follow` and `in_turn` for DEACCON only; see
            `wayfold.floorplan.growth.GrowthSettings`.

        Raises
        ------
        ParameterError
            When there is no such method, it has no such option, or an option is outside its limits.

        Examples
        --------
        >>> from shapely import box
        >>> plan = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)])
        >>> plan.decompose()
        <Decomposition by deaccon: 3 regions, 2 gateways>
        >>> plan.decompose("hertel-mehlhorn", combine=False).num_regions
        6
        """
        from wayfold.floorplan.decomposition import Decomposition

        return Decomposition.build(self, method, **options)

    # --- other plans -----------------------------------------------------------------------------------------------

    def with_obstacle(self, obstacle: Any) -> FloorPlan:
        """Return the plan with one more obstacle, which becomes the last.

        Parameters
        ----------
        obstacle : shapely Polygon or MultiPolygon, or (n, 2) array_like, metres

        Returns
        -------
        FloorPlan
            A new plan; this one stays as it is.

        Examples
        --------
        >>> from shapely import box
        >>> plan = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)])
        >>> plan.with_obstacle(box(0, 0, 1, 1)).area, plan.area
        (33.0, 34.0)
        """
        return FloorPlan(self.boundary, (*self.obstacles, obstacle), height=self.height)

    def without_obstacle(self, number: int) -> FloorPlan:
        """Return the plan without one of its obstacles; those behind it move up by one.

        Parameters
        ----------
        number : int, from 0
            Which of `obstacles`.

        Returns
        -------
        FloorPlan
            A new plan; this one stays as it is.

        Examples
        --------
        >>> from shapely import box
        >>> plan = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)])
        >>> plan.without_obstacle(0).area, plan.area
        (40.0, 34.0)
        """
        number = checks.whole(number, "number", low=0)
        if number >= len(self.obstacles):
            raise ParameterError(f"there is no obstacle {number}: the plan has {len(self.obstacles)}")
        kept = self.obstacles[:number] + self.obstacles[number + 1 :]
        return FloorPlan(self.boundary, kept, height=self.height)

    @classmethod
    def from_cells(cls, free: ArrayLike, *, cell: float = 1.0, simplify: float = 0.0) -> FloorPlan:
        """Build a plan from a grid of cells.

        Parameters
        ----------
        free : (height, width) array_like of bool
            Where one can walk. Cell (x, y) covers the square from (x, y) to (x + 1, y + 1), times `cell`.
        cell : float, metres, 1e-9 to 1e12
            Side of a cell.
        simplify : float, metres, >= 0
            How far walls may be moved to make them simpler, which gives fewer regions; 0 keeps the exact borders of the
            cells.

        Examples
        --------
        >>> plan = FloorPlan.from_cells([[1, 1, 1], [1, 0, 1]], cell=0.5)
        >>> plan.area, [obstacle.bounds for obstacle in plan.obstacles]
        (1.25, [(0.5, 0.5, 1.0, 1.0)])
        """
        mask = checks.numbers(free, "free", "truth values of shape (height, width)", bools=True)
        if mask.ndim != 2 or mask.size == 0 or mask.dtype.kind not in "biu":
            raise ParameterError(f"free must be truth values of shape (height, width), not {mask.dtype} {mask.shape}")
        cell = checks.number(cell, "cell", low=checks.SMALLEST, high=checks.LARGEST)
        simplify = checks.number(simplify, "simplify", low=0.0, high=checks.LARGEST)
        boundary = shapely.box(0.0, 0.0, mask.shape[1] * cell, mask.shape[0] * cell)
        solid = polygons.from_cells(mask == 0, cell)
        if simplify > 0.0:
            solid = shapely.make_valid(shapely.simplify(solid, simplify, preserve_topology=True))
        return cls(boundary, [part for part in shapely.get_parts(solid) if part.geom_type == "Polygon"])

    @classmethod
    def from_movingai(cls, file: str | os.PathLike[str], *, simplify: float = 0.0) -> FloorPlan:
        """Build a plan from a MovingAI `.map`: ground is free, water is not; x is the column, y the row.

        Parameters
        ----------
        file : path
        simplify : float, cells, >= 0
            How far walls may be moved to make them simpler; 0 keeps the exact borders of the cells.

        Examples
        --------
        >>> formats.save_map([[True, True, True], [True, False, True]], "room.map")
        >>> FloorPlan.from_movingai("room.map").area
        5.0
        """
        return cls.from_cells(formats.load_map(file).kinds == 1, simplify=simplify)

    @classmethod
    def from_geojson(cls, file: str | os.PathLike[str], *, role: str = "role") -> FloorPlan:
        """Build a plan from the polygons of a GeoJSON file.

        Parameters
        ----------
        file : path
            Features whose property `role` is "boundary" are the boundary (holes allowed); all others are obstacles.
            Without a boundary it is the box around all features.
        role : str
            Name of that property.

        Examples
        --------
        >>> from shapely import box
        >>> walls = {"role": "boundary"}
        >>> formats.save_geojson([(box(0, 0, 10, 4), walls), (box(4, 0, 6, 3), {"name": "desk"})], "office.geojson")
        >>> FloorPlan.from_geojson("office.geojson").area
        34.0
        """
        boundary: list[Polygon] = []
        obstacles: list[Polygon] = []
        for feature in formats.load_geojson(file):
            (boundary if feature.properties.get(role) == "boundary" else obstacles).append(feature.polygon)
        if not boundary:
            boundary = [shapely.box(*shapely.total_bounds(obstacles))]
        whole = shapely.union_all(boundary)
        if whole.geom_type not in ("Polygon", "MultiPolygon"):
            raise GeometryError(f"{file}: the features with role 'boundary' do not make up an area")
        return cls(whole, obstacles)

    @classmethod
    def slice(cls, mesh: Mesh, height: float, *, agent: Agent | None = None, thickness: float = 0.0) -> FloorPlan:
        """Cut a mesh at a ground plane, as blueprints are cut; see `wayfold.floorplan.building`.

        Parameters
        ----------
        mesh : Mesh
        height : float, metres
            z of the ground plane; `wayfold.floorplan.ground_planes` finds those of a mesh.
        agent : Agent, optional
            Who walks there: ground within its `climb` of the plane counts, what stands between its `climb` and its
            `height` above the plane is an obstacle. The default agent by default.
        thickness : float, metres, >= 0
            Width given to walls that are drawn as single sheets; 0 leaves them out.

        Examples
        --------
        >>> from wayfold import Box, Mesh
        >>> floor = Mesh([(0, 0, 0), (10, 0, 0), (10, 4, 0), (0, 4, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> crate = Box((4, 0, 0), (6, 3, 2)).mesh()
        >>> plan = FloorPlan.slice(Mesh.concatenate([floor, crate]), 0.0)
        >>> plan, round(plan.area, 3)
        (<FloorPlan: 10 x 4 m, 1 obstacles>, 34.0)
        """
        from wayfold.floorplan import building

        return building.slice_mesh(mesh, height, agent, thickness)

    def __repr__(self) -> str:
        low_x, low_y, high_x, high_y = self.boundary.bounds
        return f"<FloorPlan: {high_x - low_x:.4g} x {high_y - low_y:.4g} m, {len(self.obstacles)} obstacles>"
