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
    """Base of every error that Wayfold raises on purpose: catch it to handle whatever is wrong with an input.

    Messages are cut in the middle where they would be longer than 380 characters.

    >>> import wayfold
    >>> try:
    ...     wayfold.open("missing.obj")
    ... except WayfoldError as error:
    ...     print(error)
    missing.obj: no such file
    """

    def __init__(self, *args: object) -> None:
        if args and isinstance(args[0], str) and len(args[0]) > _LONGEST_MESSAGE:
            half = _LONGEST_MESSAGE // 2
            args = (f"{args[0][:half]} ... {args[0][-half:]}", *args[1:])
        super().__init__(*args)


class ParameterError(WayfoldError, ValueError):
    """A setting is outside its limits or of the wrong kind; the message names the limit.

    >>> from wayfold import Agent
    >>> Agent(radius=-0.4)
    Traceback (most recent call last):
        ...
    wayfold.errors.ParameterError: radius must be at least 0 metres, not -0.4
    """


class GeometryError(WayfoldError, ValueError):
    """Geometry cannot be used: NaN coordinates, no triangles, a polygon that crosses itself.

    >>> from wayfold import Mesh
    >>> Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 3)])
    Traceback (most recent call last):
        ...
    wayfold.errors.GeometryError: triangle 0 names a vertex outside 0 to 2: [0, 1, 3]
    """


class OffMapError(WayfoldError, ValueError):
    """A point or node is not on the map, so there is nothing to search from or to.

    No error is raised where both ends are on the map and nothing joins them: that is a `Path` that is not `found`.

    >>> from wayfold import FloorPlan
    >>> room = FloorPlan([(0, 0), (10, 0), (10, 4), (0, 4)]).decompose()
    >>> try:
    ...     room.path((1, 1), (12, 1))
    ... except OffMapError as error:
    ...     print(error)
    goal (12, 1) lies in no region of the plan
    """


class EditError(WayfoldError, ValueError):
    """An edit cannot be applied; the map is as it was before.

    >>> from wayfold import NavMesh
    >>> mesh = NavMesh.from_polygons([(0, 0), (4, 0), (4, 4), (0, 4)], [[0, 1, 2, 3]])
    >>> try:
    ...     mesh.remove_link(7)
    ... except EditError as error:
    ...     print(error)
    there is no link 7; `links` lists those there are
    """


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

    Attributes
    ----------
    message, file, line
        As given; `file` is a str or None. The text of the error begins with the file and the line.

    Examples
    --------
    >>> import pathlib
    >>> from wayfold import formats
    >>> file = pathlib.Path("broken.map")
    >>> _ = file.write_text("type octile height 2")
    >>> try:
    ...     formats.load_map(file)
    ... except FormatError as error:
    ...     print(error.file, error.line)
    broken.map 1
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
    """A file was written in a version of its format that this Wayfold does not read; write it again, or convert it.

    >>> import pathlib
    >>> from wayfold import formats
    >>> _ = pathlib.Path("room.scen").write_text("version 2")
    >>> formats.load_scen("room.scen")
    Traceback (most recent call last):
        ...
    wayfold.errors.VersionError: room.scen:1: scenario version '2' is not supported; use version 1
    """


class MissingDependencyError(WayfoldError, ImportError):
    """An optional library is needed; the message tells how to install it. It is an `ImportError` too.

    >>> from unittest import mock
    >>> from wayfold import Graph
    >>> with mock.patch.dict("sys.modules", networkx=None):  # as if it were not installed
    ...     Graph.from_edges([(0, 0), (1, 0)], [(0, 1)]).to_networkx()
    Traceback (most recent call last):
        ...
    wayfold.errors.MissingDependencyError: networkx is not installed: pip install networkx
    """
