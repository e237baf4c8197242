"""The libraries that Wayfold is compared with, and which of them are there."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass

from wayfold.errors import ParameterError


@dataclass(frozen=True)
class Library:
    """A library: the name that ``--peer`` takes, the module that is imported, and how it is installed."""

    name: str
    module: str
    install: str

    @property
    def installed(self) -> bool:
        """Whether its module can be found; nothing is imported."""
        return importlib.util.find_spec(self.module) is not None


def _pip(name: str, module: str | None = None, packages: str | None = None) -> Library:
    return Library(name, module or name, f"pip install {packages or name}")


GRAPHS = ("networkx", "igraph", "rustworkx", "scipy", "networkit")
"""Those that search graphs."""

LIBRARIES = {
    library.name: library
    for library in (
        *map(_pip, GRAPHS),
        _pip("pathfinding"),
        _pip("scikit-image", "skimage"),
        _pip("tcod"),
        _pip("pyastar2d"),
        _pip("pathfinding3d"),
        _pip("extremitypathfinder"),
        # It imports tqdm without asking for it.
        _pip("pyvisgraph", packages="pyvisgraph tqdm"),
    )
}
"""All that are Python packages, by name. Recast is none: see `recast`."""


def absent(names: Iterable[str]) -> dict[str, str]:
    """Those of some libraries that are not installed, with what to do about it."""
    return {name: f"not installed: {LIBRARIES[name].install}" for name in names if not LIBRARIES[name].installed}


def check_names(names: Iterable[str], more: tuple[str, ...] = ()) -> None:
    """Refuse names of libraries that are not known."""
    known = (*LIBRARIES, *more)
    for name in names:
        if name not in known:
            raise ParameterError(f"unknown peer {name!r}: choose from {', '.join(known)}")
