"""Graphs in flat arrays, and the searches that the whole package shares."""

from wayfold.graph.graph import Graph

__all__ = ["Graph"]
