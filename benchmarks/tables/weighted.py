"""Tables 1 to 11 of Tibboel 2012 beside ours, its findings, and what goes beyond them."""

from __future__ import annotations

from typing import Any

from benchmarks.verdicts import Headline, Listing, Row, Table, at_least, at_most, equal

TABLES = {
    ("scene1", 0): "Tables 1, 3, 4, 6 and 8",
    ("scene1", 1): "Tables 2, 3, 5, 7 and 8",
    ("forest child", 0): "Table 9",
    ("forest adult", 0): "Table 10",
    ("zigzag", 0): "Table 11",
}
"""The paper's tables that hold the figures of each scene and query."""
_SCENES = "Our scenes have the paper's sizes, weights and queries but not its outlines, so its costs set no rule."
HEADLINES = (
    Headline(
        "The paper's findings", "scene1, query 1: construction", "scene 1: building, times faster than the paper's"
    ),
    Headline(
        "Beyond the paper: cost", "random scenes", "cost of a refined route by the reference's, 200 random scenes"
    ),
    Headline("Beyond the paper: real", "refined, ms a query", "a refined route over the largest real terrain, ms"),
)
"""Rows on the first page of the report."""


def tables(found: dict[str, Any]) -> list[Table | Listing]:
    """All tables of a measurement."""
    result: list[Table | Listing] = [_findings(found["findings"])]
    for scene, query in TABLES:
        rows = [row for row in found["rows"] if (row["scene"], row["query"]) == (scene, query)]
        if rows:
            result.append(_scene(f"{TABLES[scene, query]}: {scene}, query {query + 1}", rows))
    result += [_speed(found["speed"]), _quality(found["quality"]), _discs(found["discs"])]
    if found["scale"]:
        result += [_real(found["alone"], found["scale"][-1]), _growth(found["scale"])]
    return result


def _findings(findings: list[dict[str, Any]]) -> Table:
    rows = []
    for fact in findings:
        where = f"{fact['scene']}, query {fact['query']}"
        rows += [
            Row(f"{where}: the dual graph is the fastest", 1, int(fact["dual_fastest"]), equal(1)),
            Row(f"{where}: a Steiner graph is the cheapest", 1, int(fact["steiner_cheapest"]), equal(1)),
            Row(
                f"{where}: the most by which a finer Steiner graph costs more",
                fact["in_the_papers_table"],
                fact["most_that_a_finer_steiner_graph_costs_more"],
                at_most(fact["in_any_of_its_tables"]),
            ),
            Row(f"{where}: refined is the cheapest of all", None, int(fact["refined_cheapest_of_all"]), equal(1)),
            Row(
                f"{where}: construction, times faster than the paper's, worst epsilon",
                1,
                fact["construction_times_faster_than_the_paper"],
                at_least(10),
            ),
            Row(
                f"{where}: cones, times faster than Dijkstra, epsilon up to 64",
                None,
                fact["cones_times_faster_than_dijkstra_up_to_64"],
                at_least(1),
            ),
        ]
    note = (
        "1 is yes. Times within a quarter of each other are equal; the noise of costs is the most in any of its tables."
    )
    return Table("The paper's findings", rows, note)


def _scene(title: str, measured: list[dict[str, Any]]) -> Table:
    rows = []
    for row in measured:
        setting = "" if row["setting"] is None else f" {row['setting']}"
        name = f"{row['graph']}{setting}, {row['method']}"
        theirs = row["paper"] or {}
        for key, what in (("construction_ms", "built, ms"), ("cost", "cost"), ("search_ms", "search, ms")):
            paper = theirs.get(key)
            rule = None if paper is None or key == "cost" else at_most(paper)
            rows.append(Row(f"{name}: {what}", paper, row[key], rule))
    return Table(title, rows, _SCENES)


def _speed(comparisons: list[dict[str, Any]]) -> Table:
    asked = {
        "refined / dual": at_most(20),
        "steiner, cones / refined": at_least(5),
        "steiner, dijkstra / refined": at_least(5),
    }
    rows = [
        Row(f"{comparison['scene']}: {name}", None, comparison["ratios"][name], rule)
        for comparison in comparisons
        for name, rule in asked.items()
    ]
    return Table("Beyond the paper: times of refined routes, in turn with the others", rows)


def _quality(judged: list[dict[str, Any]]) -> Table:
    rows = []
    for row in judged:
        name = f"{row['scene']}" + (f" ({row['scenes']})" if row["scenes"] > 1 else "")
        rows += [
            Row(f"{name}: refined, on average", None, row["refined_mean"], at_most(1.002)),
            Row(f"{name}: refined, worst", None, row["refined_worst"], at_most(1.01)),
            Row(f"{name}: certified bound, on average", None, row["bound_mean"], at_least(0.95)),
            Row(f"{name}: Steiner, epsilon 64, worst", None, row["steiner_64_worst"]),
        ]
    return Table(
        "Beyond the paper: cost by the reference's", rows, "No bound lies above the reference (the run ends otherwise)."
    )


def _discs(measured: list[dict[str, Any]]) -> Table:
    rows = []
    for row in measured:
        name = f"{row['scene']}, {row['graph']}"
        rows.append(Row(f"{name}: cost rises with the radius", 1, int(row["rises"]), equal(1)))
        rows.append(Row(f"{name}: radius 0 costs what a point does", 1, int(row["point_again"]), equal(1)))
    return Table("Discs (section 6): 1 is yes", rows)


def _real(alone: dict[str, Any], whole: dict[str, Any]) -> Table:
    rows = [
        Row("triangles", None, whole["triangles"]),
        Row("prepared in a process of its own, s", None, alone["prepared_s"], at_most(30)),
        Row("peak of that process, MB", None, alone["peak_mb"], at_most(2000)),
        Row("dual, ms a query", None, whole["dual_ms"], at_most(20)),
        Row("refined, ms a query", None, whole["refined_ms"], at_most(150)),
    ]
    return Table("Beyond the paper: real terrain", rows)


def _growth(parts: list[dict[str, Any]]) -> Listing:
    names = ("triangles", "prepared_s", "dual_ms", "dual_most_ms", "refined_ms", "refined_most_ms", "bound_over")
    rows = [[row[name] for name in names] for row in parts]
    return Listing("Real terrain, growth with triangles", [name.replace("_", " ") for name in names], rows)
