"""One list of ready-made agents for the demo, the viewer and the commands."""

from __future__ import annotations

import json
import re

import pytest
import typer

from wayfold import Agent, cli
from wayfold.agent import CHARACTER_NOTES, CHARACTERS, agent_named
from wayfold.cli import demo
from wayfold.cli.app import app
from wayfold.errors import ParameterError
from wayfold.view.viewer import page, session


def test_every_ready_made_agent_has_a_sentence():
    assert list(CHARACTERS) == list(CHARACTER_NOTES)
    assert CHARACTERS["person"] == Agent()
    for note in CHARACTER_NOTES.values():
        assert re.fullmatch(r"[A-Z][^.]+\.", note)


def test_agents_are_found_by_name_and_others_refused():
    assert all(agent_named(name) is agent for name, agent in CHARACTERS.items())
    with pytest.raises(ParameterError, match="unknown agent 'dog': choose from person, cart, spider, bird"):
        agent_named("dog")


def test_the_demo_and_the_viewer_offer_them():
    assert demo.CHARACTERS is session.CHARACTERS is page.CHARACTERS is CHARACTERS


@pytest.mark.parametrize("command", ["path", "build"])
def test_the_help_of_every_command_names_them(command):
    options = {option.name: option for option in typer.main.get_command(app).commands[command].params}
    for name in CHARACTERS:
        assert name in options["agent"].help


@pytest.mark.parametrize("arguments", [("--map", "navmesh", "--agent", "bird"), ("--agent", "dog")])
def test_agents_that_do_not_walk_or_are_unknown_are_refused(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["wayfold", "build", "sample:rooms", str(tmp_path / "out.wayfold"), *arguments])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert "for agents that walk" in said or "unknown agent 'dog'" in said


def test_a_map_is_built_for_an_agent_by_name_and_sizes_of_its_own(tmp_path, monkeypatch, capsys):
    out = str(tmp_path / "out.wayfold")
    words = ["build", "sample:rooms", out, "--map", "navmesh", "--agent", "cart", "--radius", "0.5", "--json"]
    monkeypatch.setattr("sys.argv", ["wayfold", *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert not end.value.code
    facts = json.loads(capsys.readouterr().out)
    assert "radius=0.5" in facts["agent"]
    assert "climb=0.2" in facts["agent"]
