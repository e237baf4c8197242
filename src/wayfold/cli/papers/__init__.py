"""`wayfold bench papers`: the tables of each paper, beside ours; one module for each paper."""

from __future__ import annotations

import importlib
from pathlib import Path

from wayfold.errors import ParameterError

PAPERS = {
    "sparse-grid": "wayfold.cli.papers.sparse_grid",
    "subregion": "wayfold.cli.papers.subregion",
    "hierarchy": "wayfold.cli.papers.hierarchy",
    "weighted": "wayfold.cli.papers.weighted",
    "decomposition": "wayfold.cli.papers.decomposition",
}


def run(data: Path, paper: str, full: bool, out: Path | None, json: bool, quiet: bool) -> None:
    """Measure what a paper measures and report it."""
    if paper not in PAPERS:
        raise ParameterError(f"unknown paper {paper!r}: choose from {', '.join(PAPERS)}")
    if not data.is_dir():
        raise ParameterError(f"the data folder {data} does not exist")
    if out is not None and out.exists() and not out.is_dir():
        raise ParameterError(f"{out} is not a folder: --out names a folder for the report and its plots")
    importlib.import_module(PAPERS[paper]).report(data, full, out, json, quiet)
