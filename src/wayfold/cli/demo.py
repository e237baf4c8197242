"""`wayfold demo`: a generated city district, a walker, and what the searches of `Graph` make of it."""

from __future__ import annotations

import time
from pathlib import Path as Folder
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold import samples
from wayfold.agent import Agent
from wayfold.cli._output import print_json, print_table, progress
from wayfold.errors import ParameterError
from wayfold.geometry import Mesh, TriangleIndex
from wayfold.graph import Graph
from wayfold.path import Path
from wayfold.view import pictures

_CELL = 0.75
_LAYERS = 4  # walkable floors kept above one another: a street, a bridge over it, a roof
_BATCH = 2000


def run(out: Folder, seed: int, size: float, json: bool, quiet: bool) -> None:
    """Build, plan, print and draw."""
    out.mkdir(parents=True, exist_ok=True)
    agent = Agent()
    with progress("demo", 6, quiet) as step:
        step("building the district")
        mesh = samples.city((size, size), seed=seed)
        step("finding the ground that a walker can stand on")
        graph = ground_graph(mesh, agent)
        step("planning (compiles on the first run)")
        start, goal = far_apart(graph, mesh)
        rows, path = compare(graph, start, goal)
        step(f"planning {_BATCH} walks on all cores")
        batch = crowd(graph, start)
        step("drawing")
        picture = out / "demo.png"
        pictures.save(draw(mesh, graph, path, start), picture)
        step("done")
    facts = {"triangles": len(mesh), "nodes": graph.num_nodes, "edges": graph.num_edges, "bytes": graph.nbytes}
    if json:
        print_json({"world": facts, "searches": rows, "batch": batch, "picture": picture})
        return
    print(f"District of {size:g} x {size:g} m, seed {seed}: " + ", ".join(f"{v:,} {k}" for k, v in facts.items()))
    columns = ("search", "length m", "settled nodes", "ms", "time / A*")
    table = [
        (row["search"], f"{row['length']:.1f}", row["settled"], f"{row['ms']:.2f}", f"{row['ratio']:.1f}x")
        for row in rows
    ]
    print_table("The same walk by three searches", columns, table)
    print(f"{_BATCH:,} walks to random places: {batch['per_second']:,.0f} a second, {batch['found']:.0%} reachable")
    print(f"The picture is {picture}")


def ground_graph(mesh: Mesh, agent: Agent) -> Graph:
    """Places where an agent can stand, found by rays from above, joined where it can step from one to the next.

    Floors above one another are kept apart, so that a walk can lead over a bridge or under it.
    """
    index = TriangleIndex(mesh)
    (low_x, low_y, _), (high_x, high_y, high_z) = mesh.bounds
    x = np.arange(low_x + _CELL / 2, high_x, _CELL)
    y = np.arange(low_y + _CELL / 2, high_y, _CELL)
    origins = np.stack(np.broadcast_arrays(x[None, :], y[:, None], high_z + 1.0), axis=-1).reshape(-1, 3)
    offsets, distances, triangles = index.all_hits(origins, (0.0, 0.0, -1.0))
    columns = np.repeat(np.arange(len(origins)), np.diff(offsets))
    heights = origins[columns, 2] - distances
    # Hits run downwards: the one before, in the same column, is the ceiling.
    room = np.full(heights.size, np.inf)
    same = columns[1:] == columns[:-1]
    room[1:][same] = (heights[:-1] - heights[1:])[same]
    standing = (mesh.normals[triangles, 2] >= np.cos(np.radians(agent.slope))) & (room >= agent.height)
    where = np.column_stack([origins[columns, :2], heights])[standing]
    columns = columns[standing]
    # The body is a capsule that leaves out what the feet can step over.
    knees, heads = where.copy(), where.copy()
    knees[:, 2] += agent.climb + agent.radius
    heads[:, 2] += max(agent.height - agent.radius, agent.climb + agent.radius)
    free = index.clear(knees, heads, agent.radius)
    where, columns = where[free], columns[free]
    layer = np.arange(columns.size) - np.searchsorted(columns, columns)
    kept = layer < _LAYERS
    where, columns, layer = where[kept], columns[kept], layer[kept]
    nodes = np.full((len(y), len(x), _LAYERS), -1, np.int64)
    nodes.reshape(-1, _LAYERS)[columns, layer] = np.arange(len(where))
    if not len(where):
        raise ParameterError("there is no place to stand in this district: choose another seed")
    return Graph.from_edges(where, steps(nodes, where[:, 2], agent.climb))


