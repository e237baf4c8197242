"""Figure 5, Tables 1 and 2 of Sturtevant 2011 beside ours."""

from __future__ import annotations

from typing import Any

from benchmarks._levels import WAYS as WAYS_TO_GO
from benchmarks.verdicts import Headline, Listing, Row, Table, at_least, at_most, within

MEMORY = {"average": 93_064, "maximum": 519_292}
"""Bytes over all maps with sectors of 12 (section 5.1)."""
COUNTED = {"average": 91_362, "maximum": 528_360}
"""The same accounting, counted independently from the public maps."""
TRIMMED = {12: {"average": 62_903, "maximum": 392_993}, 16: {"average": 59_342, "maximum": 368_804}}
WAYS = ("naive", "smart", "1-bit", "8-bit")
TABLE_1 = {8: (1.60, 1.27, 1.13, 0.80), 12: (1.53, 1.13, 0.93, 0.73), 16: (1.53, 1.13, 0.87, 0.67)}
ASKED_1 = (1.6, 1.25, 1.1, 0.8)
EDITS = ("average_cut", "maximum_cut", "average_add", "maximum_add")
TABLE_2 = {8: (0.081, 0.263, 0.059, 0.129), 12: (0.120, 0.624, 0.076, 0.162), 16: (0.172, 0.804, 0.100, 0.207)}
HEADLINES = (
    Headline(
        "Memory of", "sector 12, the paper's accounting, average", "bytes of an average map, sectors of 12 (Figure 5)"
    ),
    Headline("Table 1", "sector 16, 8-bit", "successors, time by the regular grid's, sectors of 16 (Table 1)"),
    Headline("Table 2", "sector 16, average cut", "cutting out 99 cells, ms, sectors of 16 (Table 2)"),
    Headline("Planning", "time, abstract / exact", "time of a quick query by an exact one, over 100 cells"),
    Headline("A world of", "bytes a walkable cell", "a world of millions of cells: bytes a walkable cell"),
)
"""Rows on the first page of the report."""


def tables(found: dict[str, Any]) -> list[Table | Listing]:
    """All tables of a measurement."""
    result: list[Table | Listing] = []
    if found["memory"]:
        result.append(_memory(found))
    if found["table_1"]:
        result += [_successors(found["table_1"]), _edits(found["table_2"]), _planning(found["planning"])]
    result.append(_large(found["large"]))
    if found["options"]:
        columns = ("option", "measured", "off", "on", "default")
        rows = [[row[name] for name in columns] for row in found["options"]]
        result.append(Listing("Beyond the paper: each option by itself", columns, rows))
    if found["levels"]:
        result.append(_levels(found["levels"]))
    return result


def _memory(found: dict[str, Any]) -> Table:
    rows = []
    for table in found["memory"]:
        size = table["sector"]
        for which in ("average", "maximum"):
            if size == 12:
                rule = within(COUNTED[which], 0.01)
                rows.append(
                    Row(f"sector 12, the paper's accounting, {which}", MEMORY[which], table["paper"][which], rule)
                )
            rows.append(
                Row(f"sector {size}, trimmed, {which}", None, table["trimmed"][which], at_most(TRIMMED[size][which]))
            )
            rows.append(Row(f"sector {size}, live arrays, {which}", None, table["nbytes"][which]))
        rows.append(
            Row(f"sector {size}, live / accounting, worst map", None, table["nbytes_ratio_largest"], at_most(1.3))
        )
    return Table(f"Memory of {found['maps']} maps, bytes (Figure 5)", rows)


def _successors(measured: list[dict[str, Any]]) -> Table:
    rows = [
        Row(f"sector {table['sector']}, {way}", paper, table["ratios"][way], at_most(most))
        for table in measured
        for way, paper, most in zip(WAYS, TABLE_1[table["sector"]], ASKED_1, strict=True)
    ]
    return Table("Table 1: time to generate successors by the regular grid's", rows)


def _edits(measured: list[dict[str, Any]]) -> Table:
    rows = []
    for table in measured:
        size = table["sector"]
        for name, paper in zip(EDITS, TABLE_2[size], strict=True):
            most = 0.4 if (size, name) == (16, "maximum_cut") else paper
            rows.append(Row(f"sector {size}, {name.replace('_', ' ')}", paper, table["ours"][name], at_most(most)))
    return Table("Table 2: cutting out 99 cells and adding them again, ms", rows)


def _planning(plan: dict[str, Any]) -> Table:
    rows = [
        Row("queries", None, plan["queries"]),
        Row("goals without a way, all told at once", None, plan["unreachable"]),
        Row("queries over 100 cells", None, plan["over_100"]),
        Row("cells settled, exact / abstract, over 100", None, plan.get("fewer_cells"), at_least(10)),
        Row("time, abstract / exact, over 100", None, plan.get("time_ratio"), at_most(0.25)),
        Row("smoothed length / listed optimum, over 100", None, plan.get("length"), at_most(1.04)),
        Row("smoothed length / listed optimum, all", None, plan["length_all"], at_most(1.04)),
    ]
    rows += [
        Row(f"smoothed length / listed optimum, {share} of all up to", None, value)
        for share, value in plan["length_quantiles"].items()
    ]
    return Table("Planning on scenarios", rows, "Every answer was compared with the listed optimum before it counted.")


def _large(facts: dict[str, Any]) -> Table:
    rows = [
        Row("cells", None, facts["cells"]),
        Row("built in, s", None, facts["build_seconds"]),
        Row("cutting and adding 99 cells, ms", None, facts["edit_ms"], at_most(1.0)),
        # A cell itself takes 2 bytes; memory that grew with the world instead of its cells would take 40 and more.
        Row("bytes a walkable cell", None, facts["bytes_per_cell"], at_most(8.0)),
        Row("bytes in all", None, facts["bytes"]),
    ]
    return Table(f"A world of {facts['side']:,} x {facts['side']:,} cells, 5 % of them walkable", rows)


def _levels(levels: list[dict[str, Any]]) -> Listing:
    names = ("level", "cells", "floors", "regions", "bytes", "build_seconds", "spawns")
    rows = [
        (
            *(level.get(name) for name in names),
            *(" + ".join(map(str, level["groups"][way])) if "groups" in level else None for way in WAYS_TO_GO),
        )
        for level in levels
    ]
    columns = [name.replace("_", " ") for name in (*names, *WAYS_TO_GO)]
    note = "The last columns are players in groups: who can walk to whom, then also fall, jump, leap, be carried."
    return Listing("Levels with several floors", columns, rows, note)
