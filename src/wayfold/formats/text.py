"""What the readers of text files share: whole files, their lines, and fast columns of numbers."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import stat
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.core.archive import File
from wayfold.core.checks import LARGEST
from wayfold.errors import FormatError

_MAX_RATIO = 250  # geometry packs 5 to 50 times; beyond this a file is a trap
_SMALL = 1 << 24  # bytes that are unpacked whatever the ratio


def read_bytes(file: File) -> bytes:
    """All bytes of a file; `.gz` and `.xz` are unpacked.

    Raises
    ------
    FormatError
        When there is no such file, it cannot be read, is empty, or is a damaged `.gz` or `.xz`.
    """
    name = os.fspath(file).lower()
    try:
        kind = os.stat(file).st_mode
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):  # a pipe could keep us waiting, a device never ends
            raise FormatError("is not a regular file; save its content under a name and open that", file)
        with open(file, "rb") as handle:
            data = handle.read()
        if name.endswith((".gz", ".xz")):
            data = _unpack(file, data, name.endswith(".gz"))
    except FileNotFoundError:
        raise FormatError("no such file", file) from None
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise FormatError(f"damaged compressed file: {error}", file) from None
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", file) from None
    if not data:
        raise FormatError("the file is empty", file)
    return data


def _unpack(file: File, packed: bytes, is_gzip: bool) -> bytes:
    """The content of a `.gz` or `.xz` file, unless it is one made to fill the memory."""
    limit = max(_SMALL, _MAX_RATIO * len(packed))
    source = io.BytesIO(packed)
    with gzip.GzipFile(fileobj=source) if is_gzip else lzma.LZMAFile(source) as unpacked:
        data = unpacked.read(limit + 1)
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
        raise ValueError(f"a line has not {count} words")
    return [words[k :: count + 1] for k in range(count)]


def whole_numbers(tokens: Sequence[bytes]) -> NDArray[np.int64]:
    """The tokens as int64; a `ValueError` or `OverflowError` when one of them is none."""
    if b"_" in b"".join(tokens):  # Python would read 1_000
        raise ValueError("not a whole number")
    return np.fromiter(map(int, tokens), np.int64, len(tokens))


def finite_numbers(tokens: Sequence[bytes]) -> NDArray[np.float64]:
    """The tokens as float64; a `ValueError` when one of them is not a finite number."""
    if b"_" in b"".join(tokens):
        raise ValueError("not a number")
    numbers = np.fromiter(map(float, tokens), np.float64, len(tokens))
    if not np.isfinite(numbers).all():
        raise ValueError("not a finite number")
    return numbers


def coordinates(tokens: Sequence[bytes]) -> NDArray[np.float64]:
    """The tokens as float64; a `ValueError` when one of them is no number that the geometry can carry."""
    numbers = finite_numbers(tokens)
    if len(numbers) and not np.abs(numbers).max() <= LARGEST:
        raise ValueError(f"larger than {LARGEST:g}")
    return numbers


def shown(text: bytes) -> str:
    """A short, printable form of what a file says, for messages."""
    return repr(text[:40].decode("utf-8", "replace")) + ("..." if len(text) > 40 else "")


def parse_json(file: File, data: bytes) -> Any:
    """The value of a JSON text in UTF-8; NaN and infinity, which JSON does not have, are refused."""
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise FormatError("not UTF-8 text", file, data.count(b"\n", 0, error.start) + 1) from None
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON: {error.msg}", file, error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}", file) from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number that JSON has")
