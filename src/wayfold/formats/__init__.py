"""Readers and writers of files. Every reader checks its input and names the file and the line of an error.

Each format's library is imported on first use of that format.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_LAZY = {
    "Archive": "wayfold.core.archive",
    "read_archive": "wayfold.core.archive",
    "write_archive": "wayfold.core.archive",
    "MovingAiMap": "wayfold.formats.movingai",
    "Scenario": "wayfold.formats.movingai",
    "Scenarios": "wayfold.formats.movingai",
    "load_map": "wayfold.formats.movingai",
    "load_scen": "wayfold.formats.movingai",
    "save_map": "wayfold.formats.movingai",
    "save_scen": "wayfold.formats.movingai",
    "Map3D": "wayfold.formats.movingai",
    "Scenario3D": "wayfold.formats.movingai",
    "Scenarios3D": "wayfold.formats.movingai",
    "load_map3d": "wayfold.formats.movingai",
    "load_scen3d": "wayfold.formats.movingai",
    "save_map3d": "wayfold.formats.movingai",
    "save_scen3d": "wayfold.formats.movingai",
    "load_mesh": "wayfold.formats.mesh",
    "save_mesh": "wayfold.formats.mesh",
    "CityMesh": "wayfold.formats.cityjson",
    "load_cityjson": "wayfold.formats.cityjson",
    "Feature": "wayfold.formats.geojson",
    "load_geojson": "wayfold.formats.geojson",
    "save_geojson": "wayfold.formats.geojson",
    "Carrier": "wayfold.formats.quake",
    "Level": "wayfold.formats.quake",
    "SpawnPoint": "wayfold.formats.quake",
    "load_bsp": "wayfold.formats.quake",
    "KINDS": "wayfold.formats.opening",
    "Kind": "wayfold.formats.opening",
    "sniff": "wayfold.formats.opening",
}

__all__ = [
    "KINDS",
    "Archive",
    "Carrier",
    "CityMesh",
    "Feature",
    "Kind",
    "Level",
    "Map3D",
    "MovingAiMap",
    "Scenario",
    "Scenario3D",
    "Scenarios",
    "Scenarios3D",
    "SpawnPoint",
    "load_bsp",
    "load_cityjson",
    "load_geojson",
    "load_map",
    "load_map3d",
    "load_mesh",
    "load_scen",
    "load_scen3d",
    "read_archive",
    "save_geojson",
    "save_map",
    "save_map3d",
    "save_mesh",
    "save_scen",
    "save_scen3d",
    "sniff",
    "write_archive",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'wayfold.formats' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_LAZY[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from wayfold.core.archive import Archive, read_archive, write_archive
    from wayfold.formats.cityjson import CityMesh, load_cityjson
    from wayfold.formats.geojson import Feature, load_geojson, save_geojson
    from wayfold.formats.mesh import load_mesh, save_mesh
    from wayfold.formats.movingai import (
        Map3D,
        MovingAiMap,
        Scenario,
        Scenario3D,
        Scenarios,
        Scenarios3D,
        load_map,
        load_map3d,
        load_scen,
        load_scen3d,
        save_map,
        save_map3d,
        save_scen,
        save_scen3d,
    )
    from wayfold.formats.opening import KINDS, Kind, sniff
    from wayfold.formats.quake import Carrier, Level, SpawnPoint, load_bsp
