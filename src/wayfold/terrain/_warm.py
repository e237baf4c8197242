"""Run every kernel of the package once on tiny input."""

from __future__ import annotations

from shapely import box

from wayfold.terrain.terrain import Terrain


def warm() -> None:
    """Compile location, every graph and search, discs and bounds."""
    terrain = Terrain([(box(0, 0, 4, 4), 1.0), (box(1, 1, 3, 3), 5.0)])
    ends = (0.5, 0.6), (3.5, 3.4)
    terrain.locate([ends[0]])
    for graph in ("dual", "dual-extra", "grid", "steiner", "refined"):
        for radius in (0.0, 0.1):
            path = terrain.path(*ends, graph=graph, radius=radius, search="dijkstra")
    for search in ("bushwhack", "cones"):
        path = terrain.path(*ends, graph="steiner", search=search)
    _ = path.lower_bound
