"""Run every kernel of the package once on tiny input."""

from __future__ import annotations

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
