"""Figures 23 to 30 of Fuentes 2015 beside ours, and the exact hierarchy."""

from __future__ import annotations

from typing import Any

from benchmarks.verdicts import Headline, Listing, Row, Table, at_least, at_most
from wayfold.hierarchy.query import PHASES

STATEMENT = "5 to 6 times faster than A* in big worlds (City Colony, 2,615 nodes: 0.142 ms at level 2, merge 5)"
TIMES_FASTER = 5.0
EDITS = {
    "near": "in one place, dearer",
    "dearer": "anywhere, dearer",
    "cheaper": "anywhere, cheaper",
    "closed": "anywhere, closed",
}
_LISTED = ("merge", "level", "nodes", "portals", "intra_edges", "ms", "times_faster", "length", "longest", *PHASES)
HEADLINES = (
    Headline("The paper's own", "city navmesh", "the paper's search in a city, times faster than A*"),
    Headline("The paper's own", "Quake navmesh", "the paper's search in a Quake level, times faster than A*"),
    Headline(
        "Beyond the paper: exact paths",
        "city, random pairs: times faster, mean",
        "exact paths in the city, times faster than A*",
    ),
    Headline(
        "Beyond the paper: the exact", "100 edges changed anywhere, dearer", "100 edges of the city made dearer, ms"
    ),
)
"""Rows on the first page of the report."""


def tables(found: dict[str, Any]) -> list[Table | Listing]:
    """All tables of a measurement."""
    result: list[Table | Listing] = []
    if found["paper"]:
        result.append(_paper(found["paper"]))
    exact = found.get("exact")
    if exact or found["dao"]:
        result.append(_speed(exact, found["dao"]))
    if exact:
        result.append(_exact(exact))
    result.append(_small(found["small"]))
    for table in found["paper"]:
        columns = [name.replace("_", " ") + (", µs" if name in PHASES else "") for name in _LISTED]
        title = f"Figures 23 to 30, {table['name']}: {table['nodes']:,} nodes"
        result.append(Listing(title, columns, [[row[name] for name in _LISTED] for row in table["rows"]]))
    return result


def _paper(graphs: list[dict[str, Any]]) -> Table:
    rows = []
    for table in graphs:
        best = table["best"]
        where = f"{table['name']}, {table['nodes']:,} nodes"
        rows.append(
            Row(
                f"{where}: times faster than A*, merge {best['merge']}, level {best['level']}",
                TIMES_FASTER,
                best["times_faster"],
                at_least(TIMES_FASTER),
            )
        )
        rows.append(Row(f"{where}: its paths by the shortest", None, best["length"]))
    return Table("The paper's own search at its best level and merge factor", rows, f"The paper: {STATEMENT}.")


def _speed(exact: dict[str, Any] | None, maps: list[dict[str, Any]]) -> Table:
    rows = []
    for name, key in (("city, the listed pairs", "pairs"), ("city, random pairs", "random")):
        if exact is None:
            continue
        facts = exact[key]
        rows += [
            Row(f"{name}: times faster, mean", None, facts["mean"], at_least(15)),
            Row(f"{name}: times faster, median", None, facts["median"], at_least(8)),
            Row(f"{name}: worst bucket of distance", None, _worst(facts), at_least(0.9)),
            Row(f"{name}: linking, % of the time", None, 100 * facts["linking_share"], at_most(30)),
        ]
    for facts in maps:
        name = f"{facts['name']}, over 200 cells"
        rows.append(Row(f"{name}: times faster, mean", None, facts["mean"], at_least(15)))
        rows.append(Row(f"{name}: shortest quarter of them", None, facts["buckets"][0]["times_faster"], at_least(15)))
    note = "Costs equal those of A* on every query (the run ends otherwise); path extraction is part of the time."
    return Table("Beyond the paper: exact paths against flat A*", rows, note)


def _worst(facts: dict[str, Any]) -> float:
    return min(float(bucket["times_faster"]) for bucket in facts["buckets"])


def _exact(exact: dict[str, Any]) -> Table:
    changes, batch = exact["changes"], exact["batch"]
    rows = [
        Row("build, s", None, exact["build_seconds"], at_most(10)),
        Row("bytes a node", None, exact["bytes_per_node"], at_most(100)),
        Row("save, s", None, exact["save_seconds"]),
        Row("load, s", None, exact["load_seconds"]),
        Row("customise all, s", None, changes["customise_s"], at_most(1)),
    ]
    for name, text in EDITS.items():
        rows.append(Row(f"100 edges changed {text}, ms", None, changes[name]["ms"], at_most(2)))
        rows.append(
            Row(f"a query after that, before `refresh`, µs ({text})", None, changes[name]["query_us_before_refresh"])
        )
        rows.append(Row(f"`refresh`, ms ({text})", None, changes[name]["refresh_ms"]))
    rows += [
        Row("a query, µs", None, changes["query_us"]),
        Row("batch, queries a second, one thread", None, batch["batch_one_thread"]),
        Row("batch, queries a second, two threads", None, batch["batch_two_threads"]),
        Row("batch, two threads by one", None, batch["batch_growth"], at_least(1.7)),
        Row("a loop without memory, two threads by one", None, batch["no_memory_growth"]),
        Row("an unreachable goal, µs, worst level", None, max(exact["unreachable_us"]), at_most(20)),
        Row("linking, every character its own goal, µs", None, exact["sharing"]["own_goals_us"]),
        Row("linking, eight goals for all, µs", None, exact["sharing"]["shared_goals_us"]),
    ]
    return Table(f"Beyond the paper: the exact hierarchy of the city ({exact['nodes']:,} nodes)", rows)


def _small(graphs: list[dict[str, Any]]) -> Table:
    rows = [
        Row(f"{row['kind']}, {row['nodes']:,} nodes, {row['levels']} levels", None, row["times_faster"], at_least(0.9))
        for row in graphs
    ]
    return Table("Level and merge chosen from the graph: times faster than A*", rows, "Less than 0.9 is beyond noise.")
