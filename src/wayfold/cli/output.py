"""Helpers of the commands: tables, JSON, progress, and points from text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.core.text import show, to_json
from wayfold.errors import ParameterError
from wayfold.path import Path as Route
from wayfold.path import Status


def print_json(value: Any) -> None:
    """Print a value as JSON; numpy numbers and arrays are turned into plain ones, infinity into null."""
    print(to_json(value))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table; all but the first column are right-aligned."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_header=any(columns), pad_edge=False)
    for at, name in enumerate(columns):
        table.add_column(name, justify="left" if at == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(value if isinstance(value, str) else show(value) for value in row))
    # A pipe has no width of its own: give it room, so that no figure is cut.
    console = Console() if sys.stdout.isatty() else Console(width=140)
    console.print(title, style="bold", highlight=False, soft_wrap=True)
    console.print(table)


def print_facts(title: str, facts: dict[str, Any]) -> None:
    """Print names and values below a title."""
    print_table(title, ("", ""), [(name.replace("_", " "), show(value)) for name, value in facts.items()])


def print_no_way(path: Route, whose: str = "on this map") -> None:
    """Print why there is no path, if the goal is unreachable."""
    if path.status is Status.UNREACHABLE:
        print(f"Start and goal are not connected {whose}.")
        print(f"{path.why[0].upper()}{path.why[1:]}.")


def print_picture(file: Path | None) -> None:
    """Print the name of the picture, if one was written."""
    if file is not None:
        print(f"Picture: {file}")


def say(text: str, quiet: bool) -> None:
    """Print a step on stderr where there is no progress bar."""
    if not quiet and not sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)


@contextmanager
def progress(description: str, total: int | None, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A progress bar on stderr; the yielded function moves it one step on and says what comes next."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total)

        def step(text: str) -> None:
            bar.update(task, description=f"{description}: {text}", advance=1)

        yield step


def parse_point(text: str, name: str) -> NDArray[np.float64]:
    """A point from ``x,y`` or ``x,y,z``."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) not in (2, 3) or not np.isfinite(values).all():
        raise ParameterError(f"{name} must be x,y or x,y,z, not {text!r}")
    return np.array(values)


def check_writable(file: Path, endings: Sequence[str]) -> None:
    """Refuse an output file with a wrong ending or in a missing folder, before any work is done."""
    if file.suffix.lower() not in endings:
        raise ParameterError(f"{file} must end in {', '.join(endings)}")
    if not file.parent.is_dir():
        raise ParameterError(f"the folder of {file} does not exist")


def sample_options(source: str, seed: int | None, size: float | None) -> dict[str, Any]:
    """The given options of a sample; --size sets both sides."""
    given = {"seed": seed, "size": None if size is None else (size, size)}
    options = {name: value for name, value in given.items() if value is not None}
    if options and not source.startswith("sample:"):
        raise ParameterError(f"--seed and --size are for samples, and {source} is a file")
    return options


def check_other_file(file: Path, source: str) -> None:
    """Refuse to overwrite the input file."""
    if file.exists() and Path(source).exists() and file.samefile(source):
        raise ParameterError(f"{file} is the input file: write to another file")


def parse_weights(text: str | None) -> dict[str, float]:
    """Weights from ``name=number`` parts with commas between them; ``inf`` is an obstacle."""
    weights: dict[str, float] = {}
    for part in text.split(",") if text else ():
        name, _, value = part.partition("=")
        try:
            weights[name.strip()] = float(value)
        except ValueError:
            raise ParameterError(f"weights must be name=number, such as road=1,swamp=8, not {part!r}") from None
    return weights
