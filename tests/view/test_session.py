from __future__ import annotations

import numpy as np
import pytest

from tests.view.worlds import NARROW, NORTH, SOUTH, gates
from wayfold import Agent, formats
from wayfold.agent import CHARACTERS
from wayfold.errors import ParameterError
from wayfold.view.viewer.session import SEARCHES, Session
from wayfold.world import World

DOWN = (0.0, 0.0, -1.0)


@pytest.fixture(scope="module")
def world():
    return World.from_mesh(gates(), name="gates", cache=False)


@pytest.fixture
def session(world):
    session = Session(world)
    session.prepare()
    yield session
    for shape in world.blocks:
        world.unblock(shape)


def click(session, point):
    """Put the next end where a ray from straight above meets the level."""
    hit = session.pick(np.add(point, (0.0, 0.0, 50.0)), DOWN)
    session.put(hit)
    return hit


def two_clicks(session):
    click(session, SOUTH)
    click(session, NORTH)
    return session.answer


def crossing(path):
    """Where a path crosses the wall, along x."""
    points = path.points
    at = int(np.argmax(points[:, 1] >= 0))
    a, b = points[at - 1], points[at]
    return a[0] + (b[0] - a[0]) * (0 - a[1]) / (b[1] - a[1])


def test_a_click_hits_what_lies_first_on_its_ray(session):
    hit = session.pick((-9.0, -12.0, 50.0), DOWN)
    np.testing.assert_allclose(hit.point, (-9.0, -12.0, 0.0), atol=1e-9)
    np.testing.assert_allclose(hit.normal, (0.0, 0.0, 1.0), atol=1e-9)
    assert session.pick((0.0, 0.0, 50.0), DOWN).point[2] == pytest.approx(4.0)
    assert session.pick((-9.0, -12.0, -50.0), (0.0, 0.0, 1.0)).normal[2] == pytest.approx(-1.0)
    assert session.pick((500.0, 0.0, 50.0), DOWN) is None


def test_a_click_passes_what_is_cut_off(session):
    wall = Session(session.world)
    wall.prepare()
    wall.below = -0.1
    # The tops of the walls are cut off, the sides reach down to the ground and stay.
    assert wall.pick((0.0, 0.0, 50.0), DOWN).point[2] == pytest.approx(-0.5)
    assert sum(len(thing.triangles) for thing in wall.level().things) < len(session.world.mesh)


def test_two_clicks_make_a_path_between_them(session):
    assert session.next_end == "start"
    assert "start" in session.report()
    click(session, SOUTH)
    assert session.answer is None
    assert "goal" in session.report()
    click(session, NORTH)
    answer = session.answer
    assert answer.path
    np.testing.assert_allclose(answer.path.points[0][:2], SOUTH[:2], atol=0.5)
    np.testing.assert_allclose(answer.path.points[-1][:2], NORTH[:2], atol=0.5)
    assert NARROW[0] < crossing(answer.path) < NARROW[1]
    assert len(answer.touched)
    assert f"{answer.path.length:,.1f} m" in session.report()


def test_the_third_click_moves_the_start_and_keeps_the_goal(session):
    first = two_clicks(session)
    click(session, (5.0, -12.0, 0.0))
    assert session.answer.path.points[0][0] == pytest.approx(5.0, abs=0.5)
    np.testing.assert_allclose(session.answer.path.points[-1], first.path.points[-1])
    session.clear()
    assert session.answer is None
    assert session.next_end == "start"


def test_a_cart_goes_through_the_wide_gate_and_a_bird_over_the_wall(session):
    person = two_clicks(session)
    session.choose_agent("cart")
    session.prepare()
    cart = session.answer
    assert crossing(cart.path) > 0
    assert cart.path.length > person.path.length + 10
    session.choose_agent("bird")
    session.prepare()
    assert session.answer.path.points[0][2] > 1.0
    assert session.answer.path.points[:, 2].max() > 1.0


def test_an_agent_of_other_sizes_is_an_agent_like_others(session):
    two_clicks(session)
    session.choose_agent("custom", Agent(radius=0.8, height=1.0))
    session.prepare()
    assert crossing(session.answer.path) > 0
    with pytest.raises(ParameterError, match="sizes"):
        session.choose_agent("custom")
    with pytest.raises(ParameterError, match="unknown agent"):
        session.choose_agent("whale")


