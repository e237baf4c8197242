"""`NavMesh` against Recast and Detour themselves, through Debian's library, where it is installed.

A small C++ file beside this one is compiled when the benchmark runs. Libraries in other places than the system's are
found as the compiler and the loader find them: ``CPATH``, ``LIBRARY_PATH``, ``LD_LIBRARY_PATH``.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Comparison, Contender, WrongAnswerError, compare
from wayfold import samples
from wayfold.agent import Agent
from wayfold.formats import load_mesh
from wayfold.geometry import Mesh
from wayfold.navmesh import NavMesh

NAME = "recast"
INSTALL = "not installed: apt install librecast-dev g++"
AGENT = Agent(radius=0.6, height=2.0, climb=0.9, slope=45.0)
CELL, CELL_HEIGHT = 0.3, 0.2
_SHIM = Path(__file__).with_name("recast_shim.cpp")
_RULE = (
    "Rule: each builds a mesh of one tile from the same triangles with the same agent and voxels; then a corridor of "
    "polygons is found and pulled straight. The meshes differ a little, so they have to cover the same area to "
    "{slack:.0%}, and no path of Detour's may be shorter than ours by more."
)
_SLACK = 0.1


class _Settings(ctypes.Structure):
    _fields_ = [(name, ctypes.c_float) for name in ("cell_size", "cell_height", "radius", "height", "climb", "slope")]


class Recast:
    """Recast's navigation mesh of some triangles, searched by Detour."""

    def __init__(self, library: ctypes.CDLL, mesh: Mesh) -> None:
        self._library = library
        self._vertices = np.ascontiguousarray(_y_up(mesh.vertices), np.float32)
        self._triangles = np.ascontiguousarray(mesh.triangles, np.int32)
        self.num_polygons, self.area = 0, 0.0
        self._world: int | None = None
        self.build()

    def build(self) -> float:
        """Build the mesh again and return the area of its polygons, seen from above."""
        self.close()
        agent, polygons, area = AGENT, ctypes.c_int(), ctypes.c_double()
        settings = _Settings(CELL, CELL_HEIGHT, agent.radius, agent.height, agent.climb, agent.slope)
        self._world = self._library.recast_build(
            self._vertices.ctypes.data,
            len(self._vertices),
            self._triangles.ctypes.data,
            len(self._triangles),
            ctypes.byref(settings),
            ctypes.byref(polygons),
            ctypes.byref(area),
        )
        if self._world is None:
            raise WrongAnswerError("Recast could not build its mesh")
        self.num_polygons, self.area = polygons.value, area.value
        return self.area

    def length(self, start: NDArray[np.float32], goal: NDArray[np.float32]) -> float:
        """Length of the path between two places, y up; below zero when there is none."""
        return float(self._library.detour_length(self._world, start.ctypes.data, goal.ctypes.data))

    def close(self) -> None:
        """Give the memory back."""
        if self._world is not None:
            self._library.recast_free(self._world)
            self._world = None


def _y_up(points: NDArray[Any]) -> NDArray[np.float32]:
    """Points with y up, of a place with z up."""
    return np.column_stack([points[:, 0], points[:, 2], -points[:, 1]]).astype(np.float32)


@contextmanager
def library() -> Iterator[ctypes.CDLL | None]:
    """The compiled library, or None where headers, libraries or a compiler are missing."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="wayfold-recast-") as folder:
        file = Path(folder) / "shim.so"
        include = [f"-I{folder}/recastnavigation" for folder in ("/usr/include", "/usr/local/include")]
        command = [compiler, "-O2", "-shared", "-fPIC", *include, str(_SHIM), "-o", str(file), "-lRecast", "-lDetour"]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            yield None
            return
        try:
            loaded = ctypes.CDLL(str(file))
        except OSError:
            yield None
            return
        pointer = ctypes.c_void_p
        loaded.recast_build.restype = pointer
        loaded.recast_build.argtypes = [pointer, ctypes.c_int, pointer, ctypes.c_int, pointer, pointer, pointer]
        loaded.recast_free.restype, loaded.recast_free.argtypes = None, [pointer]
        loaded.detour_length.restype, loaded.detour_length.argtypes = ctypes.c_double, [pointer] * 3
        yield loaded


def triangles(data: Path | None) -> tuple[str, Mesh]:
    """Recast's own sample where it is there, otherwise a made dungeon."""
    file = None if data is None else data / "recast/nav_test.obj"
    if file is not None and file.is_file():
        return "Recast's sample nav_test", load_mesh(file, up="y")
    return "a made dungeon", samples.dungeon(1)


