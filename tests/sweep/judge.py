"""What a call may do: raise a `WayfoldError` of one short sentence and change nothing, or give a sane answer."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from wayfold.errors import WayfoldError
from wayfold.path import Path, Paths, Status

LONGEST = 400  # characters of a message
_DEEP = 4  # levels of an answer that are looked at


def complaint(error):
    """What is wrong with an error, "" for nothing."""
    if not isinstance(error, WayfoldError):
        return f"{type(error).__name__}: {str(error)[:160]}"
    try:
        message = str(error)
    except Exception as second:
        return f"a message that cannot be shown: {second!r}"
    if len(message) > LONGEST:
        return f"a message of {len(message)} characters: {message[:160]}"
    if not message:
        return "an error without a message"
    return ""


def nonsense(answer, depth=0):
    """What is wrong with an answer, "" for nothing."""
    if depth > _DEEP:
        return ""
    if isinstance(answer, Path):
        return _bad_path(answer)
    if isinstance(answer, Paths):
        answer = list(answer[:20])
    if isinstance(answer, float):
        return "NaN" if math.isnan(answer) else ""
    if isinstance(answer, np.ndarray):
        return "NaN in an array" if answer.dtype.kind == "f" and np.isnan(answer).any() else ""
    if isinstance(answer, (list, tuple)):
        return next(filter(None, (nonsense(part, depth + 1) for part in answer[:20])), "")
    if isinstance(answer, Mapping):
        return next(filter(None, (nonsense(part, depth + 1) for part in answer.values())), "")
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        parts = [getattr(answer, field.name) for field in dataclasses.fields(answer)]
        return nonsense(parts, depth + 1)
    return ""


def _bad_path(path):
    if not isinstance(path.status, Status):
        return f"a path of status {path.status!r}"
    there = path.status in (Status.FOUND, Status.PARTIAL)
    if not (path.cost >= 0 and (math.isfinite(path.cost) == there)):
        return f"a path {path.status.name} of cost {path.cost}"
    points = path.points
    if not np.isfinite(points).all() or (len(points) == 0) == there:
        return f"a path {path.status.name} of points {points[:3].tolist()}"
    if there and not (path.length >= 0 and math.isfinite(path.length)):
        return f"a path of length {path.length}"
    if path.lower_bound is not None and not path.lower_bound <= path.cost * (1 + 1e-6) + 1e-6:
        return f"a path of cost {path.cost} below its bound {path.lower_bound}"
    if (not path.found) != bool(path.why):
        return f"a path {path.status.name} with the reason {path.why!r}"
    return ""


def same(one, other):
    """Whether two answers are alike: what probes compare before and after a refused call."""
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, Path):
        return one.status is other.status and one.cost == other.cost and np.array_equal(one.points, other.points)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return bool(one == other)
