"""Graphs in flat arrays, and the searches that the whole package shares."""

from wayfold.graph.graph import Graph
from wayfold.graph.tree import Tree

__all__ = ["Graph", "Tree"]
