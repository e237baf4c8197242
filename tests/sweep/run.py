"""Calls every public callable with hostile arguments and prints what went wrong: ``python -m tests.sweep.run``.

It runs in a process of its own with a limit on memory and on the time of each call, so that a crash or a hang is a
finding as well: the last line of the log then names the call.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import sys
import tempfile
import time
import warnings

import numpy as np

from tests.sweep import judge
from tests.sweep.hostile import HOSTILE
from tests.sweep.subjects import subjects

CALLBACKS, CALLABLE = ("progress", "search", "price"), ("class", "function")  # what they raise is their own affair
SECONDS = 20.0  # for one call
# NaN where there is nothing
NAN_IS_NONE = (
    "NavMesh.project", "NavMesh[built].project", "NavMesh.nearest", "NavMesh[built].nearest", "TriangleIndex.nearest",
    "SparseGrid.nearest", "SparseGrid.bounds", "DenseGrid.nearest", "Terrain.nearest", "Decomposition.nearest",
    "Decomposition[triangles].nearest",
    "WaypointGraph.nearest", "VoxelWaypoints.nearest",
)  # fmt: skip
MEMORY = 6 << 30  # bytes of address space; Numba and its libraries map more than one GiB


def cases(found, rng, singles, pairs):
    """Which calls to make: each argument in turn replaced by each hostile value, and some pairs of arguments."""
    every = [
        (label, {name: odd})
        for label, subject in found.items()
        for name in subject.arguments
        for odd in HOSTILE
        if not (name in CALLBACKS and odd in CALLABLE)
    ]
    if singles is not None and singles < len(every):
        every = [every[at] for at in np.sort(rng.choice(len(every), singles, replace=False))]
    several = [label for label, subject in found.items() if len(subject.arguments) > 1]
    odd = list(HOSTILE)
    for _ in range(pairs):
        label = several[rng.integers(len(several))]
        names = rng.choice(list(found[label].arguments), 2, replace=False)
        if not set(CALLBACKS) & set(names.tolist()):
            every.append((label, {str(name): odd[rng.integers(len(odd))] for name in names}))
    every.sort(key=lambda case: case[0])
    return every


def signatures():
    """The signatures that each kernel has been compiled for."""
    from wayfold.core.jit import KERNELS

    return {(kernel.__module__, kernel.__name__): set(kernel.signatures) for kernel in KERNELS}


def compiled():
    """How many there are of all kernels."""
    from wayfold.core.jit import KERNELS

    return sum(len(kernel.overloads) for kernel in KERNELS)


def call(subject, replaced):
    """Make one call; what is wrong with it, "" for nothing."""
    method = subject.bind()
    arguments = subject.good()
    arguments.update((name, HOSTILE[odd]()) for name, odd in replaced.items())
    refused = False
    several = [arguments.pop(name) for name in list(arguments) if name.startswith("*")]
    try:
        answer = method(*several, **arguments)
    except Exception as error:
        refused = True
        problem = judge.complaint(error)
    else:
        problem = judge.nonsense(answer) if subject.label not in NAN_IS_NONE else ""
    if subject.changes and not refused:
        subject.forget()
    elif subject.changed(judge.same):
        subject.forget()
        return problem or f"the object has changed{' though the call was refused' if refused else ''}"
    return problem


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("labels", nargs="*")
    parser.add_argument("--singles", type=int)
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", default=os.devnull)
    options = parser.parse_args()
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.environ["WAYFOLD_CACHE"] = ""
    import wayfold

    wayfold.warmup()
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", ResourceWarning)
    found, unknown = subjects()
    problems = [{"case": label, "problem": "not known to the sweep"} for label in unknown]
    if options.labels:
        found = {label: one for label, one in found.items() if any(label.startswith(part) for part in options.labels)}
    ready = {}
    for label, subject in found.items():
        try:
            good = subject.good()
            several = [good.pop(name) for name in list(good) if name.startswith("*")]
            subject.bind()(*several, **good)
            ready[label] = subject
            if subject.changes:
                subject.forget()
        except Exception as error:
            problems.append({"case": label, "problem": f"good arguments: {type(error).__name__}: {error}"})
    before, known = signatures(), compiled()
    chosen = cases(ready, np.random.default_rng(options.seed), options.singles, options.pairs)
    slowest = (0.0, "")
    with open(options.log, "w") as log, tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # some odd values are names of files
        for number, (label, replaced) in enumerate(chosen):
            if number % 5000 == 0:
                print(f"{number:,} of {len(chosen):,} calls, {len(problems)} problems", file=sys.stderr, flush=True)
            shown = f"{label}({', '.join(f'{name}={odd}' for name, odd in replaced.items())})"
            log.seek(0)
            log.write(f"{shown:<300}\n")
            log.flush()
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            begin = time.perf_counter()
            problem = call(ready[label], replaced)
            slowest = max(slowest, (time.perf_counter() - begin, shown))
            faulthandler.cancel_dump_traceback_later()
            if compiled() != known:
                now, known = signatures(), compiled()
                for name, all_of in now.items():
                    if more := all_of - before.get(name, set()):
                        problem += f" compiled {'.'.join(name)} for {str(more)[:300]}"
                before = now
            if problem:
                problems.append({"case": shown, "problem": problem})
                print(f"{shown}: {problem}", file=sys.stderr, flush=True)
    sys.stdout.flush()
    json.dump({"calls": len(chosen), "subjects": len(ready), "slowest": slowest, "problems": problems}, sys.stdout)


if __name__ == "__main__":
    main()
