"""Weighted regions of the plane and cheapest routes over them (Tibboel 2012)."""

from wayfold.terrain.terrain import Terrain, TerrainField

__all__ = ["Terrain", "TerrainField"]
