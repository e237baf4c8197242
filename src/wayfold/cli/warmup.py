"""`wayfold warmup`."""

from __future__ import annotations

import time

from wayfold.cli._output import progress


def run(quiet: bool) -> None:
    """Compile everything and say how long it took."""
    from wayfold import warmup

    begin = time.perf_counter()
    with progress("compiling", 4, quiet) as step:
        count = warmup(lambda room, done, total: step(room))
    print(f"{count} kernels ready in {time.perf_counter() - begin:.1f} s")
