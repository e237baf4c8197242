"""Former names of a navigation mesh's methods, arguments and properties work for one version, with a warning."""

from __future__ import annotations

import pytest

from tests.navmesh.strategies import floor, mesh_of
from wayfold import Agent, NavMesh

VERTICES, POLYGONS = [(0, 0), (4, 0), (4, 4), (0, 4), (8, 0), (8, 4)], [[0, 1, 2, 3], [1, 4, 5, 2]]
HERE, THERE = (1.0, 1.0), (7.0, 3.0)


def squares():
    return NavMesh.from_polygons(VERTICES, POLYGONS, areas=[1, 2])


def built():
    return NavMesh.build(mesh_of(floor(0, 0, 6, 6)), Agent(), cell_size=0.3, tile_size=16)


@pytest.mark.parametrize(
    ("former", "new", "said"),
    [
        (
            lambda: NavMesh.from_polygons(VERTICES, polygons_=POLYGONS, kinds=[1, 2]).areas.tolist(),
            lambda: squares().areas.tolist(),
            "from_polygons: (polygons_|kinds)= is now (polygons|areas)=",
        ),
        (lambda: squares().kinds.tolist(), lambda: squares().areas.tolist(), "kinds is now areas"),
        (
            lambda: squares().path(HERE, THERE, optimal=False).nodes.tolist(),
            lambda: squares().path(HERE, THERE, exact=False).nodes.tolist(),
            "path: optimal= is now exact=",
        ),
        (
            lambda: squares().paths([HERE], [THERE], optimal=True).costs.tolist(),
            lambda: squares().paths([HERE], [THERE], exact=True).costs.tolist(),
            "paths: optimal= is now exact=",
        ),
        (
            lambda: squares().locate((1, 1, 3.0), reach=2.0),
            lambda: squares().locate((1, 1, 3.0), max_distance=2.0),
            "locate: reach= is now max_distance=",
        ),
        (
            lambda: squares().project((1, 1, 3.0), reach=4.0).tolist(),
            lambda: squares().project((1, 1, 3.0), max_distance=4.0).tolist(),
            "project: reach= is now max_distance=",
        ),
        (
            lambda: squares().reachable(start=HERE, goal=THERE),
            lambda: squares().reachable(HERE, THERE),
            "reachable: (start|goal)= is now (starts|goals)=",
        ),
        (
            lambda: built().rebuilt([(0, 0, 0), (1, 1, 1)], mesh_of(floor(0, 0, 6, 6)), kinds=[1, 1]).num_polygons,
            lambda: built().changed([(0, 0, 0), (1, 1, 1)], mesh_of(floor(0, 0, 6, 6)), areas=[1, 1]).num_polygons,
            "rebuilt is now changed|changed: kinds= is now areas=",
        ),
    ],
)
def test_former_names_work_and_say_what_to_write(former, new, said):
    with pytest.warns(DeprecationWarning, match=f"^({said})$"):
        assert former() == new()


@pytest.mark.parametrize("one_way", [True, False])
def test_a_one_way_link_is_one_that_does_not_lead_both_ways(one_way):
    former, new = squares(), squares()
    with pytest.warns(DeprecationWarning, match="^add_link: one_way= is now both_ways=$"):
        former.add_link(HERE, THERE, cost=0.5, one_way=one_way)
    new.add_link(HERE, THERE, cost=0.5, both_ways=not one_way)
    for a, b in ((HERE, THERE), (THERE, HERE)):
        assert former.path(a, b).cost == new.path(a, b).cost
