"""Geometry that the maps share: triangle meshes, polygons, voxels, rays."""

from wayfold.geometry.mesh import Mesh

__all__ = ["Mesh"]
