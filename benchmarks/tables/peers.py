"""The comparison with other libraries as tables with verdicts."""

from __future__ import annotations

from typing import Any

from benchmarks.verdicts import Headline, Listing, Row, Table, at_least, at_most

HEADLINES = (
    Headline("city navigation graph", "networkx, its time", "city graph: networkx, its time by ours"),
    Headline("city navigation graph", "rustworkx, its time", "city graph: rustworkx, its time by ours"),
    Headline("city navigation graph", "scipy, its time", "city graph: scipy, its time by ours"),
    Headline("building a navigation mesh", "recast, its time", "building a navigation mesh: Recast, its time by ours"),
    Headline("paths on Recast", "recast, its time", "paths on a navigation mesh: Detour, its time by ours"),
)
"""Rows on the first page of the report."""


def tables(found: dict[str, Any]) -> list[Table | Listing]:
    """All tables of a comparison; a library that is not asked for more has to take at least Wayfold's time."""
    result: list[Table | Listing] = [_comparison(comparison) for comparison in found["comparisons"]]
    if found["absent"]:
        result.append(Listing("Not compared with", ("library", "why"), list(found["absent"].items())))
    return result


def _comparison(comparison: dict[str, Any]) -> Table:
    facts = comparison["facts"]
    rows = []
    for row in comparison["rows"]:
        rows.append(Row(f"{row['name']}, ms", None, row["median_ms"]))
        if not row["name"].startswith("wayfold"):
            rule = at_least(facts.get("asked", {}).get(row["name"], 1.0))
            rows.append(Row(f"{row['name']}, its time by {comparison['rows'][0]['name']}'s", None, row["ratio"], rule))
    for name, most in (("trivial_query_us", 10.0), ("unreachable_goal_us", 20.0)):
        if name in facts:
            rows.append(
                Row(f"wayfold, {name.removesuffix('_us').replace('_', ' ')}, µs", None, facts[name], at_most(most))
            )
    return Table(comparison["title"], rows, facts.get("rule", ""))
