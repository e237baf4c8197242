"""`wayfold bench papers`: the tables of each paper, beside ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from wayfold.bench import harness, hierarchy, sparse_grid
from wayfold.cli._output import print_json, print_table, progress, show, to_json
from wayfold.errors import ParameterError
from wayfold.hierarchy.query import PHASES
from wayfold.view import pictures
from wayfold.view.hierarchy import plot_report
from wayfold.view.sparse import plot_memory, plot_quality


def run(data: Path, paper: str, full: bool, out: Path | None, json: bool, quiet: bool) -> None:
    """Measure what a paper measures and report it."""
    if paper not in PAPERS:
        raise ParameterError(f"unknown paper {paper!r}: choose from {', '.join(PAPERS)}")
    if not data.is_dir():
        raise ParameterError(f"the data folder {data} does not exist")
    if out is not None and out.exists() and not out.is_dir():
        raise ParameterError(f"{out} is not a folder: --out names a folder for the report and its plots")
    PAPERS[paper](data, full, out, json, quiet)


def _hierarchy(data: Path, full: bool, out: Path | None, json: bool, quiet: bool) -> None:
    with progress("bench", None, quiet) as step:
        report = hierarchy.run(data, full=full, progress=step)
    report["machine"] = asdict(harness.machine("pymetis"))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "hierarchy.json").write_text(to_json(report) + "\n", encoding="utf-8")
        for name, figure in plot_report(report):
            pictures.save(figure, out / f"hierarchy_{name}.png")
    if json:
        print_json(report)
        return
    for table in report["paper"]:
        _paper_table(table)
    print(f"The paper: {report['statement']}")
    _exact_tables(report)
    machine = report["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}, all answers checked")


def _paper_table(table: dict[str, Any]) -> None:
    names = ("merge", "level", "nodes", "portals", "intra_edges", "ms", "times_faster", "length", *PHASES)
    columns = [name.replace("_", " ") + (" µs" if name in PHASES else "") for name in names]
    rows = [[show(row[name]) for name in names] for row in table["rows"]]
    print_table(f"The paper's search, {table['name']}: {table['nodes']:,} nodes", columns, rows)


def _exact_tables(report: dict[str, Any]) -> None:
    exact = report["exact"]
    named = [("city, the listed pairs", exact["pairs"]), ("city, random pairs", exact["random"])]
    named += [(f"{row['name']}, over 200", row) for row in report["dao"]]
    rows = [
        (
            name,
            row["queries"],
            row["flat_ms"],
            row["ms"],
            f"{row['mean']:.1f}x",
            f"{row['median']:.1f}x",
            f"{min(bucket['times_faster'] for bucket in row['buckets']):.1f}x",
            f"{100 * row['linking_share']:.0f} %",
        )
        for name, row in named
    ]
    columns = ("exact", "queries", "A* ms", "ms", "mean", "median", "worst bucket", "linking")
    print_table("Exact paths against flat A*, path extraction included", columns, rows)
    facts: list[tuple[str, Any, str]] = [
        ("build, s", exact["build_seconds"], "< 10"),
        ("bytes a node", exact["bytes_per_node"], "< 100"),
        ("customise all, s", exact["changes"]["customise_s"], "< 1"),
        ("update 100 edges in one place, ms", exact["changes"]["update_near_ms"], "< 2"),
        ("update 100 edges anywhere, ms", exact["changes"]["update_anywhere_ms"], ""),
        ("refresh after all these updates, s", exact["changes"]["refresh_s"], ""),
        ("batch, queries a second, one thread", exact["batch"]["one_thread"], ""),
        ("batch, two threads / one", exact["batch"]["growth"], ">= 1.7"),
        ("unreachable goal, µs, by level", exact["unreachable_us"], "microseconds"),
    ]
    print_table("The city's exact hierarchy", ("", "measured", "wanted"), facts)


def _sparse_grid(data: Path, full: bool, out: Path | None, json: bool, quiet: bool) -> None:
    with progress("bench", None, quiet) as step:
        report = sparse_grid.run(data, full=full, progress=step)
    report["machine"] = asdict(harness.machine())
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "sparse_grid.json").write_text(to_json(report) + "\n", encoding="utf-8")
        pictures.save(plot_memory(report["memory"][0]["rows"]), out / "sparse_grid_memory.png")
        pictures.save(plot_quality(np.array(report["planning"]["lengths"])), out / "sparse_grid_lengths.png")
    if json:
        print_json(report)
        return
    rows: list[tuple[Any, ...]] = [("the paper, sector 12", *sparse_grid.MEMORY.values())]
    for table in report["memory"]:
        for name, label in (("paper", "its accounting"), ("trimmed", "trimmed to boxes"), ("nbytes", "live arrays")):
            rows.append((f"{label}, sector {table['sector']}", round(table[name]["average"]), table[name]["maximum"]))
        rows.append(
            (f"live / accounting, sector {table['sector']}", table["nbytes_ratio"], table["nbytes_ratio_largest"])
        )
    print_table(f"Memory of {report['maps']} maps, bytes", ("", "average", "maximum"), rows)
    columns = ("sector", *(f"{way} {who}" for way in sparse_grid.WAYS for who in ("paper", "ours")))
    pairs = [[(t["paper"][way], t["ratios"][way]) for way in sparse_grid.WAYS] for t in report["table_1"]]
    rows = [(str(t["sector"]), *(x for p in r for x in p)) for t, r in zip(report["table_1"], pairs, strict=True)]
    print_table("Table 1: time to generate successors / regular grid", columns, rows)
    names = ("average_cut", "maximum_cut", "average_add", "maximum_add")
    columns = ("sector", *(f"{name.replace('_', ' ')} {who}" for name in names for who in ("paper", "ours")))
    rows = [(str(t["sector"]), *(t[w][n] for n in names for w in ("paper", "ours"))) for t in report["table_2"]]
    print_table("Table 2: cutting and adding 99 cells, ms", columns, rows)
    plan = {name: value for name, value in report["planning"].items() if name not in ("lengths", "length_quantiles")}
    facts = {**plan, **{f"length, {name}": value for name, value in report["planning"]["length_quantiles"].items()}}
    print_table("Planning on scenarios", ("", ""), [(name.replace("_", " "), value) for name, value in facts.items()])
    print_table("A large world", ("", ""), [(name.replace("_", " "), value) for name, value in report["large"].items()])
    machine = report["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}, all answers checked")


PAPERS: dict[str, Callable[[Path, bool, Path | None, bool, bool], None]] = {
    "hierarchy": _hierarchy,
    "sparse-grid": _sparse_grid,
}
