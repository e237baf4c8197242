"""The comparison with other libraries as tables with verdicts."""

from __future__ import annotations

from typing import Any

from benchmarks.verdicts import Listing, Row, Table, at_least, at_most


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
