"""What the makers of a city share while they build: triangles, chance, ground, and where details may go later."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.samples._builder import Builder, ring_of
from wayfold.samples._city.terrain import Terrain

Array = NDArray[np.float64]


@dataclass
class Site:
    """A city under construction."""

    build: Builder
    rng: np.random.Generator
    terrain: Terrain
    size: tuple[float, float]
    tallest: float
    """Height of the tallest towers above the ground, metres."""
    facades: list[Array] = field(default_factory=list)
    """(k, 6) arrays: both ends of a wall's foot (x, y, x, y), heights of its foot and top."""
    roofs: list[tuple[Array, float]] = field(default_factory=list)
    """Ring and height of the flat roofs that carry plant rooms and the like."""
    trees: list[Array] = field(default_factory=list)
    """(n, 2) places for trees."""
    lamps: list[Array] = field(default_factory=list)
    """(n, 2) places for lamp posts."""

    def volume(self, polygon: Any, low: float, high: float, *, roof: str = "roof", under: str = "") -> None:
        """A block of building between two heights; its walls are remembered as facades."""
        self.build.extrude(polygon, low, high, "wall", roof, under)
        self.remember(polygon, low, high)

    def remember(self, polygon: Any, low: float, high: float) -> None:
        """Note the outer walls of a volume as facades."""
        ring = ring_of(polygon)
        count = len(ring)
        heights = np.broadcast_to([low, high], (count, 2))
        self.facades.append(np.column_stack([ring, np.roll(ring, -1, axis=0), heights]))

    def ground(self, polygon: Any) -> tuple[float, float]:
        """Lowest and highest pavement under the corners of a polygon."""
        z = self.terrain.pavement(ring_of(polygon))
        return float(z.min()), float(z.max())
