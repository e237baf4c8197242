"""What a scene is made of: coloured triangles, dots and lines, plain arrays that any front end can draw."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Colour = tuple[int, int, int]
Colours = NDArray[np.uint8]
Points = NDArray[np.float64]

PLAIN: Colour = (46, 160, 140)
ISLAND: Colour = (170, 172, 178)
ROUTE: Colour = (209, 73, 91)
SHADOW: Colour = (90, 96, 112)
TOUCHED: Colour = (245, 158, 11)
START: Colour = (43, 147, 72)
GOAL: Colour = (209, 73, 91)
BLOCK: Colour = (194, 65, 12)
_SHADES = 28  # so few that a surface of many parts becomes few meshes of one colour each


@dataclass(frozen=True)
class Surface:
    """Triangles; `colours` is one colour, or one for each triangle."""

    name: str
    vertices: Points
    triangles: NDArray[np.int32]
    colours: Colour | Colours


@dataclass(frozen=True)
class Dots:
    """Points with a colour each, `size` metres across."""

    name: str
    points: Points
    colours: Colours
    size: float


@dataclass(frozen=True)
class Lines:
    """Straight pieces, (k, 2, 3), with a colour each, `width` metres wide."""

    name: str
    pieces: Points
    colours: Colours
    width: float


Thing = Surface | Dots | Lines


@dataclass(frozen=True)
class Layer:
    """Things to draw, and what was left out so that the browser stays quick."""

    things: tuple[Thing, ...] = ()
    notes: tuple[str, ...] = ()
    legend: tuple[tuple[str, Colour], ...] = ()
    opacity: float | None = None
    """Of its surfaces; None hides what is behind them."""


def label_colours(labels: NDArray[Any]) -> Colours:
    """A colour for each label from 0, the colours of a palette in turn; grey below 0."""
    numbers = np.asarray(labels, np.int64)
    colours = _palette()[numbers % _SHADES]
    colours[numbers < 0] = ISLAND
    return colours


@cache
def _palette() -> Colours:
    """Colours of which neighbouring numbers are far apart on the wheel."""
    from matplotlib.colors import hsv_to_rgb

    numbers = np.arange(_SHADES)
    turn = (numbers * 0.6180339887) % 1.0
    light = 0.68 + 0.27 * ((numbers * 0.7548776662) % 1.0)
    return np.asarray(255 * hsv_to_rgb(np.column_stack([turn, np.full(_SHADES, 0.62), light])), np.uint8)


def one_colour(colour: Colour, count: int) -> Colours:
    """The same colour `count` times."""
    return np.tile(np.array(colour, np.uint8), (count, 1))


def evenly(count: int, most: int) -> NDArray[np.int64]:
    """At most `most` of `count` places, evenly spread."""
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).astype(np.int64)


def up(metres: float) -> Points:
    """A step upwards."""
    return np.array([0.0, 0.0, metres])
