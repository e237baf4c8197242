"""The subregion graph: an abstraction over any waypoint graph that makes planning faster (000, sections 4 to 6)."""

from wayfold.subregions.abstraction import COSTS
from wayfold.subregions.subregions import SubregionGraph, crowd_paths

__all__ = ["COSTS", "SubregionGraph", "crowd_paths"]
