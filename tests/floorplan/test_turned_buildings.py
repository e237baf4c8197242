"""The same house turned, moved, mirrored, scaled, subdivided or reordered is joined by ways of the same length."""

from __future__ import annotations

import numpy as np
import pytest

from tests.draws import seeds
from tests.floorplan.test_plan import box_mesh
from wayfold import Agent, Mesh
from wayfold.floorplan import METHODS, Building, ground_planes

pytestmark = pytest.mark.kernels

TOLERANCE = 1e-4  # metres for an agent of 0.4 m: slices are exact to a thousandth of its radius


def slab(x1, y1, hole, low, high):
    """A floor of x1 by y1 m with an opening, as four boxes around it."""
    a, b, c, d = hole
    parts = ((0, 0, a, y1), (c, 0, x1, y1), (a, 0, c, b), (a, d, c, y1))
    return [box_mesh((x, y, low), (u, v, high)) for x, y, u, v in parts]


def wedge(x0, y0, x1, y1, top):
    """A solid ramp that rises along x from the ground to `top`."""
    vertices = [(x0, y0, 0), (x1, y0, 0), (x1, y0, top), (x0, y1, 0), (x1, y1, 0), (x1, y1, top)]
    return Mesh(vertices, [(0, 1, 2), (3, 5, 4), (0, 2, 5), (0, 5, 3), (0, 3, 4), (0, 4, 1), (1, 4, 5), (1, 5, 2)])


def stairs(steps, rise, run, width, begin=0.0):
    """Two floors of 12 x 8 m, the upper one with an opening over straight stairs of box steps."""
    top = steps * rise
    parts = [box_mesh((0, 0, -0.3), (12, 8, 0))]
    parts += slab(12, 8, (3 + begin, 3, 3 + steps * run, 3 + width), top - 0.2, top)
    parts += [box_mesh((3 + k * run, 3, 0), (3 + (k + 1) * run, 3 + width, (k + 1) * rise)) for k in range(steps)]
    return Mesh.concatenate(parts)


def ramp():
    """Two floors of 14 x 8 m, the upper one with an opening over a solid ramp."""
    return Mesh.concatenate(
        [box_mesh((0, 0, -0.3), (14, 8, 0)), *slab(14, 8, (3, 3, 10, 4.4), 2.8, 3.0), wedge(3, 3, 10, 4.4, 3.0)]
    )


def side_ramp():
    """A ramp whose foot stands at a wall, so that it is entered from its sides, where it is still low."""
    parts = [box_mesh((0, 0, -0.3), (12, 9, 0)), box_mesh((0, 4, -0.3), (0.4, 6, 3)), wedge(0.4, 4, 6.4, 6, 2.4)]
    return Mesh.concatenate([*parts, box_mesh((6.4, 0, 2.2), (12, 9, 2.4))])


def sheet_ramp():
    """A ramp that is a single sheet, up to a gallery over a part of the floor."""
    sheet = Mesh([(2, 4, 0), (10, 4, 3), (10, 6, 3), (2, 6, 0)], [(0, 1, 2), (0, 2, 3)])
    return Mesh.concatenate([box_mesh((0, 0, -1), (20, 10, 0)), box_mesh((10, 0, 2.7), (20, 10, 3)), sheet])


HOUSES = {
    "stairs": (stairs(15, 0.2, 0.3, 1.2), (1, 1, 0), (1, 6, 3)),
    "17 steps": (stairs(17, 0.17, 0.28, 1.2), (1, 1, 0), (1, 6, 17 * 0.17)),
    "steps of half a climb": (stairs(12, 0.25, 0.25, 1.5), (1, 1, 0), (1, 6, 3)),
    "short opening": (stairs(15, 0.2, 0.3, 1.2, 0.9), (10, 1, 0), (1, 6, 3)),
    "ramp": (ramp(), (1, 1, 0), (1, 6, 3)),
    "side of a ramp": (side_ramp(), (2, 1, 0), (9, 8, 2.4)),
    "sheet": (sheet_ramp(), (4.6, 3.9, 0), (12, 5, 3)),
}


