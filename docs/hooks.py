"""What MkDocs runs while it builds: the command line's page is written from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from wayfold.cli.app import app

MARK = "<!-- commands -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the description of every command where the mark is."""
    if MARK not in markdown:
        return markdown
    return markdown.replace(MARK, "\n".join(describe(typer.main.get_command(app), "wayfold")))


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
