"""`wayfold build`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from wayfold import formats, load, samples
from wayfold.agent import Agent
from wayfold.cli._output import check_writable, print_json, progress
from wayfold.cli.info import describe, print_description
from wayfold.errors import ParameterError
from wayfold.geometry import Mesh
from wayfold.graph import Graph
from wayfold.grid import DenseGrid, SparseGrid
from wayfold.hierarchy import Hierarchy

MAPS = ("dense-grid", "sparse-grid", "graph")
ACCELERATORS = ("hierarchy",)
_MESH_ENDINGS = (".obj", ".ply", ".stl", ".glb")


def run(
    source: str,
    out: Path,
    map_kind: str | None,
    seed: int | None,
    size: float | None,
    json: bool,
    *,
    accelerate: str | None = None,
    merge: str = "8",
    levels: int = 4,
    quiet: bool = False,
    sector: int = 16,
    cell: float = 0.5,
    agent: Agent | None = None,
    up: str | None = None,
) -> None:
    """Build a map from a file or a sample, write it and say what it holds."""
    if accelerate is not None and accelerate not in ACCELERATORS:
        raise ParameterError(f"unknown accelerator {accelerate!r}: choose from {', '.join(ACCELERATORS)}")
    if map_kind is not None and map_kind not in MAPS:
        raise ParameterError(f"unknown map {map_kind!r}: choose from {', '.join(MAPS)}")
    check_writable(out, (".wayfold", *_MESH_ENDINGS))
    begin = time.perf_counter()
    world = _sample(source, seed, size) if source.startswith("sample:") else _file(source, seed, size, up)
    if out.suffix.lower() in _MESH_ENDINGS:
        formats.save_mesh(_as_mesh(world, source), out)
    elif accelerate is not None:
        _hierarchy(world if isinstance(world, Graph) else _as_grid(world, source), merge, levels, quiet).save(out)
    elif map_kind == "sparse-grid":
        _as_sparse_grid(world, source, sector, cell, agent or Agent()).save(out)
    else:
        grid = _as_grid(world, source)
        thing = grid.graph()[0] if map_kind == "graph" else grid
        thing.save(out)
    facts = {**describe(out), "seconds": time.perf_counter() - begin}
    if json:
        print_json(facts)
    else:
        print_description(f"{source} -> {out}", facts)


def _sample(source: str, seed: int | None, size: float | None) -> Any:
    options: dict[str, Any] = {}
    if seed is not None:
        options["seed"] = seed
    if size is not None:
        options["size"] = (size, size)
    return samples.make(source.removeprefix("sample:"), **options)


def _file(source: str, seed: int | None, size: float | None, up: Any) -> Any:
    if seed is not None or size is not None:
        raise ParameterError("--seed and --size are for samples; this is a file")
    if source.lower().endswith(".map"):
        return DenseGrid.from_movingai(source)
    if source.lower().endswith(".wayfold"):
        return load(source)
    if source.lower().endswith(".bsp"):
        return formats.load_bsp(source).mesh
    return formats.load_mesh(source, up)


def _hierarchy(world: Any, merge: str, levels: int, quiet: bool) -> Hierarchy:
    if merge != "auto" and not merge.isdigit():
        raise ParameterError(f"--merge must be a whole number or auto, not {merge!r}")
    with progress("levels", None, quiet) as step:
        return Hierarchy.build(
            world,
            merge="auto" if merge == "auto" else int(merge),
            levels=levels,
            progress=lambda what, done, total: step(f"{what}, level {done + 1} of {total}"),
        )


def _as_mesh(world: Any, source: str) -> Mesh:
    if isinstance(world, Mesh):
        return world
    if isinstance(world, samples.Plan):
        return world.mesh()
    raise ParameterError(f"{source} is not a mesh and cannot be written as one")


def _as_grid(world: Any, source: str) -> DenseGrid:
    if isinstance(world, DenseGrid):
        return world
    if isinstance(world, samples.Plan) and world.cells is not None:
        return DenseGrid(world.cells)
    raise ParameterError(f"{source} has no cells to build a grid from: give a MovingAI .map or sample:maze")


def _as_sparse_grid(world: Any, source: str, sector: int, cell: float, agent: Agent) -> SparseGrid:
    if source.lower().endswith(".map"):
        return SparseGrid.from_movingai(source, sector)
    if isinstance(world, samples.Plan) and world.cells is None:
        world = world.mesh()
    if isinstance(world, Mesh):
        return SparseGrid.from_mesh(world, agent, cell, sector)
    kinds = _as_grid(world, source).kinds
    rows, columns = kinds.nonzero()
    return SparseGrid.from_cells(list(zip(columns, rows, strict=True)), sector, kinds=kinds[rows, columns] - 1)
