"""Many characters at once: each with motions of its own, over one waypoint graph that they share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from numpy.typing import ArrayLike

from wayfold.core import checks
from wayfold.errors import ParameterError
from wayfold.path import Path
from wayfold.subregions import _queries
from wayfold.subregions.subregions import MARGIN, WEIGHT, SubregionGraph


@checks.checked
def crowd_paths(
    subregions: Sequence[SubregionGraph],
    which: ArrayLike,
    starts: ArrayLike,
    goals: ArrayLike,
    *,
    margin: int = MARGIN,
    weight: float = WEIGHT,
    exact: bool = False,
    workers: int | None = None,
) -> list[Path]:
    """The paths of many characters with different motions, in parallel; each is what `SubregionGraph.path` gives.

    Parameters
    ----------
    subregions : sequence of SubregionGraph
        One for each set of motions, all over the same waypoint graph, which is held once.
    which : (q,) array_like of int
        Which of them each character uses.
    starts, goals : (q, 3) points or (q,) waypoint numbers
    margin, weight, exact
        As for `SubregionGraph.path`.
    workers : int, >= 1, optional
        Threads, all cores by default.

    Raises
    ------
    ParameterError
        When the graphs do not share their waypoints, or the arrays are not as long as each other.
    OffMapError
        When a point has no waypoint that its character can move to.
    """
    graphs = list(subregions)
    for graph in graphs:
        checks.instance(graph, "each of subregions", SubregionGraph)
    if not graphs or any(graph.waypoints is None or graph.waypoints is not graphs[0].waypoints for graph in graphs):
        raise ParameterError("a crowd needs subregion graphs that were built over one and the same waypoint graph")
    if exact:
        for graph in graphs:
            graph.prepare_exact()
    planners = [partial(graph.path, margin=margin, weight=weight, exact=exact) for graph in graphs]
    return _queries.run(planners, which, starts, goals, workers)