def test_a_blocked_gate_moves_the_path_and_unblocking_moves_it_back(session):
    before = two_clicks(session)
    box = session.box_at((-9.0, 0.0, 0.0), (3.0, 3.0, 4.0))
    assert session.block(box) > 0
    assert crossing(session.answer.path) > 0
    assert session.block_on((-9.0, 0.0, 50.0), DOWN) == box
    assert session.block_on((9.0, 9.0, 50.0), DOWN) is None
    session.unblock(box)
    assert session.answer.path.length == pytest.approx(before.path.length)
    assert session.world.blocks == ()


def test_a_blocked_wall_leaves_no_path_and_says_so(session):
    two_clicks(session)
    session.block(session.box_at((0.0, 0.0, 0.0), (80.0, 1.0, 4.0)))
    assert not session.answer.path
    assert "no path" in session.report()
    session.unblock_all()
    assert session.answer.path


def test_the_nearer_of_two_boxes_on_a_ray_is_the_one_that_is_clicked(session):
    low = session.box_at((5.0, 5.0, 0.0), (2.0, 2.0, 2.0))
    high = session.box_at((5.0, 5.0, 4.0), (2.0, 2.0, 2.0))
    for shape in (low, high):
        session.block(shape)
    assert session.block_on((5.0, 5.0, 50.0), DOWN) == high
    assert session.block_on((5.0, 5.0, -50.0), (0.0, 0.0, 1.0)) == low


def test_plain_a_star_and_every_method_answer_the_same_query(session):
    length = two_clicks(session).path.length
    for search in SEARCHES:
        session.choose_search(search)
        assert session.answer.path.length == pytest.approx(length, rel=0.1)
    session.choose_search(SEARCHES[0])
    for accelerator in session.accelerators():
        session.choose_method("navmesh", accelerator)
        session.prepare()
        assert session.answer.path.length == pytest.approx(length, rel=0.1)
    with pytest.raises(ParameterError, match="search"):
        session.choose_search("magic")


def test_the_nodes_that_are_shown_are_those_that_the_search_settled(session):
    for agent in ("person", "bird"):
        session.choose_agent(agent)
        session.prepare()
        session.clear()
        two_clicks(session)
        for search in SEARCHES:
            session.choose_search(search)
            settled = session.answer.path.expanded
            assert len(np.unique(session.answer.touched, axis=0)) == settled
            assert settled > 0 or agent == "bird"  # which flies straight over the wall
        session.choose_search(SEARCHES[0])


def test_everyone_in_a_crowd_goes_to_the_goal(session):
    two_clicks(session)
    crowd, milliseconds = session.send_crowd(100, seed=3)
    assert crowd.size == 100
    assert milliseconds > 0
    np.testing.assert_allclose(crowd.at(crowd.seconds), np.tile(session.goal.place, (100, 1)), atol=0.3)


def test_every_colouring_of_every_map_can_be_drawn(session):
    for agent in CHARACTERS:
        session.choose_agent(agent)
        session.prepare()
        for colouring in session.colourings():
            session.colouring = colouring
            layer = session.map()
            assert layer.things
            assert not layer.notes


def test_worlds_of_cells_are_shown_and_clicked_too(tmp_path):
    rows = ["." * 12 for _ in range(12)]
    rows[6] = "@@@@@@@@@@.@"
    (tmp_path / "wall.map").write_text("type octile\nheight 12\nwidth 12\nmap\n" + "\n".join(rows) + "\n")
    session = Session(World.from_map(formats.load_map(tmp_path / "wall.map"), cache=False))
    session.prepare()
    click(session, (1.0, 2.0, 0.0))
    click(session, (1.0, 10.0, 0.0))
    assert session.answer.path
    assert session.answer.path.points[:, 0].max() > 9
    assert session.level().things


def test_the_level_is_shown_before_any_map_is_built(world):
    session = Session(world)
    assert sum(len(thing.triangles) for thing in session.level().things) == len(world.mesh)


def test_nothing_is_asked_of_a_map_that_is_not_built(world):
    session = Session(world)
    with pytest.raises(ParameterError, match="not built"):
        session.pick((0.0, 0.0, 9.0), DOWN)
