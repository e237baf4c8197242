"""Waypoint graphs for characters that walk, cling to walls or fly (000, section 3)."""

from wayfold.waypoints.voxels import VoxelWaypoints
from wayfold.waypoints.waypoints import WaypointGraph

__all__ = ["VoxelWaypoints", "WaypointGraph"]
