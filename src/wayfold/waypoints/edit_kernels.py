# mypy: ignore-errors
"""Edges that come and go in place: rows have spare slots, which lead to their own node and are for no motion."""

from wayfold.core.jit import inline, kernel


@kernel
def copy_rows(offsets, values, new_offsets, out):
    """Copy the rows of `values` to the places that `new_offsets` gives them; the rest of `out` stays as it is."""
    for row in range(offsets.size - 1):
        at = new_offsets[row]
        for slot in range(offsets[row], offsets[row + 1]):
            out[at] = values[slot]
            at += 1


@kernel
def spare_targets(offsets, targets):
    """Make every slot a spare one."""
    for row in range(offsets.size - 1):
        targets[offsets[row] : offsets[row + 1]] = row


@inline
def find(offsets, targets, motions, a, b):
    """The slot from `a` to `b`, -1 for none."""
    for slot in range(offsets[a], offsets[a + 1]):
        if targets[slot] == b and motions[slot] != 0:
            return slot
    return -1


@kernel
def missing_edge(offsets, targets, motions, edges):
    """The first row of `edges` (k, 2) int32 that is no edge, -1 when all are there."""
    for at in range(edges.shape[0]):
        if find(offsets, targets, motions, edges[at, 0], edges[at, 1]) < 0:
            return at
    return -1


@kernel
def drop_edges(offsets, targets, motions, edges):
    """Turn the slots of these edges, all parallel ones too, into spare ones; return how many edges went."""
    gone = 0
    for at in range(edges.shape[0]):
        for side in range(2):
            a, b = edges[at, side], edges[at, 1 - side]
            slot = find(offsets, targets, motions, a, b)
            while slot >= 0:
                targets[slot] = a
                motions[slot] = 0
                gone += 1
                slot = find(offsets, targets, motions, a, b)
    return gone // 2


@kernel
def set_edges(offsets, targets, motions, costs, edges, edge_motions, prices, first):
    """Add edges from row `first` on; each replaces those between the same two waypoints, all parallel ones too.

    Returns (edges done, edges gained); fewer are done when a row has no spare slot left. `costs` and `prices` may be of
    size 0.
    """
    fresh = 0
    for at in range(first, edges.shape[0]):
        for side in range(2):
            a, b = edges[at, side], edges[at, 1 - side]
            slot = find(offsets, targets, motions, a, b)
            if slot < 0:
                for spare in range(offsets[a], offsets[a + 1]):
                    if motions[spare] == 0:
                        slot = spare
                        break
                if slot < 0:
                    return at, fresh
                fresh += side
            targets[slot] = b
            motions[slot] = edge_motions[at]
            if costs.size > 0:
                costs[slot] = prices[at]
            for parallel in range(slot + 1, offsets[a + 1]):
                if targets[parallel] == b and motions[parallel] != 0:
                    targets[parallel] = a
                    motions[parallel] = 0
                    fresh -= side
    return edges.shape[0], fresh


@kernel
def row_usable(offsets, motions, costs, usable, nodes, mask):
    """Set `mask` (n,) bool of some nodes: whether an edge can be used."""
    for node in nodes:
        mask[node] = False
        for slot in range(offsets[node], offsets[node + 1]):
            if motions[slot] & usable and (costs.size == 0 or costs[slot] < float("inf")):
                mask[node] = True
                break
