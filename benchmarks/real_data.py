"""The folder of real maps and meshes: each part of a benchmark asks for its files, and what is not there is noted."""

from __future__ import annotations

from pathlib import Path

from wayfold.errors import ParameterError


class RealData:
    """Real data that may be there in part, or not at all.

    Parameters
    ----------
    folder : path, optional
        The folder that ``--data`` names; without it nothing is there.

    Attributes
    ----------
    missing : list of str
        A sentence for each thing that was asked for and is not there.
    """

    def __init__(self, folder: Path | None) -> None:
        if folder is not None and not folder.is_dir():
            raise ParameterError(f"the data folder {folder} does not exist")
        self.folder = folder
        self.missing: list[str] = []

    def find(self, pattern: str, what: str) -> list[Path]:
        """Files of the folder by a pattern such as ``movingai/dao/*.map``; when there are none, `what` is noted."""
        found = [] if self.folder is None else sorted(self.folder.glob(pattern))
        if not found:
            reason = f"there is no {pattern} in it" if self.folder else "it was not named (--data DIR)"
            self.missing.append(f"{what}: not measured, as this needs the folder of real data, and {reason}")
        return found

    def file(self, name: str, what: str) -> Path | None:
        """One file of the folder, or None, noted."""
        found = self.find(name, what)
        return found[0] if found else None
