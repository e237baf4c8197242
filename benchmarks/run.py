"""What `python -m benchmarks` does: measure, check, write the report folder and print the tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from benchmarks import harness, navmesh, papers, plots, report, structure, world
from benchmarks.harness import Comparison
from benchmarks.peers import GRAPHS, LIBRARIES, absent, graphs, grids, polygons, recast
from benchmarks.peers.libraries import check_names
from benchmarks.real_data import RealData
from benchmarks.report import Report, Stopwatch, Tables
from benchmarks.tables import peers as peer_tables
from benchmarks.verdicts import Headline, Tally
from wayfold.agent import agent_named
from wayfold.cli.output import print_facts, print_json, print_table, progress, say
from wayfold.core import archive
from wayfold.core.text import plain, to_json
from wayfold.errors import ParameterError
from wayfold.floorplan import FloorPlan

Step = Callable[[str], None]
TITLE = "What a user would pick instead"


def run_papers(folder: Path | None, name: str | None, full: bool, out: Path, json: bool, quiet: bool) -> None:
    """Measure what one paper measures, or all, write the report folder and print the tables."""
    chosen = [papers.named(name)] if name else list(papers.PAPERS.values())
    # What is wrong with a folder is said before anything is measured.
    RealData(folder)
    report.check_folder(out, sections())
    out.mkdir(parents=True, exist_ok=True)
    done = []
    for number, paper in enumerate(chosen):
        watch, data = Stopwatch(), RealData(folder)
        text = f"{paper.name} ({number + 1} of {len(chosen)})"
        with progress(text, None, quiet) as step:
            say(text, quiet)
            found = paper.measure(data, full=full, progress=step)
            setting = "full" if full else "quick"
            made = watch.report(
                paper.name, paper.title, setting, found, "scipy", "shapely", "pymetis", missing=data.missing
            )
            step("plots")
            made.pictures = plots.write_plots(paper.module, found, out, _drawn(paper, RealData(folder)))
        tables = paper.tables(found)
        # Each paper is whole on disk before the next one begins, so that stopping a long run loses only what runs.
        report.write(made, tables, out)
        page = report.write_pages(report.read(out, sections()), tables_of, headlines_of, out)
        done.append((made, tables))
        if not json:
            print_report(made, tables)
    if json:
        print_json(
            [{"name": made.name, "found": made.found, "tables": [t.as_dict() for t in tables]} for made, tables in done]
        )
        return
    print(f"The report is {page}")


def _drawn(paper: papers.Paper, data: RealData) -> dict[str, FloorPlan]:
    """Some of the floor plans that a paper measures, to be drawn."""
    if paper.module != "decomposition":
        return {}
    from benchmarks import decomposition

    return {name: make() for name, make in list(decomposition.levels(data, full=False).items())[:5]}


def sections() -> tuple[str, ...]:
    """Names of all that a report folder may hold, in the order of its first page."""
    return (*papers.PAPERS, "peers")


def tables_of(made: Report) -> Tables:
    """The tables of any report of a folder."""
    if made.name in papers.PAPERS:
        return papers.PAPERS[made.name].tables(made.found)
    return peer_tables.tables(made.found)


def headlines_of(made: Report) -> Sequence[Headline]:
    """The rows of any report of a folder that stand on its first page."""
    return papers.PAPERS[made.name].headlines if made.name in papers.PAPERS else peer_tables.HEADLINES


def print_report(made: Report, tables: Tables) -> None:
    """Print the tables of one report."""
    for table in tables:
        print_table(table.title, table.columns, table.cells())
        if table.note:
            print(f"{table.note}\n")
    for text in made.missing:
        print(text)
    tally, machine = Tally.of(tables), made.machine
    print(
        f"{made.name}: {tally.met} rules met, {tally.missed} missed, {tally.not_measured} not measured; "
        f"{report.duration(made.seconds)}, {machine['processor']}, {machine['cores']} cores, Python {machine['python']}"
    )


def run_peers(
    folder: Path | None, rounds: int, names: tuple[str, ...], dao: str, out: Path | None, json: bool, quiet: bool
) -> None:
    """Compare with other libraries, and report it."""
    check_names(names, (recast.NAME,))
    data = RealData(folder)
    alone = out is not None and out.suffix == ".json"
    if out is not None and not alone:
        report.check_folder(out, sections())
    chosen = names or (*LIBRARIES, recast.NAME)
    watch, missing = report.Stopwatch(), absent(name for name in chosen if name in LIBRARIES)
    with progress("peers", None, quiet) as step:
        say("peers", quiet)
        comparisons = _on_graphs(data, chosen, dao, rounds, step)
        comparisons += _on_grids(data, chosen, rounds, step)
        among = polygons.run(polygons.place(6, 20), _some(chosen, polygons.PEERS), rounds=rounds, progress=step)
        comparisons += [] if among is None else [among]
        if recast.NAME in chosen:
            step("compiling the way to Recast")
            with recast.library() as loaded:
                if loaded is None:
                    missing[recast.NAME] = recast.INSTALL
                else:
                    comparisons += recast.run(loaded, data.folder, queries=100, rounds=rounds, progress=step)
    found = plain({"comparisons": [comparison.as_dict() for comparison in comparisons], "absent": missing})
    made = watch.report(
        "peers", TITLE, "1 round" if rounds == 1 else f"{rounds} rounds", found, *LIBRARIES, missing=data.missing
    )
    if out is not None and alone:
        with archive.replacing(out) as file:
            file.write(f"{to_json({**found, 'machine': made.machine})}\n".encode())
    elif out is not None:
        out.mkdir(parents=True, exist_ok=True)
        report.write(made, tables_of(made), out)
        report.write_pages(report.read(out, sections()), tables_of, headlines_of, out)
    if json:
        print_json({**found, "machine": made.machine})
        return
    print_report(made, tables_of(made))


def _some(chosen: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name in chosen)


def _on_graphs(data: RealData, chosen: tuple[str, ...], dao: str, rounds: int, step: Step) -> list[Comparison]:
    """The city and a Dragon Age map, or a made district where they are not there."""
    names = _some(chosen, GRAPHS)
    if not names:
        return []
    tasks: list[graphs.Task] = []
    step("reading graphs")
    if data.file("city/city_cs03_t48_graph.npz", "the city's navigation graph, a made district is taken instead"):
        assert data.folder is not None
        tasks.append(graphs.city(data.folder))
    if file := data.file(f"movingai/dao/{dao}.map", f"the Dragon Age map {dao}"):
        tasks.append(graphs.dao(file.parents[2], dao))
    return [graphs.run(task, peers=names, rounds=rounds, progress=step) for task in tasks or [graphs.sample()]]


def _on_grids(data: RealData, chosen: tuple[str, ...], rounds: int, step: Step) -> list[Comparison]:
    """A Dragon Age map or a made maze, and a made cube, each library by its own rule."""
    found = []
    for names, make in ((grids.PLANE, partial(grids.plane, data.folder)), (grids.SPACE, grids.space)):
        some = _some(chosen, names)
        grid = make(10) if some else None
        for name in some:
            assert grid is not None
            compared = grids.compare_with(name, grid, rounds=rounds, progress=step)
            found += [] if compared is None else [compared]
    return found


def run_navmesh(data: Path, rounds: int, json: bool, quiet: bool) -> None:
    """Build and query the shared meshes and report it beside Recast's and Detour's figures."""
    if not data.is_dir():
        raise ParameterError(f"the data folder {data} does not exist")
    with progress("bench", 3 + 5 * (rounds + 1), quiet) as step:
        step("sample meshes")
        built = navmesh.samples(data)
        comparisons = [navmesh.any_angle(data, rounds=rounds, progress=step)]
        step("the city")
        mesh, facts = navmesh.city(data)
        comparisons.append(navmesh.city_paths(mesh, data, rounds=rounds, progress=step))
    where = harness.machine()
    if json:
        parts = [comparison.as_dict() for comparison in comparisons]
        print_json({"machine": asdict(where), "samples": built, "city": facts, "comparisons": parts})
        return
    print_table("sample meshes", tuple(built[0]), [tuple(row.values()) for row in built])
    print_facts("city, tiles of 48 columns", facts)
    for comparison in comparisons:
        rows = [(timing.name, f"{timing.median * 1e3:.3f}", f"{timing.ratio:.2f}x") for timing in comparison.timings]
        print_table(comparison.title, ("", "ms a query", "ratio"), rows)
        if comparison.facts:
            print_facts("lengths", comparison.facts)
    print(f"{where.processor}, {where.cores} cores, Python {where.python}, {rounds} rounds, all answers checked")


def run_world(
    size: tuple[float, float], agent: str, agents: int, rounds: int, edits: int, json: bool, quiet: bool
) -> None:
    """Measure a crowd in the generated city and report it."""
    who = agent_named(agent)
    with progress("bench", 2 + 7 * (rounds + 1) + edits, quiet) as step:
        facts, comparisons = world.measure(size, who, agents, rounds=rounds, changes=edits, progress=step)
    where = harness.machine()
    if json:
        parts = [comparison.as_dict() for comparison in comparisons]
        print_json({"machine": asdict(where), "world": facts, "comparisons": parts})
        return
    print_facts(f"a generated city of {size[0]:g} x {size[1]:g} m, {agent}", facts)
    for comparison in comparisons:
        rows = [
            (timing.name, f"{timing.median * 1e6:.1f}", f"{1 / timing.median:,.0f}", f"{1 / timing.ratio:.1f}x")
            for timing in comparison.timings
        ]
        print_table(comparison.title, ("", "us each", "a second", "rate / one by one"), rows)
    print(f"{where.processor}, {where.cores} cores, Python {where.python}, {rounds} rounds, all answers checked")


def run_structure(json: bool) -> None:
    """Count files, lines and names of the package, trace four actions and report it."""
    sizes, traces = structure.measure(), structure.traces()
    if json:
        print_json({"sizes": sizes, "traces": traces})
        return
    print_facts("the package", sizes)
    columns = ("", *next(iter(traces.values())))
    rows = [(name, *(f"{count:,}" for count in counts.values())) for name, counts in traces.items()]
    print_table("what an action runs through", columns, rows)
