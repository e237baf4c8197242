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


def place(point: Any) -> str:
    """Coordinates as errors name them: six digits, or to the millimetre where six digits say less; none for NaN."""
    return ", ".join(_coordinate(float(value)) for value in np.asarray(point, np.float64) if not np.isnan(value))


def _coordinate(value: float) -> str:
    short = f"{value:g}"
    return short if abs(float(short) - value) <= 5e-4 else f"{value:.3f}".rstrip("0").rstrip(".")


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
