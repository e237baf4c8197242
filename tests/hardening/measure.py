"""What work leaves behind in memory."""

from __future__ import annotations

import gc
import tracemalloc


def growth(work, first, then):
    """Bytes that Python and numpy hold more after `work` of ``range(first, then)`` than after ``range(first)``."""
    tracemalloc.start()
    try:
        for number in range(first):
            work(number)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(first, then):
            work(number)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