def turned(mesh, degrees=0.0, offset=(0.0, 0.0, 0.0), scale=1.0, mirrored=False):
    """A mesh turned about z, mirrored, scaled and moved, and the map of points that did it."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    matrix = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    triangles = mesh.triangles
    if mirrored:
        matrix, triangles = matrix @ np.diag([-1.0, 1.0, 1.0]), triangles[:, ::-1]
    return Mesh(mesh.vertices @ matrix.T * scale + offset, triangles), lambda p: np.array(p) @ matrix.T * scale + offset


def subdivided(mesh, rng):
    """Some triangles cut into two, three or four, with corners in the middle of the edges of their neighbours."""
    vertices, triangles = list(mesh.vertices), []
    for a, b, c in mesh.triangles.tolist():
        n = len(vertices)
        how = int(rng.integers(4))
        if how == 0:
            triangles.append((a, b, c))
        elif how == 1:
            part = rng.uniform(0.3, 0.7)
            vertices.append(part * vertices[a] + (1 - part) * vertices[b])
            triangles += [(a, n, c), (n, b, c)]
        elif how == 2:
            vertices.append(rng.dirichlet((3, 3, 3)) @ mesh.vertices[[a, b, c]])
            triangles += [(a, b, n), (b, c, n), (c, a, n)]
        else:
            vertices += [0.5 * (vertices[i] + vertices[j]) for i, j in ((a, b), (b, c), (c, a))]
            triangles += [(a, n, n + 2), (n, b, n + 1), (n + 2, n + 1, c), (n, n + 1, n + 2)]
    return Mesh(vertices, triangles)


def reordered(mesh, rng):
    """The same triangles in another order, over vertices in another order, begun at other corners."""
    order = rng.permutation(len(mesh.vertices))
    triangles = np.argsort(order)[mesh.triangles][rng.permutation(len(mesh.triangles))]
    return Mesh(mesh.vertices[order], [np.roll(row, rng.integers(3)) for row in triangles])


def lengths(mesh, start, goal, method, scale=1.0):
    """Lengths of the ordinary and the exact path, in metres of the plain house."""
    cut = Building.from_mesh(mesh, agent=Agent(0.4 * scale, 1.8 * scale, 0.5 * scale)).decompose(method)
    return cut.path(start, goal).length / scale, cut.path(start, goal, exact=True).length / scale


@pytest.fixture(scope="module")
def known():
    """The exact length in each house as it is."""
    return {name: lengths(mesh, start, goal, "hertel-mehlhorn")[1] for name, (mesh, start, goal) in HOUSES.items()}


def test_the_ways_are_as_long_as_they_are_by_hand(known):
    # Round the foot of the stairs, up the steps between the lower floor and the upper, and back.
    by_hand = np.hypot(2.6, 2.0) + np.sqrt(3.0**2 + 1.2**2 + 3.0**2) + np.hypot(5.6, 1.8)
    assert known["stairs"] == pytest.approx(by_hand, abs=1e-5)
    # Onto the ramp where it is as high as a step, from its last step to the gallery, past its corner: the place on the
    # edge of that step is the one that makes the way the shortest.
    edge = np.linspace(4.0, 6.0, 20_001)
    over = np.sqrt(3.5**2 + (edge - 4.0) ** 2 + 2.4**2) + np.hypot(1.25, 6.0 - edge)
    by_hand = np.hypot(0.35, 3.0) + over.min() + np.hypot(2.6, 2.0)
    assert known["side of a ramp"] == pytest.approx(by_hand, abs=1e-5)
    assert np.isfinite(list(known.values())).all()


@pytest.mark.parametrize("name", HOUSES)
@pytest.mark.parametrize("degrees", [30, 45, 70, 80, 123])
def test_a_turned_house_is_joined_by_ways_of_the_same_length(name, degrees, known):
    mesh, start, goal = HOUSES[name]
    house, place = turned(mesh, degrees)
    for method in ("deaccon", "hertel-mehlhorn"):
        ordinary, exact = lengths(house, place(start), place(goal), method)
        assert exact == pytest.approx(known[name], abs=TOLERANCE)
        assert exact <= ordinary * (1 + 1e-9)


def check_changed(name, seed, known):
    """One house under several changes at once."""
    rng = np.random.default_rng(seed)
    mesh, start, goal = HOUSES[name]
    mesh = subdivided(mesh, rng) if rng.random() < 0.5 else mesh
    mesh = reordered(mesh, rng) if rng.random() < 0.5 else mesh
    scale = float(rng.choice([1.0, 1.0, 1e-3, 1e3, rng.uniform(0.1, 10)]))
    # Numbers at 1e7 m are 2e-9 m apart, which is nothing for an agent of 0.4 m, but not for one of 0.4 mm.
    offsets = [(0.0, 0.0, 0.0), (1e7, -1e7, 0.0), (390000.0, 5820000.0, 34.0), (0.0, 0.0, 1e5)]
    offset = offsets[rng.integers(len(offsets))] if scale > 0.01 else offsets[0]
    degrees = float(rng.choice([0.0, 45.0, 90.0, rng.integers(360), rng.uniform(0, 360)]))
    house, place = turned(mesh, degrees, offset, scale, bool(rng.random() < 0.5))
    method = ("deaccon", "hertel-mehlhorn")[rng.integers(2)]
    ordinary, exact = lengths(house, place(start), place(goal), method, scale)
    assert exact == pytest.approx(known[name], abs=TOLERANCE)
    assert exact <= ordinary * (1 + 1e-9)


@pytest.mark.parametrize("name", HOUSES)
@seeds(4, found=(9702000, 9908001))
def test_a_house_that_is_moved_mirrored_scaled_subdivided_and_reordered_stays_the_same(name, seed, known):
    check_changed(name, seed, known)


@pytest.mark.long
@pytest.mark.parametrize("name", HOUSES)
@seeds(60)
def test_many_changed_houses_stay_the_same(name, seed, known):
    check_changed(name, seed + 1000, known)


def two_ramps(*flights):
    """Three floors of 16 x 10 m; each flight is the x, y, width, length and rise of a solid ramp to the next floor."""
    parts, z = [box_mesh((0, 0, -0.4), (16, 10, 0))], 0.0
    for x, y, width, length, rise in flights:
        parts.append(turned(wedge(x, y, x + length, y + width, rise), offset=(0, 0, z))[0])
        z += rise
        parts += slab(16, 10, (x, y, x + length, y + width), z - 0.2, z)
    return Mesh.concatenate(parts), (14.5, 8.5, 0), (14.5, 8.5, z)


def check_two_ramps(flights, degrees, offset, mirrored):
    """Exact ways over two ramps, as the house is and moved, by both methods, have one length."""
    mesh, start, goal = two_ramps(*flights)
    known = None
    for change in ((0.0, (0, 0, 0), 1.0, False), (degrees, (0, 0, 0), 1.0, mirrored), (degrees, offset, 1.0, mirrored)):
        house, place = turned(mesh, *change)
        building = Building.from_mesh(house, agent=Agent(0.3, 1.7, 0.4))
        for method in ("deaccon", "hertel-mehlhorn"):
            cut = building.decompose(method)
            exact = cut.path(place(start), place(goal), exact=True).length
            known = exact if known is None else known
            assert exact == pytest.approx(known, abs=TOLERANCE)
            assert exact <= cut.path(place(start), place(goal)).length * (1 + 1e-9)


@pytest.mark.parametrize(
    ("flights", "degrees", "offset"),
    [
        (  # the way turns where the mouth and the next gateway end: a hair beside that corner it went round the other
            (
                (2.7853612198047446, 1.791052100581906, 2.1, 5.405691998898991, 3.565515811965834),
                (2.516884176819174, 5.836139884630649, 1.2, 4.8816638821092555, 3.041292156545902),
            ),
            199.61308076755247,
            (5482403.82, 9305306.84, 71.6047064),
        ),
        (  # on the last floor the way passes other regions than it does seen from above
            (
                (3.178464259706593, 1.626524618181516, 1.5, 3.313061178656036, 2.1649215527795596),
                (2.809256703992598, 5.6684244122321665, 1.2, 4.493623357258051, 3.19855435757237),
            ),
            244.92130359418124,
            (-8215052.45, -5278324.34, -29.0695313),
        ),
    ],
)
def test_over_two_ramps_the_exact_way_is_the_same_wherever_the_house_lies(flights, degrees, offset):
    check_two_ramps(flights, degrees, offset, mirrored=True)


@seeds(4, found=(6, 15, 71))
def test_over_any_two_ramps_the_exact_way_is_the_same_wherever_the_house_lies(seed):
    rng = np.random.default_rng([11, seed])
    flights = []
    for y in (1.5, 5.5):
        rise = rng.uniform(2.4, 3.6)
        width = float(rng.choice([1.2, 1.5, 2.1]))
        flights.append((rng.uniform(2.5, 4), y + rng.uniform(0, 0.5), width, rise * rng.uniform(1.3, 1.8), rise))
    offset = rng.uniform(-1, 1, 3) * (1e7, 1e7, 100)
    check_two_ramps(flights, rng.uniform(0, 360), offset, bool(rng.integers(2)))


@pytest.mark.parametrize("method", METHODS)
def test_a_ramp_that_is_too_high_on_all_sides_joins_nothing_at_any_angle(method):
    # The gallery's ramp begins half a metre and a bit above the floor: a step that nobody takes.
    parts = [box_mesh((0, 0, -0.3), (14, 8, 0)), *slab(14, 8, (3, 3, 10, 4.4), 2.8, 3.0)]
    floating = wedge(3, 3, 10, 4.4, 2.45)
    house = Mesh.concatenate([*parts, turned(floating, offset=(0, 0, 0.55))[0]])
    for degrees in (0, 17, 45, 90):
        mesh, place = turned(house, degrees)
        cut = Building.from_mesh(mesh).decompose(method)
        for exact in (False, True):
            assert not cut.path(place((6, 1, 0)), place((6, 6, 3)), exact=exact)


def test_ground_planes_do_not_depend_on_how_floors_are_cut_into_triangles():
    mesh = stairs(15, 0.2, 0.3, 1.2)
    rng = np.random.default_rng(2)
    for _ in range(3):
        mesh = subdivided(mesh, rng)
        assert ground_planes(mesh) == pytest.approx([0.0, 3.0])
