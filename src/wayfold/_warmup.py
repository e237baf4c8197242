"""Compile everything once, ahead of the first query."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable

from wayfold.core import jit

_ROOMS = ("graph", "grid", "geometry", "hierarchy", "navmesh", "waypoints", "subregions", "floorplan", "terrain")


def warmup(progress: Callable[[str, int, int], None] | None = None) -> int:
    """Compile every kernel of the package, or load it from the cache.

    Parameters
    ----------
    progress : callable, optional
        Called as ``progress(room, done, total)`` before each room and once at the end. By default a progress bar is
        shown on a terminal.

    Returns
    -------
    int
        Number of compiled kernels.
    """
    if progress is None and sys.stderr.isatty():
        return _with_bar()
    jit.be_quiet()
    for done, room in enumerate(_ROOMS):
        if progress is not None:
            progress(room, done, len(_ROOMS))
        importlib.import_module(f"wayfold.{room}._warm").warm()
    if progress is not None:
        progress("done", len(_ROOMS), len(_ROOMS))
    return sum(len(kernel.signatures) > 0 for kernel in jit.KERNELS)


def _with_bar() -> int:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("compiling {task.description:<12}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=len(_ROOMS))
        return warmup(lambda room, done, total: bar.update(task, description=room, completed=done, total=total))
