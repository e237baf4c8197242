"""Islands in a sea: beaches and cliffs, some joined by bridges, some not.

Every shore ends in a drop of a metre or more to the water, so a walker reaches only what bridges join; who flies or
sails reaches all.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from wayfold.core import checks
from wayfold.errors import ParameterError
from wayfold.geometry import Mesh
from wayfold.samples._builder import Builder

Array = NDArray[np.float64]

_SHORE = 1.2
"""Height of the lowest shore above the water, metres."""
_HEAD = 3.0
"""Height of the bridgeheads, metres."""
_SPOKES = 72


@dataclass
class _Island:
    """A star-shaped land mass; `heads` are directions in radians in which a bridge leaves."""

    centre: Array
    radius: Array
    shore: Array
    peak: float
    heads: list[float]

    @property
    def angle(self) -> Array:
        return np.asarray(np.arange(_SPOKES) * (2 * np.pi / _SPOKES), np.float64)

    def outline(self) -> Array:
        spoke = np.column_stack([np.cos(self.angle), np.sin(self.angle)])
        return np.asarray(self.centre + spoke * self.radius[:, None])


@checks.checked
def islands(seed: int = 0, size: tuple[float, float] = (400.0, 300.0), *, count: int = 8, bridges: float = 0.5) -> Mesh:
    """Return several land masses in water, of which some are joined by bridges and at least one is not.

    Parameters
    ----------
    seed : int, >= 0
        The same seed and options give the same mesh, byte for byte.
    size : (float, float), metres, each from 100 to 10,000
        Extent of the sea along x and y.
    count : int, 2 to 200
        Number of islands wanted; fewer when there is no room for them.
    bridges : float, 0 to 1
        Share of the islands that bridges join to one group; the others stand alone. One always does.

    Examples
    --------
    >>> sea = islands(size=(100, 100), count=2)
    >>> (sea.bounds[1] - sea.bounds[0])[:2].round().tolist(), "water" in sea.material_names
    ([100.0, 100.0], True)
    """
    seed = checks.whole(seed, "seed", low=0)
    try:
        width, depth = size
    except (TypeError, ValueError):
        raise ParameterError(f"size must be two lengths in metres, not {checks.shown(size)}") from None
    width = checks.number(width, "size[0]", low=100, high=10_000)
    depth = checks.number(depth, "size[1]", low=100, high=10_000)
    count = checks.whole(count, "count", low=2, high=200)
    bridges = checks.number(bridges, "bridges", low=0, high=1)
    rng = np.random.default_rng(seed)
    group = _scatter(rng, np.array([width, depth]), count)
    joined = min(len(group) - 1, round(bridges * len(group)))
    links = _links(group, joined) if joined >= 2 else []
    build = Builder()
    for a, b in links:
        way = group[b].centre - group[a].centre
        turn = float(np.arctan2(way[1], way[0]))
        group[a].heads.append(turn)
        group[b].heads.append(turn + np.pi)
    for island in group:
        _land(build, rng, island)
    sea = shapely.box(0, 0, width, depth).difference(shapely.union_all([Polygon(i.outline()) for i in group]))
    build.polygon(sea, 0.0, "water")
    for a, b in links:
        _bridge(build, group[a], group[b])
    return build.mesh()


def _scatter(rng: np.random.Generator, size: Array, count: int) -> list[_Island]:
    """Islands at random places that keep their distance."""
    group: list[_Island] = []
    mean = 0.30 * float(np.sqrt(size.prod() / count))
    angle = np.arange(_SPOKES) * (2 * np.pi / _SPOKES)
    for _ in range(80 * count):
        if len(group) == count:
            break
        reach = mean * rng.uniform(0.6, 1.25)
        margin = 1.4 * reach + 2
        if (size <= 2 * margin).any():
            continue
        centre = rng.uniform(margin, size - margin)
        if any(np.hypot(*(centre - i.centre)) < 1.3 * (reach + i.radius.mean()) + 6 for i in group):
            continue
        wobble = sum(rng.uniform(0, 0.32 / k) * np.cos(k * angle + rng.uniform(0, 2 * np.pi)) for k in range(2, 6))
        cliff = np.clip(np.cos(angle - rng.uniform(0, 2 * np.pi)) * 3 - 1, 0, 1) * min(9.0, 0.2 * reach) * rng.random()
        group.append(_Island(centre, reach * (1 + wobble), _SHORE + cliff, float(reach * rng.uniform(0.12, 0.25)), []))
    return group


def _links(group: list[_Island], joined: int) -> list[tuple[int, int]]:
    """A chain of short bridges over the `joined` islands that lie closest to the first, none across another island."""
    links: list[tuple[int, int]] = []
    reached = [0]
    while len(reached) < joined:
        pairs = [(a, b) for a in reached for b in range(len(group)) if b not in reached]
        pairs.sort(key=lambda pair: float(np.hypot(*(group[pair[0]].centre - group[pair[1]].centre))))
        for a, b in pairs:
            line = shapely.LineString([group[a].centre, group[b].centre]).buffer(3.0)
            others = [Polygon(group[k].outline()) for k in range(len(group)) if k not in (a, b)]
            crossed = any(
                line.intersects(shapely.LineString([group[c].centre, group[d].centre])) and not {a, b} & {c, d}
                for c, d in links
            )
            if not crossed and not any(line.intersects(other) for other in others):
                links.append((a, b))
                reached.append(b)
                break
        else:
            break
    return links


def _land(build: Builder, rng: np.random.Generator, island: _Island) -> None:
    """Rings from the shore to the top, level where a bridge lands, with a rock wall down to below the water."""
    angle = island.angle
    shore, near = island.shore.copy(), np.zeros(_SPOKES)
    for head in island.heads:
        off = np.abs((angle - head + np.pi) % (2 * np.pi) - np.pi) * island.radius
        near = np.maximum(near, np.clip(1.5 - off / 12.0, 0.0, 1.0))
    shore = shore * (1 - near) + _HEAD * near
    edge = island.outline()
    shares = np.array([0.0, 0.08, 0.2, 0.35, 0.5, 0.65, 0.8, 0.92])
    top = max(_HEAD + 1.0, island.peak + _SHORE)
    rings = []
    for share in shares:
        rise = np.clip((share - 0.2) / 0.8, 0, 1)
        smooth = rise * rise * (3 - 2 * rise)
        rough = rng.uniform(-0.25, 0.25, _SPOKES) * (share > 0.3)
        # beaches climb gently to the height of the bridgeheads, cliffs sink towards it
        rim = shore + (_HEAD - shore) * np.clip(share / 0.7, 0, 1)
        height = rim * (1 - smooth) + top * smooth + rough
        rings.append(np.column_stack([edge + (island.centre - edge) * share, height]))
    for k, (outer, inner) in enumerate(pairwise(rings)):
        build.strip(outer, inner, "sand" if k < 2 else "grass", closed=True)
    build.fan([*island.centre, top], rings[-1], "grass")
    deep = rings[0].copy()
    deep[:, 2] = -6.0
    build.strip(deep, rings[0], "rock", closed=True)
    _trees(build, rng, rings, near)


def _trees(build: Builder, rng: np.random.Generator, rings: list[Array], near: Array) -> None:
    """Palms and pines on the slopes, away from the bridgeheads."""
    count = int(rng.integers(8, 30))
    ring, spoke = rng.integers(3, len(rings) - 1, count), rng.integers(0, _SPOKES, count)
    keep = near[spoke] == 0
    foot = np.array([rings[r][s] for r, s in zip(ring[keep], spoke[keep], strict=True)]).reshape(-1, 3)
    build.prisms(foot - [0, 0, 0.3], 0.2, 3.0, 4, "trunk")
    build.prisms(foot + np.array([0, 0, 2.6]), rng.uniform(1.2, 2.0, len(foot)), 3.5, 6, "tree", taper=0.0)


def _bridge(build: Builder, first: _Island, second: _Island) -> None:
    """A straight deck between two bridgeheads, five centimetres above them, with railings over the water."""
    way = second.centre - first.centre
    length = float(np.hypot(*way))
    ahead = way / length
    left = np.array([-ahead[1], ahead[0]])
    ends = []
    for island, sign in ((first, 1.0), (second, -1.0)):
        turn = np.arctan2(*(ahead * sign)[::-1]) % (2 * np.pi)
        reach = np.interp(turn, np.append(island.angle, 2 * np.pi), np.append(island.radius, island.radius[0]))
        ends.append(float(reach))
    start, stop = first.centre + ahead * (ends[0] - 1.5), second.centre - ahead * (ends[1] - 1.5)
    span = np.array([*(stop - start), 0.0])
    corner = np.array([*(start - left * 1.75), _HEAD + 0.05 - 0.4])
    build.boxes(corner, span, [*(left * 3.5), 0.0], [0, 0, 0.4], "bridge")
    inner, over = np.array([*(ahead * 2.5), 0.0]), span * (1 - 5.0 / np.hypot(*span[:2]))
    for side in (0.0, 3.35):
        foot = corner + inner + [*(left * side), 0.4]
        build.boxes(foot, over, [*(left * 0.15), 0.0], [0, 0, 1.0], "rail")
