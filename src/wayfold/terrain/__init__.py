"""Weighted regions of the plane and cheapest routes over them (003)."""

from wayfold.terrain.terrain import Terrain, TerrainField

__all__ = ["Terrain", "TerrainField"]
