"""Voxel maps as volumetric waypoint graphs: free space cut into boxes, waypoints in them and in their openings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import Motion
from wayfold.core import checks
from wayfold.core.arrays import distinct
from wayfold.core.locks import writes
from wayfold.core.schema import Array, Parts, Schema, Value
from wayfold.errors import EditError, OffMapError, ParameterError
from wayfold.formats import Map3D
from wayfold.graph import Graph
from wayfold.path import Path
from wayfold.waypoints import _voxel_kernels
from wayfold.waypoints.editing import Edit, edges_from
from wayfold.waypoints.regions import Regions, grid_boxes
from wayfold.waypoints.waypoints import Place, WaypointGraph

_LARGEST_REGION = 1 << 20  # voxels along a side
_OPENINGS = 4  # of a box, in the mean, for which there is room at once
_FULL = 12  # up to so many openings of a box are all joined with each other


def _voxels_fit(parts: Parts) -> None:
    """There are as many bits as voxels, and the last byte is filled with zeros; the graph is built again from them."""
    voxels, packed = math.prod(parts.meta["shape"]), parts.arrays["blocked"]
    if len(packed) != -(-voxels // 8) or (voxels % 8 and packed[-1] & (0xFF >> voxels % 8)):
        raise ValueError(f"there must be a bit for each of {voxels} voxels")


class VoxelSight:
    """Straight lines from a point through free voxels, and to everywhere in the free boxes (k, 6) that it touches."""

    def __init__(self, blocked: NDArray[np.bool_], point: NDArray[np.float64], boxes: NDArray[np.int32]) -> None:
        self._blocked = blocked
        self._from = tuple(point.tolist())
        self._low, self._high = boxes[:, :3] - 0.5, boxes[:, 3:] - 0.5

    def sees(self, position: NDArray[np.float64]) -> bool:
        """Whether the line to a position meets free voxels only."""
        return bool(_voxel_kernels.line_free(self._blocked, self._from, tuple(position.tolist())))

    def meets(self, other: VoxelSight) -> bool:
        """Whether the line to where another one starts meets free voxels only, or stays in one of the boxes."""
        inside = ((self._low <= other._from) & (other._from <= self._high)).all(axis=1).any()
        return bool(inside or _voxel_kernels.line_free(self._blocked, self._from, other._from))

    def furthest(self, positions: NDArray[np.float64], count: int) -> int:
        """The last of the first `count` positions that a free line leads to, -1 for none."""
        return int(_voxel_kernels.furthest_free(self._blocked, self._from, positions, count))


class Patch(NamedTuple):
    """What changes in a graph when voxels change; `patch` works it out, `apply` makes the change."""

    where: tuple[slice, slice, slice]
    """The part of the map with the changed voxels."""
    closed: NDArray[np.bool_]
    """Which of them are blocked then."""
    regions: list[tuple[slice, slice, slice]]
    """The regions that are cut into boxes again."""
    boxes: NDArray[np.int32]
    """(b, 6) their free boxes."""
    dead: NDArray[np.int32]
    """Waypoints that go."""
    gone: NDArray[np.int32]
    """(e, 2) edges of others that go."""
    points: NDArray[np.float64]
    """(k, 3) new waypoints: the middles of the boxes, then openings."""
    home: NDArray[np.int32]
    """(k, 2) their regions."""
    edges: NDArray[np.int32]
    """(e, 2) new edges; numbers from the number of waypoints on are the new waypoints."""


@checks.checked
class VoxelWaypoints(WaypointGraph):
    """A waypoint graph over a voxel map, for characters that fly (`Motion.VOLUMETRIC`).

    Each block of voxels is a region. Its free voxels are cut into boxes; the middle of a box is a local waypoint, and
    so is the middle of every face that two boxes share (a boundary waypoint where they lie in different regions). A
    straight line inside a box is free, so a path exists exactly when one exists from voxel face to voxel face, which is
    what the benchmark's 26 moves come down to. Voxel (x, y, z) has its middle at the point (x, y, z).

    >>> blocked = np.zeros((5, 5, 5), np.bool_)
    >>> blocked[2, :, :4] = True
    >>> free = VoxelWaypoints.from_voxels(blocked)
    >>> path = free.path((0, 2, 0), (4, 2, 0))
    >>> path.points[:, 2].max().item(), path.smooth().length < 11
    (4.0, True)
    """

    blocked: NDArray[np.bool_]
    numbers: NDArray[np.int32]  # (X, Y, Z), the waypoint of the box that each voxel is in, -1 where it is blocked
    region_size: int
    _boxes: NDArray[np.int32]  # (n, 6), the box of each waypoint in the middle of one, 0 for those in openings
    _held: bool  # whether others hold `numbers`, so that they are copied before they change
    _from_voxels: int | None  # edits after which the graph was that of the voxels; None while it follows them

    @classmethod
    def from_voxels(cls, world: Map3D | ArrayLike, *, region_size: int = 16) -> VoxelWaypoints:
        """Build the graph of the free voxels of a map.

        Parameters
        ----------
        world : Map3D, or (X, Y, Z) array_like of bool
            True where blocked.
        region_size : int, voxels, >= 2
            Side of the regions. Smaller ones cut large rooms into more boxes.

        Examples
        --------
        >>> free = VoxelWaypoints.from_voxels([[[False, False, True], [False, True, True]]])
        >>> free.bounds.tolist()
        [[-0.5, -0.5, -0.5], [0.5, 1.5, 2.5]]
        >>> free.reachable((0, 0, 1), (0, 1, 0))
        True
        """
        if isinstance(world, Map3D):
            blocked = world.dense()
        else:
            given = checks.numbers(world, "world", "a Map3D or an (X, Y, Z) array of truth values", bools=True)
            blocked = checks.clean(given.astype(np.bool_, copy=False))
        if blocked.ndim != 3 or blocked.size == 0:
            raise ParameterError(f"a voxel map has three dimensions, not shape {blocked.shape}")
        size = checks.whole(region_size, "region_size", low=2, high=_LARGEST_REGION)
        shape = _regions_along(blocked.shape, size)
        boxes, regions = _all_boxes(blocked, size)
        if not len(boxes):
            raise OffMapError("every voxel is blocked: there is no place for a waypoint")
        numbers = np.full(blocked.shape, -1, np.int32)
        _voxel_kernels.box_numbers(boxes, 0, numbers)
        graph, of = _join(boxes, regions, *_openings(boxes, numbers))
        cut = grid_boxes(np.full(3, -0.5), np.full(3, float(size)), shape)
        result = cls(graph, Regions.from_pairs(cut, of, shape))
        result.blocked = blocked
        result.numbers = numbers
        result.region_size = size
        result._boxes = np.zeros((graph.num_nodes, 6), np.int32)
        result._boxes[: len(boxes)] = boxes
        result._held = False
        result._from_voxels = result.edits
        return result

    @writes
    def _follow(self, patch: Patch, numbers: NDArray[np.int32]) -> None:
        """Take over changed voxels, after `update` and `splice` have changed the graph.

        Parameters
        ----------
        patch : Patch
        numbers : (k,) int32
            The waypoints that `splice` has put its points at.
        """
        self.blocked = self.blocked.copy()  # paths hold it for smoothing
        self.blocked[patch.where] = patch.closed
        if self._held:
            self.numbers, self._held = self.numbers.copy(), False
        for region in patch.regions:
            self.numbers[region] = -1
        for (x, y, z, x_end, y_end, z_end), number in zip(patch.boxes.tolist(), numbers.tolist(), strict=False):
            self.numbers[x:x_end, y:y_end, z:z_end] = number
        boxes = np.zeros((self.num_waypoints, 6), np.int32)
        boxes[: len(self._boxes)] = self._boxes
        boxes[patch.dead] = 0
        boxes[numbers] = 0
        boxes[numbers[: len(patch.boxes)]] = patch.boxes
        self._boxes = boxes

    @writes
    def trim(self) -> Edit | None:
        """Give back memory that edits have taken and no longer need, as `WaypointGraph.trim` does.

        >>> free = VoxelWaypoints.from_voxels([[[False, False, True], [False, True, True]]])
        >>> free.trim() is None
        True
        """
        with self._following():
            edit = super().trim()
            self._boxes = self._boxes[: self.num_waypoints]
        return edit

    @contextmanager
    def _following(self) -> Iterator[None]:
        """Edits that keep the graph that of the voxels."""
        own = self._from_voxels == self.edits
        if own:
            self._from_voxels = None
        try:
            yield
        finally:
            if own:
                self._from_voxels = self.edits

    def frozen(self, motions: Motion) -> WaypointGraph:
        """Return a copy for `between` that keeps the waypoints and voxels of this moment; see `WaypointGraph.frozen`.

        >>> free = VoxelWaypoints.from_voxels([[[False, False, True], [False, True, True]]])
        >>> now = free.frozen(Motion.VOLUMETRIC)
        >>> now.between((0, 0, 1), (0, 0, 0), Motion.VOLUMETRIC, now.graph.path).length
        1.0
        """
        self._held = True
        return super().frozen(motions)

    @property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3) float64, low and high corner of the map, voxels."""
        return np.array([np.full(3, -0.5), np.array(self.blocked.shape) - 0.5])

    @property
    def default_motions(self) -> Motion:
        """Flying."""
        return Motion.VOLUMETRIC

    def place(self, where: Any, motions: Motion, name: str) -> Place:
        """Check a start or goal of queries once; it enters the graph in the middle of the box that it lies in.

        A point on a border belongs to every voxel that touches it, and enters through each of their boxes.

        Raises
        ------
        OffMapError
            When the point lies outside the map, or only in blocked voxels.

        Examples
        --------
        >>> free = VoxelWaypoints.from_voxels([[[False, False, True], [False, True, True]]])
        >>> start = free.place((0, 0, 0.7), Motion.VOLUMETRIC, "start")
        >>> free.between(start, (0, 1, 0), Motion.VOLUMETRIC, free.graph.path).found
        True
        """
        if isinstance(where, (int, np.integer)) and not isinstance(where, bool):
            return super().place(where, motions, name)
        point = checks.point3(where, name)
        first = np.maximum(np.ceil(point - 0.5), 0).astype(np.int64)
        last = np.minimum(np.floor(point + 0.5) + 1, self.blocked.shape).astype(np.int64)
        if (first >= last).any():
            raise OffMapError(f"{name} {point.tolist()} lies outside the map of {self.blocked.shape} voxels")
        numbers = self.numbers[tuple(slice(a, b) for a, b in zip(first, last, strict=True))]
        touched = np.unique(numbers[numbers >= 0])
        if not len(touched):
            raise OffMapError(f"{name} {point.tolist()} lies in a blocked voxel")
        boxes = self._boxes[touched]
        # By place: numbers depend on earlier edits.
        order = np.lexsort(boxes.T[2::-1])
        nodes = tuple(touched[order].tolist())
        return Place(name, point, VoxelSight(self.blocked, point, boxes), nodes[0], nodes[1:])

    def _smoother(self, motions: Motion) -> Callable[[Path], Path]:
        blocked = self.blocked
        return lambda path: _smoothed(path, blocked)

    _SCHEMA = Schema(
        "voxel-waypoints",
        {"blocked": Array("uint8", ("bytes",), "whether each voxel is blocked, eight to a byte")},
        {
            "shape": Value(list, "voxels along x, y and z", each=Value(int, "", 1, 2**31 - 1), length=3),
            "region_size": Value(int, "voxels along a region", 2, 2**31 - 1),
        },
        checks=(_voxels_fit,),
    )

    def _to_parts(self) -> Parts:
        known = self._from_voxels
        if known is not None and known != self.edits and known == self._from_voxels:  # no edit has begun meanwhile
            raise EditError(
                "a file of voxels would lose what update or splice changed of the waypoints: block voxels through a "
                "World, or save WaypointGraph.from_graph of the graph"
            )
        meta = {"shape": list(self.blocked.shape), "region_size": self.region_size}
        return Parts({"blocked": np.packbits(self.blocked.reshape(-1))}, meta)

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        shape = tuple(parts.meta["shape"])
        bits = np.unpackbits(parts.arrays["blocked"], count=math.prod(shape))
        made: Any = cls.from_voxels(bits.reshape(shape).astype(np.bool_), region_size=parts.meta["region_size"])
        return made  # type: ignore[no-any-return]


