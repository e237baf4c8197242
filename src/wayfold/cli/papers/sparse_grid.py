"""`wayfold bench papers --paper sparse-grid`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from wayfold.bench import _levels, harness, sparse_grid
from wayfold.cli._output import print_json, print_table, progress, to_json
from wayfold.view import pictures
from wayfold.view.sparse import plot_memory, plot_quality


def report(data: Path, full: bool, out: Path | None, json: bool, quiet: bool) -> None:
    """Measure the sparse grid as the paper does, and report it."""
    with progress("bench", None, quiet) as step:
        found = sparse_grid.run(data, full=full, progress=step)
    found["machine"] = asdict(harness.machine())
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "sparse_grid.json").write_text(to_json(found) + "\n", encoding="utf-8")
        pictures.save(plot_memory(found["memory"][0]["rows"]), out / "sparse_grid_memory.png")
        pictures.save(plot_quality(np.array(found["planning"]["lengths"])), out / "sparse_grid_lengths.png")
    if json:
        print_json(found)
        return
    rows: list[tuple[Any, ...]] = [("the paper, sector 12", *sparse_grid.MEMORY.values())]
    for table in found["memory"]:
        for name, label in (("paper", "its accounting"), ("trimmed", "trimmed to boxes"), ("nbytes", "live arrays")):
            rows.append((f"{label}, sector {table['sector']}", round(table[name]["average"]), table[name]["maximum"]))
        rows.append(
            (f"live / accounting, sector {table['sector']}", table["nbytes_ratio"], table["nbytes_ratio_largest"])
        )
    print_table(f"Memory of {found['maps']} maps, bytes", ("", "average", "maximum"), rows)
    columns = ("sector", *(f"{way} {who}" for way in sparse_grid.WAYS for who in ("paper", "ours")))
    pairs = [[(t["paper"][way], t["ratios"][way]) for way in sparse_grid.WAYS] for t in found["table_1"]]
    rows = [(str(t["sector"]), *(x for p in r for x in p)) for t, r in zip(found["table_1"], pairs, strict=True)]
    print_table("Table 1: time to generate successors / regular grid", columns, rows)
    names = ("average_cut", "maximum_cut", "average_add", "maximum_add")
    columns = ("sector", *(f"{name.replace('_', ' ')} {who}" for name in names for who in ("paper", "ours")))
    rows = [(str(t["sector"]), *(t[w][n] for n in names for w in ("paper", "ours"))) for t in found["table_2"]]
    print_table("Table 2: cutting and adding 99 cells, ms", columns, rows)
    plan = {name: value for name, value in found["planning"].items() if name not in ("lengths", "length_quantiles")}
    facts = {**plan, **{f"length, {name}": value for name, value in found["planning"]["length_quantiles"].items()}}
    print_table("Planning on scenarios", ("", ""), [(name.replace("_", " "), value) for name, value in facts.items()])
    _print_options(found["options"])
    _print_levels(found["levels"])
    print_table("A large world", ("", ""), [(name.replace("_", " "), value) for name, value in found["large"].items()])
    machine = found["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}, all answers checked")


def _print_options(options: list[dict[str, Any]]) -> None:
    names = ("option", "measured", "off", "on", "default")
    print_table("Beyond the paper: each option by itself", names, [[row[name] for name in names] for row in options])


def _print_levels(levels: list[dict[str, Any]]) -> None:
    names = ("level", "cells", "floors", "regions", "bytes", "build_seconds", "spawns")
    rows = []
    for level in levels:
        groups = [" + ".join(map(str, level["groups"][way])) if "groups" in level else "" for way in _levels.WAYS]
        rows.append((*(level.get(name, "") for name in names), *groups))
    title = "Levels, and players in groups: who can walk to whom, then also fall, jump, leap, be carried"
    print_table(title, [name.replace("_", " ") for name in (*names, *_levels.WAYS)], rows)