def steps(nodes: NDArray[np.int64], heights: NDArray[np.float64], climb: float) -> NDArray[np.int64]:
    """Pairs of nodes in neighbouring columns that are at most `climb` apart; diagonals only around free corners."""
    z = np.where(nodes >= 0, heights[nodes], np.nan)

    def joined(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(np.abs(a[..., :, None] - b[..., None, :]) <= climb)

    east = joined(z[:, :-1], z[:, 1:])
    south = joined(z[:-1], z[1:])
    # From a place to the one south-east of it by both ways round, and likewise from the north-east to the south-west.
    falling = (east[:-1] @ south[:, 1:]) & (south[:, :-1] @ east[1:])
    rising = (east[:-1].swapaxes(-1, -2) @ south[:, :-1]) & (south[:, 1:] @ east[1:].swapaxes(-1, -2))
    pairs = [
        (nodes[:, :-1], nodes[:, 1:], east),
        (nodes[:-1], nodes[1:], south),
        (nodes[:-1, :-1], nodes[1:, 1:], falling),
        (nodes[:-1, 1:], nodes[1:, :-1], rising),
    ]
    edges = []
    for first, second, join in pairs:
        row, column, a, b = np.nonzero(join)
        edges.append(np.column_stack([first[row, column, a], second[row, column, b]]))
    return np.concatenate(edges)


def far_apart(graph: Graph, mesh: Mesh) -> tuple[int, int]:
    """Two nodes of the largest component near opposite corners of the district."""
    labels = graph.components()
    members = np.flatnonzero(labels == np.argmax(np.bincount(labels)))
    low, high = mesh.bounds[:, :2]
    inset = 0.1 * (high - low)
    points = graph.points[members, :2]
    picks = [int(members[np.argmin(((points - corner) ** 2).sum(axis=1))]) for corner in (low + inset, high - inset)]
    return picks[0], picks[1]


def compare(graph: Graph, start: int, goal: int) -> tuple[list[dict[str, Any]], Path]:
    """The same walk by every algorithm; the best of three runs each, after one that compiles."""
    rows: list[dict[str, Any]] = []
    found = graph.path(start, goal)
    for name in ("astar", "bidirectional", "dijkstra"):
        path = graph.path(start, goal, algorithm=name)
        if not np.isclose(path.cost, found.cost):
            raise ParameterError(f"{name} found {path.cost}, A* found {found.cost}")
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            graph.path(start, goal, algorithm=name)
            times.append(time.perf_counter() - begin)
        rows.append({"search": name, "length": path.length, "settled": path.expanded, "ms": 1e3 * min(times)})
    for row in rows:
        row["ratio"] = row["ms"] / rows[0]["ms"]
    return rows, found


def crowd(graph: Graph, start: int) -> dict[str, float]:
    """How fast many walks from one place are planned."""
    goals = np.random.default_rng(0).integers(0, graph.num_nodes, _BATCH)
    graph.paths([start], goals[:1])
    begin = time.perf_counter()
    paths = graph.paths(start, goals)
    return {"per_second": _BATCH / (time.perf_counter() - begin), "found": float(paths.found.mean())}


def draw(mesh: Mesh, graph: Graph, path: Path, start: int) -> Any:
    """The district from above, the ground, what A* settled, and the walk."""
    low, high = mesh.bounds
    figure, axes = pictures.new_figure(*(float(side) for side in (high - low)[:2]))
    pictures.draw_mesh(axes, mesh)
    # A* settles the nodes whose cost from the start and straight distance to the goal add up to less than the path.
    reach = graph.distances(start, limit=path.cost)
    onward = np.linalg.norm(graph.points - graph.points[path.nodes[-1]], axis=1)
    settled = reach + onward < path.cost
    pictures.draw_marks(axes, graph.points[settled, :2], _CELL, "#f28f3b")
    path.plot(axes, color=pictures.ROUTE, linewidth=2.5)
    return figure
