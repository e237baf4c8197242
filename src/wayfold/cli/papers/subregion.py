"""`wayfold bench papers --paper subregion`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from wayfold.bench import harness, subregion
from wayfold.cli._output import print_json, print_table, progress, show, to_json
from wayfold.subregions import COSTS


def report(data: Path, full: bool, out: Path | None, json: bool, quiet: bool) -> None:
    """Measure the subregion graph as the paper does, and report it."""
    with progress("bench", None, quiet) as step:
        found = subregion.run(data, full=full, progress=step)
    found["machine"] = asdict(harness.machine())
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "subregion.json").write_text(to_json(found) + "\n", encoding="utf-8")
    if json:
        print_json(found)
        return
    for name, city in found["cities"].items():
        _city_tables(name, city)
    rows = [
        (
            place["name"],
            name,
            place["waypoints"],
            place["edges"],
            row["subregions"],
            row["length_percent"],
            row["speedup"],
        )
        for place in found["places"]
        for name, row in place["sets"].items()
    ]
    columns = ("real places", "motions", "waypoints", "edges", "subregions", "length %", "speed-up")
    print_table(
        "Real places, our default against plain A*", columns, [[_shown(value) for value in row] for row in rows]
    )
    columns = ("voxel maps", "waypoints", "edges", "queries", "ms", "length %", "smoothed %")
    keys = ("name", "waypoints", "edges", "queries", "ms", "length_percent", "smooth_percent")
    print_table(
        "Flying in voxel maps, against the listed optimum",
        columns,
        [[row[k] for k in keys] for row in found["voxels"]],
    )
    machine = found["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}, all answers checked")


def _city_tables(name: str, city: dict[str, Any]) -> None:
    size = f"{city['waypoints']:,} waypoints, {city['edges']:,} edges, built in {city['build_seconds']:.0f} s"
    sizes: list[tuple[Any, ...]] = []
    for key, row in city["sets"].items():
        paper = row["paper"]
        for what, at in (("subregions", 0), ("connections", 1)):
            found = row[what]
            sizes.append(
                (f"{key} {what}", paper[at], found["minimum"], found["average"], found["maximum"], found["rsd"])
            )
    columns: tuple[str, ...] = ("Table 1", "paper", "minimum", "average", "maximum", "RSD %")
    print_table(f"{name} city: {size}", columns, [[_shown(value) for value in row] for row in sizes])
    ways = (*COSTS, "default", "exact")
    rows: list[tuple[Any, ...]] = []
    for key, row in city["sets"].items():
        plan = row["planning"]
        rows += [
            (
                f"{key} {way}",
                plan["flat_ms"],
                *(plan[way][k] for k in ("length_percent", "speedup", "speedup_without_path")),
            )
            for way in ways
        ]
    columns = ("Tables 2 and 3", "A* ms", "length %", "speed-up", "without a path")
    print_table(
        f"{name} city: found exactly where A* finds a path (checked)",
        columns,
        [[_shown(value) for value in row] for row in rows],
    )
    facts: list[tuple[str, Any]] = [
        (
            f"{key}: generated in, s / graph, KB / labels, KB",
            (row["seconds"], row["graph_bytes"] / 1e3, row["label_bytes"] / 1e3),
        )
        for key, row in city["sets"].items()
    ]
    facts += [
        ("held, MB", city["held_bytes"] / 1e6),
        ("peak, MB", city["peak_megabytes"]),
        ("repair of 100 edges, ms: edit, subregions", (city["repair"]["edit_ms"], city["repair"]["repair_ms"])),
        ("edges that break a rule", {kind: row["violations"] for kind, row in city["check"].items()}),
    ]
    print_table(f"{name} city", ("", "measured"), [[fact, show(value)] for fact, value in facts])


def _shown(value: Any) -> str:
    return "-" if value is None else show(value)
