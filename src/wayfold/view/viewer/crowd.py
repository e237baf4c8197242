"""A crowd on its way: where everyone is at any time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.path import Path


class Crowd:
    """Agents that walk their paths at one speed and stay where they arrive.

    Parameters
    ----------
    paths : iterable of Path
        One for each agent; those without points take no part.
    speed : float, metres a second, > 0

    Attributes
    ----------
    size : int
        Agents that take part.
    lengths : (size,) float64, metres
        How far each has to go.
    """

    def __init__(self, paths: Iterable[Path], speed: float) -> None:
        lines = [path.points for path in paths if len(path.points)]
        self.size = len(lines)
        self.speed = speed
        counts = np.array([len(line) for line in lines], np.int64)
        self._first = np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int64)
        self._points = np.concatenate(lines) if lines else np.empty((0, 3))
        steps = np.linalg.norm(np.diff(self._points, axis=0, prepend=self._points[:1]), axis=1)
        steps[self._first] = 0.0
        # One ruler for all: the way along each path, each path a stretch of it.
        self._along = np.cumsum(steps)
        self._begin = self._along[self._first]
        last = self._first + counts - 1
        self._end = self._along[last]
        self.lengths: NDArray[np.float64] = self._end - self._begin

    @property
    def seconds(self) -> float:
        """Until the last one arrives."""
        return float(self.lengths.max(initial=0.0)) / self.speed

    def at(self, seconds: float) -> NDArray[np.float64]:
        """Where everyone is, (size, 3), some seconds after the start."""
        return self._where(np.minimum(self._begin + self.speed * seconds, self._end))

    def arrived(self, seconds: float) -> int:
        """How many have arrived by then."""
        return int((self.lengths / self.speed <= seconds).sum())

    def _where(self, along: ArrayLike) -> NDArray[np.float64]:
        way = np.asarray(along, np.float64)
        if not self.size:
            return np.empty((0, 3))
        # Where one path ends and the next begins the ruler stands still: the later of both points begins a stretch.
        after = np.searchsorted(self._along, way, side="left")
        after = np.clip(after, self._first, len(self._along) - 1)
        before = np.maximum(after - 1, self._first)
        gap = self._along[after] - self._along[before]
        share = np.divide(way - self._along[before], gap, out=np.zeros_like(way), where=gap > 0)
        return np.asarray(self._points[before] + share[:, None] * (self._points[after] - self._points[before]))