def _smoothed(path: Path, blocked: NDArray[np.bool_]) -> Path:
    """The path with shortcuts through free voxels."""
    points = path.points
    # Forwards and backwards: what one direction misses the other finds.
    for _ in range(2):
        kept = np.empty(len(points), np.int64)
        count = _voxel_kernels.voxel_shortcuts(blocked, points, kept)
        points = np.ascontiguousarray(points[kept[:count]][::-1])
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    return Path(path.status, points, cost=length, expanded=path.expanded, timings=path.timings)


def _regions_along(voxels: tuple[int, ...], size: int) -> tuple[int, int, int]:
    """Numbers of regions along the axes."""
    x, y, z = (-(-side // size) for side in voxels)
    return x, y, z


def _all_boxes(blocked: NDArray[np.bool_], size: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Free boxes of all regions, region by region, and the region of each."""
    shape = _regions_along(blocked.shape, size)
    cells = np.array(list(np.ndindex(shape)))
    return _boxes_of(blocked, size, cells, shape)


def _boxes_of(
    blocked: NDArray[np.bool_], size: int, cells: NDArray[np.int64], shape: tuple[int, int, int]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Free boxes of some regions of an array of voxels, and the region of each; `shape` numbers the regions."""
    taken = np.zeros(blocked.shape, np.bool_)
    room = np.empty((math.prod(min(size, side) for side in blocked.shape), 6), np.int32)
    found, counts = [np.empty((0, 6), np.int32)], []
    for cell in cells.tolist():
        low = cell[0] * size, cell[1] * size, cell[2] * size
        high = tuple(min(at + size, side) for at, side in zip(low, blocked.shape, strict=True))
        count = _voxel_kernels.free_boxes(blocked, taken, low, high, room)
        found.append(room[:count].copy())
        counts.append(count)
    regions = np.repeat(_region_numbers(cells, shape), np.array(counts, np.int64)).astype(np.int32)
    return np.concatenate(found), regions


def _region_numbers(cells: NDArray[np.int64], shape: tuple[int, int, int]) -> NDArray[np.int64]:
    return np.asarray((cells[:, 0] * shape[1] + cells[:, 1]) * shape[2] + cells[:, 2])


def _openings(boxes: NDArray[np.int32], numbers: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    room, count = _OPENINGS * len(boxes), -1
    while count < 0 or count > room:
        room = max(room, count)
        pairs, places = np.empty((room, 2), np.int32), np.empty((room, 3), np.float32)
        count = int(_voxel_kernels.openings(boxes, numbers, pairs, places))
    return pairs[:count].copy(), places[:count].copy()


def _join(
    boxes: NDArray[np.int32], regions: NDArray[np.int32], pairs: NDArray[np.int32], places: NDArray[np.float32]
) -> tuple[Graph, NDArray[np.int32]]:
    """The graph of box middles and openings, and the regions of each."""
    count = len(boxes)
    doors = count + np.arange(len(pairs))
    owner = np.concatenate([pairs[:, 0], pairs[:, 1]])
    door = np.concatenate([doors, doors])
    joined = np.concatenate([np.column_stack([owner, door]), _across(owner, door)[0]])
    motions = np.full(len(joined), int(Motion.VOLUMETRIC), np.uint8)
    graph = Graph.from_edges(np.concatenate([_middles(boxes), places]), joined, motions=motions)
    return graph, _homes(regions, regions[pairs])


def _middles(boxes: NDArray[np.int32]) -> NDArray[np.float32]:
    return ((boxes[:, :3] + boxes[:, 3:] - 1) / 2).astype(np.float32)


def _homes(regions: NDArray[np.int32], pairs: NDArray[np.int32]) -> NDArray[np.int32]:
    """Regions of the middles of boxes, and of openings between regions."""
    of = np.full((len(regions) + len(pairs), 2), -1, np.int32)
    of[: len(regions), 0] = regions
    doors = of[len(regions) :]
    doors[:, 0] = pairs[:, 0]
    across = pairs[:, 0] != pairs[:, 1]
    doors[across, 1] = pairs[across, 1]
    return of


def _across(owner: NDArray[Any], door: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Edges between all openings of boxes with few of them, and the box of each; `owner` has the box of each `door`."""
    order = np.lexsort((door, owner))
    owner, door = owner[order], door[order]
    degree = np.bincount(owner)
    start = np.cumsum(degree) - degree
    place = np.arange(len(owner)) - start[owner]
    edges, boxes = [np.empty((0, 2), door.dtype)], [np.empty(0, owner.dtype)]
    for gap in range(1, _FULL):
        # Openings of one box that stand `gap` apart in its list.
        at = np.flatnonzero((degree[owner] <= _FULL) & (place + gap < degree[owner]))
        edges.append(np.column_stack([door[at], door[at + gap]]))
        boxes.append(owner[at])
    return np.concatenate(edges), np.concatenate(boxes)


def patch(waypoints: VoxelWaypoints, where: tuple[slice, slice, slice], closed: NDArray[np.bool_]) -> Patch | None:
    """What has to change when some voxels do; None for nothing. Nothing is changed yet.

    The regions with changed voxels are cut into boxes again, and joined with the boxes beside them; the rest of the
    graph stays. Afterwards the graph is that of `from_voxels`, up to the numbers of waypoints.

    Parameters
    ----------
    waypoints : VoxelWaypoints
    where : three slices
        A part of the map.
    closed : bool array of the shape of that part
        Which of its voxels are blocked then.

    Raises
    ------
    OffMapError
        When every voxel is blocked then.
    """
    with waypoints.lock.reading():
        return _patched(waypoints, where, closed)


def apply(waypoints: VoxelWaypoints, changes: Patch) -> Iterator[Edit]:
    """Change voxels and graph step by step; every edit must be passed on (to subregions) before the next step."""
    motions = np.full(len(changes.edges), int(Motion.VOLUMETRIC), np.uint8)
    with waypoints._following():
        yield waypoints.update(remove=changes.gone, remove_waypoints=changes.dead)
        edit, numbers = waypoints.splice(changes.points, changes.home, changes.edges, motions)
        waypoints._follow(changes, numbers)
    yield edit


def _patched(waypoints: VoxelWaypoints, where: tuple[slice, slice, slice], closed: NDArray[np.bool_]) -> Patch | None:
    size, voxels = waypoints.region_size, np.array(waypoints.blocked.shape)
    shape = _regions_along(waypoints.blocked.shape, size)
    changed = np.argwhere(waypoints.blocked[where] != closed)
    if not len(changed):
        return None
    inner = tuple(slice(int(a), int(b) + 1) for a, b in zip(changed.min(axis=0), changed.max(axis=0), strict=True))
    changed += [side.start for side in where]
    touched = distinct(changed // size).rows
    # A window of the regions with changes and those around them: no box leaves its region.
    first, last = np.maximum(touched.min(axis=0) - 1, 0), np.minimum(touched.max(axis=0) + 2, shape)
    origin, end = first * size, np.minimum(last * size, voxels)
    window = waypoints.blocked[tuple(map(slice, origin, end))].copy()
    low = changed.min(axis=0)
    x, y, z = (slice(int(a), int(b) + 1) for a, b in zip(low, changed.max(axis=0), strict=True))
    window[tuple(slice(side.start - int(a), side.stop - int(a)) for side, a in zip((x, y, z), origin, strict=True))] = (
        closed[inner]
    )
    fresh, _ = _boxes_of(window, size, touched - first, shape)
    homes = _region_numbers((fresh[:, :3] + origin) // size, shape).astype(np.int32)
    beside = np.stack(np.meshgrid(*(np.arange(a, b) for a, b in zip(first, last, strict=True)), indexing="ij"), axis=-1)
    old = _boxes_in(waypoints, _region_numbers(beside.reshape(-1, 3), shape))
    redone = np.isin(waypoints.layout.of[old, 0], _region_numbers(touched, shape))
    going, old = old[redone], old[~redone]
    if not len(fresh) and not len(old) and _count_boxes(waypoints) == len(going):
        raise OffMapError("every voxel is blocked: there is no place for a waypoint")
    _, doors = edges_from(waypoints.graph, going)
    dead = np.unique(doors)
    # Openings of the new boxes.
    boxes = np.concatenate([fresh, waypoints._boxes[old] - np.tile(origin, 2).astype(np.int32)])
    numbers = np.full(window.shape, -1, np.int32)
    _voxel_kernels.box_numbers(boxes, 0, numbers)
    pairs, places = _openings(boxes, numbers)
    kept = (pairs < len(fresh)).any(axis=1)
    pairs, places = pairs[kept], places[kept]
    total = waypoints.num_waypoints
    node = np.concatenate([total + np.arange(len(fresh)), old]).astype(np.int32)
    new = total + len(fresh) + np.arange(len(pairs), dtype=np.int32)
    owner, door = np.concatenate([pairs[:, 0], pairs[:, 1]]), np.concatenate([new, new])
    # Boxes beside them keep their other openings; how many there are decides whether all of them are joined.
    number, passage = edges_from(waypoints.graph, old)
    before = np.bincount(number, minlength=len(old))
    stays = ~np.isin(passage, dead)
    concerned = np.zeros(len(boxes), np.bool_)
    concerned[owner] = True
    concerned[len(fresh) + number[~stays]] = True
    stays &= concerned[len(fresh) + number]
    number, passage = number[stays], passage[stays]
    edges, box = _across(np.concatenate([owner, len(fresh) + number]), np.concatenate([door, passage]))
    few = np.concatenate([np.zeros(len(fresh), np.bool_), before <= _FULL])
    edges = edges[(edges >= total).any(axis=1) | ~few[box]]
    after = np.bincount(np.concatenate([owner, len(fresh) + number]), minlength=len(boxes))
    # What they were joined by while there were few.
    many = (few & (after > _FULL))[len(fresh) + number]
    gone, _ = _across(number[many], passage[many])
    regions = np.concatenate([homes, waypoints.layout.of[old, 0]])
    return Patch(
        (x, y, z),
        closed[inner].copy(),
        [_voxels_of(cell, size) for cell in touched.tolist()],
        fresh + np.tile(origin, 2).astype(np.int32),
        np.concatenate([going, dead]).astype(np.int32),
        gone.astype(np.int32),
        np.concatenate([_middles(fresh), places]).astype(np.float64) + origin,
        _homes(homes, regions[pairs]),
        np.concatenate([np.column_stack([node[owner], door]), edges]).astype(np.int32),
    )


def _voxels_of(cell: list[int], size: int) -> tuple[slice, slice, slice]:
    x, y, z = (slice(at * size, (at + 1) * size) for at in cell)
    return x, y, z


def _count_boxes(waypoints: VoxelWaypoints) -> int:
    return int(np.count_nonzero((waypoints._boxes[:, 3] > 0) & ~waypoints.removed))


def _boxes_in(waypoints: VoxelWaypoints, regions: NDArray[np.int64]) -> NDArray[np.int32]:
    """The waypoints in the middles of the boxes of some regions."""
    nodes = waypoints.layout.waypoints_in(regions)
    return np.asarray(nodes[(waypoints._boxes[nodes, 3] > 0) & ~waypoints.removed[nodes]])
