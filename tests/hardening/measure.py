"""What work leaves behind in memory."""

from __future__ import annotations

import gc
import itertools
import tracemalloc

WINDOWS = 3  # What is kept once (a table that found its size, a kernel that was loaded) falls into one or two of them.


def growth(work, first, then):
    """Bytes that Python and numpy come to hold by `work` of ``range(first, then)``, after ``range(first)``.

    The range is cut into windows, and the one that grew least stands for all: what is left behind at every turn is in
    each of them, what is kept once is not.
    """
    ends = [first + (then - first) * number // WINDOWS for number in range(WINDOWS + 1)]
    held = []
    tracemalloc.start()
    try:
        for number in range(then + 1):
            if number in ends:
                gc.collect()
                held.append(tracemalloc.get_traced_memory()[0])
            if number < then:
                work(number)
    finally:
        tracemalloc.stop()
    return WINDOWS * min(after - before for before, after in itertools.pairwise(held))
