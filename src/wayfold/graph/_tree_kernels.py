# mypy: ignore-errors
"""Ways along a tree of cheapest paths."""

from wayfold.core.jit import kernel
from wayfold.graph._kernels import trail_length


@kernel
def trail_lengths(parents, nodes, lengths):
    """Number of nodes on the way from each node to the root; 0 for nodes below 0."""
    for at in range(nodes.size):
        lengths[at] = trail_length(parents, nodes[at])


@kernel
def trails(parents, nodes, offsets, out):
    """Write the way from each node to the root into its part of `out`, which begins at its offset."""
    for at in range(nodes.size):
        node = nodes[at]
        for place in range(offsets[at], offsets[at + 1]):
            out[place] = node
            node = parents[node]
