"""The examples in docstrings run as they stand, and every public class, function and method has one."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import wayfold

SOURCE = Path(wayfold.__file__).parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(node, name):
    """Every docstring below a syntax tree: the dotted name that it belongs to, its text and the lines before it."""
    text = ast.get_docstring(node)
    if text is not None:
        yield name, text, node.body[0].lineno - 1
    for child in node.body:
        if isinstance(child, _DEFINITIONS):
            yield from docstrings(child, f"{name}.{child.name}")


def examples():
    """The docstrings with an example, each a parameter with its module; nothing is imported to find them."""
    for file in sorted(SOURCE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if ">>>" in text:
            parts = file.relative_to(SOURCE).with_suffix("").parts
            module = ".".join(["wayfold", *(part for part in parts if part != "__init__")])
            for name, docstring, line in docstrings(ast.parse(text), module):
                if ">>>" in docstring:
                    yield pytest.param(module, docstring, name, line, id=name.removeprefix("wayfold."))


@pytest.mark.filterwarnings("error:.* is now :DeprecationWarning")
@pytest.mark.parametrize(("module", "docstring", "name", "line"), list(examples()))
def test_the_example_of_a_docstring_runs_and_prints_what_it_shows(module, docstring, name, line, tmp_path, monkeypatch):
    """With the names of its module and in an empty folder; it may use no deprecated name."""
    monkeypatch.chdir(tmp_path)
    loaded = importlib.import_module(module)
    example = doctest.DocTestParser().get_doctest(docstring, dict(vars(loaded)), name, loaded.__file__, line)
    said = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=said.append)
    assert not result.failed, "".join(said)


def public():
    """Every public class, function and method that the public names reach, by its name.

    A property is documented by its class, and the methods of a protocol by the classes that have them.
    """
    found = {}
    for module in [wayfold, *map(importlib.import_module, packages())]:
        for word in getattr(module, "__all__", ()):
            value = getattr(module, word)
            members = vars(value).values() if inspect.ismodule(value) and not hasattr(value, "__all__") else [value]
            for member in members:
                add(member, found)
    return dict(sorted(found.items()))


def packages():
    return sorted(f"wayfold.{file.parent.name}" for file in SOURCE.glob("*/__init__.py"))


def add(value, found):
    """A class with its methods, or a function, if it is of this package."""
    if not is_ours(value):
        return
    found[full_name(value)] = value
    if inspect.isclass(value) and not getattr(value, "_is_protocol", False):
        for name, _ in inspect.getmembers(value, is_function):
            method = inspect.unwrap(getattr(value, name))
            if not name.startswith("_") and is_ours(method):
                found[full_name(method)] = method


def full_name(value):
    """The package that holds it and its name there; in which file it stands does not matter."""
    return f"{value.__module__.split('.')[1]}.{value.__qualname__}"


def is_function(value):
    return inspect.isfunction(value) or inspect.ismethod(value)


def is_ours(value):
    """Whether it is a class or function of Wayfold that is there to stay under its name."""
    if not inspect.isclass(value) and not is_function(value):
        return False
    known = str(value.__module__).startswith("wayfold") and not value.__name__.startswith("_")
    return known and not hasattr(value, "__deprecated__")


def test_every_public_class_function_and_method_has_an_example():
    without = [name for name, value in public().items() if ">>>" not in (value.__doc__ or "")]
    assert not without, "give each of these an example (>>>) that runs:\n" + "\n".join(without)
