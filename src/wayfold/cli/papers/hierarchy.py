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
    names = ("merge", "level", "nodes", "portals", "intra_edges", "ms", "times_faster", "length", "longest", *PHASES)
    columns = [name.replace("_", " ") + (" µs" if name in PHASES else "") for name in names]
    rows = [[show(row[name]) for name in names] for row in table["rows"]]
    print_table(f"The paper's search, {table['name']}: {table['nodes']:,} nodes (figures 23 to 30)", columns, rows)
    best = table["best"]
    print(
        f"{table['name']}: at best {best['times_faster']:.1f} times faster than A* (merge {best['merge']}, level "
        f"{best['level']}), paths {max(0.0, 100 * (best['length'] - 1)):.1f} % longer than the shortest."
    )


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
            " ".join(f"{bucket['times_faster']:.1f}" for bucket in row["buckets"]),
            f"{100 * row['linking_share']:.0f} %",
        )
        for name, row in named
    ]
    columns = ("exact", "queries", "A* ms", "ms", "mean", "median", "by distance", "linking")
    print_table("Exact paths against flat A*, path extraction included", columns, rows)
    sharing, batch, changes = exact["sharing"], exact["batch"], exact["changes"]
    facts: list[tuple[str, Any, str]] = [
        ("build, s", exact["build_seconds"], "< 10"),
        ("bytes a node", exact["bytes_per_node"], "< 100"),
        ("save, load, s", f"{exact['save_seconds']:.3f}, {exact['load_seconds']:.3f}", ""),
        ("linking, own goals, 8 shared goals, µs", "{own_goals_us:.1f}, {shared_goals_us:.1f}".format(**sharing), ""),
        ("customise all, s", changes["customise_s"], "< 1"),
        ("batch, queries a second, one thread", batch["batch_one_thread"], ""),
        ("batch, queries a second, two threads", batch["batch_two_threads"], ""),
        ("batch, two threads / one", batch["batch_growth"], ">= 1.7"),
        ("flat A*, two threads / one", batch["flat_growth"], ""),
        ("a loop without memory, two threads / one", batch["no_memory_growth"], ""),
        ("unreachable goal, µs, by level", exact["unreachable_us"], "microseconds"),
    ]
    print_table("The city's exact hierarchy", ("", "measured", "wanted"), facts)
    columns = ("100 edges", "update ms", "first", "worst later", "query µs", "until refresh", "after", "refresh ms")
    updates = []
    for name in ("near", "dearer", "cheaper", "closed"):
        row = changes[name]
        times = (row["ms"], row["first_ms"], row["worst_ms"], changes["query_us"], row["query_us_before_refresh"])
        where = "in one place" if name == "near" else f"anywhere, {name}"
        updates.append((where, *times, row["query_us_after_refresh"], row["refresh_ms"]))
    print_table("Updates of the city (wanted: under 2 ms)", columns, updates)
    print_table(
        "Level and merge chosen from the graph",
        ("small graphs", "nodes", "levels", "A* µs", "times faster"),
        [(row["kind"], row["nodes"], row["levels"], row["flat_us"], row["times_faster"]) for row in found["small"]],
    )
