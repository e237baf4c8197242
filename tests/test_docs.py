"""What the README and the pages of the documentation show works as it stands."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import math
import re
import shlex
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import typer
from shapely import box

import wayfold
from tests.formats.samples import bsp
from wayfold import Mesh, formats
from wayfold.cli import main
from wayfold.cli.app import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")] + sorted((ROOT / "docs").rglob("*.md"))
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^(?: {4})?(?:\$ )?((?:wayfold|make|pip|python|mkdocs) .*)$", re.MULTILINE)
NUMBER = r"-?\d[\d,]*(?:\.\d*)?(?:e-?\d+)?"
# Commands that measure for minutes on real data or serve a page until they are stopped: their words are checked against
# the command line's own parser. Tests of their own run them.
ONLY_PARSED = ("bench", "view", "demo")


def name(page):
    return str(page.relative_to(ROOT))


def python_blocks(page):
    """The page's Python code in order, each with the output that the page shows right behind it, or None."""
    found = [(match.group(1), match.group(2), match) for match in FENCE.finditer(page.read_text(encoding="utf-8"))]
    for at, (language, code, match) in enumerate(found):
        if language == "python":
            after = found[at + 1] if at + 1 < len(found) else None
            follows = after and after[0] == "text" and not match.string[match.end() : after[2].start()].strip()
            yield code, after[1] if follows else None


def commands(page):
    """Every command line of the page that is shown as a block, without its comment."""
    text = page.read_text(encoding="utf-8")
    shell = [code for language, code in FENCE.findall(text) if language in ("sh", "console", "bash")]
    indented = "\n".join(line for line in FENCE.sub("", text).splitlines() if line.startswith("    "))
    for line in COMMAND.findall("\n".join([*shell, indented])):
        yield re.sub(r"\s+#.*", "", line)


CODE = [pytest.param(page, id=name(page)) for page in PAGES if any(python_blocks(page))]
LINES = [pytest.param(page, id=name(page)) for page in PAGES if any(commands(page))]


@pytest.mark.parametrize("page", CODE)
def test_the_code_of_a_page_runs_from_top_to_bottom_and_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WAYFOLD_CACHE", str(tmp_path / "cache"))
    names = {"__name__": "__main__"}
    printed = ""
    for code, expected in python_blocks(page):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, name(page), "exec"), names)
        printed += out.getvalue()
        if expected is not None:
            shown = f"{name(page)} shows\n{expected}but its code prints\n{out.getvalue()}"
            assert same_output(expected, out.getvalue()), shown
    assert printed.strip()


def same_output(expected, printed):
    """Whether the words are those that the page shows, and numbers within a tenth; ``...`` stands for anything."""
    words = re.findall(rf"\.\.\.|{NUMBER}|\s+|.", expected.strip())
    numbers = [word for word in words if re.fullmatch(NUMBER, word)]
    pattern = ""
    for word in words:
        if word == "...":
            pattern += ".*?"
        elif re.fullmatch(NUMBER, word):
            pattern += f"({NUMBER})"
        else:
            pattern += r"\s+" if word.isspace() else re.escape(word)
    found = re.fullmatch(pattern, printed.strip(), re.DOTALL)
    return found is not None and all(
        math.isclose(float(shown.replace(",", "")), float(real.replace(",", "")), rel_tol=0.1, abs_tol=0.051)
        for shown, real in zip(numbers, found.groups(), strict=True)
    )


@pytest.mark.parametrize("page", LINES)
def test_the_commands_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WAYFOLD_CACHE", str(tmp_path / "cache"))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for line in commands(page):
        program, *words = shlex.split(line)
        if program == "wayfold":
            run_command(line, words, monkeypatch)
        elif program == "make":
            assert words[0] in targets, line
        elif program == "pip":
            assert set(re.findall(r"\[(.*)\]", line)[0].split(",") if "[" in line else ()) <= set(extras), line
        elif program == "python":
            assert words[0] == "-m" or (ROOT / words[0]).is_file(), line


def run_command(line, words, monkeypatch):
    """Run a command in this folder with the files that it reads in place; it must end well."""
    if words[0] in ONLY_PARSED:
        parse(words)
        return
    for word in words:
        prepare(word, "y" if "--up y" in line else "z")
    monkeypatch.setattr(sys, "argv", ["wayfold", *words])
    out, wrong = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(wrong), pytest.raises(SystemExit) as end:
        main()
    assert end.value.code in (0, None), f"{line}: {wrong.getvalue()}{out.getvalue()}"
    for word in words:
        assert not word.endswith(".png") or Path(word).stat().st_size > 1000, line


