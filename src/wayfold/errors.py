"""The one tree of errors that Wayfold raises for what a user gave it.

Every message is one sentence that says what is wrong and where, so that the command line can print it as it is.
"No path" is not an error: it is a `Path` whose status says why.
"""

from __future__ import annotations

import os

_LONGEST_MESSAGE = 380  # characters
_LONGEST_NAME = 200  # characters of a file's name in a message


def _names_file(file: object) -> bool:
    return isinstance(file, (str, bytes, os.PathLike))


class WayfoldError(Exception):
    """Base of every error that Wayfold raises on purpose; a message is cut where what it quotes is too long to read."""

    def __init__(self, *args: object) -> None:
        if args and isinstance(args[0], str) and len(args[0]) > _LONGEST_MESSAGE:
            half = _LONGEST_MESSAGE // 2
            args = (f"{args[0][:half]} ... {args[0][-half:]}", *args[1:])
        super().__init__(*args)


class ParameterError(WayfoldError, ValueError):
    """A setting is outside its limits or of the wrong kind."""


class GeometryError(WayfoldError, ValueError):
    """Geometry cannot be used: NaN coordinates, no triangles, a polygon that crosses itself."""


class OffMapError(WayfoldError, ValueError):
    """A point or node is not on the map."""


class EditError(WayfoldError, ValueError):
    """An edit cannot be applied; the map is as it was before."""


class FormatError(WayfoldError, ValueError):
    """A file is not what its format asks for.

    Parameters
    ----------
    message : str
        What is wrong, without the file name.
    file : path, optional
        The file that is being read.
    line : int, 1-based, optional
        Where in the file, when the format has lines.
    """

    def __init__(self, message: str, file: str | os.PathLike[str] | None = None, line: int | None = None) -> None:
        self.message = message
        self.file = None if file is None else os.fsdecode(file) if _names_file(file) else str(type(file).__name__)
        self.line = line
        where = "" if self.file is None else self.file
        if len(where) > _LONGEST_NAME:
            where = f"... {where[-_LONGEST_NAME:]}"
        if isinstance(line, int):
            where += f":{line}" if where else f"line {line}"
        said = message if isinstance(message, str) else type(message).__name__
        super().__init__(f"{where}: {said}" if where else said)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.message, self.file, self.line)


class VersionError(FormatError):
    """A file was written in a version of its format that this Wayfold does not read."""


class MissingDependencyError(WayfoldError, ImportError):
    """An optional library is needed; the message names the extra that installs it."""
