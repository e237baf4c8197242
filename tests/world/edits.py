"""Random sequences of edits, and the world that they should lead to."""

from __future__ import annotations

from hypothesis import strategies as st

from wayfold import Box, Prism


@st.composite
def shapes(draw, extent, *, height=(-2.0, 3.0), step=0.25):
    """Boxes and triangles in and around a rectangle of some extent."""
    number = st.integers(-4, int(extent / step) + 4).map(lambda k: k * step)
    low, high = draw(st.tuples(number, number)), draw(st.tuples(number, number))
    x0, x1 = sorted((low[0], high[0]))
    y0, y1 = sorted((low[1], high[1]))
    x1, y1 = x1 + step, y1 + step
    if draw(st.booleans()):
        return Box((x0, y0, height[0]), (x1, y1, height[1]))
    return Prism([(x0, y0), (x1, y0), (x0, y1)], *height)


@st.composite
def edits(draw, extent, costs=(1.0, 2.0, 4.0, 5.0), most=8, **options):
    """Edits as ("block", shape), ("unblock", shape) and ("cost", shape, cost), each possible after those before it."""
    pool = draw(st.lists(shapes(extent, **options), min_size=1, max_size=4))
    result, blocked = [], []
    for _ in range(draw(st.integers(1, most))):
        kinds = ["block", "cost"] if costs else ["block"]
        kind = draw(st.sampled_from([*kinds, "unblock"] if blocked else kinds))
        if kind == "unblock":
            result.append((kind, blocked.pop(draw(st.integers(0, len(blocked) - 1)))))
            continue
        shape = draw(st.sampled_from(pool))
        if kind == "block":
            blocked.append(shape)
            result.append((kind, shape))
        else:
            result.append((kind, shape, draw(st.sampled_from(costs))))
    return result


def make(world, sequence):
    """Make the edits."""
    for kind, *what in sequence:
        {"block": world.block, "unblock": world.unblock, "cost": world.set_cost}[kind](*what)


def same_zones(world, fresh):
    """A fresh world with the blocks and costs that another one has now, given in the same order."""
    for shape in world.blocks:
        fresh.block(shape)
    for shape, cost in world.costs:
        fresh.set_cost(shape, cost)
    return fresh
