# mypy: ignore-errors
"""Rims of regions: loops of unit edges, region on the left."""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import kernel_with_memory


class Loops(NamedTuple):
    """Unit edges of all rims; those of loop k are `offsets[k]` to ``offsets[k + 1] - 1``."""

    offsets: np.ndarray  # (loops + 1,) int32
    span: np.ndarray  # (edges,) int32, the span inside
    side: np.ndarray  # (edges,) uint8, the side of it
    label: np.ndarray  # (edges,) int32, region on the other side: 0 a wall, negative the tile's border


@kernel_with_memory
def trace(links, region):
    """All rims of all regions, by walking along them with the wall on the right; returns Loops and the edge of a side.

    The second result, (n, 4) int32, is the number of the unit edge on each side of each span, -1 where there is none.
    """
    size = region.size
    edge_at = np.full((size, 4), -1, np.int32)
    edges = 0
    for k in range(size):
        if region[k] <= 0:
            continue
        for side in range(4):
            beside = links[k, side]
            if beside < 0 or region[beside] != region[k]:
                edge_at[k, side] = -2
                edges += 1
    span = np.empty(edges, np.int32)
    sides = np.empty(edges, np.uint8)
    label = np.empty(edges, np.int32)
    offsets = np.zeros(edges + 1, np.int32)
    used, loops = 0, 0
    for seed in range(size):
        for start in range(4):
            if edge_at[seed, start] != -2:
                continue
            k, side = seed, start
            while True:
                if edge_at[k, side] == -1:
                    k = links[k, side]
                    side = (side + 3) & 3
                    continue
                if edge_at[k, side] >= 0:
                    break
                beside = links[k, side]
                edge_at[k, side] = used
                span[used] = k
                sides[used] = side
                label[used] = region[beside] if beside >= 0 else 0
                used += 1
                side = (side + 1) & 3
            loops += 1
            offsets[loops] = used
    return Loops(offsets[: loops + 1].copy(), span, sides, label), edge_at
