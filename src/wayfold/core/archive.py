"""The `.wayfold` archive: a zip of uncompressed `.npy` members and a `manifest.json`.

Any zip tool opens one and `numpy.load` reads its members. Nothing in it is pickled. Every array starts on a 64-byte
boundary of the file, so that reading maps the arrays instead of copying them. The same arrays give the same bytes.
"""

from __future__ import annotations

import contextlib
import contextvars
import hashlib
import io
import json
import math
import os
import re
import secrets
import stat
import struct
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.core import checks
from wayfold.errors import FormatError, ParameterError, VersionError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

VERSION = 2
"""Version of the archive format that is written, and the only one that is read."""

File = str | os.PathLike[str]

_MANIFEST = "manifest.json"
_ALIGNMENT = 64  # a cache line, and what numpy pads the headers of .npy files to
_PADDING_ID = 0xD935  # the extra field that Android's zipalign uses for the same purpose
_ZIP64_EXTRA = 20  # bytes that `force_zip64` adds to a member's local header
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time a zip can hold: archives do not depend on when they were written
# numpy reads headers by Python's own parser, which in Python 3.11 fails now and then when several threads use it.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?P<size>[\x00-\xff]{2})"
    rb"\{'descr': '(?P<dtype>[^']{1,16})', 'fortran_order': False, 'shape': \((?P<shape>[0-9, ]*)\), \} *\n",
    re.DOTALL,
)
_KINDS = "biufcSU"  # dtype kinds that are plain bytes; objects (pickle) and records are refused
_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)*", re.ASCII)  # no part starts with a dot: no way out of a folder
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")


class Archive(NamedTuple):
    """What a `.wayfold` file holds, as `read_archive` returns it.

    >>> write_archive("heights.wayfold", "heights", {"z": np.array([0.0, 0.5, 2.0])}, {"cell": 0.25})
    >>> kind, meta, arrays, _ = read_archive("heights.wayfold")
    >>> kind, meta, arrays["z"].tolist()
    ('heights', {'cell': 0.25}, [0.0, 0.5, 2.0])
    """

    kind: str
    """What the archive holds, such as ``"graph"``."""
    meta: dict[str, Any]
    """Everything that is not an array."""
    arrays: dict[str, NDArray[Any]]
    """Arrays, mapped from the file."""
    stamp: str
    """What a cache wrote into it to know it again; empty in files of users."""


_STAMP: contextvars.ContextVar[str] = contextvars.ContextVar("stamp", default="")


@contextlib.contextmanager
def stamped(stamp: str) -> Iterator[None]:
    """Archives that are written inside carry a stamp: what a cache made them of."""
    token = _STAMP.set(stamp)
    try:
        yield
    finally:
        _STAMP.reset(token)


@contextlib.contextmanager
def replacing(file: File) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `file` for writing; it takes the place of `file` only when all went well.

    The new file has the permissions of the one that it replaces. Temporary files that a killed process left behind are
    removed.

    Raises
    ------
    FormatError
        When the folder is not there or cannot be written, or `file` is something else than a regular file. `file` is
        then as it was before.
    """
    path = _real_path(file)
    try:
        permissions = _replaceable(path, file)
        _remove_leftovers(path)
        part, handle = _open_part(path)
        try:
            with handle:
                if permissions is not None:
                    os.chmod(part, permissions)
                yield handle
                handle.flush()
                os.fsync(handle.fileno())
                if fcntl is not None:  # while it is locked: nobody takes it for a leftover
                    os.replace(part, path)
            if fcntl is None:
                os.replace(part, path)
            _sync_folder(os.path.dirname(path))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part)
            raise
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror or error}", file) from None


def _real_path(file: File) -> str:
    """Where a file is: a link stays a link, and what it points to is replaced."""
    try:
        return os.path.realpath(os.fsdecode(file))
    except TypeError:
        raise ParameterError(f"a file is named by a str or a path, not by {type(file).__name__}") from None
    except ValueError:
        raise ParameterError(
            f"{checks.shown(os.fsdecode(file))} cannot name a file: it holds a null character"
        ) from None


def _replaceable(path: str, file: File) -> int | None:
    """Permissions of the file that is to be replaced, None where there is none; refuses what is no regular file."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(there.st_mode):
        raise FormatError("cannot be written: there is something else than a regular file under this name", file)
    return stat.S_IMODE(there.st_mode)


