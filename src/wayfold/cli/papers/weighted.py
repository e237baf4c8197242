"""`wayfold bench papers --paper weighted`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from wayfold import samples
from wayfold.bench import harness, weighted
from wayfold.cli._output import print_json, print_table, progress, to_json
from wayfold.terrain import Terrain
from wayfold.view import pictures
from wayfold.view.terrain import draw_terrain, plot_bars, plot_scale


def report(data: Path, full: bool, out: Path | None, json: bool, quiet: bool) -> None:
    """Measure the routes as the paper does, and report them."""
    with progress("bench", None, quiet) as step:
        found = weighted.run(data, full=full, progress=step)
    found["machine"] = asdict(harness.machine("shapely"))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "weighted.json").write_text(to_json(found) + "\n", encoding="utf-8")
        _scene_pictures(out)
        _bar_charts(found["rows"], out)
        if found["scale"]:
            pictures.save(plot_scale(found["scale"]), out / "weighted_scale.png")
    if json:
        print_json(found)
        return
    for scene in dict.fromkeys((row["scene"], row["query"]) for row in found["rows"]):
        _scene_table(scene, [row for row in found["rows"] if (row["scene"], row["query"]) == scene])
    for title, rows in (
        ("The paper's findings", found["findings"]),
        ("Quality: cost by the reference's", found["quality"]),
        ("Real terrain prepared in a process of its own", [found["alone"]] if found["alone"] else []),
        ("Real terrain, growth with triangles", found["scale"]),
    ):
        if rows:
            _facts(title, rows)
    print_table(
        "Discs: cost by radius",
        [name.replace("_", " ") for name in found["discs"][0]],
        [list(row.values()) for row in found["discs"]],
    )
    for comparison in found["speed"]:
        rows = [
            (row["name"], comparison["costs"][row["name"]], row["median_ms"], f"{row['ratio']:.2f}x")
            for row in comparison["rows"]
        ]
        print_table(comparison["title"], ("", "cost", "ms", "time / dual"), rows)
        print("; ".join(f"{name} {ratio:.2f}" for name, ratio in comparison["ratios"].items()))
    machine = found["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}, all answers checked")


def _facts(title: str, rows: list[dict[str, Any]]) -> None:
    """A table with a column for each row, as there are more facts than rows."""
    first, *names = (name for name in rows[0] if name != "query")
    heads = [f"{row[first]}, {row['query']}" if "query" in row else str(row[first]) for row in rows]
    print_table(title, ["", *heads], [[name.replace("_", " "), *(row[name] for row in rows)] for name in names])


# The paper's tables that hold the figures of each scene and query.
TABLES = {
    ("scene1", 0): "Tables 1, 3, 4, 6 and 8",
    ("scene1", 1): "Tables 2, 3, 5, 7 and 8",
    ("forest child", 0): "Table 9",
    ("forest adult", 0): "Table 10",
    ("zigzag", 0): "Table 11",
}


def _scene_table(scene: tuple[str, int], rows: list[dict[str, Any]]) -> None:
    columns = (
        "graph",
        "setting",
        "method",
        "nodes",
        "edges",
        "built ms",
        "paper",
        "cost",
        "paper",
        "search ms",
        "paper",
    )
    lines = []
    for row in rows:
        theirs = row["paper"] or {}
        line = [
            row["graph"],
            "" if row["setting"] is None else row["setting"],
            row["method"],
            row["nodes"],
            row["edges"],
        ]
        for name in ("construction_ms", "cost", "search_ms"):
            line += [row[name], theirs.get(name, "")]
        lines.append(line)
    print_table(f"{scene[0]}, query {scene[1] + 1} ({TABLES[scene]})", columns, lines)


def _bar_charts(rows: list[dict[str, Any]], out: Path) -> None:
    """Figures 21 to 24: search times and costs of Tables 9 and 10."""
    for scene, first in (("forest child", 21), ("forest adult", 23)):
        table = [row for row in rows if row["scene"] == scene and (row["paper"] or row["graph"] == "refined")]
        for number, value, label in ((first, "search_ms", "search, ms"), (first + 1, "cost", "cost")):
            pictures.save(plot_bars(table, value, label), out / f"weighted_figure_{number}.png")


def _scene_pictures(out: Path) -> None:
    """The scenes with the routes of all methods, as in Figures 11 to 25."""
    scenes = {
        "scene1": samples.scene1(),
        "forest_child": samples.forest("child"),
        "forest_adult": samples.forest("adult"),
        "zigzag": samples.zigzag(),
    }
    for name, scene in scenes.items():
        terrain = Terrain.from_scene(scene)
        for number, (start, goal) in enumerate(scene.queries):
            paths = {
                "grid": terrain.path(start, goal, graph="grid", cell=2.0, steps="sampled"),
                "grid, coarse": terrain.path(start, goal, graph="grid", cell=4.0, steps="sampled"),
                "dual": terrain.path(start, goal, graph="dual"),
                "dual-extra": terrain.path(start, goal, graph="dual-extra"),
                "steiner": terrain.path(start, goal, graph="steiner", epsilon=64.0),
                "steiner, coarse": terrain.path(start, goal, graph="steiner", epsilon=16384.0),
                "refined": terrain.path(start, goal),
            }
            pictures.save(draw_terrain(terrain, paths), out / f"weighted_{name}_{number + 1}.png")
