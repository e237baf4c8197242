"""Table 1 of Hale et al. 2008 beside ours."""

from __future__ import annotations

from statistics import mean
from typing import Any

from benchmarks.verdicts import Headline, Listing, Row, Table, at_least, at_most
from wayfold.floorplan import METHODS

PAPER: dict[str, dict[str, float]] = {
    "deaccon": {"distance": 442.7, "turns": 4.12, "coverage": 1.00, "regions": 73},
    "space-filling": {"distance": 505.3, "turns": 3.97, "coverage": 0.90, "regions": 28},
    "hertel-mehlhorn": {"distance": 497.4, "turns": 5.2, "coverage": 1.00, "regions": 42},
}
"""Table 1, and the regions of the level Lakes from the text."""
_SIGNIFICANT = 0.05
_WHY = (
    "An agent turns where it enters and leaves regions, so turns follow the regions that it crosses. DEACCON's "
    "cuts run along x or y and end one protruding corner each, Hertel-Mehlhorn's join two corners, so among "
    "scattered slanted obstacles and in mazes it has more regions to cross. Distance is lost on the way to the "
    "centre of a long region and back, where both gateways lie near one of its ends. Space-filling volumes that "
    "need many seeds to connect a level have so many small regions that their centres lie near every straight "
    "line: short ways, for two to three times the turns."
)
HEADLINES = (
    Headline("Table 1", "distance, DEACCON by space-filling", "distance, DEACCON by space-filling volumes (Table 1)"),
    Headline("Table 1", "distance, DEACCON by hertel", "distance, DEACCON by Hertel-Mehlhorn (Table 1)"),
    Headline("Table 1", "turns, DEACCON by hertel", "turns, DEACCON by Hertel-Mehlhorn (Table 1)"),
    Headline("Coverage", "DEACCON: least coverage", "least coverage of a level by DEACCON"),
)
"""Rows on the first page of the report."""


def tables(found: dict[str, Any]) -> list[Table | Listing]:
    """All tables of a measurement."""
    return [_table_1(found), _promises(found), _by_level(found), _levels(found), _scaling(found)]


def _table_1(found: dict[str, Any]) -> Table:
    rows: list[Row] = []
    ours = {
        method: {
            "distance": mean(found["distances"][method]),
            "turns": mean(found["turns"][method]),
            "coverage": mean(row["coverage"] for row in found["rows"] if row["method"] == method),
        }
        for method in METHODS
    }
    rows += [
        Row(f"{method}: {what}", PAPER[method][what], value)
        for method in METHODS
        for what, value in ours[method].items()
    ]
    for what, rival in (("distance", METHODS[1]), ("distance", METHODS[2]), ("turns", METHODS[2])):
        theirs = PAPER["deaccon"][what] / PAPER[rival][what]
        ratio = ours["deaccon"][what] / ours[rival][what]
        p = _one_sided(found["tests"][what]["pairs"][f"deaccon - {rival}"])
        rows.append(Row(f"{what}, DEACCON by {rival}", theirs, ratio, at_most(1)))
        rows.append(Row(f"{what}, DEACCON against {rival}: p that it is not lower", None, p, at_most(_SIGNIFICANT)))
    for what, test in found["tests"].items():
        rows.append(Row(f"{what}: p of the test of repeated measures", None, test["p"], at_most(_SIGNIFICANT)))
    routes = len(found["distances"]["deaccon"])
    return Table(f"Table 1 ({routes} routes over {len(found['rows']) // len(METHODS)} levels)", rows)


def _one_sided(pair: dict[str, float]) -> float:
    """The probability of such a difference, or a larger one, if the mean were not below zero."""
    return pair["p"] / 2 if pair["mean"] < 0 else 1 - pair["p"] / 2


def _promises(found: dict[str, Any]) -> Table:
    by_method = {method: [row for row in found["rows"] if row["method"] == method] for method in METHODS}
    ours, other = by_method["deaccon"], by_method["hertel-mehlhorn"]
    ratio = mean(a["regions"] / b["regions"] for a, b in zip(ours, other, strict=True))
    asked = PAPER["deaccon"]["regions"] / PAPER["hertel-mehlhorn"]["regions"]
    rows = [
        Row("DEACCON: least coverage of a level", 1.0, min(row["coverage"] for row in ours), at_least(0.999)),
        Row(
            "Hertel-Mehlhorn: least coverage of a level", 1.0, min(row["coverage"] for row in other), at_least(1 - 1e-9)
        ),
        Row("most overlap, share of the area", None, max(row["overlap"] for row in found["rows"]), at_most(1e-9)),
        Row("regions, DEACCON by Hertel-Mehlhorn, on average", asked, ratio, at_most(asked)),
        Row("DEACCON: slowest level, s", None, max(row["seconds"] for row in ours), at_most(1)),
    ]
    return Table("Coverage, overlap, regions and time", rows)


def _by_level(found: dict[str, Any]) -> Table:
    by_level: dict[str, dict[str, Any]] = {}
    for row in found["rows"]:
        by_level.setdefault(row["level"], {})[row["method"]] = row
    rows = []
    for level, cuts in by_level.items():
        for what, rival in (("distance", METHODS[1]), ("distance", METHODS[2]), ("turns", METHODS[2])):
            theirs = PAPER["deaccon"][what] / PAPER[rival][what]
            ratio = cuts["deaccon"][what] / cuts[rival][what]
            rows.append(Row(f"{level}: {what}, DEACCON by {rival}", theirs, ratio, at_most(1 + 1e-9)))
    return Table("Each level by itself", rows, _WHY)


def _levels(found: dict[str, Any]) -> Listing:
    names = (
        "regions",
        "gateways",
        "coverage",
        "distance",
        "turns",
        "crossed",
        "smooth",
        "shortest",
        "sharp",
        "seconds",
    )
    rows = [
        (
            f"{row['level']}, {row['method']}",
            *(row[name] for name in names),
            " / ".join(f"{value:.3g}" for value in row["area_quartiles"][1:4]),
            " / ".join(f"{value:.3g}" for value in row["width_quartiles"][1:4]),
        )
        for row in found["rows"]
    ]
    columns = ("level, method", *names, "area 1/4 1/2 3/4", "width 1/4 1/2 3/4")
    note = "smooth: the same paths pulled straight; sharp: share of the regions with a corner below 30 degrees."
    return Listing("Levels and methods", columns, rows, note)


def _scaling(found: dict[str, Any]) -> Listing:
    rows = [(row["obstacles"], *(row[method] for method in METHODS)) for row in found["scaling"]]
    return Listing("Seconds against the number of obstacles", ("obstacles", *METHODS), rows)
