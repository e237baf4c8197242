"""The harness of every benchmark: warm up, check the answers, time all contenders in turn, report ratios.

Machines are noisy, so contenders are timed one after the other in each of several rounds, and what counts is the ratio
to the first contender within a round, not the time.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

import numpy as np

from wayfold.errors import WayfoldError


class WrongAnswerError(WayfoldError, AssertionError):
    """A contender gave a wrong answer, so its time means nothing."""


@dataclass(frozen=True)
class Contender:
    """One way to do the work that is measured.

    Parameters
    ----------
    name : str
    run : callable
        Does the whole work once and returns the answer.
    work : int, >= 1
        Number of queries (or other units) in one run; times are reported for one unit.
    """

    name: str
    run: Callable[[], Any]
    work: int = 1


@dataclass
class Timing:
    """What was measured of one contender, seconds for one unit of work."""

    name: str
    seconds: list[float]
    ratios: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Median time of a unit of work, in seconds."""
        return statistics.median(self.seconds)

    @property
    def ratio(self) -> float:
        """Median over the rounds of this contender's time divided by the first contender's."""
        return statistics.median(self.ratios)


@dataclass
class Comparison:
    """The outcome of one comparison; the first timing is the one that ratios refer to."""

    title: str
    timings: list[Timing]
    facts: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        rows = [
            {
                "name": timing.name,
                "median_ms": timing.median * 1e3,
                "ratio": timing.ratio,
                "ratio_low": min(timing.ratios),
                "ratio_high": max(timing.ratios),
            }
            for timing in self.timings
        ]
        return {"title": self.title, "rounds": len(self.timings[0].seconds), "rows": rows, "facts": self.facts}


def compare(
    title: str,
    contenders: Sequence[Contender],
    check: Callable[[str, Any], None],
    *,
    rounds: int = 5,
    facts: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Time contenders against the first of them.

    Parameters
    ----------
    title : str
    contenders : sequence of Contender
        The first is the one that the ratios refer to.
    check : callable
        ``check(name, answer)`` raises `WrongAnswerError` when an answer is wrong. It sees the answer of every run,
        the warm-up included, outside the timing.
    rounds : int, >= 1
        Each contender runs once a round, after one warm-up.
    facts : dict, optional
        Whatever else belongs into the report.
    progress : callable, optional
        Called with the name of what runs next.
    """
    timings = [Timing(contender.name, []) for contender in contenders]
    for turn in range(rounds + 1):
        for contender, timing in zip(contenders, timings, strict=True):
            if progress is not None:
                progress(f"{contender.name}, {'warm-up' if turn == 0 else f'round {turn} of {rounds}'}")
            begin = time.perf_counter()
            answer = contender.run()
            took = time.perf_counter() - begin
            check(contender.name, answer)
            if turn > 0:
                timing.seconds.append(took / contender.work)
                timing.ratios.append(timing.seconds[-1] / timings[0].seconds[turn - 1])
    return Comparison(title, timings, facts or {})


def same_costs(expected: Any, *, relative: float) -> Callable[[str, Any], None]:
    """A check that every cost is as expected."""

    def check(name: str, answer: Any) -> None:
        got = np.asarray(answer, dtype=float)
        if got.shape != np.shape(expected):
            raise WrongAnswerError(f"{name} gave {got.size} answers to {np.size(expected)} queries")
        wrong = ~np.isclose(got, expected, rtol=relative, atol=0)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise WrongAnswerError(f"{name} answered {got[at]!r} for query {at}, where {expected[at]!r} is right")

    return check


@dataclass(frozen=True)
class Machine:
    """Where something was measured."""

    processor: str
    cores: int
    system: str
    python: str
    libraries: dict[str, str]


def machine(*libraries: str) -> Machine:
    """The machine that runs this, with the versions of numpy, numba and the named libraries."""
    versions = {}
    for name in ("numpy", "numba", *libraries):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return Machine(
        processor=_processor(),
        cores=os.cpu_count() or 1,
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        libraries=versions,
    )


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
