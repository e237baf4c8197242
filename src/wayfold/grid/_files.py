"""Sparse grids in `.wayfold` files: their cells, area effects and links; regions and abstract edges are made again.

Whether regions and abstract edges belong to the cells is harder to check than to work out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from wayfold.core import checks
from wayfold.core.arrays import distinct
from wayfold.core.schema import Array, Parts, Schema, Value
from wayfold.grid._edit_kernels import FARTHEST
from wayfold.grid._links import octile

if TYPE_CHECKING:
    from wayfold.grid.sparse import SparseGrid

_SparseGrid = TypeVar("_SparseGrid", bound="SparseGrid")

WAYS = ("regular", "naive", "smart", "1-bit", "8-bit")
_ROUNDING = 1e-9  # of a link's cost


def cells_ascend(parts: Parts) -> None:
    """Cells stand in ascending order of row, column and level, each once."""
    columns, levels = parts.arrays["columns"], parts.arrays["levels"]
    x, y = columns[:, 0], columns[:, 1]
    above = (y[1:] == y[:-1]) & (x[1:] == x[:-1]) & (levels[1:] > levels[:-1])
    beside = (y[1:] == y[:-1]) & (x[1:] > x[:-1])
    if not ((y[1:] > y[:-1]) | beside | above).all():
        raise ValueError("a cell is there twice, or the cells are not in order")


def links_cost_enough(parts: Parts) -> None:
    """A link costs at least the octile distance that it leads over; between two cells there is one each way at most."""
    ends, costs = parts.arrays["links"], parts.arrays["link_costs"]
    if not (costs >= octile(ends) * (1.0 - _ROUNDING)).all():
        raise ValueError("a link costs less than the distance that it leads over")
    if len(distinct(ends.reshape(-1, 6)).rows) != len(ends):
        raise ValueError("a link is there twice")


SCHEMA = Schema(
    "sparse-grid",
    {
        "columns": Array("int32", ("cells", 2), "column and row of each cell", 1 - FARTHEST, FARTHEST - 1),
        "levels": Array("int16", ("cells",), "level of each cell"),
        "kinds": Array("uint8", ("cells",), "kind of each cell, 0 where missing", high=254, optional=True),
        "effects": Array("uint8", ("cells",), "area effects on each cell, 0 where missing", high=7, optional=True),
        "links": Array("int64", ("links", 2, 3), "the cells that one-way links lead from and to", -(2**31), 2**31),
        "link_costs": Array("float64", ("links",), "costs of the links", 0.0, checks.LARGEST_COST),
        "origin": Array("float64", (3,), "metres of cell (0, 0, 0)", -checks.LARGEST, checks.LARGEST),
        "scale": Array("float64", (3,), "metres of a cell and of a level", 1e-12, checks.LARGEST),
    },
    {
        "sector_size": Value(int, "cells along a sector", 2, 16),
        "successors": Value(str, "how successors are generated", among=WAYS),
        "max_step": Value(int, "highest step, levels", 0, 32767),
        "trim": Value(bool, "whether only the boxes of regions are kept"),
        "merge": Value(bool, "whether regions unite"),
        "drop": Value(int, "deepest drop, levels", 0, 65535),
        "effect_cost": Value(float, "cost of an area effect", 0.0, checks.LARGEST_COST),
    },
    checks=(cells_ascend, links_cost_enough),
)


def to_parts(grid: SparseGrid) -> Parts:
    """The cells of a grid and what is on them."""
    store, links = grid._store, grid._planner.links
    nodes = grid._planner.all_nodes()
    cells = grid._planner.cells_of(nodes)
    order = np.lexsort((cells[:, 2], cells[:, 0], cells[:, 1]))
    nodes, cells = nodes[order], cells[order]
    arrays: dict[str, Any] = {
        "columns": cells[:, :2].astype(np.int32),
        "levels": cells[:, 2].astype(np.int16),
        "links": links.ends,
        "link_costs": links.costs,
        "origin": np.array(grid.origin, np.float64),
        "scale": np.array(grid.scale, np.float64),
    }
    kinds, effects = store.kind[store.owners[nodes >> 4]], (store.cells[nodes] >> 13).astype(np.uint8)
    arrays |= {name: values for name, values in (("kinds", kinds), ("effects", effects)) if values.any()}
    meta = {
        "sector_size": grid.sector_size,
        "successors": grid.successor_way,
        "max_step": grid.max_step,
        "trim": grid.trim,
        "merge": grid.merge,
        "drop": grid.drop,
        "effect_cost": grid.effect_cost,
    }
    return Parts(arrays, meta)


def from_parts(kind: type[_SparseGrid], parts: Parts) -> _SparseGrid:
    """The grid, with regions and abstract edges made anew."""
    arrays = parts.arrays
    cells = np.column_stack([arrays["columns"], arrays["levels"]]).astype(np.int64)
    grid = kind(**parts.meta)
    grid.origin, grid.scale = arrays["origin"], arrays["scale"]
    grid._editor.fill(cells, arrays.get("kinds", np.zeros(1, np.uint8)))
    if "effects" in arrays:
        grid._editor.change_effects(np.repeat(cells, arrays["effects"], axis=0), 1)
    grid._planner.links.restore(arrays["links"], arrays["link_costs"])
    return grid
