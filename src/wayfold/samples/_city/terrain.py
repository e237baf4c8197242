"""Rolling ground: a sum of long waves that dies away towards the river, so that both banks are level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BANK = 4.4
"""Height of the river banks above the water (z = 0), metres."""
KERB = 0.12
"""Height of the pavement above the road, metres."""
_GRADE = 0.11
"""Steepest ground of the waves alone: streets stay well below 10 degrees."""


@dataclass(frozen=True)
class Terrain:
    """Height of the road surface at any position."""

    waves: Array
    """(k, 4): wave vector x and y in radians per metre, phase, amplitude."""
    river_x: Array
    """x of the river's middle at the heights `river_y`; empty when there is no river."""
    river_y: Array
    level: float
    """Distance from the middle of the river within which the ground is level, metres."""

    def __call__(self, points: Array) -> Array:
        """Height of the road surface, (n,), at (n, 2) positions."""
        phase = points @ self.waves[:, :2].T + self.waves[:, 2]
        hills = np.sin(phase) @ self.waves[:, 3]
        if self.river_x.size:
            off = np.abs(points[:, 0] - np.interp(points[:, 1], self.river_y, self.river_x)) - self.level
            fade = np.clip(off / 200.0, 0.0, 1.0)
            hills = hills * (fade * fade * (3 - 2 * fade))
        return np.asarray(BANK + hills)

    def pavement(self, points: Array) -> Array:
        """Height of the pavement, a kerb above the road."""
        return self(points) + KERB


def make_terrain(rng: np.random.Generator, size: tuple[float, float], river: tuple[Array, Array, float]) -> Terrain:
    """Waves whose slopes add up to at most `_GRADE`, over a level strip along the river."""
    count = 6
    length = rng.uniform(0.6, 1.8, count) * np.clip(max(size), 250.0, 900.0)
    turn = rng.uniform(0, 2 * np.pi, count)
    number = 2 * np.pi / length
    share = rng.dirichlet(np.ones(count)) * _GRADE
    # near the river the fade adds amplitude * 1.5 / 200 m of slope, so amplitudes are kept below 6 m in all
    amplitude = share / number
    amplitude *= min(1.0, 6.0 / amplitude.sum())
    waves = np.column_stack([np.cos(turn) * number, np.sin(turn) * number, rng.uniform(0, 2 * np.pi, count), amplitude])
    return Terrain(waves, *river)
