"""The report folder: one JSON file for each thing that was measured, and one page about all that lie in the folder.

The page is written from the JSON files, so papers may be measured one after another, on different days or with
different settings: each section says its own.
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
from benchmarks.verdicts import Listing, Table, Tally
from wayfold.core import archive
from wayfold.core.text import to_json
from wayfold.errors import FormatError, ParameterError

PAGE = "index.md"
Tables = Sequence[Table | Listing]


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


def write_page(reports: Sequence[Report], tables: Callable[[Report], Tables], folder: Path) -> Path:
    """Write the page about some reports and return its file."""
    with archive.replacing(folder / PAGE) as out:
        out.write(page(reports, tables).encode())
    return folder / PAGE


def page(reports: Sequence[Report], tables: Callable[[Report], Tables]) -> str:
    """The page as Markdown: a summary, what was missed, and all tables."""
    made = [(report, tables(report)) for report in reports]
    lines = [
        "# Results",
        "",
        "Every figure below was measured by `wayfold bench`, and every answer that was timed was checked. A verdict is",
        "not typed: it is what the rule in its row says of our figure. A row without a rule has no verdict. The ratio",
        "is our figure by the paper's. Other machines and years stand between the two, so where they can, rules ask",
        "for ratios within one run.",
        "",
        *_markdown(
            ("", "setting", "met", "missed", "not measured", "took", "date"),
            [_summary(report, Tally.of(parts)) for report, parts in made],
        ),
    ]
    missed = [(report, Tally.of(parts).missed_rows) for report, parts in made]
    if any(rows for _, rows in missed):
        lines += ["## What was missed", ""]
        lines += [f"- {report.name}: {row}" for report, rows in missed for row in rows]
        lines.append("")
    for report, parts in made:
        lines += _section(report, parts)
    return "\n".join(lines).rstrip() + "\n"


def _summary(report: Report, tally: Tally) -> tuple[str, ...]:
    counts = (str(tally.met), str(tally.missed), str(tally.not_measured))
    return (f"[{report.title}](#{report.name})", report.setting, *counts, duration(report.seconds), report.date)


def _section(report: Report, tables: Tables) -> list[str]:
    where = Machine(**report.machine)
    versions = ", ".join(f"{name} {version}" for name, version in where.libraries.items())
    before, after = ("unknown" if value is None else f"{value:.1f}" for value in report.load)
    lines = [
        f'<a id="{report.name}"></a>',
        "",
        f"## {report.title}",
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
    for file, caption in report.pictures.items():
        lines += [f"![{caption}]({file})", "", f"_{caption}_", ""]
    for table in tables:
        lines += [f"### {table.title}", ""]
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
