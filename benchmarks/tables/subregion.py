"""Tables 1 to 3 of Wardhana et al. 2015 beside ours."""

from __future__ import annotations

from typing import Any

from benchmarks.verdicts import Headline, Listing, Row, Rule, Table, at_least, at_most, equal

SETS = ("S", "S+A", "S+V", "S+A+V")
CITIES = {"small": "Kampong Glam", "large": "Marina Bay"}
# Table 1 by motion set: (average, RSD %) of subregions, then of connections.
TABLE_1 = {
    "small": {
        "S": ((2097.7, 0.57), (1073.5, 1.65)),
        "S+A": ((651.3, 1.38), (855.7, 1.65)),
        "S+V": ((1009.7, 2.12), (1761.0, 1.75)),
        "S+A+V": ((705.5, 0.9), (1501.0, 0.63)),
    },
    "large": {
        "S": ((22_826.3, 0.21), (18_952.3, 0.42)),
        "S+A": ((14_049.5, 0.42), (33_567.4, 0.29)),
        "S+V": ((31_570.3, 0.33), (116_571.0, 0.24)),
        "S+A+V": ((26_374.2, 0.24), (111_431.0, 0.21)),
    },
}
# Table 2, Marina Bay, S+V: length ratio in %, speed-up, by cost scheme.
TABLE_2 = {
    "fixed": (107.8, 8.09),
    "min": (1571.5, 1.38),
    "average": (115.2, 3.77),
    "max": (113.2, 4.41),
    "centroid": (102.5, 7.08),
}
# Table 3, fixed costs: length ratio in %, speed-up with a path, speed-up without one.
TABLE_3 = {
    "small": {
        "S": (106.3, 1.86, 14.09),
        "S+A": (114.3, 2.87, 88.31),
        "S+V": (106.5, 4.21, 233.90),
        "S+A+V": (106.7, 4.88, 214.84),
    },
    "large": {
        "S": (105.0, 1.77, 19.24),
        "S+A": (111.1, 4.38, 76.31),
        "S+V": (107.8, 8.09, 230.62),
        "S+A+V": (107.3, 6.88, 218.0),
    },
}
SAVED_KB = {"small": (16.0, 34.0), "large": (393.0, 2259.0)}
FIGURES = ("length_percent", "speedup", "speedup_without_path")
HEADLINES = (
    Headline("Table 3, large city", "S+V, length", "large city, S+V, fixed costs: length, % of A* (Table 3)"),
    Headline("Table 3, large city", "S+V, speed-up", "large city, S+V, fixed costs: times faster than A* (Table 3)"),
    Headline(
        "Beyond the paper, large city",
        "best speed-up",
        "large city, our default: times faster than A*, at most 102.5 % as long",
    ),
    Headline("Table 3, small city", "S+V, speed-up", "small city, S+V, fixed costs: times faster than A* (Table 3)"),
)
"""Rows on the first page of the report."""


def tables(found: dict[str, Any]) -> list[Table | Listing]:
    """All tables of a measurement."""
    result: list[Table | Listing] = []
    for name, city in found["cities"].items():
        result += [_sizes(name, city), _fixed(name, city), _schemes(name, city), _ours(name, city), _facts(name, city)]
    if found["places"]:
        result.append(_places(found["places"]))
    if found["voxels"]:
        result.append(_voxels(found["voxels"]))
    return result


def _sizes(name: str, city: dict[str, Any]) -> Table:
    large = name == "large"
    rows = []
    for motions, row in city["sets"].items():
        for at, what in enumerate(("subregions", "connections")):
            average, rsd = TABLE_1[name][motions][at]
            rows.append(Row(f"{motions}, {what}, average", average, row[what]["average"]))
            rows.append(Row(f"{motions}, {what}, RSD %", rsd, row[what]["rsd"], at_most(2.5)))
        rows.append(
            Row(f"{motions}, subregions, % of waypoints", 3.0, 100 * row["share_of_waypoints"], _if(large, at_most(3)))
        )
        rows.append(
            Row(f"{motions}, connections, % of edges", 0.2, 100 * row["share_of_edges"], _if(large, at_most(0.2)))
        )
    size = f"{city['waypoints']:,} waypoints, {city['edges']:,} edges"
    note = f"The paper's place is {CITIES[name]}, ours a made city of its size: {size}."
    return Table(f"Table 1, {name} city: sizes over many processing orders", rows, note)


def _if(condition: bool, rule: Rule) -> Rule | None:
    return rule if condition else None


