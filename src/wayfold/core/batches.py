"""Work in chunks over a pool of threads; kernels release the GIL, so the threads really run side by side.

Numba's own parallel loops are not used: their work-queue layer aborts the process when two Python threads enter it at
once, and each parallel kernel is a second compilation of the same loop. A serial kernel over a chunk is both the
serial and the parallel form, so the two agree by construction.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed

from wayfold.core import checks
from wayfold.core.interrupts import stopper
from wayfold.errors import ParameterError


def worker_count(workers: int | None = None) -> int:
    """Threads to use: `workers`, or else WAYFOLD_THREADS, or else the cores that this process may use."""
    if workers is None:
        text = os.environ.get("WAYFOLD_THREADS", "")
        if text:
            if not text.isdigit() or int(text) < 1:
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
    ranges = [(first, min(first + chunk, count)) for first in range(0, count, chunk)]
    check = stopper()
    if threads == 1 or len(ranges) <= 1:
        for first, last in ranges:
            check()
            work(first, last)
            if progress is not None:
                progress(last - first)
        return

    def one(first: int, last: int) -> None:
        check()
        work(first, last)

    with ThreadPoolExecutor(min(threads, len(ranges)), thread_name_prefix="wayfold") as pool:
        futures = {pool.submit(one, first, last): last - first for first, last in ranges}
        try:
            for future in as_completed(futures):
                future.result()
                if progress is not None:
                    progress(futures[future])
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
