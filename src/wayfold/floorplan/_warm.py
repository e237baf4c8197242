"""Run every kernel of the room once on tiny input."""

from __future__ import annotations

import numpy as np

from wayfold.floorplan import _grow_kernels
from wayfold.floorplan.growth import Growth, Settings
from wayfold.floorplan.plan import FloorPlan


def warm() -> None:
    """Compile growth, location, sight and paths."""
    plan = FloorPlan([(0, 0), (9, 0), (9, 9), (0, 9)], [[(3, 3), (6, 4), (5, 6)]])
    plan.decompose("deaccon", in_turn=False)
    cut = plan.decompose()
    cut.locate([(1.0, 1.0)], last=0)
    cut.collides((1.0, 1.0), 0.5)
    cut.path((1.0, 4.0), (8.0, 4.0))
    cut.information.attach([(8.0, 4.0)])
    cut.information.visible_at((1.0, 4.0))
    # Growth calls this one from other kernels only; called from here it is also kept on its own.
    growth = Growth(plan, Settings())
    _grow_kernels.plant_all(growth.regions, np.array([(1.0, 1.0, 0.1, -1.0)]))
    _grow_kernels.refresh(growth.walls, growth.regions, 0)
