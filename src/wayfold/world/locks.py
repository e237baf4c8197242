"""A lock that many readers share and one writer has alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReadersWriter:
    """Readers run side by side; a writer waits for them, and those that come later wait for the writer.

    Readers must not read again while they read: a waiting writer would stop both. The cost of reading is that of one
    uncontended lock, about a microsecond.
    """

    def __init__(self) -> None:
        self._gate = threading.Condition()
        self._readers = 0
        self._writers = 0  # waiting or writing

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold off writers."""
        with self._gate:
            while self._writers:
                self._gate.wait()
            self._readers += 1
        try:
            yield
        finally:
            with self._gate:
                self._readers -= 1
                if not self._readers:
                    self._gate.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold off everybody. Writers are told apart by the caller: only one may come at a time."""
        with self._gate:
            self._writers += 1
            while self._readers:
                self._gate.wait()
        try:
            yield
        finally:
            with self._gate:
                self._writers -= 1
                self._gate.notify_all()
