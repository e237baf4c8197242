"""What a saved object holds, said once: `save` writes by it, `load` checks by it, the documentation shows it.

A checksum says that a file is as it was written, not that whoever wrote it told the truth. Kernels do not check what
they read, so everything that they rely on is checked here, where it enters: names, dtypes, shapes that belong together,
every index within what it refers to, every offset rising, every number finite and within its limits. What no table can
say (an order that is a permutation, edges that stand in both rows) are functions that a schema lists as its `checks`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from wayfold.core.archive import File, read_archive, write_archive
from wayfold.core.checks import checked
from wayfold.core.locks import Portable, still
from wayfold.errors import FormatError, ParameterError, WayfoldError

_Saved = TypeVar("_Saved", bound="Savable")

Size = int | str
"""A length: a number, a name that stands for the same number in the whole schema, or ``"name + 1"``. A name that begins
with a dot is each array's own."""


class Parts(NamedTuple):
    """What an object is made of: all that a file, a pickle or a copy of it needs."""

    arrays: dict[str, NDArray[Any]]
    meta: dict[str, Any]
    """What JSON holds."""


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
    least_rise : int
        By how much offsets rise at least.
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
    least_rise: int = 0
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
    fields : dict of str to Value
        Of a dict: its entries, no others.
    each : Value
        Of a list: its items.
    length : int
        Of a list: how many, any number by default.
    optional : bool
        Whether it may be missing.
    """

    kind: Any
    what: str
    low: float = -math.inf
    high: float = math.inf
    among: tuple[Any, ...] = ()
    fields: Mapping[str, Value] = field(default_factory=dict)
    each: Value | None = None
    length: int | None = None
    optional: bool = False


@dataclass(frozen=True)
class Schema:
    """Everything that a `.wayfold` file of one kind holds.

    Parameters
    ----------
    kind : str
        The archive's kind.
    arrays : dict of str to Array
        By name. A name that ends in ``*`` stands for any number of arrays whose names begin so.
    values : dict of str to Value
        By name; other entries of `meta` are refused.
    least : dict of str to int
        Sizes that must not be smaller than a number.
    checks : tuple of functions
        Each is called with the parts once everything else is right, and raises a `ValueError` with a sentence. The
        documentation shows the first line of its docstring.
    """

    kind: str
    arrays: Mapping[str, Array]
    values: Mapping[str, Value] = field(default_factory=dict)
    least: Mapping[str, int] = field(default_factory=dict)
    checks: tuple[Callable[[Parts], None], ...] = ()

    def check(self, parts: Parts) -> None:
        """Raise a `ValueError` with a sentence about the first thing that is not as it should be."""
        _check_fields("its meta", parts.meta, self.values)
        for name, entry in self.arrays.items():
            if not name.endswith("*") and not entry.optional and name not in parts.arrays:
                raise ValueError(f"there is no array {name!r}")
        found = [(name, self._entry(name), array) for name, array in sorted(parts.arrays.items())]
        sizes: dict[str, int] = {}
        for name, entry, array in found:
            _check_form(name, entry, array, sizes)
        for size, least in self.least.items():
            if sizes.get(size, 0) < least:
                raise ValueError(f"there must be at least {least} of {size}, not {sizes.get(size, 0)}")
        for name, entry, array in found:
            _check_numbers(name, entry, array, sizes)
        for relation in self.checks:
            relation(parts)

    def _entry(self, name: str) -> Array:
        if name in self.arrays:
            return self.arrays[name]
        for pattern, entry in self.arrays.items():
            if pattern.endswith("*") and name.startswith(pattern[:-1]):
                return entry
        raise ValueError(f"there is an array {name!r}, which a {self.kind} does not have")

    def table(self) -> str:
        """The schema in Markdown: a table, and what is checked beside."""
        rows = ["| name | type | shape | what |", "|---|---|---|---|"]
        for name, array in self.arrays.items():
            shape = f"({', '.join(map(str, array.shape))}{',' if len(array.shape) == 1 else ''})".replace(".", "")
            told = [array.what, _limits(array), "may be missing" if array.optional else ""]
            dtype = array.dtype.replace("|", " or ").replace("U", "text")
            rows.append(f"| `{name}` | {dtype} | {shape} | {'; '.join(filter(None, told))} |")
        for name, value in _flattened(self.values):
            kinds = value.kind if isinstance(value.kind, tuple) else (value.kind,)
            kind = " or ".join("null" if k is type(None) else k.__name__ for k in kinds)
            told = [value.what, _value_limits(value), "may be missing" if value.optional else ""]
            rows.append(f"| `{name}` (meta) | {kind} | | {'; '.join(filter(None, told))} |")
        lines = [str(check.__doc__).splitlines()[0] for check in self.checks]
        return "\n".join([*rows, *(["", "And:", ""] if lines else []), *(f"- {line}" for line in lines)])


@checked
class Savable(Portable):
    """Objects that can be written to `.wayfold` files.

    A class says what its files hold (`_SCHEMA`), takes an object apart (`_to_parts`) and puts it together again
    (`_from_parts`).
    """

    _SCHEMA: ClassVar[Schema]

    def _to_parts(self) -> Parts:
        """Arrays and meta that are the whole object; the same for equal objects, and nothing that was not computed."""
        raise NotImplementedError

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        """The object of parts that the schema has passed; raises a `ValueError` where they still do not fit."""
        raise NotImplementedError

    def save(self, file: File) -> None:
        """Write the object to a `.wayfold` file, for `load` and `wayfold.load`.

        A file of that name is replaced once the new one is complete. The same object gives the same bytes.

        Raises
        ------
        ParameterError
            When the object holds what its schema does not allow.
        FormatError
            When the file cannot be written.

        Examples
        --------
        >>> from wayfold import Graph
        >>> road = Graph.from_edges([(0, 0), (3, 4)], [(0, 1)])
        >>> road.save("road.wayfold")
        >>> Graph.load("road.wayfold").path(0, 1).cost
        5.0
        """
        with still(self):
            parts = self._to_parts()
            try:
                self._SCHEMA.check(parts)
            except ValueError as error:
                raise ParameterError(f"this {self._SCHEMA.kind} cannot be saved: {error}") from None
            write_archive(file, self._SCHEMA.kind, parts.arrays, parts.meta)

    @classmethod
    def load(cls, file: File) -> Self:
        """Read what `save` wrote and check everything in it; `wayfold.load` finds out the class by itself.

        Arrays are mapped from the file, not copied.

        Raises
        ------
        FormatError
            When the file is missing, damaged, or holds another kind of object.
        VersionError
            When it was written in another version of the format.

        Examples
        --------
        >>> from wayfold import Graph, Terrain
        >>> Graph.from_edges([(0, 0), (3, 4)], [(0, 1)]).save("road.wayfold")
        >>> Graph.load("road.wayfold")
        <Graph: 2 nodes, 1 edges, 0.0 MB>
        >>> Terrain.load("road.wayfold")
        Traceback (most recent call last):
            ...
        wayfold.errors.FormatError: road.wayfold: the archive holds a 'graph', not a 'terrain'
        """
        archive = read_archive(file, cls._SCHEMA.kind)
        try:
            return restored(cls, Parts(archive.arrays, archive.meta))
        except FormatError as error:
            raise FormatError(error.message, file) from None


def restored(kind: type[_Saved], parts: Parts) -> _Saved:
    """The object of parts from anywhere, checked.

    Raises
    ------
    FormatError
        With a sentence about the first thing that is not as it should be.
    """
    try:
        for array in parts.arrays.values():
            if not array.flags.writeable:  # Numba would compile every kernel once more for read-only arrays
                array.setflags(write=True)
        kind._SCHEMA.check(parts)
        return kind._from_parts(parts)
    except FormatError:
        raise
    except (WayfoldError, ValueError) as error:
        raise FormatError(f"not a whole {kind._SCHEMA.kind}: {error}") from None


def _flattened(values: Mapping[str, Value], before: str = "") -> Iterator[tuple[str, Value]]:
    """Every entry of meta, those of dicts and of lists of dicts under their names."""
    for name, value in values.items():
        yield before + name, value
        yield from _flattened(value.fields, f"{before}{name}.")
        if value.each is not None:
            yield from _flattened(value.each.fields, f"{before}{name}[].")


def _limits(array: Array) -> str:
    if array.rises:
        step = f"rising by at least {array.least_rise}" if array.least_rise else "never falling"
        return f"offsets from 0 to {array.rises}, {step}"
    if array.refers:
        return f"{'-1 or ' if array.low == -1 else ''}0 to {array.refers} - 1"
    return _between(array.low, array.high, "" if array.finite else "infinite")


def _value_limits(value: Value) -> str:
    if value.among:
        return "one of " + ", ".join(f'"{one}"' if isinstance(one, str) else str(one) for one in value.among)
    inner = value.each or value
    return _between(inner.low, inner.high, "")


def _between(low: float, high: float, other: str) -> str:
    if math.isinf(low) and math.isinf(high):
        return f"may be {other}" if other else ""
    if math.isinf(low):
        told = f"at most {_shown(high)}"
    else:
        told = f"at least {_shown(low)}" if math.isinf(high) else f"{_shown(low)} to {_shown(high)}"
    return f"{told}, or {other}" if other else told


def _shown(number: float) -> str:
    return str(int(number)) if abs(number) < 1e11 and number == int(number) else f"{number:g}"


def _check_fields(where: str, given: Mapping[str, Any], wanted: Mapping[str, Value]) -> None:
    for name, value in wanted.items():
        if name in given:
            _check_value(name, given[name], value)
        elif not value.optional:
            raise ValueError(f"there is no {name!r} in {where}")
    for name in given:
        if name not in wanted:
            raise ValueError(f"there is a {str(name)[:40]!r} in {where}, which does not belong there")


def _check_value(name: str, value: Any, entry: Value) -> None:
    kinds = entry.kind if isinstance(entry.kind, tuple) else (entry.kind,)
    plain = next((one for one in (bool, int, float, str) if isinstance(value, one)), type(value))
    if not any(plain is kind or (kind is float and plain is int) for kind in kinds):
        raise ValueError(f"its {name!r} is of the wrong kind, {plain.__name__}")
    if entry.among and value not in entry.among and not (int in kinds and plain is int):
        raise ValueError(f"its {name!r} is not one that is known")
    if plain is float and not math.isfinite(value):
        raise ValueError(f"its {name!r} is not finite")
    # Whole numbers of any size are JSON; those beyond an int64 are no setting of anything.
    if plain in (int, float) and not (entry.low <= value <= entry.high and (plain is float or abs(value) < 2**63)):
        raise ValueError(f"its {name!r} must be from {entry.low:g} to {entry.high:g}")
    if plain is dict:
        _check_fields(f"its {name!r}", value, entry.fields)
    if plain is list:
        if entry.length is not None and len(value) != entry.length:
            raise ValueError(f"its {name!r} must have {entry.length} entries, not {len(value)}")
        if entry.each is not None:
            for at, item in enumerate(value):
                _check_value(f"{name}[{at}]", item, entry.each)


def _check_form(name: str, entry: Array, array: NDArray[Any], sizes: dict[str, int]) -> None:
    """Refuse another dtype or shape; the first array that has a named size says what it is."""
    allowed = [np.dtype(one) for one in entry.dtype.split("|")] if entry.dtype != "U" else None
    right = array.dtype.kind == "U" if allowed is None else array.dtype in allowed
    if not right or not array.flags.c_contiguous:
        raise ValueError(f"array {name!r} is of dtype {array.dtype}, not {entry.dtype.replace('|', ' or ')}")
    fits = array.ndim == len(entry.shape)
    for length, wanted in zip(array.shape, entry.shape, strict=False):
        if isinstance(wanted, int):
            fits &= length == wanted
            continue
        base, _, more = wanted.partition(" + ")
        length -= int(more or 0)
        fits &= length >= 0 and (base.startswith(".") or length == sizes.setdefault(base, length))
    if not fits:
        raise ValueError(f"array {name!r} is of shape {array.shape}, which does not fit the others")


def _check_numbers(name: str, entry: Array, array: NDArray[Any], sizes: Mapping[str, int]) -> None:
    """Refuse values outside their limits."""
    if array.dtype.kind in "bU" or (not array.size and not entry.rises):
        return
    if entry.rises:
        end = sizes.get(entry.rises, 0)
        columns = array.reshape(len(array), -1)
        # Within their limits first: sums of the largest numbers are negative.
        bounded = array.size and array.min() >= 0 and array.max() <= end
        if not bounded or columns[0].any() or (columns[-1] != end).any():
            raise ValueError(f"array {name!r} must rise from 0 to {end}")
        low = columns[:-1] + entry.least_rise if entry.least_rise else columns[:-1]
        if (columns[1:] < low).any():
            raise ValueError(f"array {name!r} must rise from 0 to {end}")
        return
    least, most = array.min(), array.max()
    if array.dtype.kind == "f" and not (least == least and most == most):
        raise ValueError(f"array {name!r} holds values that are no numbers")
    if entry.refers:
        last = sizes.get(entry.refers, 0) - 1
        if least < (-1 if entry.low == -1 else 0) or most > last:
            raise ValueError(f"array {name!r} refers to {least if least < 0 else most} of {last + 1} {entry.refers}")
        return
    if array.dtype.kind == "f" and math.isinf(most) and not entry.finite and least >= entry.low:
        # What is not infinite has limits too.
        most = array[np.isfinite(array)].max(initial=least if math.isfinite(least) else entry.low)
    if array.dtype.kind == "f" and not (math.isfinite(least) and math.isfinite(most)) and entry.finite:
        raise ValueError(f"array {name!r} holds values that are not finite")
    if least < entry.low or most > entry.high:
        wrong = least if least < entry.low else most
        raise ValueError(f"array {name!r} holds {wrong:g}, outside {entry.low:g} to {entry.high:g}")
