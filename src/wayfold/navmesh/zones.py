"""Zones as users give them: prisms in which the ground is of another kind, or closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.errors import GeometryError, ParameterError
from wayfold.navmesh._zone_kernels import Zones

Zone = tuple[ArrayLike, float, float, int | ArrayLike]
"""Corners (k, 2) of a simple polygon, low and high end, kind of area (or the kind that each of the 256 becomes)."""

__all__ = ["NO_ZONES", "Zone", "Zones", "check_zones"]

NO_ZONES = Zones(np.zeros(1, np.int64), np.empty((0, 2)), np.empty((0, 2)), np.empty((0, 256), np.uint8))


def check_zones(zones: Sequence[Zone]) -> Zones:
    """Zones as kernels take them, or an error that says which one is wrong."""
    rings: list[Any] = []
    heights, kinds = [], []
    for at, zone in enumerate(zones):
        if not isinstance(zone, (tuple, list)) or len(zone) != 4:
            raise ParameterError(f"zones[{at}] must be (polygon, low, high, kind), not {checks.shown(zone)}")
        ring = checks.points3(zone[0], f"the polygon of zones[{at}]")[:, :2]
        if len(ring) < 3 or not shapely.Polygon(ring).is_valid:
            raise GeometryError(f"the polygon of zones[{at}] must have at least 3 corners and not cross itself")
        low = checks.number(zone[1], f"the low end of zones[{at}]")
        rings.append(ring)
        heights.append((low, checks.number(zone[2], f"the high end of zones[{at}]", low=low)))
        kinds.append(_table(zone[3], f"the kind of zones[{at}]"))
    if not rings:
        return NO_ZONES
    offsets = np.concatenate([[0], np.cumsum([len(ring) for ring in rings])])
    return Zones(offsets, np.concatenate(rings), np.array(heights), np.array(kinds))


def _table(kind: Any, name: str) -> NDArray[np.uint8]:
    """What each kind becomes in a zone; what is not walkable (kind 0) stays so."""
    given = checks.numbers(kind, name, "a kind from 0 to 255, or 256 of them")
    if given.ndim == 0:
        table = np.full(256, checks.whole(kind, name, low=0, high=255), np.uint8)
    else:
        if given.shape != (256,) or given.dtype.kind not in "iu" or given[1:].min() < 1 or given.max() > 255:
            raise ParameterError(f"{name} must be a kind from 0 to 255, or 256 of them from 1 on for what each becomes")
        table = given.astype(np.uint8)
    table[0] = 0
    return table
