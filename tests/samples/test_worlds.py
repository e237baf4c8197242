import numpy as np
import pytest
import shapely

from tests.draws import seeds
from tests.samples.surfaces import sample
from wayfold import samples
from wayfold.errors import ParameterError


def material(mesh, layers, name):
    return mesh.materials[layers.triangles] == mesh.material_names.index(name)


@seeds(4)
@pytest.mark.parametrize("floors", [1, 2, 4])
def test_every_room_of_a_dungeon_is_reached_on_foot(seed, floors):
    mesh = samples.dungeon(seed, floors)
    layers = sample(mesh, spacing=0.25)
    assert layers.main[material(mesh, layers, "floor")].all()
    levels = np.unique(layers.heights[material(mesh, layers, "floor")].round(3))
    assert levels.tolist() == [4.25 * floor for floor in range(floors)]


def test_the_smallest_dungeon_has_room_for_its_stairs():
    mesh = samples.dungeon(0, 3, size=(24, 24))
    layers = sample(mesh, spacing=0.25)
    assert layers.main[material(mesh, layers, "floor")].all()


def test_dungeon_rooms_have_ceilings_above_their_floors_and_walls_that_face_the_rooms():
    mesh = samples.dungeon(2, 1)
    up, down = mesh.normals[:, 2] > 0.5, mesh.normals[:, 2] < -0.5
    # columns have tops; they lie against the ceiling
    floor = mesh.areas[up & (mesh.corners[:, :, 2].max(axis=1) < 0.1)].sum()
    assert mesh.areas[down].sum() == pytest.approx(floor)
    # by the divergence theorem a surface seen from inside encloses a negative volume
    volume = np.einsum("ij,ij->i", mesh.corners[:, 0], np.cross(mesh.corners[:, 1], mesh.corners[:, 2])).sum() / 6
    assert volume < 0


@seeds(4)
def test_bridges_join_some_islands_and_leave_others_alone(seed):
    mesh = samples.islands(seed)
    layers = sample(mesh, spacing=0.5)
    land = material(mesh, layers, "sand") | material(mesh, layers, "grass")
    bridge = material(mesh, layers, "bridge")
    group = set(layers.labels[bridge])
    assert len(group) == 1
    sizes = np.bincount(layers.labels[land])
    assert (sizes > 400).sum() >= 2, "no island stands alone"
    assert sizes[group.pop()] > 800
    water = material(mesh, layers, "water")
    assert not set(layers.labels[water]) & set(layers.labels[land])


def test_islands_without_bridges_have_none():
    assert "bridge" not in samples.islands(1, bridges=0.0).material_names


@pytest.mark.parametrize("loops", [0.0, 0.3])
def test_a_maze_is_one_piece_and_its_polygons_cover_its_cells(loops):
    plan = samples.maze(9, 6, seed=3, cell=1.5, loops=loops)
    assert plan.cells.shape == (13, 19)
    assert plan.free.is_valid
    assert plan.free.area == pytest.approx(plan.cells.sum() * 1.5**2)
    row, column = np.nonzero(plan.cells)
    assert shapely.contains(plan.free, shapely.points((column + 0.5) * 1.5, (row + 0.5) * 1.5)).all()
    if loops == 0:
        assert plan.obstacles == []
        assert plan.cells.sum() == 2 * 9 * 6 - 1, "a tree of rooms has one passage fewer than rooms"


@seeds(5)
def test_an_office_floor_is_one_piece_with_room_for_a_person_in_every_office(seed):
    plan = samples.rooms(seed)
    assert plan.free.is_valid
    assert plan.cells is None
    assert plan.free.area > 0.75 * 60 * 36
    assert plan.boundary.bounds == (0, 0, 60, 36)
    assert sum(not obstacle.envelope.equals(obstacle) for obstacle in plan.obstacles) > 5, "nothing is turned"


@pytest.mark.parametrize("plan", [samples.maze(5, 4, seed=1), samples.rooms(1)])
def test_a_plan_drawn_up_has_its_free_space_as_floor(plan):
    mesh = plan.mesh(2.5)
    floor = mesh.materials == mesh.material_names.index("floor")
    assert mesh.areas[floor].sum() == pytest.approx(plan.free.area, rel=1e-3)
    assert mesh.normals[floor][:, 2].min() > 0.999
    assert mesh.bounds[:, 2].tolist() == [0, 2.5]
    assert mesh.areas.min() > 0


@pytest.mark.parametrize("name", samples.NAMES)
def test_make_builds_every_name_and_the_same_thing_twice(name):
    first, second = (
        (samples.make(name) for _ in range(2))
        if name != "city"
        else (
            samples.make("city", size=(60, 60)),
            samples.make("city", size=(60, 60)),
        )
    )
    assert type(first) is type(second)
    if hasattr(first, "vertices"):
        assert first.vertices.tobytes() == second.vertices.tobytes()
        assert first.areas.min() > 0
    else:
        assert first.__dict__.keys() == second.__dict__.keys()


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("castle", {}, "unknown sample 'castle'"),
        ("maze", {"depth": 3}, "has no option 'depth'"),
        ("scene1", {"seed": 3}, "it has none"),
        ("maze", {"width": 0}, "width must be"),
        ("maze", {"width": 10**9}, "width must be"),
        ("maze", {"loops": np.nan}, "loops must be"),
        ("rooms", {"size": (-1, 5)}, "must be"),
        ("dungeon", {"floors": 0}, "floors must be"),
        ("dungeon", {"size": (1e6, 1e6)}, "must be"),
        ("islands", {"count": 1}, "count must be"),
        ("islands", {"size": 7}, "two lengths"),
        ("forest", {"kind": "teenager"}, "unknown kind"),
    ],
)
def test_make_refuses_what_it_does_not_know_in_one_sentence(name, options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        samples.make(name, **options)


def test_every_public_name_is_there():
    for name in samples.__all__:
        assert getattr(samples, name) is not None
    with pytest.raises(AttributeError):
        _ = samples.castle
