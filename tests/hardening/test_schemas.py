"""The page about files says what files hold: its tables are the schemas that saving and loading check."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from tests.hardening import things
from wayfold.core.schema import restored
from wayfold.errors import FormatError

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def page():
    spec = importlib.util.spec_from_file_location("hooks", DOCS / "hooks.py")
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    text = hooks.on_page_markdown((DOCS / "reference" / "files.md").read_text(encoding="utf-8"))
    return {section.split("\n", 1)[0]: section for section in text.split("\n## ")[1:]}


@pytest.mark.parametrize("name", things.SAVED)
def test_the_page_about_files_names_everything_that_a_file_holds(page, name):
    thing = things.SAVED[name].make()
    section = page[thing._SCHEMA.kind]
    rows = dict(re.findall(r"^\| `([^`]+)`( \(meta\))? \|", section, re.MULTILINE))
    parts = thing._to_parts()
    for array in parts.arrays:
        assert array in rows or re.sub("/.*", "/*", array) in rows
    for key in parts.meta:
        assert rows[key] == " (meta)"
    for check in thing._SCHEMA.checks:
        assert f"- {check.__doc__.splitlines()[0]}" in section


@pytest.mark.parametrize("name", things.SAVED)
def test_every_line_of_a_schema_is_checked(name):
    """Whatever array or entry is left out or of another type is missed."""
    thing = things.SAVED[name].make()
    parts = thing._to_parts()
    restored(type(thing), parts)
    for key, array in parts.arrays.items():
        other = {**parts.arrays, key: array.astype(np.complex128)}
        with pytest.raises(FormatError, match=re.escape(key)):
            restored(type(thing), parts._replace(arrays=other))
    for key in parts.meta:
        with pytest.raises(FormatError, match=key):
            restored(type(thing), parts._replace(meta={**parts.meta, key: object()}))
