"""An independent look at built edges: points along them against nearest triangles, not the tests that made them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Motion
from wayfold.errors import ParameterError
from wayfold.waypoints.waypoints import WaypointGraph

_SLACK = 2e-3  # metres: what rounding and the gap between samples can hide


def check_edges(waypoints: WaypointGraph, count: int, *, seed: int = 0) -> dict[str, Any]:
    """Check random edges of each motion type against the triangles, at samples a quarter of the radius apart.

    Parameters
    ----------
    waypoints : WaypointGraph
        Built from a mesh.
    count : int, >= 1
        Edges of each motion type.
    seed : int
        Which ones.

    Returns
    -------
    dict
        For each motion type the edges that were checked, how many break a rule anywhere, and which rules: `clearance`
        (a triangle nearer than the radius), `height` (no room above a walker or flyer), `ground` (none below, or not at
        the right height), `slope` (ground too steep), `surface` (a climber is not near a
        wall or ceiling, nor just getting over a rim).
    """
    world = waypoints.surroundings
    graph = waypoints.graph
    if world is None or graph.motions is None:
        raise ParameterError("only a graph that was built from a mesh can be checked against it")
    rng = np.random.default_rng(seed)
    report: dict[str, Any] = {}
    for motion in Motion:
        slots = np.flatnonzero(graph.motions & np.uint8(motion))
        slots = rng.choice(slots, min(count, len(slots)), replace=False) if len(slots) else slots
        rows = np.searchsorted(graph.offsets, slots, side="right") - 1
        starts, ends = graph.points[rows].astype(float), graph.points[graph.targets[slots]].astype(float)
        broken = _broken(waypoints, starts, ends, motion)
        report[str(motion.name).lower()] = {
            "edges": len(slots),
            "violations": int(np.logical_or.reduce(list(broken.values())).sum()) if len(slots) else 0,
            "rules": {name: int(flags.sum()) for name, flags in broken.items() if flags.any()},
        }
    return report


def _broken(
    waypoints: WaypointGraph, starts: NDArray[np.float64], ends: NDArray[np.float64], motion: Motion
) -> dict[str, NDArray[np.bool_]]:
    """For each rule, which edges break it somewhere."""
    world = waypoints.surroundings
    assert world is not None
    agent, body, index = world.agent, world.body, world.index
    lengths = np.linalg.norm(ends - starts, axis=1)
    counts = np.maximum(2, np.ceil(4.0 * lengths / body.step).astype(np.int64) + 1)
    owner = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    samples = starts[owner] + (place / (counts[owner] - 1))[:, None] * (ends - starts)[owner]
    away, _, where = index.nearest(samples, 4.0 * body.near)

    def edges(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.bincount(owner, flags, minlength=len(counts)) > 0

    rules = {"clearance": edges(away < agent.radius - _SLACK)}
    steep = np.cos(np.radians(agent.slope))
    if motion is not Motion.ADHESIVE and body.top > 0:
        above, _, _ = index.nearest(samples + np.array([0.0, 0.0, body.top]), 4.0 * body.near)
        rules["height"] = edges(above < agent.radius - _SLACK)
    if motion is Motion.SURFACE:
        down, triangles = index.rays(samples, (0.0, 0.0, -1.0), body.lift + 4.0 * max(agent.climb, agent.radius))
        rules["ground"] = edges(~(np.abs(down - body.lift) <= agent.climb + 10 * _SLACK))
        slope = np.where(triangles >= 0, np.abs(world.mesh.normals[triangles, 2]), 1.0)
        rules["slope"] = edges(slope < steep - 1e-6)
    if motion is Motion.ADHESIVE:
        up = np.where(np.isfinite(away), (samples - where)[:, 2] / np.maximum(away, 1e-9), 0.0)
        held = (away <= body.near + 0.25 * body.step) & (up <= steep + 0.02)
        wall, _, _ = world.steep.nearest(samples, 4.0 * body.near)
        rim = (lengths[owner] < 2.0 * body.near) & (wall <= body.near + 0.25 * body.step)
        rules["surface"] = edges(~(held | rim))
    return rules
