"""Changes of a world that must not change an answer: where it lies, how it is turned, how it is cut and written down.

A `Placement` moves points: turned or mirrored, scaled, then shifted. The functions below it cut the polygons of a
`PolygonWorld` in other ways or write them in another order; they say by how far they moved a border, in metres.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import shapely

# --- where a world lies ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Placement:
    """An orthogonal matrix, a scale and a shift, applied in this order."""

    name: str
    matrix: np.ndarray
    scale: float = 1.0
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __call__(self, points):
        """Points (..., 2) or (..., 3), placed."""
        points = np.asarray(points, np.float64)
        if points.shape[-1] == 2:
            return (points @ self.matrix[:2, :2].T) * self.scale + np.array(self.shift[:2])
        return (points @ self.matrix.T) * self.scale + np.array(self.shift)

    @property
    def mirrored(self):
        return np.linalg.det(self.matrix) < 0

    def then(self, other):
        """This placement followed by another one."""
        return Placement(
            f"{self.name}, {other.name}",
            other.matrix @ self.matrix,
            self.scale * other.scale,
            tuple(other(np.array(self.shift)).tolist()),
        )

    def __repr__(self):
        return self.name


HERE = Placement("as it is", np.eye(3))


def shifted(x, y, z=0.0):
    return Placement(f"shifted by ({x:g}, {y:g}, {z:g})", np.eye(3), shift=(x, y, z))


def turned(degrees):
    """About the upright axis; whole right angles without rounding."""
    if degrees % 90 == 0:
        quarters = int(degrees // 90) % 4
        c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[quarters]
    else:
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return Placement(f"turned by {degrees:g} degrees", np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))


def turned_in_space(seed):
    """About an axis in any direction, by any angle."""
    basis, triangle = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    basis = basis * np.sign(np.diag(triangle))
    if np.linalg.det(basis) < 0:
        basis[:, 0] *= -1
    return Placement(f"turned in space ({seed})", basis)


def mirrored(axis="x"):
    return Placement(f"mirrored in {axis}", np.diag([-1.0 if name == axis else 1.0 for name in "xyz"]))


def scaled(factor):
    return Placement(f"scaled by {factor:g}", np.eye(3), scale=factor)


# A national grid, the far end of what is asked for, one axis far only, the other sides of the origin.
SHIFTS = ((390_000.0, 5_820_000.0), (1e7, -1e7), (1e7, 0.0), (-1_230_000.3, 780_000.7), (5.4e6, 5.4e6), (0.1, -0.7))
ANGLES = (90.0, 180.0, 45.0, 30.0, 17.3, -71.9, 1e-7)
SCALES = (1e-3, 1e3, 0.3048, 1 / 64)


def some_placements():
    """One of each kind and two compositions: what a cheap test takes."""
    return [
        shifted(390_000.0, 5_820_000.0),
        turned(37.0),
        mirrored("x"),
        scaled(1e-3),
        turned(17.3).then(shifted(1e7, -1e7)),
        mirrored("y").then(turned(-71.9)).then(scaled(1e3)).then(shifted(-1_230_000.3, 780_000.7)),
    ]


def all_placements():
    """Every kind by itself."""
    kinds = [shifted(*shift) for shift in SHIFTS] + [turned(angle) for angle in ANGLES]
    return [*kinds, mirrored("x"), mirrored("y"), *(scaled(factor) for factor in SCALES)]


def drawn_placement(seed):
    """A composition drawn at random: mirrored or not, any angle, any scale, any shift up to 1e7 m."""
    draw = np.random.default_rng([seed, 15])
    placement = mirrored("x") if draw.random() < 0.5 else HERE
    angle = float(draw.choice([0.0, 90.0, 180.0, 270.0, 45.0])) if draw.random() < 0.3 else draw.uniform(-180, 180)
    placement = placement.then(turned(angle)).then(scaled(10.0 ** draw.uniform(-3, 3)))
    reach = 10.0 ** draw.uniform(0, 7)
    x, y = draw.uniform(-reach, reach, 2)
    return placement.then(shifted(float(x), float(y)))


# --- how a world of polygons is written down and cut -----------------------------------------------------------------


@dataclass(frozen=True)
class PolygonWorld:
    """Convex polygons, what they are, what joins them, and what is asked of them; metres."""

    name: str
    vertices: np.ndarray  # (n, 3)
    polygons: list  # of lists of vertex numbers
    kinds: list  # of int, one for each polygon
    pairs: np.ndarray  # (q, 2, 3) starts and goals, inside polygons
    links: tuple = ()  # of (start, end, cost or None, one_way)
    costs: tuple = ()  # of (kind, cost of a metre)
    reachable: tuple | None = None  # what is known of the pairs without any planner
    corners: np.ndarray = field(
        default_factory=lambda: np.empty((0, 3))
    )  # vertices that are asked for as starts and goals, all on borders
    moved: float = 0.0  # metres by which a change has moved a border of it
    changes: tuple = ()

    @property
    def extent(self):
        return float(np.ptp(self.vertices, axis=0).max())

    def __repr__(self):
        return ", ".join([self.name, *self.changes])


def place(world, placement):
    """The world moved by a placement; link costs grow with its scale."""
    return replace(
        world,
        vertices=placement(world.vertices),
        pairs=placement(world.pairs),
        corners=placement(world.corners),
        links=tuple(
            (placement(a), placement(b), None if cost is None else cost * placement.scale, one_way)
            for a, b, cost, one_way in world.links
        ),
        moved=world.moved * placement.scale,
        changes=(*world.changes, repr(placement)),
    )


def least_gap(world, placement):
    """Metres, before it is placed, that near-duplicate vertices lie apart: a million roundings, as at the origin.

    Where they lie nearer, rounding turns their short edge by a visible angle, and polygons are no longer convex.
    """
    reach = float(np.abs(placement(world.vertices)).max())
    return 1e6 * float(np.spacing(reach)) / placement.scale


def reordered(world, seed, least=0.0):
    """Vertices and polygons in another order, polygons from another corner, some the other way round."""
    draw = np.random.default_rng(seed)
    order = draw.permutation(len(world.vertices))
    where = np.argsort(order)
    chosen = draw.permutation(len(world.polygons))
    polygons = []
    for number in chosen:
        ring = np.roll(where[np.asarray(world.polygons[number])], draw.integers(8)).tolist()
        polygons.append(ring[::-1] if draw.random() < 0.5 else ring)
    return replace(
        world,
        vertices=world.vertices[order],
        polygons=polygons,
        kinds=[world.kinds[number] for number in chosen],
        changes=(*world.changes, f"reordered ({seed})"),
    )


class _Cutter:
    """Polygons that are cut step by step."""

    def __init__(self, world):
        self.vertices = [np.array(vertex) for vertex in world.vertices]
        self.polygons = [list(polygon) for polygon in world.polygons]
        self.kinds = list(world.kinds)
        self.extent = world.extent

    def on_edge(self, polygon, corner, part, aside=0.0):
        """Put a new vertex onto an edge, in every polygon that has the edge; `aside` metres beside it."""
        ring = self.polygons[polygon]
        a, b = ring[corner], ring[(corner + 1) % len(ring)]
        start, end = self.vertices[a], self.vertices[b]
        point = start + part * (end - start)
        if aside:
            along = end[:2] - start[:2]
            point[:2] += aside * np.array([-along[1], along[0]]) / np.hypot(*along)
        new = len(self.vertices)
        self.vertices.append(point)
        owners = []
        for number, other in enumerate(self.polygons):
            for k in range(len(other)):
                if {other[k], other[(k + 1) % len(other)]} == {a, b}:
                    other.insert(k + 1, new)
                    owners.append(number)
                    break
        return new, owners

    def chord(self, polygon, vertex):
        """Cut a polygon from one of its corners to the one that leaves the larger parts, if there is one."""
        ring = self.polygons[polygon]
        at = ring.index(vertex)
        ring = ring[at:] + ring[:at]
        smaller, cut = max(
            ((min(self.area(ring[: k + 1]), self.area([*ring[k:], vertex])), k) for k in range(2, len(ring) - 1)),
            default=(0.0, 0),
        )
        if smaller > 1e-12 * self.extent**2:  # not along a row of vertices on one line
            self.polygons[polygon] = ring[: cut + 1]
            self.polygons.append([*ring[cut:], vertex])
            self.kinds.append(self.kinds[polygon])

    def dented(self):
        """Whether a corner of a polygon turns the wrong way by more than rounding."""
        for ring in self.polygons:
            points = np.array([self.vertices[corner][:2] for corner in ring])
            before, after = points - np.roll(points, 1, axis=0), np.roll(points, -1, axis=0) - points
            turn = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
            way = np.sign(turn[np.argmax(np.abs(turn))])
            if (way * turn < -1e-14 * self.extent**2).any():
                return True
        return False

    def area(self, ring):
        """Area seen from above."""
        x, y = np.array([self.vertices[corner][:2] for corner in ring]).T
        x, y = x - x[0], y - y[0]
        return abs(float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())) / 2

    def fan(self, polygon):
        """Cut a polygon into triangles around its middle."""
        ring = self.polygons[polygon]
        middle = len(self.vertices)
        self.vertices.append(np.mean([self.vertices[corner] for corner in ring], axis=0))
        parts = [[ring[k - 1], ring[k], middle] for k in range(len(ring))]
        self.polygons[polygon] = parts[0]
        self.polygons += parts[1:]
        self.kinds += [self.kinds[polygon]] * (len(parts) - 1)

    def world(self, before, moved, change):
        return replace(
            before,
            vertices=np.array(self.vertices),
            polygons=self.polygons,
            kinds=self.kinds,
            moved=before.moved + moved,
            changes=(*before.changes, change),
        )


def subdivided(world, seed, least=0.0, cuts=6):
    """Some polygons cut: along chords, around their middles, from the middles of their edges."""
    draw = np.random.default_rng(seed)
    cutter = _Cutter(world)
    for _ in range(cuts):
        polygon = int(draw.integers(len(cutter.polygons)))
        way = draw.integers(3)
        if way == 0:
            cutter.chord(polygon, cutter.polygons[polygon][int(draw.integers(len(cutter.polygons[polygon])))])
        elif way == 1:
            cutter.fan(polygon)
        else:
            new, owners = cutter.on_edge(polygon, int(draw.integers(len(cutter.polygons[polygon]))), 0.5)
            for owner in owners:
                cutter.chord(owner, new)
    return cutter.world(world, 0.0, f"subdivided ({seed})")


def near_duplicates(world, seed, least=0.0, cuts=5):
    """Vertices 1e-6 to 1e-10 of the extent beside others, at least `least` metres, and slivers between them."""
    draw = np.random.default_rng(seed)
    cutter = _Cutter(world)
    for _ in range(cuts):
        polygon = int(draw.integers(len(cutter.polygons)))
        ring = cutter.polygons[polygon]
        corner = int(draw.integers(len(ring)))
        length = np.linalg.norm(cutter.vertices[ring[corner]] - cutter.vertices[ring[(corner + 1) % len(ring)]])
        gap = max(world.extent * 10.0 ** draw.uniform(-10, -6), least)
        start = cutter.vertices[ring[corner]]
        new = start + gap / length * (cutter.vertices[ring[(corner + 1) % len(ring)]] - start)
        apart = np.linalg.norm(np.array(cutter.vertices) - new, axis=1).min()
        if length < 1000 * gap or apart < 0.5 * gap:
            continue
        new, owners = cutter.on_edge(polygon, corner, gap / length)
        for owner in owners:
            cutter.chord(owner, new)
    return cutter.world(world, 0.0, f"near-duplicate vertices ({seed})")


def near_collinear(world, seed, least=0.0, cuts=6):
    """Vertices in the middle of edges, up to 1e-9 of the extent beside them; edges of walls too."""
    draw = np.random.default_rng(seed)
    cutter = _Cutter(world)
    moved = 0.0
    for _ in range(cuts):
        polygon = int(draw.integers(len(cutter.polygons)))
        aside = world.extent * float(draw.choice([-1, 1])) * 10.0 ** draw.uniform(-14, -9)
        corner = int(draw.integers(len(cutter.polygons[polygon])))
        part = draw.uniform(0.2, 0.8)
        ring = cutter.polygons[polygon]
        a, b = cutter.vertices[ring[corner]], cutter.vertices[ring[(corner + 1) % len(ring)]]
        back = a + part * (b - a)
        new, owners = cutter.on_edge(polygon, corner, part, aside)
        for owner in owners:  # so that all stay convex, whichever side the vertex lies on
            cutter.chord(owner, new)
        if cutter.dented():  # a vertex that lay on the same straight line is a dent now: take the new one back to it
            cutter.vertices[new] = back
        moved = max(moved, abs(aside))
    return cutter.world(world, moved, f"near-collinear vertices ({seed})")


CUTS = (reordered, subdivided, near_duplicates, near_collinear)


# --- outlines, for floor plans and weighted regions ------------------------------------------------------------------


def placed_shape(shape, placement):
    """A shapely geometry, placed; polygons stay valid whichever way round they are."""
    return shapely.transform(shape, placement)


def _rings(shape, change):
    """The shape with every ring changed."""
    parts = []
    for part in shapely.get_parts(shape):
        holes = [change(np.array(ring.coords)[:-1]) for ring in part.interiors]
        parts.append(shapely.Polygon(change(np.array(part.exterior.coords)[:-1]), holes))
    return parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)


def outlines_reordered(shapes, seed, extent):
    """Shapes in another order, rings from another corner and the other way round."""
    draw = np.random.default_rng(seed)

    def change(ring):
        ring = np.roll(ring, int(draw.integers(len(ring))), axis=0)
        return ring[::-1] if draw.random() < 0.5 else ring

    return [_rings(shapes[number], change) for number in draw.permutation(len(shapes))], 0.0


def _more_vertices(ring, parts, aside):
    """A ring with vertices at these parts of its edges, beside them by so many metres."""
    result = []
    for a, b, part, away in zip(ring, np.roll(ring, -1, axis=0), parts, aside, strict=True):
        result.append(a)
        if part:
            normal = np.array([a[1] - b[1], b[0] - a[0]]) / np.hypot(*(b - a))
            result.append(a + part * (b - a) + away * normal)
    return np.array(result)


def outlines_subdivided(shapes, seed, extent):
    """Vertices on edges, as rounded."""
    draw = np.random.default_rng(seed)

    def change(ring):
        parts = np.where(draw.random(len(ring)) < 0.6, draw.uniform(0.1, 0.9, len(ring)), 0.0)
        return _more_vertices(ring, parts, np.zeros(len(ring)))

    return [_rings(shape, change) for shape in shapes], 0.0


def outlines_near_duplicates(shapes, seed, extent):
    """Vertices 1e-6 to 1e-10 of the extent beyond a corner."""
    draw = np.random.default_rng(seed)

    def change(ring):
        lengths = np.hypot(*(np.roll(ring, -1, axis=0) - ring).T)
        parts = np.where(draw.random(len(ring)) < 0.5, extent * 10.0 ** draw.uniform(-10, -6, len(ring)) / lengths, 0)
        return _more_vertices(ring, parts, np.zeros(len(ring)))

    return [_rings(shape, change) for shape in shapes], 0.0


def outlines_near_collinear(shapes, seed, extent):
    """Vertices up to 1e-9 of the extent beside an edge, on either side."""
    draw = np.random.default_rng(seed)
    most = extent * 1e-9

    def change(ring):
        parts = np.where(draw.random(len(ring)) < 0.5, draw.uniform(0.2, 0.8, len(ring)), 0.0)
        aside = most * 10.0 ** draw.uniform(-4, 0, len(ring)) * draw.choice([-1, 1], len(ring))
        return _more_vertices(ring, parts, aside)

    return [_rings(shape, change) for shape in shapes], most


OUTLINE_CUTS = (outlines_reordered, outlines_subdivided, outlines_near_duplicates, outlines_near_collinear)
