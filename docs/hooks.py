"""What MkDocs runs while it builds: pages that are written from the commands and from the schemas of files."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

import typer

from wayfold.cli.app import app
from wayfold.formats.load import _KINDS

MARK = "<!-- commands -->"
SCHEMAS = "<!-- schemas -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the description of every command, or of every kind of file, where its mark is."""
    if MARK in markdown:
        markdown = markdown.replace(MARK, "\n".join(describe(typer.main.get_command(app), "wayfold")))
    if SCHEMAS in markdown:
        markdown = markdown.replace(SCHEMAS, "\n".join(schemas()))
    return markdown


def schemas() -> Iterator[str]:
    """A section for each kind of `.wayfold` file, from the schema that saving and loading check."""
    for kind, (module, name) in _KINDS.items():
        schema = getattr(importlib.import_module(module), name)._SCHEMA
        yield f"## {kind}\n\nA `{name}`.\n\n{schema.table()}\n"


def describe(command: Any, name: str) -> Iterator[str]:
    """A section for a command; for a group, those of its commands."""
    if hasattr(command, "commands"):
        for word, inner in command.commands.items():
            yield from describe(inner, f"{name} {word}")
        return
    arguments = [option for option in command.params if option.param_type_name == "argument"]
    options = [option for option in command.params if option.param_type_name == "option"]
    usage = " ".join([name, *(option.name.upper() for option in arguments), "[OPTIONS]"])
    yield f"## {name}\n\n{command.help}\n\n    {usage}\n\n| | |\n|---|---|"
    for option in arguments:
        yield f"| `{option.name.upper()}` | {cell(option.help)} |"
    for option in options:
        words = ", ".join(f"`{word}`" for word in [*option.opts, *option.secondary_opts])
        default = f" (default {option.default})" if option.default not in (None, False, True) else ""
        yield f"| {words} | {cell(option.help)}{default} |"
    examples = re.findall(r"\[cyan\](.*?)\[/\]", command.epilog or "")
    if examples:
        yield "\nFor example:\n\n" + "\n".join(f"    {example}" for example in examples)
    yield ""


def cell(text: str | None) -> str:
    """A help text inside a table."""
    return (text or "").replace("|", "\\|")
