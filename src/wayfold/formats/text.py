"""Helpers for the readers: whole files, their lines, and fast columns of numbers."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import stat
import zlib
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from wayfold.core import checks
from wayfold.core.archive import File
from wayfold.core.checks import LARGEST
from wayfold.errors import FormatError, ParameterError

_MAX_RATIO = 250  # geometry packs 5 to 50 times; beyond this a file is a trap
_SMALL = 1 << 24  # bytes that are unpacked whatever the ratio
_HEAD = 1 << 16  # bytes that tell what a file is
_GZIP, _XZ = b"\x1f\x8b", b"\xfd7zXZ\0"
_MARK = b"\xef\xbb\xbf"


def check_line(value: str, name: str) -> None:
    """Refuse text that would not come back from a line of a UTF-8 file as it was given."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"{name} cannot be written: {ascii(value)[:80]} is no text") from None
    if not value or value != value.strip() or "\n" in value:
        raise ParameterError(f"{name} must be one line without blanks around it, not {checks.shown(value)}")


def read_bytes(file: File) -> bytes:
    """All bytes of a file; one that is compressed by gzip or xz, as its first bytes tell, is unpacked.

    Raises
    ------
    FormatError
        When there is no such file, it cannot be read, is empty, or is compressed and damaged.
    """
    return _read(file, None)


def read_text(file: File) -> bytes:
    """All bytes of a text file as `read_bytes` gives them, without a byte order mark."""
    return without_mark(_read(file, None))


def read_head(file: File) -> bytes:
    """The first bytes of a file, unpacked: enough to tell what it is."""
    return _read(file, _HEAD)


def without_mark(data: bytes) -> bytes:
    """Text without the byte order mark that some editors put before UTF-8."""
    return data.removeprefix(_MARK)


def _read(file: File, size: int | None) -> bytes:
    try:
        kind = os.stat(file).st_mode
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):  # a pipe could keep us waiting, a device never ends
            raise FormatError("not a regular file: save its content to one and open that", file)
        with open(file, "rb") as handle:
            magic = handle.read(len(_XZ))
            handle.seek(0)
            if magic.startswith((_GZIP, _XZ)):
                data = _unpack(file, handle, magic.startswith(_GZIP), size)
            else:
                data = handle.read(-1 if size is None else size)
    except FileNotFoundError:
        raise FormatError("no such file", file) from None
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise FormatError(f"damaged compressed file: {error}", file) from None
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", file) from None
    if not data:
        raise FormatError("the file is empty", file)
    return data


def _unpack(file: File, packed: IO[bytes], is_gzip: bool, size: int | None) -> bytes:
    """The content of a compressed file, or its first bytes, unless it is one made to fill the memory."""
    limit = max(_SMALL, _MAX_RATIO * os.fstat(packed.fileno()).st_size)
    with gzip.GzipFile(fileobj=packed) if is_gzip else lzma.LZMAFile(packed) as unpacked:
        data = unpacked.read(limit + 1 if size is None else size)
    if len(data) > limit:
        raise FormatError(f"unpacks to more than {_MAX_RATIO} times its size", file)
    return data


def columns(lines: Sequence[bytes], count: int) -> list[Sequence[bytes]]:
    """The words of all lines that are not blank, column by column.

    Raises
    ------
    ValueError
        When a line has another number of words than `count`.
    """
    filled = [line for line in lines if not line.isspace() and line]
    # A million small lists take seconds. One long list, in which a NUL stands for the end of each line, does not.
    words = b" \0 ".join(filled).split()
    ends = words[count :: count + 1]
    if len(words) != (count + 1) * len(filled) - bool(filled) or ends.count(b"\0") != len(ends):
        raise ValueError(f"a line does not have {count} words")
    return [words[k :: count + 1] for k in range(count)]


def whole_numbers(tokens: Sequence[bytes]) -> NDArray[np.int64]:
    """Return the tokens as int64; a `ValueError` or `OverflowError` if one is not a whole number."""
    if b"_" in b"".join(tokens):  # Python would read 1_000
        raise ValueError("not a whole number")
    return np.fromiter(map(int, tokens), np.int64, len(tokens))


def finite_numbers(tokens: Sequence[bytes]) -> NDArray[np.float64]:
    """Return the tokens as float64; a `ValueError` if one is not a finite number."""
    if b"_" in b"".join(tokens):
        raise ValueError("not a number")
    numbers = np.fromiter(map(float, tokens), np.float64, len(tokens))
    if not np.isfinite(numbers).all():
        raise ValueError("not a finite number")
    return numbers


def coordinates(tokens: Sequence[bytes]) -> NDArray[np.float64]:
    """Return the tokens as float64; a `ValueError` if one is not finite or exceeds `LARGEST`."""
    numbers = finite_numbers(tokens)
    if len(numbers) and not np.abs(numbers).max() <= LARGEST:
        raise ValueError(f"larger than {LARGEST:g}")
    return numbers


def shown(text: bytes) -> str:
    """Return a short, printable form of a piece of a file, for messages."""
    return repr(text[:40].decode("utf-8", "replace")) + ("..." if len(text) > 40 else "")


def parse_json(file: File, data: bytes) -> Any:
    """Parse JSON in UTF-8; NaN and infinity are refused."""
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise FormatError("not UTF-8 text", file, data.count(b"\n", 0, error.start) + 1) from None
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON: {error.msg}", file, error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}", file) from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")
