"""The subregion graph: an abstraction over any waypoint graph that makes planning faster (000, sections 4 to 6)."""

from wayfold.subregions._build import COSTS
from wayfold.subregions.crowd import crowd_paths
from wayfold.subregions.subregions import SubregionGraph

__all__ = ["COSTS", "SubregionGraph", "crowd_paths"]