def parse(words):
    """Let the command line parse the words, as it would before it runs the command."""
    command = typer.main.get_command(app)
    while hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    command.make_context(command.name, list(words))


def prepare(word, up):
    """The small file that a command names, if it is one to be read and not there yet."""
    file = Path(word)
    if file.exists():
        return
    if word.endswith(".map"):
        cells = np.full((80, 100), ord("."), np.uint8)
        cells[12:70, 50] = cells[30, 5:45] = ord("@")
        formats.save_map(formats.MovingAiMap(cells), file)
    elif word.endswith(".obj"):
        mesh = yard()
        if up == "y":
            mesh = Mesh(mesh.vertices[:, [0, 2, 1]] * (1, 1, -1), mesh.triangles)
        formats.save_mesh(mesh, file)
    elif word.endswith(".bsp"):
        file.write_bytes(bsp())
    elif word.endswith(".geojson"):
        ground = {"swamp": box(0, 0, 100, 60), "road": box(0, 25, 100, 31)}
        formats.save_geojson([formats.Feature(part, {"name": kind}) for kind, part in ground.items()], file)


def yard():
    """Ground of 100 x 100 m with a platform, a ramp up to it and a wall."""
    ground = Mesh([(0, 0, 0), (100, 0, 0), (100, 100, 0), (0, 100, 0)], [(0, 1, 2), (0, 2, 3)])
    platform = Mesh([(36, 8, 3), (46, 8, 3), (46, 16, 3), (36, 16, 3)], [(0, 1, 2), (0, 2, 3)])
    ramp = Mesh([(26, 8, 0), (36, 8, 3), (36, 16, 3), (26, 16, 0)], [(0, 1, 2), (0, 2, 3)])
    wall = Mesh([(20, 60, 0), (80, 60, 0), (80, 60, 4), (20, 60, 4)], [(0, 1, 2), (0, 2, 3), (0, 2, 1), (0, 3, 2)])
    return Mesh.concatenate([ground, platform, ramp, wall])


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_picture_and_linked_page_is_there(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).is_file(), target


def test_every_page_is_in_the_navigation_and_every_picture_on_a_page():
    contents = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    for page in (ROOT / "docs").rglob("*.md"):
        assert str(page.relative_to(ROOT / "docs")) in contents, page
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.name in text + contents, f"{picture.name} is on no page"


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("[am]*s/*.md")), ids=name)
def test_the_page_of_a_map_has_a_picture_and_says_when_to_use_it_its_limits_and_its_paper(page):
    text = page.read_text(encoding="utf-8")
    for part in (r"!\[.+\]\(\.\./images/", "^## When to use it$", "^## Limits$", r"^(## The paper|## Paper|Papers?: )"):
        assert re.search(part, text, re.MULTILINE), part


def public_names():
    """Every name that the package or a package calls public."""
    yield from (f"wayfold.{word}" for word in wayfold.__all__ if not inspect.ismodule(getattr(wayfold, word)))
    for folder in sorted(Path(wayfold.__file__).parent.glob("*/__init__.py")):
        package = importlib.import_module(f"wayfold.{folder.parent.name}")
        yield from (f"{package.__name__}.{word}" for word in getattr(package, "__all__", ()))


def test_every_test_that_shows_a_promise_is_there():
    """A name that begins with two colons belongs to the file before it."""
    file = None
    for path, test in re.findall(r"`(tests/[\w/.]+)?(?:::(\w+))?`", (ROOT / "docs/promises.md").read_text()):
        if not path and not test:
            continue
        file = ROOT / path if path else file
        assert file is not None, f"{test} comes before any file"
        assert file.exists(), path
        assert not test or f"def {test}(" in file.read_text(), f"{file}::{test}"


def test_every_public_name_is_in_the_reference():
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    described = {resolve(word) for word in re.findall(r"^::: ([\w.]+)$", pages, re.MULTILINE)}
    missing = [word for word in public_names() if resolve(word) not in described and word != "wayfold.__version__"]
    assert not missing


def resolve(word):
    """What a dotted name stands for: the same for a name at the top and in its package."""
    try:
        return id(importlib.import_module(word))
    except ImportError:
        module, _, last = word.rpartition(".")
        return id(getattr(importlib.import_module(module), last))
