"""The examples run as they stand, and show what they say."""

from __future__ import annotations

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_a_person_walks_around_a_spider_climbs_over_and_a_bird_flies_to_the_window(tmp_path):
    picture = tmp_path / "window.png"
    paths = runpy.run_path(str(EXAMPLES / "window.py"))["main"](picture)
    assert all(path.found for path in paths.values())
    assert paths["person"].length > paths["spider"].length > paths["bird"].length
    assert picture.stat().st_size > 1000
