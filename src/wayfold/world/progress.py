"""A progress bar on the terminal while a world builds something; programs without a terminal see nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wayfold.core.progress import Progress

_PATIENCE = 1.0  # seconds before the bar appears


@contextmanager
def told(progress: Progress | None) -> Iterator[Progress | None]:
    """Yield what builders call: `progress` itself, a bar on a terminal, or None where there is no terminal."""
    if progress is not None or not sys.stderr.isatty():
        yield progress
        return
    bar = _Bar()
    try:
        yield bar.step
    finally:
        bar.close()


class _Bar:
    """A bar that appears when something takes longer than a second, and goes when it is done."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def step(self, what: str, done: int, total: int) -> None:
        """Show how far it is."""
        if self._bar is None:
            if time.perf_counter() - self._begin < _PATIENCE:
                return
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Display

            columns = (TextColumn("building {task.description}"), BarColumn(), TimeElapsedColumn())
            self._bar = Display(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(what, total=total)
            self._bar.start()
        self._bar.update(self._task, description=what, completed=done, total=total)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
