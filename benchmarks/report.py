"""The report folder: a JSON file and a page for each thing that was measured, and a first page that sums them up.

The pages are written from the JSON files, so papers may be measured one after another, on different days or with
different settings: each page says its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.harness import Machine, machine
from benchmarks.verdicts import Headline, Listing, Row, Table, Tally
from wayfold.core import archive
from wayfold.core.text import show, to_json
from wayfold.errors import FormatError, ParameterError

FIRST_PAGE = "index.md"
Tables = Sequence[Table | Listing]
_HOW = (
    "Every figure was measured by `python -m benchmarks`, which checks each answer that it times. The rule in a row",
    "decides its verdict; a row without a rule has none. The ratio is our figure divided by the paper's. Different",
    "machines and years stand between the two, so rules compare figures of one run wherever they can.",
)


@dataclass
class Report:
    """What was measured in one run, and where and when.

    Parameters
    ----------
    name : str
        Name of the JSON file in the report folder.
    setting : str
        "quick", "full" or whatever else says how much was measured.
    load : (float, float)
        Load average of the machine, over a minute, when the run began and when it ended: more than one process's
        worth says that others were running.
    missing : list of str
        What was not measured, and why.
    pictures : dict
        Captions by file name, in the report folder.
    """

    name: str
    title: str
    setting: str
    found: dict[str, Any]
    date: str
    seconds: float
    machine: dict[str, Any]
    load: tuple[float, float]
    missing: list[str] = field(default_factory=list)
    pictures: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """Name of the JSON file."""
        return f"{self.name.replace('-', '_')}.json"


class Stopwatch:
    """When a run began, and how busy the machine was."""

    def __init__(self) -> None:
        self.began = datetime.now(UTC)
        self.load = _load()

    def report(
        self, name: str, title: str, setting: str, found: dict[str, Any], *libraries: str, missing: list[str]
    ) -> Report:
        """The report of a run that has just ended."""
        ended = datetime.now(UTC)
        return Report(
            name=name,
            title=title,
            setting=setting,
            found=found,
            date=self.began.strftime("%Y-%m-%d"),
            seconds=(ended - self.began).total_seconds(),
            machine=asdict(machine(*libraries)),
            load=(self.load, _load()),
            missing=missing,
        )


def _load() -> float:
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:  # not every system tells
        return float("nan")


def write(report: Report, tables: Tables, folder: Path) -> None:
    """Write the JSON file of a report: what was found, and its tables with verdicts."""
    text = to_json({**asdict(report), "tables": [table.as_dict() for table in tables]})
    with archive.replacing(folder / report.file) as out:
        out.write(f"{text}\n".encode())


def read(folder: Path, names: Sequence[str]) -> list[Report]:
    """The reports of some names that lie in a folder."""
    found = []
    for name in names:
        file = folder / f"{name.replace('-', '_')}.json"
        if not file.is_file():
            continue
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            content.pop("tables")
            found.append(Report(**content))
        except (ValueError, TypeError, KeyError):
            raise FormatError(
                "not a report of this version; remove it, or name another folder with --out", file
            ) from None
    return found


def write_pages(
    reports: Sequence[Report],
    tables: Callable[[Report], Tables],
    headlines: Callable[[Report], Sequence[Headline]],
    folder: Path,
) -> Path:
    """Write the first page and a page for each report; return the first page's file."""
    made = [(report, tables(report), headlines(report)) for report in reports]
    for name, text in pages(made).items():
        with archive.replacing(folder / name) as out:
            out.write(text.encode())
    return folder / FIRST_PAGE


def pages(made: Sequence[tuple[Report, Tables, Sequence[Headline]]]) -> dict[str, str]:
    """The pages as Markdown, by the names of their files: a summary, and all tables of each report."""
    result = {FIRST_PAGE: _first_page(made)}
    for report, tables, _ in made:
        result[f"{report.name}.md"] = "\n".join(_report_page(report, tables)).rstrip() + "\n"
    return result


def _first_page(made: Sequence[tuple[Report, Tables, Sequence[Headline]]]) -> str:
    """What a person reads in a minute: how many rules are met, and a few figures of each report."""
    columns = ("", "setting", "met", "missed", "not measured", "took", "date")
    lines = ["# Results", "", *_HOW, ""]
    lines += _markdown(columns, [_summary(report, Tally.of(tables)) for report, tables, _ in made])
    for report, tables, headlines in made:
        rows = _headlines(tables, headlines)
        if rows:
            lines += [f"## {report.title}", "", *_markdown(("", "paper", "ours", "verdict"), rows)]
    return "\n".join(lines).rstrip() + "\n"


def _summary(report: Report, tally: Tally) -> tuple[str, ...]:
    counts = (str(tally.met), str(tally.missed), str(tally.not_measured))
    return (f"[{report.title}]({report.name}.md)", report.setting, *counts, duration(report.seconds), report.date)


def _headlines(tables: Tables, headlines: Sequence[Headline]) -> list[tuple[str, ...]]:
    """The rows that stand on the first page; what was not measured in this run is left out."""

    def row(headline: Headline) -> Row | None:
        rows = (row for table in tables if isinstance(table, Table) for row in table.rows if headline.names(table, row))
        return next(rows, None)

    found = ((headline, row(headline)) for headline in headlines)
    return [
        (headline.text, show(row.paper), show(row.ours), row.verdict)
        for headline, row in found
        if row is not None and row.ours is not None
    ]


def _report_page(report: Report, tables: Tables) -> list[str]:
    where = Machine(**report.machine)
    versions = ", ".join(f"{name} {version}" for name, version in where.libraries.items())
    before, after = ("unknown" if value is None else f"{value:.1f}" for value in report.load)
    lines = [
        f"# {report.title}",
        "",
        *_HOW,
        "",
        f"Measured on {report.date} ({report.setting}, {duration(report.seconds)}). Machine: {where.processor}, "
        f"{where.cores} cores, {where.system}, Python {where.python}, {versions}. Load of the machine: {before} when "
        f"it began, {after} when it ended.",
        "",
    ]
    if max((value for value in report.load if value is not None), default=0.0) > where.cores:
        lines += [
            "**The machine had more to do than it has cores:** times and the gain of threads are worse than alone.",
            "",
        ]
    if report.missing:
        lines += [f"- {text}" for text in report.missing] + [""]
    if missed := Tally.of(tables).missed_rows:
        lines += ["## What was missed", "", *(f"- {row}" for row in missed), ""]
    for file, caption in report.pictures.items():
        lines += [f"![{caption}]({file})", "", f"_{caption}_", ""]
    for table in tables:
        lines += [f"## {table.title}", ""]
        if table.note:
            lines += [table.note, ""]
        lines += _markdown(table.columns, table.cells())
    return lines


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return [line(columns), line(["---", *["---:"] * (len(columns) - 1)]), *map(line, rows), ""]


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def check_folder(folder: Path, names: Sequence[str]) -> None:
    """Refuse a report folder that is a file, or that holds reports which cannot be read, before any work is done."""
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder} is not a folder: --out names a folder for the report and its plots")
    read(folder, names)
