"""`wayfold demo`: four characters in a generated city district, before and after a bridge is closed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as Folder
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import CHARACTERS
from wayfold.cli.output import print_json, print_table, progress, say
from wayfold.core.jit import KERNELS
from wayfold.errors import OffMapError, ParameterError
from wayfold.geometry import Mesh, TriangleIndex
from wayfold.path import Path
from wayfold.view import oblique, pictures
from wayfold.world import Planner, Prism, Shape, World

_QUERIES = 100  # random queries that speed is measured on
_TRIES = 200  # pairs of places among which one is looked for that all characters can be at
_ALONG, _ACROSS = 4.0, 24.0  # metres of the road block, along the way and across it
_BELOW, _ABOVE = 0.6, 6.0  # metres that it reaches below the road and above it

Points = NDArray[np.float64]


def run(out: Folder, seed: int, size: float, json: bool, quiet: bool) -> None:
    """Build, plan, close a bridge, plan again, print and draw."""
    out.mkdir(parents=True, exist_ok=True)
    with compiling_beside(), progress("demo", 5 + len(CHARACTERS), quiet) as bar:

        def step(text: str) -> None:
            bar(text)
            say(f"demo: {text}", quiet)

        step("building the district")
        world = World.sample("city", size=(size, size), seed=seed, cache=out / "maps")
        assert world.mesh is not None
        planners: dict[str, Planner] = {}
        for name, agent in CHARACTERS.items():
            step(f"a map for the {name} (compiles on the first run)")
            planners[name] = world.planner(agent)
        compiled = any(kernel.stats.cache_misses for kernel in KERNELS)
        step("looking for a way over a bridge")
        start, goal, crossing = find_crossing(world.mesh, planners)
        before = {name: journey(planner, start, goal) for name, planner in planners.items()}
        step("closing the bridge")
        block = world.block(road_block(crossing))
        world.unblock(block)  # so that the time of an edit is not that of loading its code
        begin = time.perf_counter()
        world.block(block)
        edit = time.perf_counter() - begin
        after = {name: journey(planner, start, goal) for name, planner in planners.items()}
        step("measuring")
        rows = [facts(name, planners[name], before[name], after[name]) for name in planners]
        step("drawing")
        files = draw(world.mesh, before, after, block, out)
    summary = {
        "triangles": len(world.mesh),
        "start": start.tolist(),
        "goal": goal.tolist(),
        "edit_ms": 1e3 * edit,
        "compiled": compiled,
        "characters": rows,
        "pictures": files,
    }
    if json:
        print_json(summary)
        return
    print(f"A city district of {size:g} x {size:g} m, seed {seed}: {len(world.mesh):,} triangles.")
    print(f"All go from {_place(start)} to {_place(goal)}; then the bridge at {_place(crossing[0])} is closed.")
    columns = ("who", "map + accelerator", "length m", "after", "query ms", "plain A*", "speed-up", "MB", "built in s")
    table = [
        (
            row["who"],
            f"{row['map']} + {row['accelerator']}",
            f"{row['length']:.1f}",
            f"{row['after']:.1f}" if np.isfinite(row["after"]) else "no path",
            f"{row['ms']:.2f}",
            f"{row['plain_ms']:.2f}",
            f"{row['plain_ms'] / row['ms']:.1f}x",
            f"{row['bytes'] / 1e6:.1f}",
            f"{row['build_s']:.1f}",
        )
        for row in rows
    ]
    print_table("The same journey for four characters, before and after the bridge is closed", columns, table)
    print(f"Closing the bridge changed all four maps in {1e3 * edit:.0f} ms; times are medians of {_QUERIES} queries.")
    if compiled:
        print("Build times include compiling, which is done once.")
    print("Pictures: " + ", ".join(map(str, files)))


@contextmanager
def compiling_beside() -> Iterator[None]:
    """Compile kernels that are needed later in a second process."""
    rooms = ("hierarchy", "waypoints", "subregions")
    code = "".join(f"from wayfold.{room}._warm import warm; warm()\n" for room in rooms)
    beside = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        beside.terminate()
        beside.wait()


def find_crossing(mesh: Mesh, planners: dict[str, Planner]) -> tuple[Points, Points, tuple[Points, Points]]:
    """A start and a goal for everybody such that the person crosses a bridge, and where and which way it does.

    Of the bridges the one furthest from the rim of the district is taken, so that there is a way round. Where no path
    crosses a bridge the middle of a path serves as one.
    """
    places = planners["cart"].random_points(2 * _TRIES, seed=0)
    starts, goals = places[:_TRIES], places[_TRIES:]
    index = TriangleIndex(mesh)
    bridge = mesh.material_names.index("bridge") if "bridge" in mesh.material_names else -1
    low, high = mesh.bounds[:, :2]
    best: tuple[float, int, tuple[Points, Points]] | None = None
    person = planners["person"]
    for at, path in enumerate(person.paths(starts, goals)):
        if not path or np.linalg.norm(goals[at] - starts[at]) < 0.3 * float((high - low).max()):
            continue
        crossing = _crossing(index, mesh, path, bridge)
        inside = float(np.minimum(crossing[0][:2] - low, high - crossing[0][:2]).min()) if crossing else 0.0
        # A little nearer is as good: a short journey makes the detour plain.
        score = round(inside / 20.0) - 1e-3 * float(np.linalg.norm(goals[at] - starts[at]))
        if crossing and (best is None or score > best[0]) and _everybody(planners, starts[at], goals[at]):
            best = score, at, crossing
    if best is None:
        raise ParameterError("no journey crosses a bridge in this district: choose another --seed or a larger --size")
    _, at, crossing = best
    return starts[at], goals[at], crossing


def _crossing(index: TriangleIndex, mesh: Mesh, path: Path, bridge: int) -> tuple[Points, Points] | None:
    """Where a path is in the middle of a bridge, and its direction there."""
    assert mesh.materials is not None
    points = path.points
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    at = np.arange(0.0, along[-1], 1.0)
    places = np.column_stack([np.interp(at, along, points[:, axis]) for axis in range(3)])
    down = np.array([0.0, 0.0, -1.0])
    _, triangles = index.rays(places - down, np.broadcast_to(down, places.shape), 2.0)
    on = np.flatnonzero((triangles >= 0) & (mesh.materials[triangles] == bridge))
    if len(on) < 8:
        return None
    middle = int(on[len(on) // 2])
    ahead = places[min(middle + 2, len(places) - 1)] - places[max(0, middle - 2)]
    return places[middle], ahead / np.linalg.norm(ahead)


def _everybody(planners: dict[str, Planner], start: Points, goal: Points) -> bool:
    """Whether all characters can be at both places and get from one to the other."""
    try:
        return all(planner.reachable(start, goal) for planner in planners.values())
    except OffMapError:
        return False


def road_block(crossing: tuple[Points, Points]) -> Prism:
    """A barrier across a bridge."""
    (x, y, z), (ahead_x, ahead_y, _) = crossing
    ahead = np.array([ahead_x, ahead_y]) / np.hypot(ahead_x, ahead_y)
    aside = np.array([-ahead[1], ahead[0]])
    signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    corners = [(x, y) + a * _ALONG / 2 * ahead + b * _ACROSS / 2 * aside for a, b in signs]
    return Prism(corners, z - _BELOW, z + _ABOVE)


def journey(planner: Planner, start: Points, goal: Points) -> Path:
    """The way of one character, with shortcuts where its map leaves room for some."""
    path = planner.path(start, goal, exact=True)
    if path and planner.map_name == "waypoints":
        return path.smooth()
    return Path(path.status, planner.drape(path), cost=path.cost) if path else path


def facts(name: str, planner: Planner, before: Path, after: Path) -> dict[str, Any]:
    """What the table tells about one character; speed is measured over random queries, after the edit."""
    planner.refresh()
    places = planner.random_points(2 * _QUERIES, seed=1)
    pairs = list(zip(places[:_QUERIES], places[_QUERIES:], strict=True))
    planner.path(*pairs[0])
    # In turns and by medians, so that what else the machine does counts for both alike.
    times = []
    for pair in pairs:
        planner.path(*pair)  # brings what both look at into the processor's caches
        times.append((planner.path(*pair).timings["total"], planner.plain(*pair).timings["total"]))
    fast, plain = np.median(times, axis=0)
    return {
        "who": name,
        "map": planner.map_name,
        "accelerator": planner.accelerator_name,
        "length": before.length,
        "after": after.length,
        "ms": 1e3 * float(fast),
        "plain_ms": 1e3 * float(plain),
        "bytes": planner.nbytes,
        "build_s": planner.build_seconds,
    }


def draw(mesh: Mesh, before: dict[str, Path], after: dict[str, Path], block: Shape, out: Folder) -> list[Folder]:
    """The journeys before and after."""
    camera = oblique.Camera(turn=20.0, tilt=50.0)
    files = [out / "demo.png", out / "bridge_closed.png"]
    pictures.save(oblique.draw_characters(mesh, before, camera, title="Four characters, one journey"), files[0])
    figure = oblique.draw_characters(
        mesh, after, camera, solids=[block.mesh()], ghosts=before, title="The same journey with the bridge closed"
    )
    pictures.save(figure, files[1])
    return files


def _place(point: Points) -> str:
    return "(" + ", ".join(f"{value:.0f}" for value in point) + ")"
