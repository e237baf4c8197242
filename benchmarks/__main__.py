"""The benchmarks, in a checkout: ``python -m benchmarks papers | peers | world | navmesh | structure``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wayfold.cli import run_app
from wayfold.cli.app import Json, Quiet

app = typer.Typer(
    help="Measure Wayfold; every benchmark checks the answers that it times.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
Data = Annotated[
    Path | None,
    typer.Option(envvar="WAYFOLD_DATA", help="Folder of real maps and meshes; without it, what can be made is used."),
]


@app.command(epilog="Example:  [cyan]python -m benchmarks peers --data DIR --rounds 5 --out report/[/]")
def peers(
    data: Data = None,
    rounds: Annotated[int, typer.Option(min=1, help="Timed runs of each contender.")] = 3,
    peer: Annotated[list[str] | None, typer.Option(help="Only this peer (may be repeated).")] = None,
    dao: Annotated[str, typer.Option(help="The Dragon Age map that graphs are searched on.")] = "orz900d",
    out: Annotated[Path | None, typer.Option(help="Add it to the report of this folder, or write this .json.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Wayfold against what a user would pick instead: graph, grid, voxel and polygon libraries, and Recast."""
    from benchmarks.run import run_peers

    run_peers(data, rounds, tuple(peer or ()), dao, out, json, quiet)


@app.command(
    epilog="Examples:  [cyan]python -m benchmarks papers --data DIR[/]   |   "
    "[cyan]python -m benchmarks papers --paper hierarchy --data DIR --full --out report/[/]"
)
def papers(
    data: Data = None,
    paper: Annotated[
        str | None, typer.Option(help="Only sparse-grid, decomposition, hierarchy, weighted or subregion.")
    ] = None,
    full: Annotated[bool, typer.Option("--full/--quick", help="All of it (up to two hours), or a tenth.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the page, its plots and the JSON.")] = Path("report"),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """The tables and figures of all five papers, or of one, beside ours, with a verdict for each row."""
    from benchmarks.run import run_papers

    run_papers(data, paper, full, out, json, quiet)


@app.command(epilog="Example:  [cyan]python -m benchmarks world --agents 10000 --width 2339 --depth 2832[/]")
def world(
    agents: Annotated[int, typer.Option(min=1, help="How many go at once.")] = 10_000,
    agent: Annotated[str, typer.Option(help="person, cart, spider or bird.")] = "person",
    width: Annotated[float, typer.Option(min=60, max=6000, help="Of the generated city, metres.")] = 2339.0,
    depth: Annotated[float, typer.Option(min=60, max=6000, help="The same.")] = 2832.0,
    rounds: Annotated[int, typer.Option(min=1, help="Timed runs of each contender.")] = 3,
    edits: Annotated[int, typer.Option(min=1, help="Boxes that are blocked and unblocked.")] = 20,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """A crowd in one city: single queries, batches, fields and edits beside each other."""
    from benchmarks.run import run_world

    run_world((width, depth), agent, agents, rounds, edits, json, quiet)


@app.command(epilog="Example:  [cyan]python -m benchmarks navmesh --data DIR --rounds 3 --json[/]")
def navmesh(
    data: Annotated[Path, typer.Option(envvar="WAYFOLD_DATA", help="Folder of real maps and meshes.")],
    rounds: Annotated[int, typer.Option(min=1, help="Timed runs of each contender.")] = 3,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Navigation meshes beside the figures of Recast and Detour: three sample meshes, aurora and the city."""
    from benchmarks.run import run_navmesh

    run_navmesh(data, rounds, json, quiet)


@app.command(epilog="Example:  [cyan]python -m benchmarks structure --json[/]")
def structure(json: Json = False) -> None:
    """How large the package is: files, lines, names, and how many files a query, an edit and a build run through."""
    from benchmarks.run import run_structure

    run_structure(json)


if __name__ == "__main__":
    run_app(app, "benchmarks")
