"""2D free space cut into convex regions: DEACCON and the two methods it is compared with (paper 004)."""

from __future__ import annotations

from wayfold.floorplan._transitions import Transition
from wayfold.floorplan.decomposition import Decomposition
from wayfold.floorplan.plan import METHODS, FloorPlan
from wayfold.floorplan.slicing import Building, ground_planes

__all__ = ["METHODS", "Building", "Decomposition", "FloorPlan", "Transition", "ground_planes"]
