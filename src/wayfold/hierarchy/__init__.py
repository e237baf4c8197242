"""Multilevel path finding over any graph (Fuentes 2015, sections III.B, III.C and IV)."""

from wayfold.hierarchy.hierarchy import Hierarchy

__all__ = ["Hierarchy"]
