"""Wayfold against what a user would pick instead, each library where it applies.

Graphs (`graphs`), grids (`grids`), voxels (`voxels`), polygons (`polygons`) and triangles (`recast`). Libraries differ
in the moves that they know, so each comparison states its rule, both sides follow it, and every answer is compared with
an oracle for that rule before its time counts.
"""

from benchmarks.peers.graphs import Task, city, dao, run
from benchmarks.peers.libraries import GRAPHS, LIBRARIES, Library, absent

__all__ = ["GRAPHS", "LIBRARIES", "Library", "Task", "absent", "city", "dao", "run"]