def _open_part(path: str) -> tuple[str, IO[bytes]]:
    """A new temporary file beside `path`, locked, so that others see that it is still being written."""
    folder, name = os.path.split(path)
    while True:
        part = os.path.join(folder, f".{name}.{secrets.token_hex(6)}.part")
        handle = open(part, "xb")  # noqa: SIM115 - the caller closes it
        if fcntl is None:
            return part, handle
        with contextlib.suppress(OSError):  # file systems without locks: leftovers stay then
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.path.exists(part):  # else another process took it for a leftover before it was locked
            return part, handle
        handle.close()


def _remove_leftovers(path: str) -> None:
    """Remove temporary files of `path` that no process is writing: a process that ends loses its locks."""
    if fcntl is None:
        return
    folder, name = os.path.split(path)
    leftover = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{12}}\.part")
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if leftover.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError), open(entry.path, "rb") as handle:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(entry.path)


def _sync_folder(folder: str) -> None:
    """Bring the new name to disk, where the platform can."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@checks.checked
def write_archive(
    file: File, kind: str, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any] | None = None
) -> None:
    """Write arrays to a `.wayfold` archive, all or nothing.

    Parameters
    ----------
    file : path
        An archive that is already there is replaced once the new one is complete and on disk.
    kind : str
        What the archive holds, such as ``"graph"``; `read_archive` checks it.
    arrays : mapping of str to array
        Names of ASCII letters, digits, ``_ . -`` and ``/`` (no part starts with a dot); arrays of booleans, numbers
        or fixed-size strings, of any shape.
    meta : mapping, optional
        What else belongs to it: anything that JSON holds.

    Raises
    ------
    ParameterError
        When a name, an array or `meta` cannot be stored. Nothing is written.
    FormatError
        When the file cannot be written.

    Examples
    --------
    >>> write_archive("heights.wayfold", "heights", {"z": np.array([0.0, 0.5, 2.0])}, {"cell": 0.25})
    >>> import zipfile
    >>> zipfile.ZipFile("heights.wayfold").namelist()
    ['manifest.json', 'z.npy']
    >>> write_archive("heights.wayfold", "heights", {"../z": np.zeros(3)})
    Traceback (most recent call last):
        ...
    wayfold.errors.ParameterError: '../z' cannot name an array: use ASCII letters, digits, '_', '.', '-' and '/'
    """
    members = {name: _prepare(name, array) for name, array in arrays.items()}
    manifest: dict[str, Any] = {
        "version": VERSION,
        "kind": kind,
        "meta": dict(meta or {}),
        "members": {
            name: {"dtype": array.dtype.str, "shape": array.shape, "sha256": _digest(header, _bytes(array))}
            for name, (header, array) in members.items()
        },
    }
    if _STAMP.get():
        manifest["stamp"] = _STAMP.get()
    try:
        text = json.dumps(manifest, sort_keys=True, indent=1, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ParameterError(f"meta must be what JSON holds: {str(error)[:100]}") from None
    with replacing(file) as handle, zipfile.ZipFile(handle, "w", zipfile.ZIP_STORED) as archive:
        _write_member(archive, handle, _MANIFEST, text)
        for name in sorted(members):
            header, array = members[name]
            _write_member(archive, handle, f"{name}.npy", header, _bytes(array))


@checks.checked
def read_archive(file: File, kind: str | None = None, *, verify: bool = True) -> Archive:
    """Read a `.wayfold` archive, with its arrays mapped from disk.

    The arrays are plain ndarrays over one private mapping of the file: nothing is read until it is used, and nothing
    that is done to them reaches the file. They can be written to (copy-on-write), as Numba would compile every kernel
    once more for read-only arrays.

    Parameters
    ----------
    file : path
    kind : str, optional
        The kind that the archive must have; any by default.
    verify : bool
        Compare every array with its checksum, which reads the whole file once. Without it a large file opens at once,
        and damage in an array goes unnoticed.

    Raises
    ------
    VersionError
        When the archive was written in another version of the format.
    FormatError
        When it is not an archive, of another kind, truncated or altered.

    Examples
    --------
    >>> write_archive("heights.wayfold", "heights", {"z": np.array([0.0, 0.5, 2.0])}, {"cell": 0.25})
    >>> archive = read_archive("heights.wayfold", "heights")
    >>> (archive.arrays["z"] / archive.meta["cell"]).tolist()
    [0.0, 2.0, 8.0]
    >>> read_archive("heights.wayfold", "graph")
    Traceback (most recent call last):
        ...
    wayfold.errors.FormatError: heights.wayfold: the archive holds a 'heights', not a 'graph'
    """
    path = _real_path(file)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would wait for somebody to write to it
            raise FormatError("is no regular file", file)
        with open(path, "rb") as handle:
            if not os.fstat(handle.fileno()).st_size:
                raise FormatError("the file is empty", file)
            mapped = np.memmap(handle, np.uint8, mode="c").view(np.ndarray)
            return _read(file, handle, mapped, kind, verify)
    except FormatError:
        raise
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", file) from None
    except Exception as error:  # a damaged zip, manifest or .npy header can make their readers raise anything
        raise FormatError(f"not a whole Wayfold archive: {error or type(error).__name__}", file) from error


def _read(file: File, handle: IO[bytes], mapped: NDArray[np.uint8], kind: str | None, verify: bool) -> Archive:
    """The archive in `handle`, of which `mapped` holds the bytes."""
    with zipfile.ZipFile(handle) as archive:
        spans: dict[str, slice] = {}
        for info in archive.infolist():
            if info.filename in spans:
                raise FormatError(f"member {info.filename!r} is there twice", file)
            spans[info.filename] = _span(file, info, mapped)
        if _MANIFEST not in spans:
            raise FormatError("not a Wayfold archive: there is no manifest.json", file)
        manifest = json.loads(archive.read(_MANIFEST))  # zipfile checks its checksum
    version, found = manifest["version"], manifest["kind"]
    if type(version) is not int or version != VERSION:
        raise VersionError(
            f"archive version {version!r} is not one that is read here ({VERSION}): build it again", file
        )
    if not isinstance(found, str) or not isinstance(manifest["meta"], dict):
        raise FormatError("the manifest's kind must be a string and its meta an object", file)
    stamp = manifest.get("stamp", "")
    if not isinstance(stamp, str):
        raise FormatError("the manifest's stamp must be a string", file)
    if kind is not None and found != kind:
        raise FormatError(f"the archive holds a {found!r}, not a {kind!r}", file)
    members = manifest["members"]
    if {f"{name}.npy" for name in members} != spans.keys() - {_MANIFEST}:
        raise FormatError("the manifest names other arrays than the archive holds", file)
    arrays = {name: _map_array(file, name, members[name], mapped[spans[f"{name}.npy"]], verify) for name in members}
    return Archive(found, manifest["meta"], arrays, stamp)


def _prepare(name: str, array: NDArray[Any]) -> tuple[bytes, NDArray[Any]]:
    """The .npy header of an array, and the array in C order and little-endian."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ParameterError(
            f"{checks.shown(name)} cannot name an array: use ASCII letters, digits, '_', '.', '-' and '/'"
        )
    array = np.asarray(array)
    if array.dtype.kind not in _KINDS or array.dtype.itemsize == 0:
        raise ParameterError(
            f"array {name!r} of dtype {array.dtype} cannot be stored: use booleans, numbers or strings"
        )
    array = np.asarray(array, array.dtype.newbyteorder("<"), order="C")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    return header.getvalue(), array


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of a C-ordered array, not copied."""
    return array.reshape(-1).view(np.uint8)


def _digest(*parts: Any) -> str:
    """The SHA-256 of buffers one after the other, none of them copied."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _write_member(archive: zipfile.ZipFile, handle: IO[bytes], name: str, *parts: Any) -> None:
    """Store a member whose data starts on a 64-byte boundary."""
    info = zipfile.ZipInfo(name, _EPOCH)
    info.create_system = 3  # the same on every platform
    info.external_attr = 0o644 << 16
    start = handle.tell() + _LOCAL_HEADER.size + len(name) + _ZIP64_EXTRA + 4
    padding = -start % _ALIGNMENT
    info.extra = struct.pack("<HH", _PADDING_ID, padding) + bytes(padding)
    with archive.open(info, "w", force_zip64=True) as member:
        for part in parts:
            member.write(memoryview(part))


