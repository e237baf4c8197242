import hashlib
import subprocess
import sys

import numpy as np
import pytest

from tests.samples.surfaces import sample
from wayfold import samples
from wayfold.errors import ParameterError

SEEDS = (0, 1, 4)
WALKED = ("road", "pavement", "bridge", "tunnel", "stairs", "ramp", "grass")


@pytest.fixture(scope="module", params=SEEDS)
def town(request):
    mesh = samples.city((260, 230), seed=request.param)
    return mesh, sample(mesh)


def on(mesh, layers, *names):
    """Samples whose triangle has one of the materials."""
    wanted = [number for number, name in enumerate(mesh.material_names) if name in names]
    return np.isin(mesh.materials[layers.triangles], wanted)


def fingerprint(mesh):
    return hashlib.sha256(mesh.vertices.tobytes() + mesh.triangles.tobytes() + mesh.materials.tobytes()).hexdigest()


def test_every_street_bridge_underpass_stair_and_lawn_is_reached_on_foot(town):
    mesh, layers = town
    for name in WALKED:
        here = on(mesh, layers, name)
        assert here.any(), f"there is no {name}"
        assert layers.main[here].all(), f"some {name} is cut off"


def test_the_same_holds_for_a_walker_who_steps_no_higher_than_20_centimetres_on_streets(town):
    mesh, _ = town
    layers = sample(mesh, spacing=0.25, step=0.2)
    assert layers.main[on(mesh, layers, "road", "pavement", "bridge")].mean() > 0.999


def test_walkers_do_not_step_onto_the_river(town):
    mesh, layers = town
    river = on(mesh, layers, "water") & (layers.heights == 0.0)
    assert river.any()
    assert not layers.main[river].any()


@pytest.mark.parametrize(("below", "above"), [("tunnel", "road"), ("pavement", "bridge"), ("road", "bridge")])
def test_there_are_places_with_walkable_ground_on_two_levels(town, below, above):
    mesh, layers = town
    heights = {}
    low, high = on(mesh, layers, below), on(mesh, layers, above)
    for cell, height in zip(map(tuple, layers.cells[low]), layers.heights[low], strict=True):
        heights.setdefault(cell, height)
    rooms = [
        height - heights[cell]
        for cell, height in zip(map(tuple, layers.cells[high]), layers.heights[high], strict=True)
        if cell in heights
    ]
    assert sum(room > 2.2 for room in rooms) > 20


def test_streets_face_up_and_are_gentler_than_ten_degrees(town):
    mesh, _ = town
    road = mesh.normals[mesh.materials == mesh.material_names.index("road")]
    assert road[:, 2].min() > np.cos(np.radians(10))


def test_lawns_and_roofs_face_up(town):
    mesh, _ = town
    for name in ("grass", "water", "terrace", "tunnel"):
        here = mesh.normals[mesh.materials == mesh.material_names.index(name)]
        assert here[:, 2].min() > 0.5, name


def test_whoever_stands_in_an_underpass_sees_the_front_of_its_walls(town):
    mesh, layers = town
    below = np.flatnonzero(on(mesh, layers, "tunnel"))[::7]
    eyes = np.column_stack([(layers.cells[below] + 0.5) * layers.spacing, layers.heights[below] + 1.2])
    corners, normals = mesh.corners, mesh.normals
    for eye in eyes:
        for angle in np.radians([10, 100, 190, 280]):
            ray = np.array([np.cos(angle), np.sin(angle), 0.0])
            hit = first_hit(corners, normals, eye, ray)
            assert hit < 0, "a wall is seen from behind"


def first_hit(corners, normals, eye, ray):
    """Cosine between a ray and the normal of the first triangle that it meets within 40 m; -1 when it meets none."""
    a, b, c = corners[:, 0] - eye, corners[:, 1] - eye, corners[:, 2] - eye
    sides = [np.cross(p, q) @ ray for p, q in ((a, b), (b, c), (c, a))]
    through = np.all([s > 0 for s in sides], axis=0) | np.all([s < 0 for s in sides], axis=0)
    slant = normals[through] @ ray
    reach = np.einsum("ij,ij->i", normals[through], a[through]) / slant
    ahead = (reach > 1e-6) & (reach < 40)
    return slant[ahead][reach[ahead].argmin()] if ahead.any() else -1.0


def test_no_triangle_is_without_area_and_the_border_is_where_it_was_asked_for(town):
    mesh, _ = town
    assert mesh.areas.min() > 0
    assert mesh.bounds[:, :2].tolist() == [[0, 0], [260, 230]]


def test_buildings_reach_below_the_ground_at_their_foot(town):
    mesh, layers = town
    wall = mesh.corners[mesh.materials == mesh.material_names.index("wall")]
    assert wall[..., 2].min() < layers.heights[on(mesh, layers, "road")].min()


def test_the_papers_small_city_has_its_number_of_triangles():
    assert len(samples.city((489, 511), seed=3)) == pytest.approx(79_875, rel=0.02)


@pytest.mark.parametrize("size", [(60, 60), (60, 220), (130, 90)])
def test_small_districts_are_connected_too(size):
    for seed in range(3):
        mesh = samples.city(size, seed=seed)
        layers = sample(mesh)
        streets = on(mesh, layers, "road", "pavement", "stairs", "tunnel", "bridge")
        assert layers.main[streets].all()


def test_another_process_builds_the_same_bytes():
    code = (
        "import hashlib; from wayfold import samples; m = samples.city((150, 200), seed=5);"
        "print(hashlib.sha256(m.vertices.tobytes() + m.triangles.tobytes() + m.materials.tobytes()).hexdigest())"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert other == fingerprint(samples.city((150, 200), seed=5))


def test_seeds_and_detail_change_the_city():
    plain = samples.city((100, 100), seed=1)
    assert fingerprint(plain) != fingerprint(samples.city((100, 100), seed=2))
    assert len(samples.city((100, 100), seed=1, detail=1.5)) > len(plain)


def test_without_a_river_there_is_no_bridge_over_it():
    mesh = samples.city((260, 230), seed=1, river=False)
    assert mesh.bounds[0, 2] > -6
    assert sample(mesh, spacing=1.0).heights.min() > -5


@pytest.mark.parametrize(
    "options",
    [
        {"size": (-5, 100)},
        {"size": (np.nan, 100)},
        {"size": (1e9, 1e9)},
        {"size": 100},
        {"size": (30, 100)},
        {"size": "big"},
        {"seed": -1},
        {"seed": 1.5},
        {"detail": 0},
        {"detail": np.inf},
    ],
)
def test_bad_settings_are_refused_in_one_sentence(options):
    with pytest.raises(ParameterError, match="must be"):
        samples.city(**options)
