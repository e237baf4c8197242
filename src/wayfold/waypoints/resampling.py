"""New waypoints where blocks have made free space narrow, region by region.

What is added to a region or face depends on the blocks near it and on the waypoints that were built, not on the order
of the edits: after any edits the graph has what a fresh one with the same blocks has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Motion
from wayfold.core.arrays import distinct
from wayfold.geometry import Mesh
from wayfold.geometry.bvh import new_stack
from wayfold.geometry.bvh_kernels import collect_overlapping
from wayfold.waypoints import _place_kernels, build
from wayfold.waypoints.narrow import (
    Narrow,
    beside_edges,
    crease_places,
    extent_of,
    lines_on,
    narrow_places,
    on_planes,
    ridge_places,
    ridges_of,
    shell,
    spread,
    thinned,
)
from wayfold.waypoints.surroundings import Surroundings
from wayfold.waypoints.waypoints import WaypointGraph

Points = NDArray[np.float64]
Pairs = NDArray[np.int32]
Vector = tuple[float, float, float]

_AROUND = 12.0  # radii from a block within which waypoints are added
_WIDEST = 8.0  # radii: openings up to this are looked for around blocks
_BEYOND = 9.0  # radii further away, other blocks hold balls there: as wide as the widest opening
_BAND = 4.0  # radii from a block within which ways around it lead
_GAP = 2.5  # radii between waypoints beside a block
_CLOSE = 1.2  # radii between places beside a block that are tried
_SKIRT = 1.25  # radii from a block at which one gets through an opening of twice as many
_CORNER = 1.5  # radii from an edge of a block at which a flyer turns: clear of both faces
_MOST_TRIED = 4000  # places beside one block that are tried
_UNKNOWN = 255  # for a waypoint whose motions have not been looked at yet


class WaypointSplice(NamedTuple):
    """A change of the added waypoints."""

    dead: NDArray[np.int32]
    """Waypoints that go."""
    keys: list[tuple[tuple[int, int], int]]
    """Where new waypoints belong: face or region, and how many in a row."""
    points: Points
    """(k, 3) world positions of the new ones."""
    home: Pairs
    """(k, 2) their regions."""
    gone: Pairs
    """(e, 2) edges of waypoints that stay, which are tested again."""
    edges: Pairs
    """(e, 2) new edges; numbers from the number of waypoints on are the new waypoints."""
    motions: NDArray[np.uint8]
    known: dict[int, Around]
    """What is known of the places around blocks after it."""


class Around(NamedTuple):
    """Places around a block, which stay as they are while the same others are near."""

    block: Mesh
    others: tuple[Mesh, ...]
    low: Points
    high: Points
    beside: Points
    narrow: Narrow


def resample(
    waypoints: WaypointGraph,
    surroundings: Surroundings,
    blocks: list[Mesh],
    changed: Points,
    extra: dict[tuple[int, int], NDArray[np.int32]],
    known: dict[int, Around],
    motions: int,
) -> WaypointSplice:
    """What to add around blocks after an edit, and what of the earlier additions to take away.

    Parameters
    ----------
    waypoints : WaypointGraph
        Built from a mesh; not changed.
    surroundings : Surroundings
        With all blocks after the edit.
    blocks : list of Mesh
        Those blocks, one by one, in local coordinates.
    changed : (2, 3) float64
        Box around the block that came or went, metres.
    extra : dict
        Numbers of the waypoints that earlier edits have added.
    known : dict
        What earlier edits have found around blocks; not changed.
    motions : int
        Motion bits of the edges to make.
    """
    return _Resampling(waypoints, surroundings, extra, motions).run(blocks, changed, known)


class _Resampling:
    def __init__(
        self,
        waypoints: WaypointGraph,
        surroundings: Surroundings,
        extra: dict[tuple[int, int], NDArray[np.int32]],
        motions: int,
    ) -> None:
        self.waypoints = waypoints
        self.around = surroundings
        self.extra = extra
        self.motions = motions
        layout = waypoints.layout
        assert layout.shape is not None
        low = surroundings.frame.local(layout.boxes[0, :3])
        self.cut = build.Cut(low, float(layout.boxes[0, 3] - layout.boxes[0, 0]), layout.shape)
        self.planes = build.planes_of(self.cut)
        self.inner = [levels[1:-1] for levels in self.planes]  # those between two regions
        self.strides = (layout.shape[1] * layout.shape[2], layout.shape[2], 1)
        self.world = surroundings.world()
        self.scratch = build.new_scratch()

    def run(self, blocks: list[Mesh], changed: Points, known: dict[int, Around]) -> WaypointSplice:
        """See `resample`."""
        one, two = self.around.frame.local(changed)
        box = self._grown((one, two))
        regions = self._regions(*box)
        faces = [
            (int(region), axis)
            for region in regions
            for axis in range(3)
            if self._cell(region)[axis] + 1 < self.cut.shape[axis] and region + self.strides[axis] in regions
        ]
        found = self._places(blocks, regions, known)
        # Middle and radius of every ball, and the cells that its block reaches.
        self.balls = np.concatenate([np.empty((0, 10)), *(self._with_cells(block, *block.narrow) for block in found)])
        self.beside = np.concatenate([np.empty((0, 10)), *(self._with_cells(block, block.beside) for block in found)])
        touched = {*faces, *((int(region), -1) for region in regions)}
        dead = [self.extra[key] for key in touched if key in self.extra]
        gone_nodes = np.unique(np.concatenate([np.empty(0, np.int32), *dead]))
        self.dead = np.zeros(self.waypoints.num_waypoints, np.bool_)
        self.dead[gone_nodes] = True
        self.waypoint_motions = np.full(self.waypoints.num_waypoints, _UNKNOWN, np.uint8)
        self.fresh: dict[tuple[int, int], tuple[NDArray[np.float32], NDArray[np.int32]]] = {}
        self.count = 0
        for key in faces:
            self._place_face(key)
        for region in regions:
            self._place_region(int(region))
        gone, pairs, motions = [np.empty((0, 2), np.int32)], [np.empty((0, 2), np.int32)], [np.empty(0, np.uint8)]
        for region in regions:
            lost, joined, types = self._edges(int(region))
            gone.append(lost)
            pairs.append(joined)
            motions.append(types)
        keys = sorted(self.fresh, key=lambda key: int(self.fresh[key][1][0]))
        points = [self.fresh[key][0].astype(np.float64) for key in keys]
        home = [np.tile(np.array([self._home(key)], np.int32), (len(self.fresh[key][1]), 1)) for key in keys]
        return WaypointSplice(
            gone_nodes,
            [(key, len(self.fresh[key][1])) for key in keys],
            self.around.frame.world(np.concatenate([np.empty((0, 3)), *points])),
            np.concatenate([np.empty((0, 2), np.int32), *home]),
            distinct(np.concatenate(gone)).rows,
            np.concatenate(pairs),
            np.concatenate(motions),
            self.known,
        )

    def _home(self, key: tuple[int, int]) -> tuple[int, int]:
        region, axis = key
        return region, (-1 if axis < 0 else region + self.strides[axis])

    def _grown(self, box: tuple[Points, Points]) -> tuple[Points, Points]:
        body = self.around.body
        far = _AROUND * body.radius + body.step
        up = np.array([0.0, 0.0, body.top + body.lift])
        return box[0] - far - up, box[1] + far + up

    def _cells(self, low: Points, high: Points) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first of the cells that boxes reach into along each axis, and the end of them."""
        shape = np.array(self.cut.shape)
        first = np.clip(np.floor((low - self.cut.low) / self.cut.size), 0, shape).astype(np.int64)
        last = np.clip(np.floor((high - self.cut.low) / self.cut.size) + 1, 0, shape).astype(np.int64)
        return first, last

    def _regions(self, low: Points, high: Points) -> NDArray[np.int64]:
        """Regions that a box reaches into."""
        shape = self.cut.shape
        x, y, z = (np.arange(a, b) for a, b in zip(*self._cells(low, high), strict=True))
        return np.asarray(((x[:, None, None] * shape[1] + y[:, None]) * shape[2] + z).ravel())

    def _with_cells(self, block: Around, *places: Points) -> Points:
        """Rows of four numbers, with the first cell that their block reaches and the end of those."""
        rows = np.column_stack(places)
        return np.column_stack([rows, np.tile(np.concatenate(self._cells(block.low, block.high)), (len(rows), 1))])

    def _reaching(self, rows: Points, *regions: int) -> Points:
        """The rows of `_with_cells` whose blocks reach into all of some regions.

        A block places nothing elsewhere: when it goes, nothing elsewhere is looked at.
        """
        cells = np.array([self._cell(region) for region in regions])
        first, last = cells.min(axis=0), cells.max(axis=0)
        within = (rows[:, 4:7] <= first) & (last < rows[:, 7:])
        return np.asarray(rows[within.all(axis=1)])

    def _cell(self, region: int) -> tuple[int, int, int]:
        rest, z = divmod(int(region), self.cut.shape[2])
        x, y = divmod(rest, self.cut.shape[1])
        return x, y, z

    def _bounds(self, region: int) -> tuple[Vector, Vector]:
        cell = self._cell(region)
        low = tuple(float(self.planes[d][cell[d]]) for d in range(3))
        return low, tuple(float(self.planes[d][cell[d] + 1]) for d in range(3))  # type: ignore[return-value]

    def _places(self, blocks: list[Mesh], regions: NDArray[np.int64], known: dict[int, Around]) -> list[Around]:
        """Places (k, 4) beside each block that reaches into some regions, and narrow places around it."""
        self.known = {id(block): known[id(block)] for block in blocks if id(block) in known}
        if not blocks:
            return []
        bounds = np.array([block.bounds for block in blocks])
        low, high = self._grown((bounds[:, 0], bounds[:, 1]))
        cells = np.array([self._cell(region) for region in regions]).reshape(-1, 3)
        first, last = self._cells(low, high)
        within = ((first[:, None] <= cells) & (cells < last[:, None])).all(axis=2)
        result = []
        body = self.around.body
        far = _BEYOND * body.radius + body.step + np.array([0.0, 0.0, body.top])
        for at in np.flatnonzero(np.any(within, axis=1)):
            box = low[at], high[at]
            # Balls that start in the box are held by what is a little further away, too.
            near = ((bounds[:, 0] <= high[at] + far) & (bounds[:, 1] >= low[at] - far)).all(axis=1)
            near[at] = False
            others = tuple(blocks[other] for other in np.flatnonzero(near))
            before = self.known.get(id(blocks[at]))
            # Meshes of blocks are made once, so that the same ones are the same objects.
            if before is None or [*map(id, before.others)] != [*map(id, others)]:
                before = self._places_around(blocks[at], others, box)
                self.known[id(blocks[at])] = before
            result.append(before)
        return result

    def _places_around(self, own: Mesh, others: tuple[Mesh, ...], box: tuple[Points, Points]) -> Around:
        body, around = self.around.body, self.around
        near = self._near(*box)
        beside, narrow = np.empty((0, 4)), Narrow(np.empty((0, 3)), np.empty(0))
        if self.motions & (Motion.SURFACE | Motion.ADHESIVE) and near is not None:
            beside = self._beside(own, near)
        if self.motions & Motion.VOLUMETRIC:
            # From one surface after the other: what is found does not depend on which others there are. What starts
            # from other blocks is found around those: their surroundings reach further than a ball and its faces.
            parts = [
                narrow_places(around, part, _WIDEST * body.radius, box=box, workers=1)
                for part in (own, near)
                if part is not None
            ]
            centres, radii = (np.concatenate(part) for part in zip(*parts, strict=True))
            inside = ((centres >= box[0]) & (centres <= box[1])).all(axis=1)
            narrow = Narrow(centres[inside], radii[inside])
            beside = np.concatenate([beside, self._edge_places(own)])
        return Around(own, others, *box, beside, narrow)

    def _near(self, low: Points, high: Points) -> Mesh | None:
        """The triangles of the mesh in a box."""
        tree, stack = self.around.index.tree, new_stack()
        ends = tuple(map(float, low)), tuple(map(float, high))
        count = collect_overlapping(tree, stack, *ends, np.empty(0, np.int32))
        if not count:
            return None
        triangles = np.empty(count, np.int32)
        collect_overlapping(tree, stack, *ends, triangles)
        mesh = self.around.local_mesh
        used, corners = np.unique(mesh.triangles[np.sort(triangles)], return_inverse=True)
        return Mesh(mesh.vertices[used], corners.reshape(-1, 3))

    def _beside(self, block: Mesh, near: Mesh) -> Points:
        """Places on the ground and beside walls, where a way around a block may lead."""
        body = self.around.body
        spacing = max(_CLOSE * body.radius, 0.5 * body.step)
        apart = _GAP * max(body.radius, 0.5 * body.step)
        low, high = block.bounds
        far = _BAND * body.radius + body.step
        grown = low - far - np.array([0.0, 0.0, body.lift]), high + far + np.array([0.0, 0.0, body.top])
        area = float(np.prod(np.sort(grown[1] - grown[0])[1:]))
        spots, normals, _ = spread(near, max(spacing, float(np.sqrt(area / _MOST_TRIED))), grown)
        floor = np.abs(normals[:, 2]) >= body.cosine
        hangs = ~floor | (normals[:, 2] < 0)
        stand, cling = spots[floor] + np.array([0.0, 0.0, body.lift]), spots[hangs] + body.offset * normals[hangs]
        found = np.concatenate([self._skirts(block, near, spacing, apart), self._with_feet(stand, cling, apart)])
        if self.motions & Motion.ADHESIVE:
            found = np.concatenate([self._around_edges(near, grown, apart), found])
        gap, _, _ = self.around.blocks.nearest(np.ascontiguousarray(found[:, :3]), far, workers=1)
        found = found[np.isfinite(gap) & (gap >= body.radius)]
        # Those in solids, such as below the ground, are tried in vain.
        free = np.empty(len(found), np.bool_)
        _place_kernels.outside(self.world, np.ascontiguousarray(found[:, :3]), 0, len(found), free)
        return found[free]

    def _with_feet(self, stand: Points, cling: Points, apart: float) -> Points:
        """Places on the ground, places beside walls, and at their feet, where walking and climbing join."""
        body = self.around.body
        away, _ = self.around.index.rays(cling, (0.0, 0.0, -1.0), body.lift + body.climb + body.offset, workers=1)
        foot = cling[np.isfinite(away)]
        foot[:, 2] += body.lift - away[np.isfinite(away)]
        return np.insert(np.concatenate([stand, foot, cling]), 3, apart, axis=1)

    def _skirts(self, block: Mesh, near: Mesh, spacing: float, apart: float) -> Points:
        """Places on lines along the ground and beside walls that lead past a block at a little more than the radius.

        Every opening beside the block has room for them, whatever is opposite, while of places that are spread over the
        ground none may be in it. Those where the lines cross the faces between regions come first: without one on each
        face nobody gets through.
        """
        body = self.around.body
        away = _SKIRT * max(body.radius, 0.25 * body.step)
        floor = np.abs(near.normals[:, 2]) >= body.cosine
        floors, walls, sides = near.corners[floor], near.corners[~floor], near.normals[~floor, None]
        under = -np.sign(near.normals[floor, 2])[:, None, None] * near.normals[floor, None]
        ground = floors + np.array([0.0, 0.0, body.lift])
        held = np.concatenate([floors + body.offset * under, walls + body.offset * sides, walls - body.offset * sides])
        # Whoever stands keeps head and feet from the block, too.
        tall = block.vertices.copy()
        tall[:, 2] += np.where(tall[:, 2] > block.bounds[0, 2], body.lift - body.radius, -body.top)
        found = [
            lines_on(surfaces, shell(solid, extent_of(self.around), away))
            for solid, surfaces in ((Mesh(tall, block.triangles), ground), (block, held))
        ]
        standing, holding = (lines.crossings(self.inner, body.radius) for lines in found)
        crossings = self._with_feet(standing, holding, 0.5 * body.offset)
        standing, holding = (lines.places(max(spacing, lines.length / _MOST_TRIED), 0.5 * away) for lines in found)
        return np.concatenate([crossings, self._with_feet(standing, holding, apart)])

    def _around_edges(self, near: Mesh, box: tuple[Points, Points], apart: float) -> Points:
        """Places where a climber gets over rims, around corners and from one wall to the next."""
        body = self.around.body
        ridges = ridges_of(near, body.cosine)
        around, rims = ridge_places(near, ridges, body.offset, body.lift, body.cosine, apart)
        creases = crease_places(near, body.offset, body.cosine, apart)
        places = np.concatenate([rims[:, :3], rims[:, 3:], around, creases])
        inside = ((places >= box[0]) & (places <= box[1])).all(axis=1)
        # One above a rim and one beside it are close together.
        return np.insert(places[inside], 3, 0.5 * body.offset, axis=1)

    def _edge_places(self, block: Mesh) -> Points:
        """Places beside the edges of a block, where a flyer turns."""
        body = self.around.body
        spacing = max(_BAND * body.radius, body.step)
        places = beside_edges(block, extent_of(self.around), _CORNER * max(body.radius, 0.25 * body.step), spacing)
        lower = places[places[:, 2] < block.bounds[0, 2]] - np.array([0.0, 0.0, body.top])
        places = np.concatenate([places, lower])
        return np.column_stack([places, np.full(len(places), 0.5 * spacing)])

    def _kept(self, region: int) -> NDArray[np.int32]:
        """Waypoints of a region that stay and that are of use.

        Waypoints in a block or too close to one are not: they would keep new ones away from places where there is room.
        """
        layout = self.waypoints.layout
        members = layout.members[layout.offsets[region] : layout.offsets[region + 1]]
        members = members[~self.dead[members] & ~self.waypoints.removed[members]]
        new = members[self.waypoint_motions[members] == _UNKNOWN]
        if len(new):
            waypoint_motions = np.empty(len(new), np.uint8)
            points = self.waypoints.local_points()[new].astype(np.float32)
            _place_kernels.find_motions(self.world, self.around.body, points, waypoint_motions)
            self.waypoint_motions[new] = waypoint_motions
        return members[self.waypoint_motions[members] > 0]

    def _given(self, nodes: NDArray[np.int32]) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
        points, waypoint_motions = build.new_room()
        count = min(len(nodes), len(waypoint_motions))
        points[:count] = self.waypoints.local_points()[nodes[:count]]
        waypoint_motions[:count] = self.waypoint_motions[nodes[:count]]
        return points, waypoint_motions

    def _note(self, key: tuple[int, int], points: NDArray[np.float32]) -> None:
        if len(points):
            numbers = self.waypoints.num_waypoints + self.count + np.arange(len(points), dtype=np.int32)
            self.count += len(points)
            self.fresh[key] = points.copy(), numbers.astype(np.int32)

    def _place_face(self, key: tuple[int, int]) -> None:
        region, axis = key
        other = region + self.strides[axis]
        low, high = self._bounds(region)
        flat = tuple(high[d] if d == axis else low[d] for d in range(3))
        level, max_distance = high[axis], self.around.body.near
        planes = [np.array([level]) if d == axis else self.planes[d][1:-1] for d in range(3)]
        narrow = self._narrow(self._reaching(self.balls, region, other), flat, high, 1.3)
        beside = self._reaching(self.beside, region, other)[:, :4]
        beside = beside[np.abs(beside[:, axis] - level) <= max_distance]
        beside[:, axis] = level
        narrow_spots, beside = (
            np.ascontiguousarray(places[((places[:, :3] >= flat) & (places[:, :3] <= high)).all(axis=1)])
            for places in (on_planes(self.around, narrow, axis, planes, 1)[0], beside)
        )
        if not len(narrow_spots) and not len(beside):
            return
        of = self.waypoints.layout.of
        nodes = self._kept(region)
        nodes = nodes[(of[nodes, 0] == region) & (of[nodes, 1] == other)]
        points, waypoint_motions = self._given(nodes)
        count = len(nodes)
        for add, places in ((_place_kernels.add_narrow, narrow_spots), (_place_kernels.add_places, beside)):
            count = add(self.world, self.around.body, flat, high, self.motions, places, points, waypoint_motions, count)
        self._note(key, points[len(nodes) : count])

    def _narrow(self, balls: Points, low: tuple[float, ...], high: tuple[float, ...], share: float) -> Narrow:
        """Balls, rows of `balls`, whose middles are in a box, or a share of their radii from it.

        Blocks whose surroundings overlap find the same places: of those as close as this one is enough.
        """
        far = share * balls[:, 3:4]
        balls = balls[((balls[:, :3] >= low - far) & (balls[:, :3] <= high + far)).all(axis=1)]
        return thinned(Narrow(balls[:, :3], balls[:, 3]), self.around.body)

    def _faces_of(self, region: int) -> list[tuple[int, int]]:
        keys = [(region, axis) for axis in range(3)]
        return keys + [(region - self.strides[axis], axis) for axis in range(3) if self._cell(region)[axis] > 0]

    def _members(self, region: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Waypoints of a region, with the new ones on its faces, and the positions of those."""
        fresh = [self.fresh[key] for key in self._faces_of(region) if key in self.fresh]
        nodes = np.concatenate([self._kept(region), *(numbers for _, numbers in fresh)]).astype(np.int32)
        return nodes, np.concatenate([np.empty((0, 3), np.float32), *(points for points, _ in fresh)])

    def _filled(self, region: int) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.uint8], int]:
        """Waypoints of a region, their positions and motions: those that were built, then added ones by position.

        What is placed next depends on the order of those before it, which must not be that of the edits.
        """
        nodes, fresh = self._members(region)
        old = nodes[: len(nodes) - len(fresh)]
        where = np.concatenate([self.waypoints.local_points()[old].astype(np.float32), fresh])
        known = np.concatenate([self.waypoint_motions[old], np.full(len(fresh), _UNKNOWN, np.uint8)])
        added = nodes >= self.waypoints.built
        order = np.lexsort((*np.where(added[:, None], where, np.float32(0)).T[::-1], added))
        points, waypoint_motions = build.new_room()
        count = min(len(nodes), len(waypoint_motions))
        order = order[:count]
        points[:count], waypoint_motions[:count] = where[order], known[order]
        new = np.flatnonzero(waypoint_motions[:count] == _UNKNOWN)
        found = np.empty(len(new), np.uint8)
        _place_kernels.find_motions(self.world, self.around.body, np.ascontiguousarray(points[new]), found)
        waypoint_motions[new] = found
        return nodes[order], points, waypoint_motions, count

    def _place_region(self, region: int) -> None:
        low, high = self._bounds(region)
        beside = self._reaching(self.beside, region)[:, :4]
        beside = np.ascontiguousarray(beside[((beside[:, :3] > low) & (beside[:, :3] < high)).all(axis=1)])
        narrow = self._narrow(self._reaching(self.balls, region), low, high, 0.0)
        tight = np.column_stack([narrow.centres, narrow.radii])
        if not len(beside) and not len(tight):
            return
        _, points, waypoint_motions, given = self._filled(region)
        body, world = self.around.body, self.world
        count = _place_kernels.add_places(world, body, low, high, self.motions, beside, points, waypoint_motions, given)
        max_distance = 2.0 * self.cut.size / build.LEVELS
        tried = np.ascontiguousarray(np.concatenate([tight, beside]))
        # Those in narrow places are for flyers only.
        for wanted, more in ((Motion.VOLUMETRIC, tried), (Motion.SURFACE | Motion.ADHESIVE, beside)):
            usable = int(self.motions & wanted)
            count = _place_kernels.add_joining(
                world, body, low, high, max_distance, usable, more, self.scratch, points, waypoint_motions, count
            )
        self._note((region, -1), points[given:count])

    def _edges(self, region: int) -> tuple[Pairs, Pairs, NDArray[np.uint8]]:
        """Edges to test again, and edges of the waypoints that blocks have added."""
        nodes, points, waypoint_motions, count = self._filled(region)
        if (region, -1) in self.fresh:
            own, numbers = self.fresh[region, -1]
            room = min(len(numbers), len(waypoint_motions) - count)
            points[count : count + room] = own[:room]
            _place_kernels.find_motions(
                self.world, self.around.body, points[count : count + room], waypoint_motions[count : count + room]
            )
            nodes, count = np.concatenate([nodes, numbers[:room]]), count + room
        # Those that were built first, since their edges are there already.
        total = self.waypoints.num_waypoints
        extra = nodes >= self.waypoints.built
        order = np.argsort(extra, kind="stable")
        nodes = nodes[order]
        points[:count], waypoint_motions[:count] = points[:count][order], waypoint_motions[:count][order]
        first = count - int(extra.sum())
        if first == count:
            return np.empty((0, 2), np.int32), np.empty((0, 2), np.int32), np.empty(0, np.uint8)
        home = self._homes(nodes, total)
        faces = np.where(home[:, 1] == region, home[:, 0], -1).astype(np.int32)
        room = (count - first) * count
        starts, ends, motions = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.uint8)
        found = _place_kernels.edges_with_new(
            self.world,
            self.around.body,
            points,
            waypoint_motions,
            faces,
            first,
            count,
            self.motions,
            starts,
            ends,
            motions,
        )
        pairs = np.column_stack([nodes[starts[:found]], nodes[ends[:found]]]).astype(np.int32)
        return self._again(region, nodes, home), pairs, motions[:found].copy()

    def _homes(self, nodes: NDArray[np.int32], total: int) -> Pairs:
        home = np.empty((len(nodes), 2), np.int32)
        old = nodes < total
        home[old] = self.waypoints.layout.of[nodes[old]]
        lookup = {int(number): self._home(key) for key, (_, numbers) in self.fresh.items() for number in numbers}
        for at in np.flatnonzero(~old):
            home[at] = lookup[int(nodes[at])]
        return home

    def _again(self, region: int, nodes: NDArray[np.int32], home: Pairs) -> Pairs:
        """Edges inside a region of added waypoints that stay: they are tested again."""
        waypoints, graph = self.waypoints, self.waypoints.graph
        assert graph.motions is not None
        stay = (nodes >= waypoints.built) & (nodes < waypoints.num_waypoints)
        found = [np.empty((0, 2), np.int32)]
        of = waypoints.layout.of
        for node, own in zip(nodes[stay], home[stay], strict=True):
            row = slice(graph.offsets[node], graph.offsets[node + 1])
            ends = graph.targets[row][graph.motions[row] > 0]
            ends = ends[(of[ends] == region).any(axis=1) & ~self.dead[ends]]
            # Between two of one face the lower region decides.
            ends = ends[~((of[ends] == own).all(axis=1) & (own[1] == region))]
            found.append(np.sort(np.column_stack([np.full(len(ends), node), ends]), axis=1).astype(np.int32))
        return np.concatenate(found)