def _span(file: File, info: zipfile.ZipInfo, mapped: NDArray[np.uint8]) -> slice:
    """Where in the file a member's data lies, after checking that it is stored as it is."""
    name = info.filename
    if name != _MANIFEST and not (name.endswith(".npy") and _NAME.fullmatch(name)):
        raise FormatError(f"a Wayfold archive has no member {name!r}", file)
    if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size or info.flag_bits & 0x21:
        raise FormatError(f"member {name!r} is compressed, encrypted or patched", file)
    start = info.header_offset + _LOCAL_HEADER.size
    if info.header_offset < 0 or start > len(mapped):
        raise FormatError(f"member {name!r} lies outside the file", file)
    fields = _LOCAL_HEADER.unpack(mapped[info.header_offset : start].tobytes())
    signature, name_size, extra_size = fields[0], fields[-2], fields[-1]
    if signature != b"PK\3\4" or mapped[start : start + name_size].tobytes() != name.encode():
        raise FormatError(f"member {name!r} is not where the archive says", file)
    start += name_size + extra_size
    if start + info.file_size > len(mapped):
        raise FormatError(f"member {name!r} is truncated", file)
    return slice(start, start + info.file_size)


def _map_array(file: File, name: str, entry: Any, data: NDArray[np.uint8], verify: bool) -> NDArray[Any]:
    """The array in the member `data`, which the manifest describes by `entry`."""
    header = _HEADER.match(data[:4096].tobytes())
    if header is None:
        raise FormatError(f"array {name!r} has no header of .npy version 1.0", file)
    start, dtype = header.end(), np.dtype(header["dtype"].decode("ascii"))
    shape = tuple(int(side) for side in header["shape"].split(b",") if side.strip())
    if start != 10 + int.from_bytes(header["size"], "little"):
        raise FormatError(f"array {name!r} has a header of another length than it says", file)
    if dtype.kind not in _KINDS or dtype.itemsize == 0:
        raise FormatError(f"array {name!r} is of dtype {dtype}, which no Wayfold archive holds", file)
    if entry["dtype"] != dtype.str or entry["shape"] != list(shape):
        raise FormatError(f"array {name!r} is not of the dtype and shape that the manifest says", file)
    if len(data) - start != math.prod(shape) * dtype.itemsize:
        raise FormatError(f"array {name!r} has {len(data) - start} bytes, which is not what shape {shape} takes", file)
    if verify and _digest(data) != entry["sha256"]:
        raise FormatError(f"array {name!r} does not match its checksum: the file was altered", file)
    if len(data) == start:
        return np.empty(shape, dtype)
    array = data[start:].view(dtype).reshape(shape)
    return array if array.flags.aligned else array.copy()  # Numba would compile every kernel once more
