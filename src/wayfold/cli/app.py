"""The commands and their options; each command has a module of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from wayfold.errors import ParameterError

app = typer.Typer(
    help="Plan paths for every kind of character through very large worlds that change.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bars.")]
Up = Annotated[
    str | None,
    typer.Option(
        metavar="[y|z]", help="The axis of a mesh that points up; by default y for glTF and z for all others."
    ),
]
_AXES: dict[str, Literal["y", "z"]] = {"y": "y", "z": "z"}
_POINT = re.compile(r"-[\d.][\d.e+-]*(,[\d.e+-]+)+", re.IGNORECASE)


class WithPoints(TyperCommand):
    """A command that accepts points such as -5,0, which begin with a minus, as arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words, hiding the minus of a point behind a space."""
        rest = super().parse_args(ctx, [f" {word}" if _POINT.fullmatch(word) else word for word in args])
        for name, value in ctx.params.items():
            if isinstance(value, str):
                ctx.params[name] = value.strip()
        return rest


def axis(up: str | None) -> Literal["y", "z"] | None:
    """Check the value of --up."""
    if up is not None and up not in _AXES:
        raise ParameterError(f"--up must be y or z, not {up!r}")
    return None if up is None else _AXES[up]


@app.callback(invoke_without_command=True)
def wayfold(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    """Plan paths for every kind of character through very large worlds that change."""
    if version:
        from wayfold import __version__

        typer.echo(f"wayfold {__version__}")
        raise typer.Exit


@app.command(epilog="Examples:  [cyan]wayfold demo[/]   |   [cyan]wayfold demo --seed 7 --size 300 --out out/demo[/]")
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("out/demo"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the city.")] = 6,
    size: Annotated[float, typer.Option(min=60, max=2000, help="Side of the district in metres.")] = 300.0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Plan for a person, a cart, a spider and a bird in a city district, before and after a bridge is closed."""
    from wayfold.cli.demo import run

    run(out, seed, size, json, quiet)


