"""Weighted regions of the plane and cheapest routes over them (003)."""

from wayfold.terrain.terrain import Terrain

__all__ = ["Terrain"]
