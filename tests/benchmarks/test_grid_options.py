from __future__ import annotations

import numpy as np

from benchmarks import _grid_options, sparse_grid
from wayfold.grid import SparseGrid


def rooms(side, wall):
    return [(x, y, 0) for y in range(side) for x in range(side) if y != wall]


def test_regions_side_by_side_share_a_grid_and_floors_do_not():
    beside = SparseGrid.from_cells(rooms(8, 4), 8)
    assert beside.num_regions == 2
    assert _grid_options.shared_bytes(beside) == (2 * 64, 3 * 64)
    above = SparseGrid.from_cells([(x, y, z) for x in range(8) for y in range(8) for z in (0, 9)], 8)
    assert _grid_options.shared_bytes(above) == (4 * 64, 4 * 64)


def test_terraces_lead_down_by_drops_and_up_only_by_ramps():
    cells = _grid_options.terraces(64)
    plain, steep = SparseGrid.from_cells(cells), SparseGrid.from_cells(cells, drop=8)
    high, low = (0, 0, 0), (63, 0, -6)
    assert plain.path(high, low, exact=True).cost > steep.path(high, low, exact=True).cost == 63
    assert plain.path(low, high, exact=True).cost == steep.path(low, high, exact=True).cost


def test_every_option_is_measured_off_and_on(tmp_path):
    kinds = np.random.default_rng(5).random((60, 60)) < 0.8
    text = "\n".join("".join("@."[int(cell)] for cell in row) for row in kinds)
    file = tmp_path / "some.map"
    file.write_text(f"type octile\nheight 60\nwidth 60\nmap\n{text}\n")
    rows = _grid_options.options([file], sparse_grid.strip, lambda what: None)
    assert {row["option"] for row in rows} == {"merge", "trim", "share", "reserve", "drop", "links"}
    measured = {(row["option"], row["measured"]): (row["off"], row["on"]) for row in rows}
    off, on = measured["trim", "bytes of the live arrays"]
    assert 0 < on < off
    off, on = measured["merge", "regions after 99 cells were cut and added"]
    assert 0 < on <= off
    assert measured["reserve", "arrays made anew by that"][1] == 0
