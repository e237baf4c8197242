"""`wayfold bench papers`: the tables of the papers, beside ours."""

from __future__ import annotations

from pathlib import Path

from wayfold.bench import papers, report
from wayfold.bench.real_data import RealData
from wayfold.bench.report import Report, Stopwatch, Tables
from wayfold.bench.verdicts import Tally
from wayfold.cli._output import print_json, print_table, progress, say
from wayfold.floorplan import FloorPlan
from wayfold.view import evidence


def run(folder: Path | None, name: str | None, full: bool, out: Path, json: bool, quiet: bool) -> None:
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
            made.pictures = evidence.write_plots(paper.module, found, out, _drawn(paper, RealData(folder)))
        tables = paper.tables(found)
        # Each paper is whole on disk before the next one begins, so that stopping a long run loses only what runs.
        report.write(made, tables, out)
        page = report.write_page(report.read(out, sections()), tables_of, out)
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
    from wayfold.bench import decomposition

    return {name: make() for name, make in list(decomposition.levels(data, full=False).items())[:5]}


def sections() -> tuple[str, ...]:
    """Names of all that a report folder may hold, in the order of its page."""
    return (*papers.PAPERS, "peers")


def tables_of(made: Report) -> Tables:
    """The tables of any report of a folder."""
    if made.name in papers.PAPERS:
        return papers.PAPERS[made.name].tables(made.found)
    from wayfold.bench.tables.peers import tables

    return tables(made.found)


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
