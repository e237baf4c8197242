"""2D free space cut into convex regions: DEACCON and the two methods it is compared with (Hale et al. 2008)."""

from __future__ import annotations

from wayfold.floorplan.building import Building, Transition, ground_planes
from wayfold.floorplan.decomposition import Decomposition
from wayfold.floorplan.plan import METHODS, FloorPlan

__all__ = ["METHODS", "Building", "Decomposition", "FloorPlan", "Transition", "ground_planes"]