@app.command(
    epilog="Examples:  [cyan]wayfold build arena.map arena.wayfold[/]   |   "
    "[cyan]wayfold build sample:city city.obj[/]   |   "
    "[cyan]wayfold build arena.map fast.wayfold --accelerate hierarchy[/]   |   "
    "[cyan]wayfold build level.obj level.wayfold --map navmesh --up y --radius 0.6[/]   |   "
    "[cyan]wayfold build sample:rooms rooms.wayfold --map floorplan --method deaccon[/]   |   "
    "[cyan]wayfold build land.geojson land.wayfold --map terrain --weights road=1,swamp=8[/]"
)
def build(
    source: Annotated[str, typer.Argument(help="Any file that Wayfold reads, or sample:NAME.")],
    out: Annotated[
        Path, typer.Argument(help="The file to write: .wayfold for a map, .obj, .ply, .stl or .glb for a mesh.")
    ],
    map_kind: Annotated[
        str | None,
        typer.Option(
            "--map", help="dense-grid (default), sparse-grid, graph, navmesh, waypoints, floorplan or terrain."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of a sample.")] = None,
    size: Annotated[float | None, typer.Option(help="Side of a sample in metres, if it has that option.")] = None,
    up: Up = None,
    agent: Annotated[
        str | None, typer.Option(help="Who moves on a mesh: person (default), cart, spider or bird.")
    ] = None,
    radius: Annotated[float | None, typer.Option(help="Its radius in metres, instead of the agent's own.")] = None,
    height: Annotated[float | None, typer.Option(help="Its height in metres.")] = None,
    climb: Annotated[float | None, typer.Option(help="Its highest step in metres.")] = None,
    slope: Annotated[float | None, typer.Option(help="The steepest ground that it walks on, in degrees.")] = None,
    cell: Annotated[
        float | None, typer.Option(help="Cell size on a mesh in metres; default 0.5 (sparse-grid) or 0.3 (navmesh).")
    ] = None,
    cell_height: Annotated[float, typer.Option(help="Height of a voxel, metres (navmesh).")] = 0.2,
    tile: Annotated[int | None, typer.Option(help="Side of a tile in voxels; 0 for one tile (navmesh).")] = None,
    keep: Annotated[str, typer.Option(help="Islands to keep: all or largest (navmesh).")] = "all",
    sector: Annotated[int, typer.Option(min=2, max=16, help="Side of a sector in cells (sparse-grid).")] = 16,
    motions: Annotated[
        str | None, typer.Option(help="S, S+A, S+V or S+A+V; by default the agent's, or all (waypoints).")
    ] = None,
    region_size: Annotated[float, typer.Option(help="Side of a region in metres (waypoints).")] = 50.0,
    method: Annotated[
        str | None, typer.Option(help="deaccon (default), space-filling or hertel-mehlhorn (floorplan).")
    ] = None,
    plane: Annotated[
        float | None, typer.Option(help="Height at which to cut a mesh; by default every floor is used (floorplan).")
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the regions into this file (floorplan).")] = None,
    weights: Annotated[str | None, typer.Option(help="Weights by name: road=1,swamp=8,rock=inf (terrain).")] = None,
    default: Annotated[float | None, typer.Option(help="Weight outside all regions (terrain).")] = None,
    accelerate: Annotated[
        str | None, typer.Option(help="Build a hierarchy over the graph for fast paths: hierarchy.")
    ] = None,
    merge: Annotated[
        str, typer.Option(help="Number of nodes that a level merges into one, or auto (hierarchy).")
    ] = "8",
    levels: Annotated[int, typer.Option(min=1, max=16, help="Maximum number of levels (hierarchy).")] = 4,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build a map from a file or a sample and save it, ready for `path` and `info`."""
    from dataclasses import replace

    from wayfold.agent import agent_named
    from wayfold.cli.build import BuildRequest, run
    from wayfold.cli.waypoints import names

    who = agent_named(agent or "person")
    sizes: dict[str, Any] = {"radius": radius, "height": height, "climb": climb, "slope": slope}
    request = BuildRequest(
        source,
        replace(who, **{name: size for name, size in sizes.items() if size is not None}),
        seed=seed,
        size=size,
        up=axis(up),
        accelerate=accelerate,
        merge=merge,
        levels=levels,
        sector=sector,
        cell=cell,
        cell_height=cell_height,
        tile=tile,
        keep=keep,
        motions=motions or (names(who.motions) if agent else None),
        region_size=region_size,
        method=method,
        plane=plane,
        weights=weights,
        default=default,
        picture=picture,
        quiet=quiet,
    )
    run(request, out, map_kind, json)


@app.command(
    epilog="Examples:  [cyan]wayfold info arena.map[/]   |   [cyan]wayfold info level.obj --up y[/]   |   "
    "[cyan]wayfold info graph.wayfold --json[/]"
)
def info(
    file: Annotated[Path, typer.Argument(help="Any file that Wayfold reads, or sample:NAME.")],
    up: Up = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the levels of a hierarchy or the regions of a sparse grid.")
    ] = None,
    json: Json = False,
) -> None:
    """Show what a file holds: sizes, bounds, bytes per node, edge and cell."""
    from wayfold.cli.info import run

    run(file, axis(up), json, picture)


@app.command(
    cls=WithPoints,
    epilog="Examples:  [cyan]wayfold path arena.map 3,10 40,22 --picture path.png[/]   |   "
    "[cyan]wayfold path level.obj 1,2,0 40,22,3 --agent spider --explain[/]   |   "
    "[cyan]wayfold path graph.wayfold 17 1203 --json[/]   |   "
    "[cyan]wayfold path land.wayfold 5,5 95,45 --radius 0.5 --weights road=1,swamp=20[/]",
)
def path(
    file: Annotated[
        Path, typer.Argument(help="A level (.obj, .bsp, ...), a map (.map, .mesh, .wayfold) or sample:NAME.")
    ],
    start: Annotated[str, typer.Argument(help="x,y or x,y,z; a node number for a graph.")],
    goal: Annotated[str, typer.Argument(help="The goal, in the same form.")],
    agent: Annotated[str | None, typer.Option(help="person (default), cart, spider or bird (levels).")] = None,
    up: Up = None,
    map_kind: Annotated[str | None, typer.Option("--map", help="navmesh, waypoints or sparse-grid (levels).")] = None,
    accelerator: Annotated[str | None, typer.Option(help="hierarchy, subregions or none (levels).")] = None,
    block: Annotated[list[str] | None, typer.Option(help="A box to close: x0,y0,z0,x1,y1,z1 (levels).")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain the choice of map and accelerator (levels).")
    ] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="Find the shortest path (levels, sparse grids, floor plans).")
    ] = False,
    smooth: Annotated[
        bool, typer.Option("--smooth", help="Shorten and straighten the path where the map allows it.")
    ] = False,
    budget: Annotated[int | None, typer.Option(min=1, help="Maximum number of nodes to settle.")] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="If the goal cannot be reached, go as near as possible.")
    ] = False,
    algorithm: Annotated[
        str, typer.Option(help="astar, dijkstra or bidirectional (graphs); funnel (navigation meshes).")
    ] = "astar",
    motions: Annotated[
        str | None, typer.Option(help="Allowed motions, such as surface+adhesive (graphs, waypoints).")
    ] = None,
    level: Annotated[int | None, typer.Option(min=0, help="Highest level to use (hierarchies).")] = None,
    radius: Annotated[float | None, typer.Option(min=0, help="Radius of the agent in metres (terrains).")] = None,
    weights: Annotated[str | None, typer.Option(help="New weights by name, such as road=1,mud=9 (terrains).")] = None,
    graph: Annotated[
        str | None, typer.Option(help="refined, steiner, dual-extra, dual, grid, or all to compare them (terrains).")
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="Density of a Steiner graph (terrains).")] = None,
    cell: Annotated[float | None, typer.Option(help="Side of a grid's cells in metres (terrains).")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the path into this PNG, SVG or PDF.")] = None,
    json: Json = False,
) -> None:
    """Plan one path and show its length and the time it took. Exit status 1 if there is none."""
    from wayfold.cli.path import Options, PathSettings, run

    terrain = {"radius": radius, "weights": weights, "graph": graph, "epsilon": epsilon, "cell": cell}
    settings = PathSettings(smooth, budget, partial, algorithm, motions, level, exact, terrain)
    options = Options(agent, axis(up), map_kind, accelerator, tuple(block or ()), explain)
    run(file, start, goal, settings, options, picture, json)


@app.command(
    epilog="Examples:  [cyan]wayfold view --sample city[/]   |   [cyan]wayfold view level.obj --up y[/]   |   "
    "[cyan]wayfold view level.bsp --port 9000 --no-open[/]"
)
def view(
    file: Annotated[
        Path | None,
        typer.Argument(help="A level, a map of cells (.map) or voxels (.3dmap), a saved terrain, or sample:NAME."),
    ] = None,
    sample: Annotated[str | None, typer.Option(help="A sample instead of a file: city, dungeon, islands, ...")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of a sample.")] = None,
    size: Annotated[float | None, typer.Option(help="Side of a sample in metres, if it has that option.")] = None,
    up: Up = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; by default only this machine can connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="First port to try; 0 for any free one.")] = 8080,
    open_: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")] = True,
    triangles: Annotated[
        int, typer.Option(min=1000, help="Maximum number of triangles of the level to draw.")
    ] = 150_000,
) -> None:
    """Show a level in the browser: click for paths, block streets, send a crowd. Needs the extra `view`."""
    from wayfold.cli.view import run

    run(file, sample, {"seed": seed, "size": size, "up": axis(up)}, host, port, open_, triangles)


@app.command()
def warmup(quiet: Quiet = False) -> None:
    """Compile all kernels ahead of time."""
    from wayfold.cli.warmup import run

    run(quiet)
