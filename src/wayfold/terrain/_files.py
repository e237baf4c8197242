"""Terrains in `.wayfold` files: the triangles and what the ground costs; all else is made again."""

from __future__ import annotations

import numpy as np

from wayfold.core import checks
from wayfold.core.schema import Array, Parts, Schema, Value
from wayfold.geometry.frame import LARGEST, Frame
from wayfold.terrain._subdivision import turns
from wayfold.terrain.ground import Ground


def triangles_turn_left(parts: Parts) -> None:
    """Every triangle has an area and runs counter-clockwise."""
    if not (turns(parts.arrays["vertices"], parts.arrays["triangles"]) == 1).all():
        raise ValueError("a triangle has no area or runs clockwise")


def weights_named(parts: Parts) -> None:
    """Every kind of ground has a name and a weight above 0."""
    names, weights = parts.meta["names"], parts.arrays["weights"]
    if len(names) != len(weights) or not (weights > 0).all():
        raise ValueError("every kind of ground needs a name and a weight above 0")


SCHEMA = Schema(
    "terrain",
    {
        "vertices": Array("float64", ("vertices", 2), "metres from the origin", -2 * LARGEST, 2 * LARGEST),
        "origin": Array("float64", (3,), "metres", -LARGEST, LARGEST),
        "triangles": Array("int32", ("triangles", 3), "counter-clockwise", refers="vertices"),
        "kinds": Array("int32", ("triangles",), "kind of ground of each triangle", refers="kinds"),
        "weights": Array(
            "float64", ("kinds",), "what a metre costs on each kind of ground", 0.0, checks.LARGEST_COST, finite=False
        ),
    },
    {"names": Value(list, "names of the kinds of ground", each=Value(str, ""))},
    {"triangles": 1},
    (triangles_turn_left, weights_named),
)


def ground_of(parts: Parts) -> Ground:
    """The ground of a saved terrain."""
    vertices = parts.arrays["vertices"]
    x, y, z = parts.arrays["origin"].tolist()
    extent = float((vertices.max(axis=0) - vertices.min(axis=0)).max())
    if not (np.abs(vertices) + np.abs(parts.arrays["origin"][:2]) <= 2 * LARGEST).all():
        raise ValueError(f"a coordinate is larger than {LARGEST:g}")
    return Ground(vertices, parts.arrays["triangles"], Frame((x, y, z), extent))
