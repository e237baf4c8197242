"""`wayfold warmup`."""

from __future__ import annotations

import time


def run(quiet: bool) -> None:
    """Compile everything and say how long it took."""
    from wayfold import warmup

    begin = time.perf_counter()
    # Without a function of ours, warmup shows a bar of its own on a terminal.
    count = warmup((lambda room, done, total: None) if quiet else None)
    print(f"{count} kernels ready in {time.perf_counter() - begin:.1f} s")
