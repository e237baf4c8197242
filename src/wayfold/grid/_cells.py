"""What both grids are asked about their cells in the same way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks, text
from wayfold.errors import OffMapError, ParameterError

_Search = Callable[[NDArray[np.float64], float, NDArray[np.float64]], None]


def nearest_cells(points: ArrayLike, max_distance: float | None, search: _Search) -> NDArray[np.float64]:
    """Cells as `nearest` gives them; ``search(points, limit, out)`` finds them within a squared distance."""
    where, single = checks.places(points)
    most = np.inf if max_distance is None else checks.number(max_distance, "max_distance", low=0.0)
    found = np.empty_like(where)
    search(where, float(most * most), found)
    if single and np.isnan(found[0, 0]):
        within = "" if np.isinf(most) else f" within {most:g}"
        raise OffMapError(f"({text.place(where[0])}) has no cell{within}: use a larger max_distance, or another point")
    return found[0] if single else found


def random_cells(
    cells: NDArray[np.int64],
    scale: NDArray[np.float64],
    count: int,
    seed: int,
    near: ArrayLike | None,
    radius: float | None,
) -> NDArray[np.float64]:
    """Some of the cells as `random_points` gives them."""
    number = checks.whole(count, "count", low=0, high=checks.MOST_POINTS)
    random = np.random.default_rng(checks.whole(seed, "seed", low=0))
    where = ""
    if (near is None) != (radius is None):
        raise ParameterError("near and radius go together: give both or neither")
    if near is not None:
        centre, most = checks.point3(near, "near"), checks.number(radius, "radius", low=0.0, high=checks.LARGEST)
        apart = (cells - centre) * scale
        cells = cells[(apart * apart).sum(axis=1) <= most * most]
        where = f" within {most:g} of ({text.place(centre)})"
    if not len(cells) and number:
        raise OffMapError(f"there is no cell to draw points from{where}")
    return cells[random.integers(0, max(1, len(cells)), number)].astype(np.float64)
