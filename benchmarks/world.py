"""One world for a crowd: single queries, batches, fields and edits on a large city, beside each other."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Comparison, Contender, WrongAnswerError, compare
from wayfold.agent import Agent
from wayfold.errors import OffMapError
from wayfold.world import Box, Planner, World

SINGLE = 500
"""Queries that are asked one by one."""
_CLOSE = 1e-4
"""Largest relative difference between the costs of a query that is asked in two ways."""
Points = NDArray[np.float64]


def city(size: tuple[float, float], seed: int = 0) -> World:
    """The generated city; nothing of it is kept on disk, so that what is measured is made here."""
    return World.sample("city", size=size, seed=seed, cache=False)


def crowd(planner: Planner, agents: int, *, rounds: int, progress: Callable[[str], None]) -> list[Comparison]:
    """Rates of `paths` and of `field`, beside queries one by one.

    Parameters
    ----------
    agents : int, >= 1
        How many go at once; the first 500 of them are also asked for one by one.
    """
    places = planner.random_points(agents + 1, seed=2)
    starts, goal = places[1:], places[0]
    goals = planner.random_points(agents, seed=3)
    some = min(SINGLE, agents)
    expected = np.array([planner.plain(a, b).cost for a, b in zip(starts[:some], goals[:some], strict=True)])
    ways = compare(
        f"{agents:,} agents, each to a place of its own",
        [
            Contender("path, one by one", lambda: _one_by_one(planner, starts[:some], goals[:some]), some),
            Contender("paths, all cores", lambda: _costs(planner.paths(starts, goals)), agents),
            Contender("paths, one thread", lambda: _costs(planner.paths(starts, goals, workers=1)), agents),
            Contender("plain A*, one by one", lambda: _plain(planner, starts[:some], goals[:some]), some),
        ],
        _same(expected, planner.accelerator_name == "hierarchy"),
        rounds=rounds,
        progress=progress,
    )
    expected = np.array([planner.plain(a, goal).cost for a in starts[:some]])
    fields = compare(
        f"{agents:,} agents, all to one place",
        [
            Contender("path, one by one", lambda: _one_by_one(planner, starts[:some], np.array([goal] * some)), some),
            Contender("field and its paths", lambda: _costs(planner.field(goal).paths(starts)), agents),
            Contender("field and its costs", lambda: planner.field(goal).cost(starts), agents),
        ],
        _same(expected, planner.accelerator_name == "hierarchy"),
        rounds=rounds,
        progress=progress,
    )
    return [ways, fields]


def edits(world: World, planner: Planner, count: int, *, progress: Callable[[str], None]) -> dict[str, Any]:
    """Milliseconds of blocking and unblocking boxes of 4 m on paths, and of the query after each."""
    places = planner.random_points(3 * count, seed=4)
    times: dict[str, list[float]] = {"block_ms": [], "query_after_ms": [], "unblock_ms": []}
    for at in range(count):
        progress(f"edit {at + 1} of {count}")
        start, goal, where = places[3 * at : 3 * at + 3]
        before = planner.plain(start, goal).cost
        shape = Box(where - np.array([2.0, 2.0, 0.5]), where + np.array([2.0, 2.0, 3.0]))
        times["block_ms"].append(_timed(partial(world.block, shape)))
        with contextlib.suppress(OffMapError):  # where the box lies on the start or the goal
            times["query_after_ms"].append(_timed(partial(planner.path, start, goal)))
        times["unblock_ms"].append(_timed(partial(world.unblock, shape)))
        after = planner.plain(start, goal).cost
        if not np.isclose(after, before, rtol=_CLOSE):
            raise WrongAnswerError(f"after blocking and unblocking, a query costs {after!r} instead of {before!r}")
    return {name: statistics.median(values) for name, values in times.items()}


def measure(
    size: tuple[float, float], agent: Agent, agents: int, *, rounds: int, changes: int, progress: Callable[[str], None]
) -> tuple[dict[str, Any], list[Comparison]]:
    """Facts about the world and its planner, and the comparisons."""
    progress("building the city")
    world = city(size)
    assert world.mesh is not None
    progress("building the planner")
    planner = world.planner(agent)
    comparisons = crowd(planner, agents, rounds=rounds, progress=progress)
    facts = {
        "triangles": len(world.mesh),
        "map": repr(planner.map),
        "accelerator": repr(planner.accelerator),
        "build_seconds": planner.build_seconds,
        "bytes": planner.nbytes,
        **edits(world, planner, changes, progress=progress),
    }
    return facts, comparisons


def _one_by_one(planner: Planner, starts: Points, goals: Points) -> list[float]:
    return [planner.path(a, b).cost for a, b in zip(starts, goals, strict=True)]


def _plain(planner: Planner, starts: Points, goals: Points) -> list[float]:
    return [planner.plain(a, b).cost for a, b in zip(starts, goals, strict=True)]


def _costs(paths: Any) -> NDArray[np.float64]:
    return np.asarray(paths.costs) if hasattr(paths, "costs") else np.array([path.cost for path in paths])


def _same(expected: NDArray[np.float64], exact: bool) -> Callable[[str, Any], None]:
    """A check of the first answers against plain A*: as cheap where the accelerator is exact, else at most a half more.

    Equally short corridors may be pulled to strings of different length, so that single queries may differ a little.
    """

    def check(name: str, answer: Any) -> None:
        got = np.asarray(answer, float)[: len(expected)]
        slack = _CLOSE if exact else 0.5
        wrong = ~((got >= expected * (1 - 1e-2)) & (got <= expected * (1 + max(slack, 1e-2))))
        if wrong.mean() > 0.01:
            at = int(np.argmax(wrong))
            raise WrongAnswerError(f"{name} answered {got[at]!r} for query {at}, where {expected[at]!r} is right")

    return check


def _timed(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - begin)
