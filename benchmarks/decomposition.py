"""Table 1 of Hale et al. 2008: agents on the regions of DEACCON and its two rivals, over levels of different kinds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import affinity

from benchmarks.harness import WrongAnswerError
from benchmarks.real_data import RealData
from benchmarks.tables.decomposition import PAPER
from wayfold import formats, samples
from wayfold.agent import Agent
from wayfold.core.arrays import distinct
from wayfold.errors import ParameterError
from wayfold.floorplan import METHODS, Decomposition, FloorPlan, ground_planes
from wayfold.geometry import Mesh
from wayfold.grid import DenseGrid

_PLAYER = Agent(radius=15, height=56, climb=18, slope=45.5)  # Quake units
_TURN = np.cos(np.radians(1.0))
_SHARP = np.cos(np.radians(30.0))
_SEEDS = (8, 12, 16, 24, 32, 48, 64, 96)  # of space-filling volumes along the longer side


@dataclass
class Row:
    """One method on one level."""

    level: str
    method: str
    regions: int
    gateways: int
    coverage: float
    overlap: float
    seconds: float
    distance: float
    """Mean length of the paper's paths, over gateway midpoints and region centres."""
    turns: float
    crossed: float
    """Mean number of regions that a path leads through."""
    smooth: float
    """Mean length of the same paths pulled straight through their gateways."""
    shortest: float
    """Mean length of the shortest paths of all, the same for every method."""
    area_quartiles: list[float]
    width_quartiles: list[float]
    sharp: float
    """Share of the regions that have a corner below 30 degrees: the slivers that the paper holds against triangles."""


@dataclass
class Report:
    """Everything that is measured."""

    rows: list[Row] = field(default_factory=list)
    distances: dict[str, list[float]] = field(default_factory=lambda: {method: [] for method in METHODS})
    turns: dict[str, list[float]] = field(default_factory=lambda: {method: [] for method in METHODS})
    excess: dict[str, list[float]] = field(default_factory=lambda: {method: [] for method in METHODS})
    """Distance as a multiple of the shortest path, so that levels of any size count alike."""
    scaling: list[dict[str, float]] = field(default_factory=list)
    tests: dict[str, Any] = field(default_factory=dict)


def levels(data: RealData, full: bool) -> dict[str, Callable[[], FloorPlan]]:
    """The levels by name: slices of Quake levels, streets, a dungeon, rooms, an open place with buildings."""
    real: dict[str, tuple[str, Callable[..., FloorPlan]]] = {
        "Quake aggressor": ("quake/aggressor.bsp", quake_slice),
        "Quake oa_dm1": ("quake/oa_dm1.bsp", quake_slice),
        "streets Berlin 256": ("movingai/cities/Berlin_0_256.map", partial(FloorPlan.from_movingai, simplify=1.0)),
        "dungeon den501d": ("movingai/dao/den501d.map", FloorPlan.from_movingai),
    }
    made: dict[str, Callable[[], FloorPlan]] = {
        "rooms": lambda: from_sample(samples.rooms(1)),
        "open place": lambda: scattered(60, seed=4),
    }
    if full:
        real["Quake czest1dm"] = ("quake/czest1dm.bsp", quake_slice)
        real["streets London 512"] = ("movingai/cities/London_0_512.map", FloorPlan.from_movingai)
        made["maze"] = lambda: from_sample(samples.maze(seed=1))
    found = {name: (data.file(file, f"the level {name}"), read) for name, (file, read) in real.items()}
    return {name: partial(read, file) for name, (file, read) in found.items() if file is not None} | made


def from_sample(plan: samples.Plan) -> FloorPlan:
    """The floor plan of a sample."""
    return FloorPlan(plan.boundary, plan.obstacles)


def quake_slice(file: Path) -> FloorPlan:
    """The slice of a level at the ground plane with the largest place that can be walked without leaving it."""
    mesh = formats.load_bsp(file).mesh
    assert mesh.materials is not None
    ground = Mesh(mesh.vertices, mesh.triangles[mesh.materials != mesh.material_names.index("sky")])
    slices = [FloorPlan.slice(mesh, height, agent=_PLAYER) for height in ground_planes(ground, agent=_PLAYER)]
    enclosed = [plan for plan in slices if len(plan.obstacles) > 1] or slices
    return max(enclosed, key=lambda plan: max((part.area for part in shapely.get_parts(plan.free)), default=0.0))


