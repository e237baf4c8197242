"""Work in chunks over a pool of threads; kernels release the GIL, so the threads really run side by side.

Numba's own parallel loops are not used: their work-queue layer aborts the process when two Python threads enter it at
once, and each parallel kernel is a second compilation of the same loop. A serial kernel over a chunk is both the
serial and the parallel form, so the two agree by construction.
"""

from __future__ import annotations

import contextvars
import functools
import os
import queue
from collections import deque
from collections.abc import Callable

from wayfold.core import checks
from wayfold.core.interrupts import TICK, begin, stopper, uninterrupted
from wayfold.core.text import is_whole
from wayfold.errors import ParameterError


def worker_count(workers: int | None = None) -> int:
    """Threads to use: `workers`, or else WAYFOLD_THREADS, or else the cores that this process may use."""
    if workers is None:
        text = os.environ.get("WAYFOLD_THREADS", "")
        if text:
            if not is_whole(text) or int(text) < 1:
                raise ParameterError(f"WAYFOLD_THREADS must be a whole number of at least 1, not {checks.shown(text)}")
            return int(text)
        try:
            return max(1, len(os.sched_getaffinity(0)))
        except AttributeError:  # not on every platform
            return max(1, os.cpu_count() or 1)
    return checks.whole(workers, "workers", low=1)


def run_chunks(
    work: Callable[[int, int], object],
    count: int,
    *,
    workers: int | None = None,
    chunk: int = 256,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Call ``work(first, last)`` on consecutive ranges that cover ``range(count)``.

    Parameters
    ----------
    work : callable
        Handles items `first` to `last - 1`; must write only to its own items. It may run in any thread.
    count : int, >= 0
        Number of items.
    workers : int, >= 1, optional
        Threads; 1 runs everything in the calling thread.
    chunk : int, >= 1
        Items a call.
    progress : callable, optional
        Called in the calling thread with the number of items just finished.

    Notes
    -----
    The first exception that `work` raises (or Ctrl-C) cancels the chunks that have not begun and is raised here, once
    those that have begun are done: they may read a map that the caller holds a lock on.
    """
    threads = worker_count(workers)
    ranges = deque((first, min(first + chunk, count)) for first in range(0, count, chunk))
    check = stopper()
    if threads == 1 or len(ranges) <= 1:
        for first, last in ranges:
            check()
            work(first, last)
            if progress is not None:
                progress(last - first)
        return
    _Team(work, ranges, check).run(min(threads, len(ranges)), progress)


class _Team:
    """Threads that take range after range until none is left.

    Ctrl-C may come between any two steps of the thread that waits for them. It therefore waits on a queue of the
    interpreter itself, and what has begun and what has ended are lists that it reads, not numbers that it counts.
    """

    def __init__(
        self, work: Callable[[int, int], object], ranges: deque[tuple[int, int]], check: Callable[[], None]
    ) -> None:
        self.work, self.ranges, self.check = work, ranges, check
        self.begun: list[None] = []
        self.ended: list[None] = []
        self.problems: list[BaseException] = []
        self.news: queue.SimpleQueue[int] = queue.SimpleQueue()  # items done; 0 when a thread ends

    def run(self, threads: int, progress: Callable[[int], None] | None) -> None:
        """Do everything in so many threads; see `run_chunks`."""
        try:
            with uninterrupted():
                for _ in range(threads):
                    begin(functools.partial(contextvars.copy_context().run, self.member))
                    self.begun.append(None)
            while len(self.ended) < threads or not self.news.empty():
                items = self.next()
                if items and progress is not None:
                    progress(items)
        except BaseException:
            self.ranges.clear()
            with uninterrupted():
                while len(self.ended) < len(self.begun):
                    self.next()
            raise
        if self.problems:
            raise self.problems[0]

    def next(self) -> int:
        """Items just done, or 0: a thread has ended, or it is time to look for signals."""
        try:
            return self.news.get(timeout=TICK)
        except queue.Empty:
            return 0

    def member(self) -> None:
        """What each thread does."""
        try:
            while True:
                try:
                    first, last = self.ranges.popleft()
                except IndexError:
                    break
                self.check()
                self.work(first, last)
                self.news.put(last - first)
        except BaseException as error:  # the caller raises it
            self.problems.append(error)
            self.ranges.clear()
        finally:
            self.ended.append(None)
            self.news.put(0)
