"""The subregion graph: an abstraction that makes planning faster (Wardhana et al. 2015, sections 4 to 6)."""

from wayfold.subregions.abstraction import COSTS
from wayfold.subregions.subregions import SubregionGraph, crowd_paths

__all__ = ["COSTS", "SubregionGraph", "crowd_paths"]