def scattered(count: int, seed: int, side: float = 100.0) -> FloorPlan:
    """A square place with `count` turned boxes that cover about a quarter of it, some of them touching."""
    rng = np.random.default_rng(seed)
    half = rng.uniform(0.3, 0.7, (count, 2)) * side * np.sqrt(0.25 / count)
    where, turn = rng.uniform(0.0, side, (count, 2)), rng.uniform(0.0, 180.0, count)
    boxes = [
        affinity.rotate(shapely.box(x - w, y - h, x + w, y + h), angle)
        for (x, y), (w, h), angle in zip(where.tolist(), half.tolist(), turn.tolist(), strict=True)
    ]
    return FloorPlan(shapely.box(0.0, 0.0, side, side), boxes)


def best_volumes(plan: FloorPlan) -> tuple[Decomposition, float]:
    """Space-filling volumes with the best uniform seeding, and the seconds that it took.

    The paper took "the best uniform seeding to allow complete coverage" and got 90 %. Here it is the fewest seeds along
    the longer side whose largest connected part is 90 % of the largest place, or the finest of all where none is.
    """
    low_x, low_y, high_x, high_y = plan.free.bounds
    largest = max(part.area for part in shapely.get_parts(plan.free))
    for seeds in _SEEDS:
        begin = time.perf_counter()
        cut = plan.decompose("space-filling", spacing=max(high_x - low_x, high_y - low_y) / seeds)
        seconds = time.perf_counter() - begin
        parts = cut.graph.components()[: cut.num_regions]
        if np.bincount(parts, weights=cut.region_areas).max() >= PAPER["space-filling"]["coverage"] * largest:
            break
    return cut, seconds


def turns(points: NDArray[np.float64]) -> int:
    """Corners of a path at which its direction changes by more than a degree."""
    steps = np.diff(points[:, :2], axis=0)
    steps = steps[np.hypot(*steps.T) > 0.0]
    steps /= np.hypot(*steps.T)[:, None]
    return int(np.count_nonzero((steps[1:] * steps[:-1]).sum(axis=1) < _TURN))


def sharp_share(cut: Decomposition) -> float:
    """Share of the regions that have a corner below 30 degrees."""
    after = np.arange(1, len(cut.corners) + 1)
    after[cut.offsets[1:] - 1] = cut.offsets[:-1]
    before = np.empty_like(after)
    before[after] = np.arange(len(after))
    ahead, back = cut.corners[after] - cut.corners, cut.corners[before] - cut.corners
    cosine = (ahead * back).sum(axis=1) / (np.hypot(*ahead.T) * np.hypot(*back.T))
    return float(np.mean(np.maximum.reduceat(cosine, cut.offsets[:-1]) > _SHARP))


def routes(cuts: dict[str, Decomposition], count: int, seed: int) -> NDArray[np.float64]:
    """Random pairs of points that every method connects, as in the paper: (count, 2, 2)."""
    rng = np.random.default_rng(seed)
    plan = cuts["deaccon"].plan
    low_x, low_y, high_x, high_y = plan.free.bounds
    found: list[NDArray[np.float64]] = []
    for _ in range(1000):
        points = rng.uniform((low_x, low_y), (high_x, high_y), (512, 2))
        usable = np.ones(256, np.bool_)
        for cut in cuts.values():
            region = cut.locate(points)
            part = np.where(region >= 0, cut.graph.components()[region], -1).reshape(256, 2)
            usable &= (part[:, 0] == part[:, 1]) & (part[:, 0] >= 0)
        found += list(points.reshape(256, 2, 2)[usable])
        if len(found) >= count:
            return np.array(found[:count])
    raise ParameterError("no routes that all methods connect: the level is too broken up")


def repeated_measures(samples_by_method: dict[str, list[float]]) -> dict[str, Any]:
    """F-test of repeated measures over the methods, and paired t-tests between each two of them."""
    from scipy import stats

    table = np.array([samples_by_method[method] for method in METHODS]).T
    subjects, conditions = table.shape
    between = subjects * ((table.mean(axis=0) - table.mean()) ** 2).sum()
    people = conditions * ((table.mean(axis=1) - table.mean()) ** 2).sum()
    error = ((table - table.mean()) ** 2).sum() - between - people
    freedom = conditions - 1, (conditions - 1) * (subjects - 1)
    f = (between / freedom[0]) / (error / freedom[1])
    pairs = {
        f"{a} - {b}": {
            "mean": float(np.mean(np.subtract(samples_by_method[a], samples_by_method[b]))),
            "p": float(stats.ttest_rel(samples_by_method[a], samples_by_method[b]).pvalue),
        }
        for a, b in ((METHODS[0], METHODS[1]), (METHODS[0], METHODS[2]), (METHODS[1], METHODS[2]))
    }
    return {"F": float(f), "freedom": freedom, "p": float(stats.f.sf(f, *freedom)), "pairs": pairs}