def _fixed(name: str, city: dict[str, Any]) -> Table:
    rows = []
    for motions, row in city["sets"].items():
        got = row["planning"]["fixed"]
        length, speedup, lost = TABLE_3[name][motions]
        rows += [
            Row(f"{motions}, length, % of A*", length, got["length_percent"], at_most(length)),
            Row(f"{motions}, speed-up", speedup, got["speedup"], at_least(speedup)),
            Row(f"{motions}, speed-up without a path", lost, got["speedup_without_path"], at_least(lost)),
        ]
    rows = [row for row in rows if row.ours is not None or "without" not in row.what]
    note = "A path was found exactly where A* finds one, on every pair (the run ends otherwise)."
    # Few pairs in a small city may have no path between them at all.
    flat = [row["planning"]["flat_ms"] for row in city["sets"].values() if row["planning"]["flat_ms"] is not None]
    if flat:
        note += f" Speed-ups are against our own A*, which takes {min(flat):.2g} to {max(flat):.2g} ms; the paper's "
        note += "takes 935 ms (Marina Bay, S+V)."
    return Table(f"Table 3, {name} city: fixed costs", rows, note)


def _schemes(name: str, city: dict[str, Any]) -> Table:
    rows = []
    for scheme, (length, speedup) in TABLE_2.items():
        got = city["sets"]["S+V"]["planning"][scheme]
        paper = name == "large"
        rows.append(
            Row(
                f"{scheme}, length, % of A*",
                length if paper else None,
                got["length_percent"],
                _if(paper, at_most(length)),
            )
        )
        rows.append(
            Row(f"{scheme}, speed-up", speedup if paper else None, got["speedup"], _if(paper, at_least(speedup)))
        )
    return Table(f"Table 2, {name} city: all cost schemes, S+V", rows)


def _ours(name: str, city: dict[str, Any]) -> Table:
    """What goes beyond the paper: our default corridor and exact planning."""
    large = name == "large"
    rows, together = [], []
    for motions, row in city["sets"].items():
        plan = row["planning"]
        length, speedup, lost = (plan["default"][figure] for figure in FIGURES)
        rows.append(Row(f"{motions}, default, length, % of A*", None, length))
        rows.append(Row(f"{motions}, default, speed-up", None, speedup))
        if lost is not None:
            rows.append(Row(f"{motions}, default, speed-up without a path", None, lost, _if(large, at_least(1000))))
        if length is not None and length <= 102.5:
            together.append(speedup)
        length, speedup, _ = (plan["exact"][figure] for figure in FIGURES)
        rows.append(Row(f"{motions}, exact, length, % of A*", None, length and round(length, 6), equal(100)))
        rows.append(Row(f"{motions}, exact, speed-up", None, speedup, _if(large, at_least(4))))
    best = max(together, default=None)
    rows.append(Row("best speed-up of the default at a length of at most 102.5 %", 7.08, best, at_least(8)))
    return Table(f"Beyond the paper, {name} city: our default, and exact planning", rows)


def _facts(name: str, city: dict[str, Any]) -> Table:
    large = name == "large"
    smallest, largest = SAVED_KB[name]
    rows = []
    for motions, row in city["sets"].items():
        paper = 20.0 if large else None
        rows.append(Row(f"{motions}, generated in, s", paper, row["seconds"], _if(large, at_most(5))))
        rows.append(
            Row(f"{motions}, saved without labels, KB", largest, row["graph_bytes"] / 1e3, _if(large, at_most(largest)))
        )
    checks = city["check"].values()
    share = 100 * sum(row["violations"] for row in checks) / max(1, sum(row["edges"] for row in checks))
    rows += [
        Row("waypoint graph built in, s", None, city["build_seconds"], at_most(1200)),
        Row("held with all four subregion graphs, GB", None, city["held_bytes"] / 1e9, at_most(4)),
        Row("peak of the process, GB", None, city["peak_megabytes"] / 1e3),
        Row("edges that break a rule by the triangles, % of those checked", None, share, at_most(0.1)),
        Row("100 edges changed: the waypoint graph, ms", None, city["repair"]["edit_ms"]),
        Row("100 edges changed: the subregions, ms", None, city["repair"]["repair_ms"], at_most(5)),
    ]
    note = f"The paper's files take {smallest:g} to {largest:g} KB by motion set."
    return Table(f"Sizes and times, {name} city", rows, note)


def _places(places: list[dict[str, Any]]) -> Listing:
    rows = [
        (
            f"{place['name']}, {motions}",
            place["waypoints"],
            place["edges"],
            row["subregions"],
            row["length_percent"],
            row["speedup"],
            row["speedup_without_path"],
        )
        for place in places
        for motions, row in place["sets"].items()
    ]
    columns = ("", "waypoints", "edges", "subregions", "length %", "speed-up", "without a path")
    return Listing("Real places, our default against plain A*", columns, rows)


def _voxels(maps: list[dict[str, Any]]) -> Listing:
    keys = ("name", "waypoints", "edges", "queries", "ms", "length_percent", "smooth_percent")
    columns = ("", "waypoints", "edges", "queries", "ms", "length %", "smoothed %")
    note = "A path was found wherever one is listed (the run ends otherwise); lengths are shares of the listed optimum."
    return Listing("Flying in voxel maps", columns, [[row[key] for key in keys] for row in maps], note)
