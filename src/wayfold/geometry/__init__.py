"""Geometry that the maps share: triangle meshes, polygons, voxels, rays."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from wayfold.geometry.mesh import Mesh

_LAZY = {
    "TriangleIndex": "wayfold.geometry.bvh",
    "Voxels": "wayfold.geometry.voxels",
    "voxelise": "wayfold.geometry.voxels",
}

__all__ = ["Mesh", "TriangleIndex", "Voxels", "polygon", "voxelise"]


def __getattr__(name: str) -> Any:
    """Load what needs the compiler on first use."""
    if name == "polygon":
        return importlib.import_module("wayfold.geometry.polygon")
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'wayfold.geometry' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from wayfold.geometry import polygon
    from wayfold.geometry.bvh import TriangleIndex
    from wayfold.geometry.voxels import Voxels, voxelise
