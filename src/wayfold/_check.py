"""Checks of what enters: each returns a clean array or number, or raises one clear sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.errors import GeometryError, ParameterError

LARGEST = 1e12
"""Metres: the largest coordinate that readers and makers of maps accept, so that no square or product overflows."""

LARGEST_COST = 1e28
"""The largest finite cost of an edge: even 2**31 of them add up to less than the largest float32."""


def costs(values: NDArray[Any], name: str = "costs", first: int = 0) -> None:
    """Refuse costs of edges that are negative or NaN, or finite but above `LARGEST_COST`; infinity blocks an edge.

    `first` is the number of the first of them where they are part of a longer list.
    """
    if not values.size:
        return
    low, high = values.min(), values.max()
    if low >= 0 and high <= LARGEST_COST:  # NaN fails
        return
    with np.errstate(invalid="ignore"):
        bad = ~(values >= 0) | ((values > LARGEST_COST) & np.isfinite(values))
    if bad.any():
        at = int(np.argmax(bad))
        limit = f"at most {LARGEST_COST:g}" if values[at] > 0 else "at least 0"
        raise ParameterError(f"{name}[{first + at}] must be {limit} (infinity blocks the edge), not {values[at]}")


def number(value: Any, name: str, *, low: float = -np.inf, high: float = np.inf, open_low: bool = False) -> float:
    """A finite float within ``[low, high]`` (``(low, high]`` with `open_low`)."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be a number, not {value!r}") from None
    if not np.isfinite(result):
        raise ParameterError(f"{name} must be finite, not {result}")
    if result < low or result > high or (open_low and result == low):
        above = f"above {low:g}" if open_low else f"at least {low:g}"
        limits = above if np.isinf(high) else f"{above} and at most {high:g}"
        raise ParameterError(f"{name} must be {limits}, not {result:g}")
    return result


def whole(value: Any, name: str, *, low: int, high: int | None = None) -> int:
    """An int within ``[low, high]``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ParameterError(f"{name} must be a whole number, not {value!r}")
    if value < low or (high is not None and value > high):
        limits = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ParameterError(f"{name} must be {limits}, not {value}")
    return int(value)


def points3(points: ArrayLike, name: str = "points", height: float = 0.0) -> NDArray[np.float64]:
    """A finite (n, 3) float64 array from (n, 2) or (n, 3) points; missing heights are `height`."""
    try:
        array = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be an array of numbers of shape (n, 2) or (n, 3)") from None
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise ParameterError(f"{name} must have shape (n, 2) or (n, 3), not {array.shape}")
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        raise GeometryError(f"{name}[{int(np.argmax(bad))}] is not finite: {array[np.argmax(bad)].tolist()}")
    if array.shape[1] == 2:
        array = np.column_stack([array, np.full(len(array), height)])
    return np.ascontiguousarray(array)


def within_reach(points: NDArray[np.float64], name: str = "points") -> None:
    """Refuse coordinates beyond `LARGEST`, and NaN."""
    if points.size and not (points.min() >= -LARGEST and points.max() <= LARGEST):
        wrong = int(np.argmin((np.abs(points) <= LARGEST).all(axis=-1)))
        raise GeometryError(f"{name}[{wrong}] lies beyond {LARGEST:g} m: {points[wrong].tolist()}")


def point3(point: ArrayLike, name: str = "point", height: float = 0.0) -> NDArray[np.float64]:
    """A finite (3,) float64 array from (x, y) or (x, y, z); a missing height is `height`."""
    try:
        array = np.asarray(point, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be (x, y) or (x, y, z), not {point!r}") from None
    if array.shape not in ((2,), (3,)):
        raise ParameterError(f"{name} must be (x, y) or (x, y, z), not of shape {array.shape}")
    return np.asarray(points3(array[None], name, height)[0])
