"""The tables of Wardhana et al. 2015 (subregion graph, 2015) on made cities and real places, beside ours."""

from __future__ import annotations

import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.edge_check import check_edges
from benchmarks.harness import WrongAnswerError
from benchmarks.real_data import RealData
from wayfold import samples
from wayfold.agent import Agent, Motion
from wayfold.core.arrays import distinct
from wayfold.core.checks import whole
from wayfold.formats import load_bsp, load_map3d, load_mesh, load_scen3d
from wayfold.geometry import Mesh
from wayfold.subregions import COSTS, SubregionGraph
from wayfold.waypoints import WaypointGraph
from wayfold.waypoints.voxels import VoxelWaypoints

Step = Callable[[str], None]

SETS = {
    "S": Motion.SURFACE,
    "S+A": Motion.SURFACE | Motion.ADHESIVE,
    "S+V": Motion.SURFACE | Motion.VOLUMETRIC,
    "S+A+V": Motion.SURFACE | Motion.ADHESIVE | Motion.VOLUMETRIC,
}
CITIES = {"small": (489.0, 511.0), "large": (2339.0, 2832.0)}


def run(data: RealData, *, full: bool, progress: Step) -> dict[str, Any]:
    """Measure everything; `full` takes the large city too, and as many orders and pairs as the paper."""
    orders, pairs = (100, 400) if full else (10, 60)
    report: dict[str, Any] = {"cities": {}, "places": [], "voxels": []}
    for name in ("small", "large") if full else ("small",):
        progress(f"{name} city")
        mesh = samples.city(CITIES[name], 0)
        report["cities"][name] = city(mesh, orders, pairs, progress)
    for title, mesh, agent, size in places(data):
        progress(title)
        report["places"].append(place(title, mesh, agent, size, pairs // 4))
    files = data.find("movingai/warframe/*.3dmap", "flying in voxel maps")
    for file in files if full else files[:2]:
        progress(file.name)
        report["voxels"].append(voxels(file, 100 if full else 30))
    return report


def places(data: RealData) -> Iterator[tuple[str, Mesh, Agent, float]]:
    """Real places with an agent and a region size that suit them."""
    quake = Agent(radius=15.0, height=56.0, climb=18.0, slope=45.57, motions=Motion.SURFACE)
    if file := data.file("recast/nav_test.obj", "the place nav_test"):
        yield "nav_test", load_mesh(file, "y"), Agent(0.6, 2.0, 0.9, 45.0), 20.0
    if file := data.file("quake/oa_dm1.bsp", "the place oa_dm1"):
        yield "oa_dm1", load_bsp(file).mesh, quake, 1024.0
    if file := data.file("city/delft.city.json", "the place delft"):
        yield "delft", load_mesh(file), Agent(), 50.0


def city(mesh: Mesh, orders: int, count: int, progress: Step) -> dict[str, Any]:
    """One city: building it, and all that is measured over it."""
    begin = time.perf_counter()
    waypoints = WaypointGraph.build(mesh, Agent())
    built = {"triangles": len(mesh), "build_seconds": time.perf_counter() - begin, "stages": waypoints.timings}
    return built | measure(waypoints, orders, count, progress)


def measure(waypoints: WaypointGraph, orders: int, count: int, progress: Step) -> dict[str, Any]:
    """Table 1, Tables 2 and 3, exact planning, repair and the check against the triangles."""
    report: dict[str, Any] = {
        "regions": waypoints.layout.shape,
        "waypoints": waypoints.num_waypoints,
        "edges": waypoints.num_edges,
        "sets": {},
    }
    graphs = []
    for name, motions in SETS.items():
        progress(f"subregions {name}")
        begin = time.perf_counter()
        subregions = SubregionGraph.build(waypoints, motions)
        took = time.perf_counter() - begin
        graphs.append(subregions)
        row = sizes(waypoints, motions, orders)
        row |= {"seconds": took, **saved(subregions)}
        row["share_of_waypoints"] = row["subregions"]["average"] / waypoints.num_waypoints
        row["share_of_edges"] = row["connections"]["average"] / waypoints.num_edges
        row["planning"] = planning(waypoints, subregions, count, progress)
        report["sets"][name] = row
    report["held_bytes"] = waypoints.nbytes + sum(graph.nbytes for graph in graphs)
    report["peak_megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    progress("edges against triangles")
    report["check"] = check_edges(waypoints, 3000 if count > 100 else 300)
    progress("repair")
    report["repair"] = repair(waypoints, graphs[-1])
    return report


def sizes(waypoints: WaypointGraph, motions: Motion, orders: int) -> dict[str, Any]:
    """Table 1: sizes over many processing orders."""
    found = [SubregionGraph.build(waypoints, motions, seed=seed) for seed in range(orders)]
    numbers = {
        "subregions": np.array([graph.num_subregions for graph in found], float),
        "connections": np.array([graph.num_connections for graph in found], float),
    }
    return {
        name: {
            "minimum": values.min(),
            "average": values.mean(),
            "maximum": values.max(),
            "rsd": 100.0 * values.std() / max(values.mean(), 1.0),
        }
        for name, values in numbers.items()
    }


def saved(subregions: SubregionGraph) -> dict[str, int]:
    """Size of the saved file: all of it, and without the labels (what the paper's 393 to 2,259 KB count)."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "s.wayfold"
        subregions.save(file)
        total = os.path.getsize(file)
    return {
        "file_bytes": total,
        "graph_bytes": total - subregions.labels.nbytes,
        "label_bytes": subregions.labels.nbytes,
    }


def sample_pairs(waypoints: WaypointGraph, motions: Motion, count: int, seed: int = 0) -> NDArray[np.int64]:
    """Pairs as the paper samples them (section 7.2): one usable waypoint of each group of regions, all pairs of those.

    Groups are as large as leaves at least `count` pairs; of those `count` are taken.
    """
    whole(count, "count", low=1)
    shape = waypoints.layout.shape
    assert shape is not None
    usable = np.flatnonzero(waypoints.usable(motions))
    cell = np.stack(np.unravel_index(waypoints.regions[usable, 0], shape), axis=1)
    rng = np.random.default_rng(seed)
    picked = usable[:0]
    for k in (6, 4, 3, 2, 1):
        group = np.ravel_multi_index(tuple((cell // k).T), tuple(-(-s // k) for s in shape))
        order = rng.permutation(len(usable))
        _, first = np.unique(group[order], return_index=True)
        picked = usable[order[first]]
        if len(picked) * (len(picked) - 1) // 2 >= count:
            break
    pairs = np.stack(np.triu_indices(len(picked), 1), axis=1)
    pairs = pairs[rng.permutation(len(pairs))[:count]]
    return picked[pairs]


def planning(waypoints: WaypointGraph, subregions: SubregionGraph, count: int, progress: Step) -> dict[str, Any]:
    """Tables 2 and 3: every cost scheme, ours, and exact planning, against plain A* in the same run.

    Where there is no path, plain A* is one that floods what it can reach, as the paper's does: the components that
    make our own A* answer at once are left out.
    """
    graph, motions = waypoints.graph, subregions.motions
    pairs = sample_pairs(waypoints, motions, count)
    ways: dict[str, Callable[[int, int], Any]] = {}
    for cost in COSTS:
        other = subregions.with_cost(cost)
        ways[cost] = lambda a, b, other=other: other.path(a, b, margin=0, weight=1.0)  # type: ignore[misc]
    ways["default"] = subregions.path
    begin = time.perf_counter()
    subregions.prepare_exact()
    prepared = time.perf_counter() - begin
    ways["exact"] = lambda a, b: subregions.path(a, b, exact=True)
    for way in ways.values():
        way(int(pairs[0, 0]), int(pairs[0, 1]))
    component = graph.components(motions)
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    lost: dict[str, list[float]] = {name: [] for name in ways}
    flat_ms = []
    for at, (a, b) in enumerate(pairs.tolist()):
        if at % 50 == 0:
            progress(f"pair {at} of {len(pairs)}")
        reachable = component[a] == component[b]
        begin = time.perf_counter()
        if reachable:
            flat = graph.path(a, b, motions=motions)
        else:
            graph.distances(a, motions=motions)
        took = time.perf_counter() - begin
        if reachable:
            flat_ms.append(took * 1e3)
        for name, way in ways.items():
            begin = time.perf_counter()
            path = way(a, b)
            mine = time.perf_counter() - begin
            if path.found != reachable:
                raise WrongAnswerError(f"{name}: from {a} to {b} a path was {'' if path.found else 'not '}found")
            if not reachable:
                lost[name].append(took / mine)
            elif a != b:
                rows[name].append((path.cost / flat.cost, took / mine))
                if name == "exact" and abs(path.cost - flat.cost) > 1e-9 * flat.cost:
                    raise WrongAnswerError(f"exact: {path.cost} instead of {flat.cost} from {a} to {b}")
    report: dict[str, Any] = {
        "pairs": len(pairs),
        "found": len(flat_ms),
        "flat_ms": float(np.mean(flat_ms)) if flat_ms else None,
        "exact_preparation_seconds": prepared,
    }
    for name in ways:
        got = np.array(rows[name]).reshape(-1, 2)
        report[name] = {
            "length_percent": 100.0 * float(got[:, 0].mean()) if len(got) else None,
            "speedup": float(got[:, 1].mean()) if len(got) else None,
            "speedup_without_path": float(np.mean(lost[name])) if lost[name] else None,
        }
    return report


def repair(waypoints: WaypointGraph, subregions: SubregionGraph) -> dict[str, Any]:
    """A batch of 100 edge changes: half of them removed, half put back with other motions; and equal to a rebuild."""
    rng = np.random.default_rng(0)
    waypoints.update(remove=np.empty((0, 2), np.int32))  # copies the rows once, to make room
    graph = waypoints.graph
    assert graph.motions is not None
    slots = rng.choice(np.flatnonzero(graph.motions > 0), 100, replace=False)
    rows = np.searchsorted(graph.offsets, slots, side="right") - 1
    edges = np.column_stack([rows, graph.targets[slots]])
    times = []
    for turn in range(6):
        begin = time.perf_counter()
        closing = turn % 2 == 0
        edit = waypoints.update(remove=edges) if closing else waypoints.update(edges, int(Motion.VOLUMETRIC))
        middle = time.perf_counter()
        subregions.repair(edit)
        subregions.graph.components()
        times.append(((middle - begin) * 1e3, (time.perf_counter() - middle) * 1e3))
    fresh = SubregionGraph.build(waypoints, subregions.motions, seed=subregions.seed)
    same = (fresh.num_subregions, fresh.num_connections) == (subregions.num_subregions, subregions.num_connections)
    pairs = distinct(np.column_stack([subregions.labels, fresh.labels])).rows
    if not same or len(np.unique(pairs[:, 0])) != len(pairs) or len(np.unique(pairs[:, 1])) != len(pairs):
        raise WrongAnswerError("repaired subregions are not those of a rebuild")
    edit_ms, repair_ms = np.array(times[2:]).mean(axis=0)
    return {"edges": len(edges), "edit_ms": float(edit_ms), "repair_ms": float(repair_ms)}


def place(title: str, mesh: Mesh, agent: Agent, region_size: float, count: int) -> dict[str, Any]:
    """A real place: size, what planning gains, and the check against the triangles."""
    begin = time.perf_counter()
    waypoints = WaypointGraph.build(mesh, agent, region_size=region_size)
    report: dict[str, Any] = {
        "name": title,
        "triangles": len(mesh),
        "regions": waypoints.layout.shape,
        "waypoints": waypoints.num_waypoints,
        "edges": waypoints.num_edges,
        "build_seconds": time.perf_counter() - begin,
        "check": check_edges(waypoints, 300),
        "sets": {},
    }
    for name, motions in SETS.items():
        if not waypoints.usable(motions).any():
            continue
        subregions = SubregionGraph.build(waypoints, motions)
        row = planning(waypoints, subregions, count, lambda _: None)
        report["sets"][name] = {
            "subregions": subregions.num_subregions,
            "connections": subregions.num_connections,
            "found": row["found"],
            **{key: row["default"][key] for key in ("length_percent", "speedup", "speedup_without_path")},
        }
    return report


def voxels(file: Path, count: int) -> dict[str, Any]:
    """A voxel map: found exactly when a path exists, and length against the listed optimum."""
    world = load_map3d(file)
    scenarios = load_scen3d(file.with_name(file.name + ".3dscen"))
    begin = time.perf_counter()
    waypoints = VoxelWaypoints.from_voxels(world)
    built = time.perf_counter() - begin
    subregions = SubregionGraph.build(waypoints, Motion.VOLUMETRIC)
    some = np.linspace(0, len(scenarios) - 1, min(count, len(scenarios))).astype(int)
    ratios, smooth, times = [], [], []
    for at in some.tolist():
        row = scenarios[at]
        begin = time.perf_counter()
        path = subregions.path(row.start, row.goal)
        times.append(time.perf_counter() - begin)
        if not path.found:
            raise WrongAnswerError(f"{file.name}: no path from {row.start} to {row.goal}, where one is listed")
        if row.length > 0:
            ratios.append(path.length / row.length)
            smooth.append(path.smooth().length / row.length)
    return {
        "name": file.name,
        "waypoints": waypoints.num_waypoints,
        "edges": waypoints.num_edges,
        "build_seconds": built,
        "queries": len(some),
        "ms": 1e3 * float(np.mean(times)),
        "length_percent": 100.0 * float(np.mean(ratios)),
        "smooth_percent": 100.0 * float(np.mean(smooth)),
    }
