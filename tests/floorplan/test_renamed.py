"""Former names of a decomposition: they work for one version, with a warning that says the new one."""

from __future__ import annotations

import pytest
from shapely import box

from wayfold import FloorPlan


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("many", [False, True], ids=["path", "paths"])
def test_optimal_is_exact(flag, many):
    cut = FloorPlan(box(0, 0, 10, 10), [box(4, 0, 6, 8)]).decompose()
    ends = ([(1, 1)], [(9, 1)]) if many else ((1, 1), (9, 1))
    ask = cut.paths if many else lambda *ends, **options: [cut.path(*ends, **options)]
    with pytest.warns(DeprecationWarning, match="optimal= is now exact=$"):
        former = ask(*ends, optimal=flag)
    assert [path.length for path in former] == [path.length for path in ask(*ends, exact=flag)]


def test_areas_of_regions_are_region_areas():
    cut = FloorPlan(box(0, 0, 10, 10)).decompose()
    with pytest.warns(DeprecationWarning, match="^areas is now region_areas$"):
        former = cut.areas
    assert former.tolist() == cut.region_areas.tolist() == [100.0]
