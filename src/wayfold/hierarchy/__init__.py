"""Multilevel path finding over any graph (paper 002, sections III.B, III.C and IV)."""

from wayfold.hierarchy.hierarchy import Hierarchy

__all__ = ["Hierarchy"]
