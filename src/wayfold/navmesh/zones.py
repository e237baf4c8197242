"""Zones as users give them: prisms in which the ground is of another kind, or closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
from numpy.typing import ArrayLike

from wayfold import _check
from wayfold.errors import GeometryError, ParameterError
from wayfold.navmesh._zone_kernels import Zones

Zone = tuple[ArrayLike, float, float, int]
"""Corners (k, 2) of a simple polygon, low and high end, kind of area."""

__all__ = ["NO_ZONES", "Zone", "Zones", "check_zones"]

NO_ZONES = Zones(np.zeros(1, np.int64), np.empty((0, 2)), np.empty((0, 2)), np.empty(0, np.uint8))


def check_zones(zones: Sequence[Zone]) -> Zones:
    """Zones as kernels take them, or an error that says which one is wrong."""
    rings: list[Any] = []
    heights, kinds = [], []
    for at, zone in enumerate(zones):
        if not isinstance(zone, (tuple, list)) or len(zone) != 4:
            raise ParameterError(f"zones[{at}] must be (polygon, low, high, kind), not {zone!r}")
        ring = _check.points3(zone[0], f"the polygon of zones[{at}]")[:, :2]
        if len(ring) < 3 or not shapely.Polygon(ring).is_valid:
            raise GeometryError(f"the polygon of zones[{at}] must have at least 3 corners and not cross itself")
        low = _check.number(zone[1], f"the low end of zones[{at}]")
        rings.append(ring)
        heights.append((low, _check.number(zone[2], f"the high end of zones[{at}]", low=low)))
        kinds.append(_check.whole(zone[3], f"the kind of zones[{at}]", low=0, high=255))
    if not rings:
        return NO_ZONES
    offsets = np.concatenate([[0], np.cumsum([len(ring) for ring in rings])])
    return Zones(offsets, np.concatenate(rings), np.array(heights), np.array(kinds, np.uint8))
