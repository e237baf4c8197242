"""What a saved object holds, said once: `save` writes by it, `load` checks by it, the documentation shows it.

A checksum says that a file is as it was written, not that who wrote it told the truth. Kernels do not check what they
read, so everything that they rely on is checked here, where it enters: names, dtypes, shapes that belong together,
every index within what it refers to, every offset rising, every number finite and within its limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold._archive import Archive, File, read_archive, write_archive
from wayfold.errors import FormatError, WayfoldError

Size = int | str
"""A length: a number, a name that stands for the same number in the whole schema, or ``"name + 1"``."""


@dataclass(frozen=True)
class Array:
    """One array of a saved object.

    Attributes
    ----------
    dtype : str
        As numpy names it, or several with ``|`` between them.
    shape : tuple of Size
    what : str
        What it holds, with its unit, for the documentation.
    low, high : float
        Limits of its values, both included.
    finite : bool
        Whether infinity is not allowed; NaN never is.
    refers : str
        The name of a size: values are whole numbers from `low` (0, or -1 for "none") to that size - 1.
    rises : str
        The name of a size: values are offsets, from 0 to exactly that size, never falling.
    optional : bool
        Whether it may be missing.
    """

    dtype: str
    shape: tuple[Size, ...]
    what: str
    low: float = -math.inf
    high: float = math.inf
    finite: bool = True
    refers: str = ""
    rises: str = ""
    optional: bool = False


@dataclass(frozen=True)
class Value:
    """One entry of a saved object's `meta`.

    Attributes
    ----------
    kind : type or tuple of types
        ``int`` does not take a bool, ``float`` takes an int.
    what : str
        What it says, for the documentation.
    low, high : float
        Limits of a number, both included; a number is always finite.
    among : tuple
        What it must be one of, where that is not empty.
    optional : bool
        Whether it may be missing.
    """

    kind: Any
    what: str
    low: float = -math.inf
    high: float = math.inf
    among: tuple[Any, ...] = ()
    optional: bool = False


@dataclass(frozen=True)
class Schema:
    """Everything that a `.wayfold` file of one kind holds.

    Parameters
    ----------
    kind : str
        The archive's kind.
    arrays : dict of str to Array
        By name. A name that ends in ``*`` stands for any number of arrays whose names begin so; each of them has
        sizes of its own, except those that other arrays fix.
    values : dict of str to Value
        By name; other entries of `meta` are refused.
    rule : callable, optional
        Called with the archive once everything else is right; raises a `ValueError` with a sentence.
    """

    kind: str
    arrays: Mapping[str, Array]
    values: Mapping[str, Value] = field(default_factory=dict)
    rule: Callable[[Archive], None] | None = None

    def write(
        self, file: File, arrays: Mapping[str, NDArray[Any] | None], meta: Mapping[str, Any] | None = None
    ) -> None:
        """Write a file; arrays that are None are left out."""
        given = {name: array for name, array in arrays.items() if array is not None}
        self._check(Archive(self.kind, dict(meta or {}), given, ""))
        write_archive(file, self.kind, given, meta)

    def read(self, file: File) -> Archive:
        """Read a file and check everything in it.

        Raises
        ------
        FormatError
            With a sentence about the first thing that is not as it should be.
        """
        archive = read_archive(file, self.kind)
        try:
            self._check(archive)
        except ValueError as error:
            raise FormatError(str(error), file) from None
        return archive

    def _check(self, archive: Archive) -> None:
        for name, value in self.values.items():
            if name in archive.meta:
                _check_value(name, archive.meta[name], value)
            elif not value.optional:
                raise ValueError(f"there is no {name!r} in its meta")
        unknown = sorted(archive.meta.keys() - self.values.keys())
        if unknown:
            raise ValueError(f"a {self.kind} has no {unknown[0]!r} in its meta")
        sizes: dict[str, int] = {}
        missing = [
            n for n, a in self.arrays.items() if not n.endswith("*") and n not in archive.arrays and not a.optional
        ]
        if missing:
            raise ValueError(f"there is no array {missing[0]!r}")
        found = [(name, self._entry(name), array) for name, array in sorted(archive.arrays.items())]
        for name, entry, array in found:
            _check_form(name, entry, array, sizes)
        for name, entry, array in found:
            _check_numbers(name, entry, array, sizes)
        if self.rule is not None:
            self.rule(archive)

    def _entry(self, name: str) -> Array:
        if name in self.arrays:
            return self.arrays[name]
        for pattern, entry in self.arrays.items():
            if pattern.endswith("*") and name.startswith(pattern[:-1]):
                return entry
        raise ValueError(f"a {self.kind} has no array {name!r}")

    def table(self) -> str:
        """The schema as a Markdown table."""
        rows = ["| name | dtype | shape | what |", "|---|---|---|---|"]
        for name, array in self.arrays.items():
            shape = f"({', '.join(map(str, array.shape))}{',' if len(array.shape) == 1 else ''})"
            told = [array.what, _limits(array), "may be missing" if array.optional else ""]
            rows.append(
                f"| `{name}` | {array.dtype.replace('|', ' or ')} | {shape} | {'; '.join(filter(None, told))} |"
            )
        for name, value in self.values.items():
            kinds = value.kind if isinstance(value.kind, tuple) else (value.kind,)
            kind = " or ".join("null" if k is type(None) else k.__name__ for k in kinds)
            told = [value.what, "may be missing" if value.optional else ""]
            rows.append(f"| `{name}` (meta) | {kind} | | {'; '.join(filter(None, told))} |")
        return "\n".join(rows)


def loaded(make: Callable[[], Any], file: File) -> Any:
    """What `make` makes of a checked file; what it still finds wrong is a `FormatError`."""
    try:
        return make()
    except FormatError:
        raise
    except (WayfoldError, ValueError) as error:
        raise FormatError(str(error), file) from None


def _limits(array: Array) -> str:
    if array.rises:
        return f"offsets from 0 to {array.rises}, never falling"
    if array.refers:
        return f"{'-1 or ' if array.low == -1 else ''}0 to {array.refers} - 1"
    low, high = array.low, array.high
    if math.isinf(low) and math.isinf(high):
        return "" if array.finite or array.dtype[0] not in "f" else "may be infinite"
    if math.isinf(high):
        return f"at least {low:g}" + ("" if array.finite else ", or infinite")
    return f"{low:g} to {high:g}"


def _check_value(name: str, value: Any, entry: Value) -> None:
    kinds = entry.kind if isinstance(entry.kind, tuple) else (entry.kind,)
    right = any(type(value) is kind or (kind is float and type(value) is int) for kind in kinds)
    if not right:
        raise ValueError(f"its {name!r} is of the wrong kind")
    if entry.among and value not in entry.among:
        raise ValueError(f"its {name!r} is not one that is known")
    # Whole numbers of any size are JSON; those beyond an int64 are no setting of anything.
    if type(value) in (int, float) and not (abs(value) < 2**63 and entry.low <= value <= entry.high):
        raise ValueError(f"its {name!r} must be from {entry.low:g} to {entry.high:g}")


def _check_form(name: str, entry: Array, array: NDArray[Any], sizes: dict[str, int]) -> None:
    """Refuse another dtype or shape; the first array that has a named size says what it is."""
    allowed = [np.dtype(one) for one in entry.dtype.split("|")] if "U" not in entry.dtype else None
    right = array.dtype.kind == "U" if allowed is None else array.dtype in allowed
    if not right:
        raise ValueError(f"array {name!r} is of dtype {array.dtype}, not {entry.dtype.replace('|', ' or ')}")
    fits = array.ndim == len(entry.shape)
    for length, wanted in zip(array.shape, entry.shape, strict=False):
        if isinstance(wanted, int):
            fits &= length == wanted
            continue
        base, _, more = wanted.partition(" + ")
        length -= int(more or 0)
        # In a row of arrays of one pattern each has its own; a dot before a name says so.
        fits &= length >= 0 and (base.startswith(".") or length == sizes.setdefault(base, length))
    if not fits:
        raise ValueError(f"array {name!r} is of shape {array.shape}, which does not fit the others")


def _check_numbers(name: str, entry: Array, array: NDArray[Any], sizes: Mapping[str, int]) -> None:
    """Refuse values outside their limits."""
    if array.dtype.kind in "bU" or (not array.size and not entry.rises):
        return
    if entry.rises:
        end = sizes.get(entry.rises, -1)
        flat = array.reshape(-1)
        if not flat.size or flat[0] != 0 or flat[-1] != end or (flat[1:] < flat[:-1]).any():
            raise ValueError(f"array {name!r} must rise from 0 to {end}")
        return
    low, high = array.min(), array.max()
    if array.dtype.kind == "f" and not (low == low and high == high):
        raise ValueError(f"array {name!r} holds values that are no numbers")
    if entry.refers:
        most = sizes.get(entry.refers, 0) - 1
        least = max(entry.low, -1.0) if entry.low == -1 else 0
        if low < least or high > most:
            raise ValueError(
                f"array {name!r} refers to {entry.refers} {int(low if low < least else high)} of {most + 1}"
            )
        return
    if entry.finite and array.dtype.kind == "f" and not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"array {name!r} holds values that are not finite")
    beyond = high > entry.high and not (math.isinf(high) and not entry.finite)
    if low < entry.low or beyond:
        raise ValueError(
            f"array {name!r} holds {low if low < entry.low else high:g}, outside {entry.low:g} to {entry.high:g}"
        )
