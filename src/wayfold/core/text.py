"""Values as people read them and as JSON holds them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np


def show(value: Any) -> str:
    """A value as a person reads it: thousands separated, five digits, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    if isinstance(value, (float, np.floating)):
        return f"{value:,.0f}" if abs(float(value)) >= 1e5 else f"{value:,.5g}"
    if isinstance(value, (list, tuple, np.ndarray)):
        return ", ".join(show(item) for item in value)
    return str(value)


def is_whole(text: str) -> bool:
    """Whether a text is a whole number in digits that `int` reads: not ``²``, and not thousands of them."""
    return text.isdecimal() and len(text) < 19


def place(point: Any, extent: float = 50.0) -> str:
    """Coordinates as messages name them, so that places of a world can be told apart however far off it lies.

    Six digits, or more where they would be wrong by more than 1e-5 of the world's `extent` (50 m: half a millimetre).
    Coordinates that are NaN are left out.
    """
    near = 1e-5 * extent
    return ", ".join(_coordinate(float(value), near) for value in np.asarray(point, np.float64) if not np.isnan(value))


def _coordinate(value: float, near: float) -> str:
    if not math.isfinite(value):
        return f"{value:g}"
    digits = next((digits for digits in range(6, 17) if abs(float(f"{value:.{digits}g}") - value) <= near), 17)
    return f"{value:.{digits}g}"


def plain(value: Any) -> Any:
    """A value of plain Python as JSON can hold it: numpy's numbers and arrays turned, infinity and NaN into None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


def to_json(value: Any) -> str:
    """A value as JSON text."""
    return json.dumps(plain(value), indent=2)
