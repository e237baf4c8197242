"""What the README shows works as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = [
    pytest.param(match.group(1), id=f"{file.name}-{number}")
    for file in (ROOT / "README.md",)
    for number, match in enumerate(re.finditer(r"```python\n(.*?)```", file.read_text(encoding="utf-8"), re.DOTALL))
]


@pytest.mark.parametrize("code", BLOCKS)
def test_every_code_block_runs_and_prints(code, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.strip()


def test_every_picture_and_command_is_there():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
        assert (ROOT / picture).is_file(), picture
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for target in re.findall(r"^    make ([a-z-]+)", text, re.MULTILINE):
        assert target in targets
