"""Random worlds for the property tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st


@dataclass
class EdgeList:
    """A graph as plain lists: what the oracles and the package are both built from."""

    points: np.ndarray
    edges: np.ndarray
    costs: np.ndarray | None
    motions: np.ndarray | None
    directed: bool

    @property
    def nodes(self):
        return len(self.points)

    def one_way(self, motions=7, labels=None, allowed=None):
        """(from, to, cost) triples that a character with these motions may use, costs as float32 stores them."""
        triples = []
        for at, (a, b) in enumerate(self.edges.tolist()):
            if self.motions is not None and not int(self.motions[at]) & motions:
                continue
            if self.costs is None:
                step = self.points[a] - self.points[b]
                cost = float(np.sqrt((step * step).sum()))
            else:
                cost = float(np.float32(self.costs[at]))
            for c, d in ((a, b),) if self.directed else ((a, b), (b, a)):
                if labels is None or labels[d] in allowed:
                    triples.append((c, d, cost))
        return triples


@st.composite
def edge_lists(draw, max_nodes=12, directed=None):
    """Small graphs with everything that is awkward: parallel edges, loops, zero and infinite costs, equal points."""
    nodes = draw(st.integers(1, max_nodes))
    coordinate = st.integers(-3, 3) | st.floats(-100, 100, width=32)
    points = np.array(draw(st.lists(st.tuples(*[coordinate] * 3), min_size=nodes, max_size=nodes)), float)
    pair = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    edges = np.array(draw(st.lists(pair, max_size=3 * nodes)), np.int64).reshape(-1, 2)
    count = len(edges)
    cost = st.just(float("inf")) | st.integers(0, 4).map(float) | st.floats(0, 1e3, width=32)
    costs = draw(st.none() | st.lists(cost, min_size=count, max_size=count).map(np.array))
    motions = draw(
        st.none() | st.lists(st.integers(1, 7), min_size=count, max_size=count).map(lambda m: np.array(m, np.uint8))
    )
    one_way = draw(st.booleans()) if directed is None else directed
    return EdgeList(points, edges, costs, motions, one_way)


@st.composite
def kind_grids(draw, most=9):
    """Small grids of 0 (blocked), 1 (ground) and 2 (water)."""
    height, width = draw(st.integers(1, most)), draw(st.integers(1, most))
    row = st.lists(st.sampled_from([0, 1, 1, 1, 2]), min_size=width, max_size=width)
    return np.array(draw(st.lists(row, min_size=height, max_size=height)), np.uint8)
