"""Many queries in parallel, over one planner or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wayfold import _threads
from wayfold.errors import ParameterError
from wayfold.path import Path


def run(
    planners: Sequence[Callable[[Any, Any], Path]],
    which: ArrayLike,
    starts: ArrayLike,
    goals: ArrayLike,
    workers: int | None,
) -> list[Path]:
    """The path of every query by the planner that `which` names."""
    kind, a, b = np.asarray(which), np.asarray(starts), np.asarray(goals)
    if kind.ndim != 1 or a.ndim not in (1, 2) or b.ndim not in (1, 2) or not len(kind) == len(a) == len(b):
        raise ParameterError(f"starts and goals must be as many, not of shapes {a.shape} and {b.shape}")
    if len(kind) and (kind.dtype.kind not in "iu" or kind.min() < 0 or kind.max() >= len(planners)):
        raise ParameterError(f"which must hold whole numbers from 0 to {len(planners) - 1}")
    found: list[Any] = [None] * len(kind)

    def work(first: int, last: int) -> None:
        for at in range(first, last):
            found[at] = planners[kind[at]](a[at], b[at])

    _threads.run_chunks(work, len(kind), workers=workers, chunk=4)
    return found
