"""How good refined routes, Steiner graphs, bounds and discs are, against the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks._weighted_reference import cheapest
from benchmarks.harness import WrongAnswerError
from benchmarks.real_terrain import checked
from wayfold import samples
from wayfold.terrain import Terrain

Step = Callable[[str], None]
Row = dict[str, Any]

RADII = (0.0, 0.5, 1.0, 2.0)


def quality(scenes: Mapping[str, samples.Scene], count: int, progress: Step) -> list[Row]:
    """Refined routes, Steiner graphs and the certified bound by the reference, on the scenes and on random ones."""
    named = [
        (f"{name}, query {number + 1}", Terrain.from_scene(scene), *query)
        for name, scene in scenes.items()
        for number, query in enumerate(scene.queries)
    ]
    rows = [_judge(name, [(terrain, start, goal)], progress) for name, terrain, start, goal in named]
    rows.append(_judge("random scenes", [random_scene(seed) for seed in range(count)], progress))
    return rows


def _judge(name: str, worlds: list[tuple[Terrain, Any, Any]], progress: Step) -> Row:
    ratios, bounds, steiner, unreachable = [], [], [], 0
    for number, (terrain, start, goal) in enumerate(worlds):
        progress(f"quality on {name}, {number + 1} of {len(worlds)}")
        path = terrain.path(start, goal)
        best = cheapest(terrain.vertices, terrain.triangles, terrain.triangle_weights, start, goal, per_edge=16)
        if path.found != np.isfinite(best):
            raise WrongAnswerError(f"{name} {number}: refined says {path.status}, the reference {best}")
        if not path:
            unreachable += 1
            continue
        bound = float(path.lower_bound or 0.0)
        if bound > best * (1 + 1e-9):
            raise WrongAnswerError(f"{name} {number}: the bound {bound!r} lies above the reference {best!r}")
        ratios.append(checked(terrain, path) / best)
        bounds.append(bound / best)
        steiner.append(checked(terrain, terrain.path(start, goal, graph="steiner", epsilon=64.0)) / best)
    return {
        "scene": name,
        "scenes": len(worlds),
        "unreachable": unreachable,
        "refined_mean": float(np.mean(ratios)),
        "refined_worst": float(np.max(ratios)),
        "bound_mean": float(np.mean(bounds)),
        "bound_worst": float(np.min(bounds)),
        "steiner_64_mean": float(np.mean(steiner)),
        "steiner_64_worst": float(np.max(steiner)),
    }


def random_scene(seed: int) -> tuple[Terrain, Any, Any]:
    """Cells of random weight, the nearest of some points deciding, as a raster; and two places in it."""
    rng = np.random.default_rng(seed)
    sites, kinds = rng.uniform(0, 24, (14, 2)), np.exp(rng.uniform(0, np.log(20), 14)).round(2)
    kinds[rng.random(14) < 0.1] = np.inf
    kinds[0] = 1.0
    rows, columns = np.indices((24, 24)) + 0.5
    away = (columns[..., None] - sites[:, 0]) ** 2 + (rows[..., None] - sites[:, 1]) ** 2
    weights = kinds[np.argmin(away, axis=-1)]
    free = np.argwhere(np.isfinite(weights))
    (r0, c0), (r1, c1) = free[rng.choice(len(free), 2, replace=False)]
    return Terrain.from_raster(weights), (c0 + 0.4, r0 + 0.6), (c1 + 0.5, r1 + 0.3)


def discs(scenes: Mapping[str, samples.Scene], progress: Step) -> list[Row]:
    """Costs of discs of growing radius."""
    rows = []
    for name, scene in scenes.items():
        terrain = Terrain.from_scene(scene)
        for graph in ("dual", "dual-extra", "grid", "steiner", "refined"):
            progress(f"discs on {name}, {graph}")
            options: dict[str, Any] = {"graph": graph, "cell": 2.0, "epsilon": 1024.0}
            costs = [terrain.path(*scene.queries[0], radius=radius, **options).cost for radius in RADII]
            row: Row = {"scene": name, "graph": graph}
            row |= {f"radius {radius:g}": cost for radius, cost in zip(RADII, costs, strict=True)}
            row["rises"] = all(a <= b * (1 + 1e-6) for a, b in pairwise(costs))
            row["point_again"] = costs[0] == terrain.path(*scene.queries[0], **options).cost
            rows.append(row)
    return rows
