"""Compile every kernel once before the tests, in as many processes as asked for.

Test workers that start together would each compile the same kernels: half of the time of a run with empty caches.
"""

from __future__ import annotations

import importlib
import sys
import time
from concurrent.futures import ProcessPoolExecutor

# The slowest to compile first, so that no process is left with a long package at the end.
PACKAGES = ("navmesh", "waypoints", "grid", "terrain", "floorplan", "hierarchy", "subregions", "geometry", "graph")


def warm(package: str) -> float:
    """Compile one package; return the seconds that it took."""
    begin = time.perf_counter()
    importlib.import_module(f"wayfold.{package}._warm").warm()
    return time.perf_counter() - begin


if __name__ == "__main__":
    with ProcessPoolExecutor(int(sys.argv[1])) as pool:
        for package, seconds in zip(PACKAGES, pool.map(warm, PACKAGES), strict=True):
            print(f"{package:<12} {seconds:6.1f} s", flush=True)
