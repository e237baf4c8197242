"""What queries leave behind: bounded, made again when it is needed, and the same answers with and without it."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import shapely

from tests.terrain.worlds import random_ends, random_regions
from wayfold import Terrain
from wayfold.core.bounded_cache import BoundedCache
from wayfold.terrain.terrain import LIMIT

pytestmark = pytest.mark.kernels


class Value:
    """Something of a size."""

    def __init__(self, nbytes):
        self.nbytes = nbytes


def test_the_values_used_longest_ago_go_first_and_the_last_one_stays():
    kept = BoundedCache(100)
    first = kept.get("a", lambda: Value(40))
    kept.get("b", lambda: Value(40))
    assert kept.get("a", lambda: Value(1)) is first
    kept.get("c", lambda: Value(40))  # b was used longest ago
    assert kept.get("a", lambda: Value(1)) is first
    assert kept.get("b", lambda: Value(7)).nbytes == 7
    kept.get("large", lambda: Value(1000))
    assert kept.nbytes == 1000
    kept.get("small", lambda: Value(10))
    assert kept.nbytes == 10


def test_a_dropped_value_that_somebody_keeps_is_not_made_again():
    kept = BoundedCache(10)
    first = kept.get("a", lambda: Value(8))
    kept.get("b", lambda: Value(8))
    assert kept.get("a", lambda: Value(8)) is first
    del first
    kept.get("b", lambda: Value(8))
    assert kept.get("a", lambda: Value(3)).nbytes == 3


def test_values_that_grow_are_measured_again():
    kept = BoundedCache(100)
    growing = kept.get("a", lambda: Value(1))
    growing.nbytes = 500
    kept.get("b", lambda: Value(50))
    assert kept.nbytes == 50


def named(count=8):
    """Stripes with a name each."""
    return [(shapely.box(10 * k, 0, 10 * k + 10, 80), 1.0 + k, f"kind {k}") for k in range(count)]


def test_hundreds_of_weights_and_radii_stay_within_the_limit_and_answer_as_fresh_terrains(monkeypatch):
    monkeypatch.setattr("wayfold.terrain.terrain.LIMIT", 2**20)
    terrain = Terrain(named())
    rng = np.random.default_rng(4)
    start, goal = (3.0, 5.0), (77.0, 70.0)
    asked = []
    largest = 0
    for number in range(120):
        weights = {f"kind {k}": float(weight) for k, weight in enumerate(rng.uniform(1, 9, 8))}
        radius = float(rng.choice([0.0, 0.5 + number / 100]))
        graph = str(rng.choice(["refined", "dual", "dual-extra", "grid"]))
        asked.append(
            (weights, radius, graph, terrain.path(start, goal, graph=graph, radius=radius, weights=weights).cost)
        )
        largest = max(largest, terrain._prepared.nbytes)
    biggest = 3 * 2**20  # one alone may be larger than the limit
    assert largest <= 2**20 + biggest
    assert len(terrain._prepared._values) < 110
    for weights, radius, graph, cost in asked[::10]:
        again = terrain.path(start, goal, graph=graph, radius=radius, weights=weights).cost
        fresh = Terrain([(shape, weights[name], name) for shape, _, name in named()])
        assert again == cost == fresh.path(start, goal, graph=graph, radius=radius).cost


def test_threads_that_use_many_weights_at_once_get_what_one_gets(monkeypatch):
    monkeypatch.setattr("wayfold.terrain.terrain.LIMIT", 2**18)
    terrain = Terrain(named())
    sets = [({f"kind {k}": 1.0 + (k * n) % 7 for k in range(8)}, 0.5 * (n % 3)) for n in range(12)]
    ends = (3.0, 5.0), (77.0, 70.0)
    expected = [Terrain(named()).path(*ends, weights=weights, radius=radius).cost for weights, radius in sets]
    wrong = []

    def work(shift):
        for n in range(24):
            at = (n * shift) % 12
            weights, radius = sets[at]
            cost = terrain.path(*ends, weights=weights, radius=radius).cost
            if cost != expected[at]:
                wrong.append((at, cost))

    threads = [threading.Thread(target=work, args=(shift,)) for shift in (1, 5, 7, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_is_kept_for_weights_is_counted_with_all_that_it_holds_and_stays_below_64_mb():
    assert LIMIT <= 64 * 2**20
    terrain = Terrain(named())
    for number in range(6):
        terrain.path((3.0, 5.0), (77.0, 70.0), weights={"kind 1": 1.0 + number}, radius=0.5 * (number % 2))
    for key, value in terrain._prepared.items():
        if key[0] == "refined":
            assert value.nbytes >= value.costs.nbytes + value.weights.nbytes + value.other.nbytes
        elif key[0] == "grown":
            arrays = [array for array in value._ground.__dict__.values() if isinstance(array, np.ndarray)]
            parts = [part for part in value._ground.__dict__.values() if isinstance(part, tuple)]
            arrays += [array for part in parts for array in part if isinstance(array, np.ndarray)]
            assert value._ground.nbytes == sum(array.nbytes for array in arrays)
            assert value.nbytes >= value._ground.nbytes + value._prepared.nbytes


def test_painting_again_uses_what_was_cut_and_gives_the_same():
    regions = random_regions(7)
    terrain = Terrain(regions, default=2.0, bounds=(0, 0, 100, 100))
    rng = np.random.default_rng(7)
    layers = []
    for _ in range(12):
        x, y = rng.uniform(0, 90, 2)
        layers.append((shapely.box(x, y, x + 5, y + 7), float(rng.choice([2.0, np.inf]))))
        again = terrain.changed(layers)
        fresh = Terrain(regions, default=2.0, bounds=(0, 0, 100, 100)).changed(layers)
        np.testing.assert_array_equal(again.vertices, fresh.vertices)
        np.testing.assert_array_equal(again.triangles, fresh.triangles)
        np.testing.assert_array_equal(again.triangle_weights, fresh.triangle_weights)
    without = terrain.changed(layers[:3] + layers[4:])
    ends = random_ends(without, 7)
    fresh = Terrain(regions, default=2.0, bounds=(0, 0, 100, 100)).changed(layers[:3] + layers[4:])
    assert without.path(*ends).cost == fresh.path(*ends).cost


def test_all_parts_of_a_multipolygon_are_painted():
    terrain = Terrain([(shapely.box(0, 0, 10, 10), 1.0)])
    both = shapely.MultiPolygon([shapely.box(1, 1, 2, 2), shapely.box(7, 7, 9, 9)])
    painted = terrain.changed([(both, 5.0)])
    weights = painted.triangle_weights[painted.locate([(1.5, 1.5), (8, 8), (5, 5)])]
    assert weights.tolist() == [5.0, 5.0, 1.0]


class Kept:
    nbytes = 1


class Key:
    """A key in whose hash an interrupt strikes, after so many calls."""

    left = 10**9

    def __init__(self, name):
        self.name = name

    def __hash__(self):
        Key.left -= 1
        if Key.left == 0:
            raise KeyboardInterrupt
        return hash(self.name)

    def __eq__(self, other):
        return self.name == other.name


@pytest.mark.parametrize("work", ["items", "find", "get", "bring back"])
def test_an_interrupt_at_any_moment_loses_nothing_that_somebody_keeps(work):
    interrupts, alive = 0, []  # alive, so that no interrupt strikes where things are forgotten
    for at in range(1, 200):
        Key.left = 10**9
        prepared = BoundedCache(most=2)
        keys = [Key(name) for name in "abc"]
        values = [prepared.get(key, Kept) for key in keys]  # the first is dropped, and kept here
        alive.append((prepared, values))
        works = {
            "items": prepared.items,
            "find": lambda prepared=prepared: prepared.find(Key("b")),
            "get": lambda prepared=prepared: alive.append(prepared.get(Key("d"), Kept)),
            "bring back": lambda prepared=prepared: prepared.find(Key("a")),
        }
        Key.left = at
        try:
            works[work]()
        except KeyboardInterrupt:
            interrupts += 1
        finally:
            Key.left = 10**9
        if interrupts < at:
            assert interrupts == at - 1 > 0
            return
        there = prepared.items()
        assert len(there) == len({key.name for key, _ in there})
        assert {id(value) for value in values} <= {id(value) for _, value in there}
        assert len(prepared) <= 3
    pytest.fail("no end")
