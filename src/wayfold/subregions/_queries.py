"""Many queries in parallel, over one planner or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wayfold.core import batches, checks
from wayfold.errors import ParameterError
from wayfold.path import Path


def run(
    planners: Sequence[Callable[[Any, Any], Path]],
    which: ArrayLike | None,
    starts: ArrayLike,
    goals: ArrayLike,
    workers: int | None,
) -> list[Path]:
    """The path of every query by the planner that `which` names; by the first without it."""
    a, b = (checks.numbers(ends, name) for ends, name in ((starts, "starts"), (goals, "goals")))
    for name, ends in (("starts", a), ("goals", b)):
        if ends.ndim not in (1, 2):
            raise ParameterError(f"{name} must have shape (q, 3), or (q,) for waypoints, not {ends.shape}")
    checks.same_length(a, b)
    kind = np.zeros(len(a), np.int64) if which is None else checks.wholes(which, "which")
    if kind.shape != (len(a),) or (kind.size and not (kind.min() >= 0 and kind.max() < len(planners))):
        raise ParameterError(f"which must hold a whole number from 0 to {len(planners) - 1} for each start")
    found: list[Any] = [None] * len(kind)

    def work(first: int, last: int) -> None:
        for at in range(first, last):
            found[at] = planners[kind[at]](a[at], b[at])

    batches.run_chunks(work, len(kind), workers=workers, chunk=4)
    return found
