"""What is chosen from the graph: sizes of parts for `merge`, and the level for ``level=None``.

Work is counted in arcs that a search looks at, over some queries, so that a choice is the same on every machine.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wayfold.graph import Graph
from wayfold.graph.searcher import Points
from wayfold.hierarchy.levels import Levels
from wayfold.hierarchy.query import Queries

MOST_MERGED = 1 << 15
MOST_LEVELS = 16
# Parts below this size save less than what linking the start and the goal to their portals costs; larger ones make
# updates slower.
SMALLEST_PART = 32
# `merge="auto"` leads from the smallest parts to about so many parts on the highest level.
_AUTO_PARTS = 16
_SAMPLES = 12
# Arcs that plain A* looks at in the time that the phases of a query take before they look at any.
_OVERHEAD = 2000


def merge_factor(merge: int | Literal["auto"], nodes: int, levels: int) -> int:
    """The merge factor; "auto" is that with which the highest level has about 16 parts, at least 4 and at most 14."""
    if merge != "auto":
        return merge
    return int(np.clip(round((nodes / (SMALLEST_PART * _AUTO_PARTS)) ** (1 / max(1, levels - 1))), 4, 14))


def part_sizes(merge: int, nodes: int, levels: int) -> list[int]:
    """Nodes of a part of each exact level; a level with less than two parts is left out."""
    sizes = [max(SMALLEST_PART, merge) * merge**level for level in range(levels)]
    return [size for size in sizes if size <= nodes // 2]


def best_level(
    graph: Graph, queries: Queries, components: NDArray[np.int32], seed: int, *, single: bool, points: Points
) -> int:
    """The highest level to use (the only one where `single`), 0 where plain A* has less work."""
    levels = queries.levels
    top = _single_level(levels) if single else levels.partition.levels
    if top == 0 or not levels.overlay.places.size:
        return 0
    draw = np.random.default_rng(seed)
    starts = draw.integers(0, graph.num_nodes, 8 * _SAMPLES)
    goals = draw.integers(0, graph.num_nodes, 8 * _SAMPLES)
    same = np.flatnonzero(components[starts] == components[goals])[:_SAMPLES]
    degree = graph.targets.size / graph.num_nodes
    size, arcs, portals = levels.sizes_and_arcs()[top - 1 if single else 0]
    row = arcs / max(1, portals)
    if not single:
        row = (levels.overlay.targets.size - levels.edges) / max(1, levels.overlay.row_first.size)
    plain = linked = 0.0
    for start, goal in zip(starts[same].tolist(), goals[same].tolist(), strict=True):
        plain += graph.path(start, goal).expanded * degree
        settled = queries.one(start, goal, top=top, single=single, points=points).expanded
        linked += _OVERHEAD + settled * row + 2 * size * degree
    return top if linked < plain else 0


def _single_level(levels: Levels) -> int:
    """The level at which the paper's search has the least work: few arcs to link S and G with, and few to search."""
    found = levels.sizes_and_arcs()
    work = [2 * size * levels.edges / levels.rank.size + arcs for size, arcs, _ in found]
    return int(np.argmin(work)) + 1 if work else 0
