"""The comparison with other libraries as tables with verdicts."""

from __future__ import annotations

from typing import Any

from wayfold.bench.verdicts import Listing, Row, Table, at_least, at_most

ASKED = {"networkx": 15.0, "igraph": 5.0, "rustworkx": 5.0, "scipy": 3.0, "networkit": 3.0}
"""Times slower than Wayfold that a library has to be on the city graph; all others at least as slow as Wayfold."""


def tables(found: dict[str, Any]) -> list[Table | Listing]:
    """All tables of a comparison."""
    result: list[Table | Listing] = []
    for comparison in found["comparisons"]:
        facts = comparison["facts"]
        rows = []
        for row in comparison["rows"]:
            rows.append(Row(f"{row['name']}, ms", None, row["median_ms"]))
            if row["name"] in comparison["judged"]:
                rule = at_least(ASKED.get(row["name"], 1.0) if facts.get("city") else 1.0)
                rows.append(Row(f"{row['name']}, its time by Wayfold's", None, row["ratio"], rule))
        for name, most in (("trivial_query_us", 10.0), ("unreachable_goal_us", 20.0)):
            if name in facts:
                rows.append(Row(f"{name.removesuffix('_us').replace('_', ' ')}, µs", None, facts[name], at_most(most)))
        result.append(Table(comparison["title"], rows, facts.get("rule", "")))
    if found["absent"]:
        result.append(Listing("Not installed", ("library", "how to get it"), list(found["absent"].items())))
    return result
