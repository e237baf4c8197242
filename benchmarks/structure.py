"""How large the package is and how many files a call runs through: ``python -m benchmarks structure``.

Figures that tell how hard the code is to see, for comparing one commit with another.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import wayfold
from wayfold import Agent, World, samples
from wayfold.navmesh import NavMesh
from wayfold.world import Box

PACKAGE = Path(wayfold.__file__).parent
_OF_NAMED_TUPLES = {"_replace", "_fields", "_asdict", "_make"}


def measure(folder: Path = PACKAGE) -> dict[str, int]:
    """Files, lines and names of the package in a folder."""
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(folder.rglob("*.py"))}
    classes = Counter(node.name for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return {
        "files": len(trees),
        "lines of code": sum(map(code_lines, trees.values())),
        "modules that one sibling imports": len(single_importers(trees, folder)),
        "accesses to other packages' private names": len(private_accesses(trees, folder)),
        "class names that occur twice": sum(count > 1 for count in classes.values()),
    }


def code_lines(tree: ast.Module) -> int:
    """Number of lines that hold code: no blank lines, comments and docstrings."""
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias):
            # A statement with a body counts by its head; what is in the body counts itself.
            lines.add(node.lineno)
            if not isinstance(node, ast.stmt) and node.end_lineno is not None:
                lines.add(node.end_lineno)
    return len(lines - docstrings)


def module_name(file: Path, folder: Path) -> str:
    """``wayfold.grid.sparse`` for the file ``grid/sparse.py`` of the folder ``wayfold``."""
    parts = (folder.name, *file.relative_to(folder).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.Module, names: set[str]) -> Iterator[str]:
    """The modules among `names` that a module imports, also where it imports them from their package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name for name in inside if name in names)
            if node.module in names and not all(name in names for name in inside):
                yield node.module


def single_importers(trees: dict[Path, ast.Module], folder: Path) -> list[str]:
    """Modules that one module of their own package imports and no other; what a package exports is not among them."""
    names = {module_name(file, folder): file for file in trees}
    importers: dict[str, set[str]] = {name: set() for name in names}
    for name, file in names.items():
        for imported in imports(trees[file], set(names)):
            importers[imported].add(name)
    found = []
    for name, by in importers.items():
        files = [names[other] for other in by - {name}]
        if len(files) == 1 and files[0].parent == names[name].parent and files[0].name != "__init__.py":
            found.append(name)
    return sorted(found)


def private_accesses(trees: dict[Path, ast.Module], folder: Path) -> list[str]:
    """Where a module names a private module, function or attribute of another package, as ``file:line name``.

    An attribute counts when another package defines a private name that reads like it and its own package does not.
    """
    defined: dict[str, set[str]] = {}
    for file, tree in trees.items():
        defined.setdefault(_package(file, folder), set()).update(filter(_private, _defined(tree)))
    found = []
    for file, tree in trees.items():
        package, where, here = _package(file, folder), file.relative_to(folder), []
        foreign = set[str]().union(*(names for other, names in defined.items() if other != package)) - defined[package]
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in foreign:
                here.append((node.lineno, node.attr))
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                path = [*node.module.split("."), *(alias.name for alias in node.names)]
                if path[0] == folder.name and path[1:2] != [package] and any(map(_private, path)):
                    here.append((node.lineno, node.module))
        found += [f"{where}:{line} {name}" for line, name in sorted(here)]
    return found


def _package(file: Path, folder: Path) -> str:
    """The package that a module belongs to; what lies beside the packages belongs to none of them."""
    parts = file.relative_to(folder).parts
    return parts[0] if len(parts) > 1 else ""


def _private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in _OF_NAMED_TUPLES


def _defined(tree: ast.Module) -> set[str]:
    """Names that a module defines: functions, classes, fields, slots and what is assigned, of ``self`` too."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return found


def trace(action: Callable[[], Any]) -> dict[str, int]:
    """Python calls of the package that an action makes, their files, and how often the file changes."""
    calls, changes = 0, 0
    files: Counter[str] = Counter()
    last = ""

    def look(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls, changes, last
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(str(PACKAGE)):
            return
        calls += 1
        files[file] += 1
        changes += last not in ("", file)
        last = file

    sys.setprofile(look)
    try:
        action()
    finally:
        sys.setprofile(None)
    return {"calls": calls, "files": len(files), "changes of file": changes}


def traces() -> dict[str, dict[str, int]]:
    """A query, an edit, the build of one tile and the opening of a world, each after it was run once."""
    mesh, agent = samples.city((60.0, 60.0), seed=5), Agent()
    world = World.from_mesh(mesh)
    planner = world.planner(agent)
    start, goal = planner.random_points(2, seed=1)
    first = Box((10.0, 10.0, -1.0), (12.0, 12.0, 3.0))
    second = Box((20.0, 20.0, -1.0), (22.0, 22.0, 3.0))
    actions: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
        ("planner.path(start, goal)", lambda: planner.path(start, goal), lambda: planner.path(start, goal)),
        ("world.block(box)", lambda: world.block(first), lambda: world.block(second)),
        ("NavMesh.build(mesh, agent)", lambda: NavMesh.build(mesh, agent), lambda: NavMesh.build(mesh, agent)),
        ('World.sample("rooms")', lambda: World.sample("rooms"), lambda: World.sample("rooms")),
    ]
    found = {}
    for name, once, again in actions:
        once()
        found[name] = trace(again)
    return found
