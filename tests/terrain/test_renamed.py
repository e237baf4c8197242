"""Former names of a terrain: they work for one version, with a warning that says the new one."""

from __future__ import annotations

import pytest
from shapely import box

from wayfold import Terrain


def test_former_names_work_and_warn():
    terrain = Terrain([(box(0, 0, 10, 10), 1.0)])
    layers = [(box(4, 0, 6, 8), 3.0)]
    with pytest.warns(DeprecationWarning, match="^painted is now changed$"):
        former = terrain.painted(layers)
    assert former.path((1, 1), (9, 1)).cost == terrain.changed(layers).path((1, 1), (9, 1)).cost
