"""Weighted regions: the three scenes of the indicative-routes paper (003, section 7).

The paper gives sizes, weights, queries and the size of the dual graphs, but draws the regions in figures only. These
scenes have the stated sizes, weights and queries and the same number of triangles; their outlines are our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from shapely import Polygon

from wayfold.core import checks
from wayfold.errors import ParameterError

Array = NDArray[np.float64]
Point = tuple[float, float]


@checks.checked
@dataclass(frozen=True)
class Scene:
    """A rectangle of weighted regions with the queries that the paper asks."""

    regions: list[tuple[Polygon, float, str]]
    """Polygon, weight and name of each region; later ones lie over earlier ones."""
    default: float
    """Weight where there is no region."""
    bounds: tuple[float, float, float, float]
    """Least x and y, greatest x and y."""
    queries: list[tuple[Point, Point]]
    """Start and goal positions."""

    @property
    def size(self) -> tuple[float, float]:
        """Extent along x and y."""
        return self.bounds[2] - self.bounds[0], self.bounds[3] - self.bounds[1]

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each name."""
        return {name: weight for _, weight, name in self.regions}

    def with_weights(self, weights: Mapping[str, float]) -> Scene:
        """The same subdivision with other weights (each above 0) for the names given."""
        unknown = [name for name in weights if name not in self.weights]
        if unknown:
            raise ParameterError(
                f"no region is called {checks.shown(unknown[0])}: choose from {', '.join(sorted(self.weights))}"
            )
        fresh = {
            name: checks.number(value, f"weight of {name}", low=0, open_low=True) for name, value in weights.items()
        }
        return replace(self, regions=[(shape, fresh.get(name, old), name) for shape, old, name in self.regions])


def scene1() -> Scene:
    """The paper's small test scene: 100 x 50, four regions with weights from 1 to 8, 16 triangles (section 7.1)."""
    # on the border: the four corners and a, b, c, d; inside: p, q, r, s, t
    a, b, c, d = (38.0, 0.0), (100.0, 22.0), (55.0, 50.0), (0.0, 27.0)
    p, q, r, s, t = (24.0, 25.0), (40.0, 31.0), (52.0, 36.0), (66.0, 24.0), (54.0, 13.0)
    regions = [
        (Polygon([(0, 0), a, t, q, p, d]), 1.0, "meadow"),
        (Polygon([a, (100, 0), b, s, t]), 8.0, "field"),
        (Polygon([b, (100, 50), c, r, s]), 3.0, "heath"),
        (Polygon([d, p, q, t, s, r, c, (0, 50)]), 5.0, "swamp"),
    ]
    return Scene(regions, 1.0, (0.0, 0.0, 100.0, 50.0), [((20.0, 40.0), (80.0, 35.0)), ((5.0, 5.0), (95.0, 45.0))])


def zigzag() -> Scene:
    """A cheap zigzag road through costly ground: 150 x 50, 55 triangles (section 7.2.3).

    Straight from start to goal is a quarter shorter than along the road and costs three times as much. Corners on the
    border keep the triangles broad, so that Steiner graphs are about as large as the paper's.
    """
    bends = np.array([[18.75 * k, 40.0 if k % 2 else 10.0] for k in range(1, 8)])
    middle = np.vstack([[0.0, 25.0], bends, [150.0, 25.0]])
    half = 3.0
    along = np.diff(middle, axis=0)
    along /= np.hypot(along[:, 0], along[:, 1])[:, None]
    left = np.column_stack([-along[:, 1], along[:, 0]])
    mitre = left[:-1] + left[1:]
    mitre *= (half / (mitre * left[1:]).sum(axis=1))[:, None]
    # at both ends the road is cut off by the border
    ends = np.array([[0.0, half / left[0, 1]], [0.0, half / left[-1, 1]]])
    off = np.vstack([ends[:1], mitre, ends[1:]])
    upper, lower = middle + off, middle - off
    # seven corners above and seven below the bends, seven more between them along the top
    above = [[9.375 * k, 50.0] for k in range(15, 1, -1)]
    below = [[18.75 * k, 0.0] for k in range(7, 0, -1)]
    regions = [
        (Polygon(np.vstack([upper, [[150, 50]], above, [[0, 50]]])), 24.0, "ground"),
        (Polygon(np.vstack([lower, [[150, 0]], below, [[0, 0]]])), 24.0, "ground"),
        (Polygon(np.vstack([lower, upper[::-1]])), 4.0, "road"),
    ]
    return Scene(regions, 24.0, (0.0, 0.0, 150.0, 50.0), [((2.0, 25.0), (148.0, 25.0))])
