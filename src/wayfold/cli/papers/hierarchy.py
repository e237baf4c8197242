"""`wayfold bench papers --paper hierarchy`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from wayfold.bench import harness, hierarchy
from wayfold.cli._output import print_json, print_table, progress, show, to_json
from wayfold.hierarchy.query import PHASES
from wayfold.view import pictures
from wayfold.view.hierarchy import plot_report


def report(data: Path, full: bool, out: Path | None, json: bool, quiet: bool) -> None:
    """Measure the hierarchy as the paper does, and report it."""
    with progress("bench", None, quiet) as step:
        found = hierarchy.run(data, full=full, progress=step)
    found["machine"] = asdict(harness.machine("pymetis"))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "hierarchy.json").write_text(to_json(found) + "\n", encoding="utf-8")
        for name, figure in plot_report(found):
            pictures.save(figure, out / f"hierarchy_{name}.png")
    if json:
        print_json(found)
        return
    for table in found["paper"]:
        _paper_table(table)
    print(f"The paper: {found['statement']}")
    _exact_tables(found)
    machine = found["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}, all answers checked")


def _paper_table(table: dict[str, Any]) -> None:
    names = ("merge", "level", "nodes", "portals", "intra_edges", "ms", "times_faster", "length", *PHASES)
    columns = [name.replace("_", " ") + (" µs" if name in PHASES else "") for name in names]
    rows = [[show(row[name]) for name in names] for row in table["rows"]]
    print_table(f"The paper's search, {table['name']}: {table['nodes']:,} nodes", columns, rows)


def _exact_tables(found: dict[str, Any]) -> None:
    exact = found["exact"]
    named = [("city, the listed pairs", exact["pairs"]), ("city, random pairs", exact["random"])]
    named += [(f"{row['name']}, over 200", row) for row in found["dao"]]
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
