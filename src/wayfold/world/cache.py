"""Maps and accelerators kept on disk, under names that say what they were made of."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from wayfold import __version__
from wayfold.core import checks
from wayfold.core.archive import VERSION, read_archive, stamped
from wayfold.errors import ParameterError, WayfoldError

_PACKAGE = Path(__file__).resolve().parents[1]
_BUILDS_NOTHING = ("cli/", "view/", "samples/")


class Saved(Protocol):
    """What `save` writes and `load` reads."""

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write it."""


_Saved = TypeVar("_Saved", bound=Saved)


class Cache:
    """A folder of `.wayfold` files.

    A file that is damaged or of another version is made again; a folder that cannot be written is not used.

    Parameters
    ----------
    folder : path or None
        None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def file(self, key: str, kind: str) -> Path | None:
        """Where something is kept."""
        return None if self.folder is None else self.folder / f"{key[:40]}-{kind}.wayfold"

    def get(self, key: str, kind: str, of: type[_Saved]) -> _Saved | None:
        """What was kept, None where there is nothing that can be read."""
        file = self.file(key, kind)
        try:
            if file is None or not file.exists():
                return None
            # The name says what a file should be, the stamp inside what it is: files can be copied over others.
            if read_archive(file, verify=False).stamp != f"{key}-{kind}":
                return None
            found: _Saved = of.load(file)  # type: ignore[attr-defined]
        except (WayfoldError, OSError, ValueError):  # the last where a name is none
            return None
        return found

    def put(self, key: str, kind: str, what: Saved) -> None:
        """Keep something."""
        file = self.file(key, kind)
        if file is None:
            return
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with stamped(f"{key}-{kind}"):
                what.save(file)
        except (WayfoldError, OSError, ValueError):
            self.folder = None  # a full or read-only disk: everything works without it, a little later


def cache_of(cache: bool | str | os.PathLike[str] | None) -> Cache:
    """The cache that a user asked for: True is the user's cache folder, or what WAYFOLD_CACHE names."""
    if cache is None or cache is False:
        return Cache(None)
    if cache is True:
        named = os.environ.get("WAYFOLD_CACHE")
        try:
            return Cache(Path(named) if named else _user_folder() / "wayfold")
        except RuntimeError:  # a user without a home
            return Cache(None)
    if not isinstance(cache, (str, os.PathLike)):
        raise ParameterError(f"cache must be True, False or a folder, not {checks.shown(cache)}")
    checks.file(cache, "cache")
    return Cache(Path(cache))


def _user_folder() -> Path:
    """Where this platform keeps caches of a user."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def fingerprint(*arrays: NDArray[Any] | None) -> str:
    """A digest of arrays: their bytes, dtypes and shapes."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is None:
            digest.update(b"none")
            continue
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        flat: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        digest.update(flat)
    return digest.hexdigest()


def key_of(content: str, **settings: Any) -> str:
    """A digest of what something is made of, how, and by which code."""
    text = json.dumps([__version__, VERSION, code_stamp(), content, settings], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def code_stamp(package: Path = _PACKAGE) -> str:
    """A digest of the sources that build maps: a map that other code built is built again."""
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        name = file.relative_to(package).as_posix()
        if not name.startswith(_BUILDS_NOTHING):
            digest.update(name.encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
