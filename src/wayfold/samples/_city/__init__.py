"""The city: rolling ground, streets, a river with bridges, blocks with buildings, parks, stairs and underpasses."""

from __future__ import annotations

import numpy as np

from wayfold.core import checks
from wayfold.errors import ParameterError
from wayfold.geometry import Mesh
from wayfold.samples._builder import Builder
from wayfold.samples._city.blocks import build_blocks, furnish
from wayfold.samples._city.streets import RollingGround, Site, Streets, build_river, make_streets, make_terrain, pave

_SMALL = (489.0 * 511.0, 80_000.0)
_LARGE = (2339.0 * 2832.0, 555_000.0)
"""Area in square metres and triangles of the subregion paper's two cities (Wardhana et al. 2015, section 7)."""


@checks.checked
def city(size: tuple[float, float] = (500.0, 500.0), seed: int = 0, *, detail: float = 1.0, river: bool = True) -> Mesh:
    """Return a city with streets, a river, bridges, buildings, parks, stairs, underpasses and footbridges.

    The number of triangles grows with the area to the power 0.591, which gives the subregion paper's two cities
    their figures: about 80,000 on 489 x 511 m, about 555,000 on 2339 x 2832 m. Larger cities have larger blocks
    and plots; trees, lamps, roof plant and balconies fill up what is missing.

    Parameters
    ----------
    size : (float, float), metres, each from 60 to 6000
        Extent along x and y.
    seed : int, >= 0
        The same seed and options give the same mesh, byte for byte.
    detail : float, 0.5 to 4
        Factor on the number of triangles; what the city is made of does not change, only its furniture.
    river : bool
        Whether a river crosses it, where it is at least about 200 m wide across the river.

    Returns
    -------
    Mesh
        z is up, the water lies at z = 0, road heights are about 4 m; materials are named.

    Examples
    --------
    >>> block = city((60, 60), river=False, detail=0.5)
    >>> len(block) < 1000, len(city((60, 60), detail=2.0)) > len(block)
    (True, True)
    """
    try:
        width, depth = size
    except (TypeError, ValueError):
        raise ParameterError(f"size must be two lengths in metres, not {checks.shown(size)}") from None
    width = checks.number(width, "size[0]", low=60, high=6000)
    depth = checks.number(depth, "size[1]", low=60, high=6000)
    seed = checks.whole(seed, "seed", low=0)
    detail = checks.number(detail, "detail", low=0.5, high=4)
    rng = np.random.default_rng(seed)
    # the river runs along y; half of all cities are turned
    swap = bool(rng.random() < 0.5)
    extent = (depth, width) if swap else (width, depth)
    area = width * depth
    scale = max(0.0, float(np.log(area / _SMALL[0]) / np.log(_LARGE[0] / _SMALL[0])))
    streets = make_streets(rng, extent, 62.0 + 53.0 * scale, river, cut=12.0 + 18.0 * scale)
    terrain = _ground(rng, extent, streets)
    site = Site(Builder(), rng, terrain, extent, 22.0 + 55.0 * min(1.0, area / _SMALL[0]) + 180.0 * scale)
    pave(site.build, streets, terrain)
    if streets.river >= 0:
        build_river(site.build, streets, rng)
    build_blocks(site, streets, 330.0 + 590.0 * scale)
    power = np.log(_LARGE[1] / _SMALL[1]) / np.log(_LARGE[0] / _SMALL[0])
    wanted = detail * min(_SMALL[1] * (area / _SMALL[0]) ** power, area * _SMALL[1] / _SMALL[0] * 1.5)
    furnish(site, int(wanted) - site.build.count)
    return site.build.mesh(swap=swap)


def _ground(rng: np.random.Generator, size: tuple[float, float], streets: Streets) -> RollingGround:
    """Terrain that is level along the streets' river."""
    none = np.empty(0)
    if streets.river < 0:
        return make_terrain(rng, size, (none, none, 0.0))
    lattice = streets.points.reshape(streets.rows + 1, streets.columns + 1, 2)
    left, right = lattice[:, streets.river], lattice[:, streets.river + 1]
    middle = (left + right) / 2
    return make_terrain(rng, size, (middle[:, 0], middle[:, 1], float((right - left)[0, 0]) / 2 + 8.0))
