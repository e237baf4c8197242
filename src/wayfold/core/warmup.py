"""Compile everything once, ahead of the first query."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable

from wayfold.core import jit

_PACKAGES = ("graph", "grid", "geometry", "hierarchy", "navmesh", "waypoints", "subregions", "floorplan", "terrain")


def warmup(progress: Callable[[str, int, int], None] | None = None) -> int:
    """Compile every kernel of Wayfold, or load it from the cache, so that no query waits for the compiler.

    Compiling takes minutes, loading from the cache seconds. Call it once after installing, or when a service starts.

    Parameters
    ----------
    progress : callable, optional
        Called as ``progress(package, done, total)`` before each package and once at the end. By default a progress
        bar is shown on a terminal. An exception that it raises stops the warm-up; what is compiled by then stays
        in the cache.

    Returns
    -------
    int
        Number of compiled kernels.

    Examples
    --------
    >>> def stop(package, done, total):
    ...     raise TimeoutError(f"{done} of {total} packages compiled")
    >>> warmup(stop)
    Traceback (most recent call last):
        ...
    TimeoutError: 0 of 9 packages compiled
    """
    if progress is None and sys.stderr.isatty():
        return _with_bar()
    jit.be_quiet()
    for done, package in enumerate(_PACKAGES):
        if progress is not None:
            progress(package, done, len(_PACKAGES))
        importlib.import_module(f"wayfold.{package}._warm").warm()
    if progress is not None:
        progress("done", len(_PACKAGES), len(_PACKAGES))
    return sum(len(kernel.signatures) > 0 for kernel in jit.KERNELS)


def _with_bar() -> int:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("compiling {task.description:<12}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=len(_PACKAGES))
        return warmup(lambda package, done, total: bar.update(task, description=package, completed=done, total=total))
