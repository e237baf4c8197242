"""Waypoint graphs for characters that walk, cling to walls or fly (Wardhana et al. 2015, section 3)."""

from wayfold.waypoints.voxels import VoxelWaypoints
from wayfold.waypoints.waypoints import WaypointGraph

__all__ = ["VoxelWaypoints", "WaypointGraph"]