def run(
    loaded: ctypes.CDLL,
    data: Path | None,
    *,
    queries: int,
    rounds: int,
    progress: Callable[[str], None] | None = None,
) -> list[Comparison]:
    """Time building and paths, ours and theirs."""
    name, mesh = triangles(data)
    build = partial(NavMesh.build, mesh, AGENT, cell_size=CELL, cell_height=CELL_HEIGHT, tile_size=0)
    navmesh = build()
    theirs = Recast(loaded, mesh)
    rule = _RULE.format(slack=_SLACK)
    try:
        built = compare(
            f"building a navigation mesh of {name}",
            [
                Contender("wayfold NavMesh", lambda: build().area),
                Contender(NAME, theirs.build),
            ],
            _areas(navmesh.area),
            rounds=rounds,
            facts={"rule": rule, "polygons": navmesh.num_polygons, "recast_polygons": theirs.num_polygons},
            progress=progress,
        )
        ends, shortest = _ends(navmesh, theirs, queries)
        pairs = list(zip(_y_up(ends[:, 0]), _y_up(ends[:, 1]), strict=True))
        walked = compare(
            f"paths on {name}, {len(ends)} queries",
            [
                Contender(
                    "wayfold NavMesh, corridor",
                    lambda: [navmesh.path(a, b, exact=False).length for a, b in ends],
                    len(ends),
                ),
                Contender("wayfold NavMesh, shortest", lambda: [navmesh.path(a, b).length for a, b in ends], len(ends)),
                Contender(NAME, lambda: [theirs.length(a, b) for a, b in pairs], len(ends)),
            ],
            _lengths(shortest),
            rounds=rounds,
            facts={"rule": rule, "queries": len(ends), "mean_shortest": float(shortest.mean())},
            progress=progress,
        )
    finally:
        theirs.close()
    return [built, walked]


def _ends(navmesh: NavMesh, theirs: Recast, queries: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Random places of our mesh that lie on theirs as well and are connected on both, and our shortest lengths."""
    points = navmesh.random_points(8 * queries, seed=1, component=int(np.bincount(navmesh.components).argmax()))
    found, lengths = [], []
    for start, goal in zip(points[::2], points[1::2], strict=True):
        if theirs.length(*_y_up(np.stack([start, goal]))) >= 0:
            found.append((start, goal))
            lengths.append(navmesh.path(start, goal).length)
        if len(found) == queries:
            return np.array(found), np.array(lengths)
    raise WrongAnswerError(f"only {len(found)} of {len(points) // 2} pairs of our places have a path on Recast's mesh")


def _areas(ours: float) -> Callable[[str, Any], None]:
    def check(name: str, answer: Any) -> None:
        if not abs(answer - ours) <= _SLACK * ours:
            raise WrongAnswerError(f"{name}'s mesh covers {answer:.0f} square metres where ours covers {ours:.0f}")

    return check


def _lengths(shortest: NDArray[np.float64]) -> Callable[[str, Any], None]:
    def check(name: str, answer: Any) -> None:
        ratio = np.asarray(answer) / shortest
        low = 1.0 - _SLACK if name == NAME else 1.0 - 1e-6
        if (ratio < low).any() or ratio.mean() > 1.0 + _SLACK:
            raise WrongAnswerError(f"{name}: lengths {ratio.min():.3f} to {ratio.max():.3f} of our shortest")

    return check