def check_cut(cut: Decomposition, level: str) -> None:
    """Raise unless a decomposition keeps the promises that shapely can measure."""
    least = {"deaccon": 0.999, "hertel-mehlhorn": 1.0 - 1e-9, "space-filling": 0.0}[cut.method]
    if cut.method == "deaccon" and cut.plan.is_axis_aligned:
        least = 1.0 - 1e-12
    hulls = shapely.area(shapely.convex_hull(np.array(cut.regions, dtype=object)))
    if cut.coverage < least or cut.overlap > 1e-9 or (hulls - cut.region_areas > 1e-9 * cut.plan.area).any():
        raise WrongAnswerError(f"{cut.method} on {level}: coverage {cut.coverage}, overlap {cut.overlap}")


def check_flood_fill(cut: Decomposition) -> None:
    """Raise unless the cells of a plan made of cells are connected exactly when a flood fill connects them."""
    corners = shapely.get_coordinates(cut.plan.free)
    if (corners != np.floor(corners)).any() or not cut.plan.is_axis_aligned or (corners < 0).any():
        return
    width, height = corners.max(axis=0).astype(int)
    row, column = np.indices((height, width))
    centres = np.column_stack([column.ravel() + 0.5, row.ravel() + 0.5])
    free = cut.plan.contains(centres).reshape(height, width)
    labels = DenseGrid(free).components[free]
    y, x = np.nonzero(free)
    found = cut.graph.components()[cut.locate(np.column_stack([x + 0.5, y + 0.5]))]
    pairs = distinct(np.column_stack([labels, found])).rows
    if len(pairs) != len(np.unique(labels)) or len(pairs) != len(np.unique(found)):
        raise WrongAnswerError("the decomposition connects other cells than a flood fill")


def run(data: RealData, *, full: bool, progress: Callable[[str], None], count: int = 40) -> dict[str, Any]:
    """Measure all levels: decompositions, `count` routes each, tests of the differences, time against obstacles."""
    report = Report()
    for method in METHODS:
        scattered(3, seed=0).decompose(method)  # compiles, and loads what triangulates
    for name, make in levels(data, full).items():
        progress(name)
        plan = make()
        _ = plan.free
        cuts, seconds = {}, {}
        for method in METHODS:
            begin = time.perf_counter()
            if method == "space-filling":
                cuts[method], seconds[method] = best_volumes(plan)
            else:
                cuts[method] = plan.decompose(method)
                seconds[method] = time.perf_counter() - begin
                check_flood_fill(cuts[method])
            check_cut(cuts[method], name)
        starts, goals = routes(cuts, count, seed=1).transpose(1, 0, 2)
        exact = cuts["hertel-mehlhorn"].paths(starts, goals, exact=True, workers=1)
        for method, cut in cuts.items():
            raw = cut.paths(starts, goals, smooth=False, workers=1)
            lengths, bends = [path.length for path in raw], [turns(path.points) for path in raw]
            if any(path.length < best.length * (1.0 - 1e-6) for path, best in zip(raw, exact, strict=True)):
                raise WrongAnswerError(f"{method} on {name}: a path is shorter than the shortest")
            report.distances[method] += lengths
            report.turns[method] += bends
            report.excess[method] += [path.length / best.length for path, best in zip(raw, exact, strict=True)]
            report.rows.append(
                Row(
                    level=name,
                    method=method,
                    regions=cut.num_regions,
                    gateways=len(cut.gateways),
                    coverage=cut.coverage,
                    overlap=cut.overlap,
                    seconds=seconds[method],
                    distance=float(np.mean(lengths)),
                    turns=float(np.mean(bends)),
                    crossed=float(np.mean([len(path.nodes) // 2 + 1 for path in raw])),
                    smooth=float(np.mean([path.smooth().length for path in raw])),
                    shortest=float(np.mean([path.length for path in exact])),
                    area_quartiles=np.percentile(cut.region_areas, [0, 25, 50, 75, 100]).tolist(),
                    width_quartiles=np.percentile(cut.widths, [0, 25, 50, 75, 100]).tolist(),
                    sharp=sharp_share(cut),
                )
            )
    figures = {"distance": report.distances, "turns": report.turns, "distance / shortest": report.excess}
    report.tests = {name: repeated_measures(values) for name, values in figures.items()}
    for obstacles in (10, 30, 100, 300, 1000, 3000, 10_000) if full else (10, 100, 1000):
        progress(f"{obstacles} obstacles")
        plan = scattered(obstacles, seed=7)
        _ = plan.free
        row: dict[str, float] = {"obstacles": obstacles}
        for method in METHODS:
            begin = time.perf_counter()
            cut = plan.decompose(method)
            row[method] = time.perf_counter() - begin
            row[f"{method} regions"] = cut.num_regions
        report.scaling.append(row)
    return asdict(report)
