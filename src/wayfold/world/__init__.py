"""`World`: one geometry, any agent; the right map and accelerator are chosen, built, kept and repaired for each.

A person opens a level, says who is walking and asks for a path. Which of the papers' systems answers, and why, is what
`Planner.explain` tells.
"""

from wayfold.field import Field
from wayfold.geometry.shapes import Box, Prism, Shape
from wayfold.world.planner import Planner
from wayfold.world.world import World

__all__ = ["Box", "Field", "Planner", "Prism", "Shape", "World"]
