"""Procedural worlds; the same seed gives the same world.

Meshes for walkers, climbers and flyers (`city`, `dungeon`, `islands`), floor plans (`maze`, `rooms`) and the weighted
scenes of Tibboel 2012 (`scene1`, `forest`, `zigzag`). Each module is loaded on first use.
"""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

from wayfold.core import checks
from wayfold.errors import ParameterError

_HOME = {
    "city": "_city",
    "dungeon": "_dungeon",
    "forest": "_weighted",
    "islands": "_islands",
    "maze": "_plans",
    "rooms": "_plans",
    "scene1": "_weighted",
    "zigzag": "_weighted",
    "Plan": "_plans",
    "Scene": "_weighted",
}

NAMES: tuple[str, ...] = ("city", "dungeon", "forest", "islands", "maze", "rooms", "scene1", "zigzag")
"""Names that `make` accepts."""

__all__ = [
    "NAMES",
    "Plan",
    "Scene",
    "city",
    "dungeon",
    "forest",
    "islands",
    "make",
    "maze",
    "rooms",
    "scene1",
    "zigzag",
]


@checks.checked
def make(name: str, **options: Any) -> Mesh | Plan | Scene:
    """Return the sample called `name`, as the function of that name makes it.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    **options
        Options of that function.

    Returns
    -------
    Mesh, Plan or Scene
        A `Mesh` for "city", "dungeon" and "islands", a `Plan` for "maze" and "rooms", a `Scene` for the others.

    Raises
    ------
    ParameterError
        When the sample or an option is unknown, or an option is outside its limits.

    Examples
    --------
    >>> make("maze", width=4, height=3, cell=1.5).cells.shape
    (7, 9)
    >>> make("maze", depth=3)
    Traceback (most recent call last):
        ...
    wayfold.errors.ParameterError: sample 'maze' has no option 'depth': its options are width, height, seed, cell, loops
    """
    if name not in NAMES:
        raise ParameterError(f"unknown sample {checks.shown(name)}: choose from {', '.join(NAMES)}")
    function = __getattr__(name)
    known = tuple(inspect.signature(function).parameters)
    for option in options:
        if option not in known:
            choice = f"its options are {', '.join(known)}" if known else "it has none"
            raise ParameterError(f"sample {checks.shown(name)} has no option {checks.shown(option)}: {choice}")
    result: Mesh | Plan | Scene = function(**options)
    return result


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from wayfold.geometry import Mesh
    from wayfold.samples._city import city
    from wayfold.samples._dungeon import dungeon
    from wayfold.samples._islands import islands
    from wayfold.samples._plans import Plan, maze, rooms
    from wayfold.samples._weighted import Scene, forest, scene1, zigzag
