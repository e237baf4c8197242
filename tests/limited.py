"""Cases that might end their process or never end: in a process of their own, each within limits of memory and time."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import traceback
from pathlib import Path

MEMORY = 12 << 30
"""Bytes of address space that a case may take, the compiler's included."""
SECONDS = 60
"""Of the processor that a case may take; most take a few milliseconds."""


def run_cases(module, folder, first, count, **environment):
    """Run cases of a module that ends in `each_case`; an error names the case that ended the process."""
    command = [sys.executable, "-m", module, str(first), str(count), str(folder)]
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}, timeout=3600
    )
    log = (folder / "log").read_text().splitlines() if (folder / "log").exists() else ["before the first case"]
    end = "" if log[-1] == "done" else f"status {run.returncode} after {log[-1]}\n"
    assert run.returncode == 0, f"{end}{run.stdout[-6000:]}{run.stderr[-3000:]}"
    return run.stdout


def each_case(folder, first, count, make, attempt):
    """Make and attempt cases; prints those that raise, counts the ends of all, and exits with 1 where one raised.

    ``make(seed)`` returns what a case is and the arguments of `attempt`, which returns how it ended.
    """
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    ends = {}
    with open(Path(folder) / "log", "w") as log:
        for seed in range(first, first + count):
            # What these signals do by default is to end the process: by its own time, and where it waits for something.
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            signal.alarm(10 * SECONDS)
            told, arguments = make(seed)
            log.write(f"case {seed}: {told}\n")
            log.flush()
            try:
                end = attempt(*arguments)
            except Exception:
                end = "wrong"
                print(f"case {seed}: {told}\n{''.join(traceback.format_exc(limit=-6))}", flush=True)
            ends[end] = ends.get(end, 0) + 1
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        log.write("done\n")
    print(", ".join(f"{number} {end}" for end, number in sorted(ends.items())), flush=True)
    sys.exit(int("wrong" in ends))
