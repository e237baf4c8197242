"""Small array helpers that every package uses: offsets of lists that lie one behind the other, distinct rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


def offsets_of(counts: ArrayLike) -> NDArray[np.int64]:
    """Where lists of these lengths begin when they lie one behind the other; the last offset is where they end."""
    lengths = np.asarray(counts, np.int64)  # an empty list would be one of floats
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


class Distinct(NamedTuple):
    """The different rows of an array, in the order of their numbers."""

    rows: NDArray[Any]
    """(k, d)."""
    first: NDArray[np.int64]
    """(k,) where each occurs first."""
    inverse: NDArray[np.int64]
    """(n,) which of them each row is."""
    counts: NDArray[np.int64]
    """(k,) how often each occurs."""


def distinct(rows: NDArray[Any]) -> Distinct:
    """The different rows (n, d) of an array.

    `numpy.unique` with an axis compares rows as records, which takes longer and turns a Ctrl-C into a TypeError.
    """
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    begins = np.ones(len(rows), np.bool_)
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    inverse = np.empty(len(rows), np.int64)
    inverse[order] = np.cumsum(begins) - 1
    starts = np.flatnonzero(begins)
    return Distinct(ordered[starts], order[starts], inverse, np.diff(starts, append=len(rows)))
