"""Progress callbacks: every public one is called as ``progress(what, done, total)``."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

Progress = Callable[[str, int, int], None]


def stage(progress: Progress | None, what: str) -> Callable[[int, int], None] | None:
    """Return the callback of one stage, which is called as ``(done, total)``; None where nobody listens.

    >>> stage(lambda what, done, total: print(what, done, "of", total), "cells")(3, 8)
    cells 3 of 8
    """
    return None if progress is None else lambda done, total: progress(what, done, total)


def with_what(progress: Callable[..., Any], where: str) -> Callable[..., Any]:
    """Return a callback that takes ``(what, done, total)``.

    One that takes ``(done, total)`` only, as builders once called theirs, is taken for one version, with a
    DeprecationWarning at the caller of `where`.
    """
    try:
        signature = inspect.signature(progress)
    except (TypeError, ValueError):  # some callables of C have none
        return progress
    if _takes(signature, 3) or not _takes(signature, 2):
        return progress
    warnings.warn(f"{where}: progress is now called as progress(what, done, total)", DeprecationWarning, stacklevel=3)
    return lambda what, done, total: progress(done, total)


def _takes(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True
