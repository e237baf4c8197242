"""The five papers: what measures each, and what turns the measurement into tables."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.real_data import RealData
from benchmarks.verdicts import Headline, Listing, Table
from wayfold.core.text import plain
from wayfold.errors import ParameterError


@dataclass(frozen=True)
class Paper:
    """One paper; its measurement is ``benchmarks.<module>``, its tables are ``benchmarks.tables.<module>``."""

    name: str
    title: str
    module: str

    def measure(self, data: RealData, *, full: bool, progress: Callable[[str], None]) -> dict[str, Any]:
        """Measure what the paper measures, as JSON holds it."""
        run = importlib.import_module(f"benchmarks.{self.module}").run
        found: dict[str, Any] = plain(run(data, full=full, progress=progress))
        return found

    def tables(self, found: dict[str, Any]) -> list[Table | Listing]:
        """A measurement as tables with verdicts."""
        result: list[Table | Listing] = importlib.import_module(f"benchmarks.tables.{self.module}").tables(found)
        return result

    @property
    def headlines(self) -> Sequence[Headline]:
        """Rows of the tables that stand on the first page of the report."""
        found: Sequence[Headline] = importlib.import_module(f"benchmarks.tables.{self.module}").HEADLINES
        return found


PAPERS = {
    paper.name: paper
    for paper in (
        Paper("sparse-grid", "Sparse grid for dynamic three-dimensional worlds (Sturtevant 2011)", "sparse_grid"),
        Paper("decomposition", "DEACCON: convex decomposition of floor plans (Hale et al. 2008)", "decomposition"),
        Paper("hierarchy", "Hierarchical path finding on navigation meshes (Fuentes 2015)", "hierarchy"),
        Paper("weighted", "Indicative routes in weighted regions (Tibboel 2012)", "weighted"),
        Paper("subregion", "Subregion graph for typed motion (Wardhana et al. 2015)", "subregion"),
    )
}
"""The papers by name, in the order in which they are run."""


def named(name: str) -> Paper:
    """The paper of a name."""
    if name not in PAPERS:
        raise ParameterError(f"unknown paper {name!r}: choose from {', '.join(PAPERS)}")
    return PAPERS[name]
