"""The commands and their options; what they do stands in the module of each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

app = typer.Typer(
    help="Plan paths for every kind of character through very large worlds that change.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
bench_app = typer.Typer(help="Measure Wayfold; every benchmark checks the answers that it times.", no_args_is_help=True)
app.add_typer(bench_app, name="bench")

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars.")]


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
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("out/demo"),
    seed: Annotated[int, typer.Option(min=0, help="Which city.")] = 1,
    size: Annotated[float, typer.Option(min=60, max=2000, help="Side of the district in metres.")] = 240.0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build a city district, plan walks through it, print a table and draw a picture."""
    from wayfold.cli.demo import run

    run(out, seed, size, json, quiet)


@app.command(
    epilog="Examples:  [cyan]wayfold build arena.map arena.wayfold[/]   |   "
    "[cyan]wayfold build arena.map graph.wayfold --map graph[/]   |   "
    "[cyan]wayfold build sample:city city.obj[/]   |   "
    "[cyan]wayfold build arena.map fast.wayfold --accelerate hierarchy[/]   |   "
    "[cyan]wayfold build level.obj level.wayfold --map sparse-grid --cell 0.3 --up y[/]"
)
def build(
    source: Annotated[str, typer.Argument(help="A MovingAI .map, a mesh or .bsp file, or sample:NAME.")],
    out: Annotated[Path, typer.Argument(help="The file to write: .wayfold, or a mesh file for a sample.")],
    map_kind: Annotated[str | None, typer.Option("--map", help="dense-grid (default), sparse-grid or graph.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of a sample.")] = None,
    size: Annotated[float | None, typer.Option(help="Side of a sample in metres, where it has one.")] = None,
    accelerate: Annotated[str | None, typer.Option(help="hierarchy: levels for fast paths over the graph.")] = None,
    merge: Annotated[str, typer.Option(help="Nodes that a level merges into one: a number, or auto.")] = "8",
    levels: Annotated[int, typer.Option(min=1, max=16, help="At most so many levels.")] = 4,
    sector: Annotated[int, typer.Option(min=2, max=16, help="Side of a sparse grid's sectors, cells.")] = 16,
    cell: Annotated[float, typer.Option(help="Side of a sparse grid's cells on a mesh, metres.")] = 0.5,
    radius: Annotated[float, typer.Option(help="Radius of who walks on a mesh, metres.")] = 0.4,
    height: Annotated[float, typer.Option(help="Its height, metres.")] = 1.8,
    climb: Annotated[float, typer.Option(help="Its highest step, metres.")] = 0.5,
    slope: Annotated[float, typer.Option(help="Steepest ground that it walks on, degrees.")] = 45.0,
    up: Annotated[Literal["y", "z"] | None, typer.Option(help="Which axis of a mesh points up.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Turn a map file or a sample into a file that `path` and `info` open at once."""
    from wayfold.agent import Agent
    from wayfold.cli.build import run

    run(
        source,
        out,
        map_kind,
        seed,
        size,
        json,
        accelerate=accelerate,
        merge=merge,
        levels=levels,
        quiet=quiet,
        sector=sector,
        cell=cell,
        agent=Agent(radius, height, climb, slope),
        up=up,
    )


@app.command(
    epilog="Examples:  [cyan]wayfold info arena.map[/]   |   [cyan]wayfold info level.obj --up y[/]   |   "
    "[cyan]wayfold info graph.wayfold --json[/]"
)
def info(
    file: Annotated[Path, typer.Argument(help="Any file that Wayfold reads.")],
    up: Annotated[
        Literal["y", "z"] | None, typer.Option(help="Which axis of a mesh points up: z (y for glTF) or y.")
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw a hierarchy's levels into this PNG, SVG or PDF.")] = None,
    json: Json = False,
) -> None:
    """Say what a file holds: sizes, bounds, bytes per node, edge and cell."""
    from wayfold.cli.info import run

    run(file, up, json, picture)


@app.command(
    epilog="Examples:  [cyan]wayfold path arena.map 3,10 40,22 --picture path.png[/]   |   "
    "[cyan]wayfold path graph.wayfold 17 4711 --json[/]"
)
def path(
    file: Annotated[Path, typer.Argument(help="A .map or .wayfold file.")],
    start: Annotated[str, typer.Argument(help="x,y or x,y,z; a node number for a graph.")],
    goal: Annotated[str, typer.Argument(help="The same for the goal.")],
    exact: Annotated[bool, typer.Option("--exact", help="Search the cells of a sparse grid, not its regions.")] = False,
    smooth: Annotated[bool, typer.Option("--smooth", help="Pull the path straight where the map allows it.")] = False,
    budget: Annotated[int | None, typer.Option(min=1, help="Settle at most this many nodes.")] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Without a way, go as near as possible.")] = False,
    algorithm: Annotated[str, typer.Option(help="astar, dijkstra or bidirectional (graphs).")] = "astar",
    motions: Annotated[str | None, typer.Option(help="For example surface+adhesive (graphs).")] = None,
    level: Annotated[int | None, typer.Option(min=0, help="Highest level to use (hierarchies).")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the path into this PNG, SVG or PDF.")] = None,
    json: Json = False,
) -> None:
    """Plan one path and say how long it is and what it took. Exit status 1 when there is none."""
    from wayfold.cli.path import run

    run(file, start, goal, smooth, budget, partial, algorithm, motions, picture, json, level=level, exact=exact)


@bench_app.command(epilog="Example:  [cyan]wayfold bench peers --data DIR --rounds 5 --out report/peers.json[/]")
def peers(
    data: Annotated[Path, typer.Option(envvar="WAYFOLD_DATA", help="Folder of real maps and meshes.")],
    rounds: Annotated[int, typer.Option(min=1, help="Timed runs of each contender.")] = 3,
    peer: Annotated[list[str] | None, typer.Option(help="Only this peer (may be repeated).")] = None,
    dao: Annotated[str, typer.Option(help="The Dragon Age map of the second task.")] = "orz900d",
    out: Annotated[Path | None, typer.Option(help="Also write the report as JSON.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Graph against networkx, igraph, rustworkx, scipy and networkit, on the city graph and a Dragon Age map."""
    from wayfold.cli.bench import run_peers

    run_peers(data, rounds, tuple(peer or ()), dao, out, json, quiet)


@bench_app.command(epilog="Example:  [cyan]wayfold bench papers --paper hierarchy --data DIR --full --out report/[/]")
def papers(
    data: Annotated[Path, typer.Option(envvar="WAYFOLD_DATA", help="Folder of real maps and meshes.")],
    paper: Annotated[str, typer.Option(help="Which paper: hierarchy or sparse-grid.")],
    full: Annotated[bool, typer.Option("--full/--quick", help="All of it, or a tenth.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the report as JSON and its plots.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """The tables and figures of a paper, beside ours, on real maps."""
    from wayfold.cli.papers import run

    run(data, paper, full, out, json, quiet)


@app.command()
def warmup(quiet: Quiet = False) -> None:
    """Compile every kernel once, so that no later run has to."""
    from wayfold.cli.warmup import run

    run(quiet)
