"""Links on a mesh: ways across gaps, found again whenever the mesh changes."""

from __future__ import annotations

from itertools import product

import numpy as np

from wayfold.navmesh._corridor_kernels import Links
from wayfold.navmesh.layout import ALL_OPEN
from wayfold.navmesh.places import Version, find


def linked(version: Version) -> Version:
    """The version with its links found on its mesh; those without ground at both ends are left out."""
    state, asked = version.state, version.asked
    if not asked or not state.num_polygons:
        return version._replace(asked=() if not state.num_polygons else asked)
    ends = np.array([[a, b] for a, b, _, _ in asked]).reshape(-1, 3)
    found, places, _ = find(version, ends, None, None)
    # A point on a border is in every polygon that touches it, so a link may lead from several to several.
    holding = state.holding(found, places, ALL_OPEN)
    pairs, spots = found.reshape(-1, 2), places.reshape(-1, 2, 3)
    there = (pairs >= 0).all(axis=1)
    rows = []
    for at in np.flatnonzero(there).tolist():
        _, _, cost, one_way = asked[at]
        for tail, head in product(holding[2 * at].tolist(), holding[2 * at + 1].tolist()):
            rows.append((tail, head, spots[at, 0], spots[at, 1], cost))
            if not one_way:
                rows.append((head, tail, spots[at, 1], spots[at, 0], cost))
    rows.sort(key=lambda row: row[0])
    counts = np.bincount([row[0] for row in rows], minlength=state.num_polygons) if rows else 0
    links = Links(
        np.concatenate([[0], np.cumsum(np.broadcast_to(counts, state.num_polygons))]).astype(np.int64),
        np.array([row[2] for row in rows]).reshape(-1, 3),
        np.array([row[3] for row in rows]).reshape(-1, 3),
        np.array([row[1] for row in rows], np.int32),
        np.array([row[4] for row in rows], np.float64),
    )
    kept = tuple(asked[at] for at in np.flatnonzero(there).tolist())
    return Version(state.with_links(links), version.built, kept)
