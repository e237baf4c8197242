"""Weighted regions: the scenes and the forest of Tibboel 2012, section 7.

The paper gives sizes, weights, queries and the size of the dual graphs, but draws the regions in figures only. These
scenes have the stated sizes, weights and queries and the same number of triangles; their outlines are our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import LineString, Polygon

from wayfold.core import checks
from wayfold.errors import ParameterError

Array = NDArray[np.float64]

_WIDTH, _HEIGHT = 290.0, 410.0
_WEIGHTS = {
    "child": {"bushes": 30.0, "path": 2.0, "puddle": 1.0, "tree": 1.0, "view": 10.0},
    "adult": {"bushes": 30.0, "path": 2.0, "puddle": 10.0, "tree": 10.0, "view": 1.0},
}
_HALF = 6.0
"""Half the width of the path."""
_CUTS = 14
"""Lines that divide the bushes between the path and the border."""


@checks.checked
def forest(kind: str = "child") -> Scene:
    """Return a forest as a child or an adult weighs it: 290 x 410, 208 triangles; the subdivision is the same for both.

    Two ways lead from the start to the goal: a short one with puddles and fallen trees, and a long one with a
    panoramic view.

    Parameters
    ----------
    kind : "child" or "adult"
        Puddles and fallen trees weigh 1 for a child and 10 for an adult, the view 10 and 1; the path 2, bushes 30.

    Examples
    --------
    >>> child, adult = forest("child"), forest("adult")
    >>> child.weights["puddle"], adult.weights["puddle"], len(child.regions) == len(adult.regions)
    (1.0, 10.0, True)
    """
    if kind not in _WEIGHTS:
        raise ParameterError(f"unknown kind of forest {checks.shown(kind)}: choose from {', '.join(sorted(_WEIGHTS))}")
    weights = _WEIGHTS[kind]
    regions = [(shape, weights[name], name) for shape, name in _subdivision()]
    return Scene(regions, 30.0, (0.0, 0.0, _WIDTH, _HEIGHT), [((60.0, 2.0), (200.0, 2.0))])


def _wave(start: Array, end: Array, bends: int, sway: float, bow: float) -> Array:
    """Points between `start` and `end` (both left out) on a bow with a wave on it."""
    share = np.arange(1, bends + 1) / (bends + 1)
    along = end - start
    side = np.array([-along[1], along[0]]) / np.hypot(*along)
    arc = 4 * share * (1 - share)
    off = bow * arc + sway * arc * np.sin(np.arange(1, bends + 1) * 2.1)
    return np.asarray(start + along * share[:, None] + side * off[:, None])


def _offset(line: Array, half: float) -> tuple[Array, Array]:
    """Left and right edge of a band along a line, mitred at the inner points."""
    along = np.diff(line, axis=0)
    along /= np.hypot(along[:, 0], along[:, 1])[:, None]
    left = np.column_stack([-along[:, 1], along[:, 0]])
    mitre = left[:-1] + left[1:]
    mitre *= (half / (mitre * left[1:]).sum(axis=1))[:, None]
    off = np.vstack([left[:1] * half, mitre, left[-1:] * half])
    return line + off, line - off


def _subdivision() -> list[tuple[Any, str]]:
    """All regions with their names: bands of path between forks, and the bushes around, cut into pieces."""
    west, east = np.array([60.0, 182.0]), np.array([200.0, 182.0])
    up = np.vstack([[60.0, 0.0], _wave(np.array([60.0, 0.0]), west, 5, 7.0, 0.0), west])
    down = np.vstack([east, _wave(east, np.array([200.0, 0.0]), 5, 7.0, 0.0), [200.0, 0.0]])
    short = np.vstack([west, _wave(west, east, 16, 7.0, 104.0), east])
    corners = [west, np.array([21.0, 342.0]), np.array([269.0, 348.0]), east]
    long = np.vstack(
        [
            west,
            _wave(corners[0], corners[1], 5, 7.0, 0.0),
            corners[1],
            _wave(corners[1], corners[2], 6, 8.0, 42.0),
            corners[2],
            _wave(corners[2], corners[3], 5, 7.0, 0.0),
            east,
        ]
    )
    ways = {"up": up, "short": short, "long": long, "down": down}
    edges = {name: _offset(line, _HALF) for name, line in ways.items()}
    # at the forks the bands share corners: where the edge of one meets the edge of the next
    for (a, side_a, end_a), (b, side_b, end_b) in (
        (("up", 0, -1), ("long", 0, 0)),
        (("long", 1, 0), ("short", 0, 0)),
        (("short", 1, 0), ("up", 1, -1)),
        (("long", 0, -1), ("down", 0, 0)),
        (("long", 1, -1), ("short", 0, -1)),
        (("short", 1, -1), ("down", 1, 0)),
    ):
        meeting = _meet(edges[a][side_a], end_a, edges[b][side_b], end_b)
        edges[a][side_a][end_a] = edges[b][side_b][end_b] = meeting
    for name, end in (("up", 0), ("down", -1)):
        for side in edges[name]:
            side[end] = _meet(side, end, np.array([[0.0, 0.0], [_WIDTH, 0.0]]), 0)[0], 0.0
    return _pieces(edges)


def _meet(first: Array, end_first: int, second: Array, end_second: int) -> Array:
    """Where the lines through the end segments of two polylines cross."""
    p, q = (line[:2] if end == 0 else line[-2:] for line, end in ((first, end_first), (second, end_second)))
    u, v, gap = p[1] - p[0], q[1] - q[0], q[0] - p[0]
    share = (gap[0] * v[1] - gap[1] * v[0]) / (u[0] * v[1] - u[1] * v[0])
    return np.asarray(p[0] + u * share)


def _pieces(edges: dict[str, tuple[Array, Array]]) -> list[tuple[Any, str]]:
    """Quads of the bands by kind, the two forks, and the bushes."""
    found: list[tuple[Any, str]] = []
    for name, (left, right) in edges.items():
        for k in range(len(left) - 1):
            quad = Polygon([right[k], right[k + 1], left[k + 1], left[k]])
            found.append((quad, _kind(name, k, len(left) - 1)))
    for end, order in ((0, "west"), (-1, "east")):
        far = -1 if order == "west" else 0
        other = "up" if order == "west" else "down"
        fork = [edges[other][1][far], edges[other][0][far], edges["long"][1][end]]
        found.append((Polygon(fork), "path"))
    sides = {name: (list(map(tuple, left)), list(map(tuple, right))) for name, (left, right) in edges.items()}
    within = [*sides["up"][1], *sides["short"][1][1:], *sides["down"][1][1:]]
    between = [*sides["short"][0], *sides["long"][1][-2:0:-1]]
    around = [*sides["up"][0], *sides["long"][0][1:], *sides["down"][0][1:]]
    around += [(_WIDTH, 0.0), (_WIDTH, _HEIGHT), (0.0, _HEIGHT), (0.0, 0.0)]
    lines = [Polygon(around).exterior]
    for k in np.linspace(1, len(edges["long"][0]) - 2, _CUTS).round().astype(int):
        x, y = edges["long"][0][k]
        # exactly on the border, so that no sliver is cut off
        feet = [(0.0, y), (_WIDTH, y), (x, _HEIGHT)]
        lines.append(LineString([(x, y), min(feet, key=lambda foot: abs(foot[0] - x) + abs(foot[1] - y))]))
    outer = shapely.get_parts(shapely.polygonize(shapely.get_parts(shapely.union_all(lines))))
    bushes = [
        Polygon(within),
        Polygon(between),
        *(part for part in outer if Polygon(around).buffer(1e-6).contains(part)),
    ]
    return found + [(part, "bushes") for part in bushes]


def _kind(name: str, place: int, count: int) -> str:
    """What lies on a piece of a way: puddles and fallen trees by turns on the short one, the view on the long one."""
    if name == "short" and 2 <= place < count - 2:
        return ("puddle", "path", "tree")[place % 3]
    if name == "long" and count // 2 - 3 <= place <= count // 2 + 2:
        return "view"
    return "path"


Point = tuple[float, float]


@checks.checked
@dataclass(frozen=True)
class Scene:
    """A rectangle of weighted regions, with the queries of Tibboel 2012; `Terrain.from_scene` makes a map of it.

    >>> scene = scene1()
    >>> scene.size, scene.weights, scene.queries[0]
    ((100.0, 50.0), {'meadow': 1.0, 'field': 8.0, 'heath': 3.0, 'swamp': 5.0}, ((20.0, 40.0), (80.0, 35.0)))
    """

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
        """Return the same regions with new weights (each above 0) for the given names.

        >>> dry = scene1().with_weights({"swamp": 2.0})
        >>> dry.weights["swamp"], dry.weights["field"]
        (2.0, 8.0)
        """
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
    """Return the paper's small test scene: 100 x 50, four regions with weights from 1 to 8, 16 triangles (section 7.1).

    >>> [(name, weight, polygon.area) for polygon, weight, name in scene1().regions]
    [('meadow', 1.0, 1276.0), ('field', 8.0, 1108.0), ('heath', 3.0, 1177.0), ('swamp', 5.0, 1439.0)]
    """
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
    """Return a cheap zigzag road through costly ground: 150 x 50, 55 triangles (section 7.2.3).

    Straight from start to goal is a quarter shorter than along the road and costs three times as much. Corners on the
    border keep the triangles broad, so that Steiner graphs are about as large as the paper's.

    >>> road = zigzag()
    >>> road.weights, road.queries
    ({'ground': 24.0, 'road': 4.0}, [((2.0, 25.0), (148.0, 25.0))])
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
