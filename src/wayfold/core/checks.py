"""Checks of what enters: each returns a clean array or number, or raises one clear sentence.

Two kinds of checks meet at every public callable. What its annotations say (a `Mesh`, a `bool`, a name, a file, a
callback) the decorator `checked` compares; what numbers and arrays hold the callable checks itself with `number`,
`whole`, `floats`, `points3` and so on. What they return is what kernels take: C-contiguous, aligned, writable, native
and of one dtype, so that no odd argument makes the compiler run.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import reprlib
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.errors import GeometryError, OffMapError, ParameterError

LARGEST = 1e12
"""Metres: the largest coordinate that readers and makers of maps accept, so that no square or product overflows."""

SMALLEST = 1e-9
"""Metres: the smallest side of a cell."""

LARGEST_COST = 1e28
"""The largest finite cost of an edge: even 2**31 of them add up to less than the largest float32."""

MOST_RATE = 1e12
"""The largest finite cost of a metre, and one by the least: lengths times costs stay far from overflow."""

MOST_POINTS = 10_000_000
"""The most random points that one call gives."""

_T = TypeVar("_T")
_NUMBERS = (float, int, np.floating, np.integer)
_LARGEST_FLOAT = float(np.finfo(np.float64).max)
_MOST_SHOWN = 80  # characters of a value in a message
_repr = reprlib.Repr()
_repr.maxother = _repr.maxstring = _repr.maxlong = _MOST_SHOWN
_repr.maxlevel = 3


# --- one value -----------------------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """A value as messages show it: in short, and its type where it cannot be shown."""
    try:
        text = " ".join(_repr.repr(value).split())
    except Exception:  # whatever a stranger's __repr__ raises
        return a_type(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 4]} ..."


def a_type(value: Any) -> str:
    """The type of a value with its article."""
    name = type(value).__name__[:_MOST_SHOWN]
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def number(value: Any, name: str, *, low: float = -np.inf, high: float = np.inf, open_low: bool = False) -> float:
    """A finite float within ``[low, high]`` (``(low, high]`` with `open_low`)."""
    result = real(value, name)
    if not -np.inf < result < np.inf:
        raise ParameterError(f"{name} must be finite, not {result}")
    if result < low or result > high or (open_low and result == low):
        above = f"above {low:g}" if open_low else f"at least {low:g}"
        limits = above if np.isinf(high) else f"{above} and at most {high:g}"
        raise ParameterError(f"{name} must be {limits}, not {result:g}")
    return result


def real(value: Any, name: str) -> float:
    """A float, which may be infinite or NaN."""
    if not _is_real(value):
        raise ParameterError(f"{name} must be a number, not {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _is_real(value: Any) -> bool:
    if isinstance(value, _NUMBERS):
        return not isinstance(value, (bool, np.timedelta64))  # numpy takes time for a whole number
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "iuf" and not np.ma.is_masked(value)
    return isinstance(value, Real) and not isinstance(value, np.bool_)


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))


def rate(value: Any, name: str) -> float:
    """What a metre costs: from ``1 / MOST_RATE`` to `MOST_RATE`, or infinite for what is closed."""
    if not _is_real(value):
        raise ParameterError(f"{name} must be a number above 0 or infinity, not {shown(value)}")
    price = real(value, name)
    if not (1 / MOST_RATE <= price <= MOST_RATE or price == np.inf):
        raise ParameterError(
            f"{name} must be above 0, from {1 / MOST_RATE:g} to {MOST_RATE:g}, or infinite (closed), not {price:g}"
        )
    return price


def whole(value: Any, name: str, *, low: int, high: int | None = None) -> int:
    """An int within ``[low, high]``."""
    if not _is_whole(value):
        raise ParameterError(f"{name} must be a whole number, not {shown(value)}")
    most = np.iinfo(np.int64).max if high is None else high  # kernels count in 64 bits
    if not low <= value <= most:
        limits = f"at least {low}" if high is None and value < low else f"from {low} to {most}"
        raise ParameterError(f"{name} must be {limits}, not {shown(value)}")
    return int(value)


def node(value: Any, name: str, count: int, what: str = "node", whose: str = "the graph") -> int:
    """The number of one of `count` nodes."""
    if not _is_whole(value):
        raise ParameterError(f"{name} must be a {what} number, not {shown(value)}")
    if not 0 <= value < count:
        raise OffMapError(f"{name} {shown(value)} is not a {what}: {whose} has {what}s 0 to {count - 1}")
    return int(value)


def flag(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name} must be True or False, not {shown(value)}")
    return bool(value)


def choice(value: Any, name: str, options: Iterable[str]) -> str:
    """One of some names."""
    known = tuple(options)
    if not isinstance(value, str) or value not in known:
        raise ParameterError(f"{name} must be one of {', '.join(known)}, not {shown(value)}")
    return value


def text(value: Any, name: str) -> str:
    """A str."""
    if not isinstance(value, str):
        raise ParameterError(f"{name} must be a str, not {shown(value)}")
    return value


def file(value: Any, name: str = "file") -> None:
    """Refuse what cannot name a file."""
    try:
        path = os.fspath(value)
    except Exception:  # also what a stranger's __fspath__ raises
        raise ParameterError(f"{name} must be a str or a path that names a file, not {shown(value)}") from None
    if not isinstance(path, str):
        raise ParameterError(f"{name} must be a str or a path that names a file, not {shown(value)}")
    if "\0" in path:
        raise ParameterError(f"{shown(path)} cannot name a file: it holds a null character")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ParameterError(f"{name} cannot name a file: {ascii(path)[:_MOST_SHOWN]} is no text") from None


def callback(value: Any, name: str) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise ParameterError(f"{name} must be something to call, not {shown(value)}")


def mapping(value: Any, name: str) -> None:
    """Refuse what is no mapping."""
    if not isinstance(value, Mapping):
        raise ParameterError(f"{name} must be a mapping such as a dict, not {shown(value)}")


def several(value: Any, name: str) -> None:
    """Refuse what cannot be gone through one by one; a str would be taken for its letters."""
    if isinstance(value, (str, bytes, memoryview)) or not isinstance(value, Iterable) or _is_no_list(value):
        raise ParameterError(f"{name} must be a list, not {shown(value)}")


def sequence(value: Any, name: str) -> None:
    """Refuse what is no list or tuple of things; a str would be taken for its letters."""
    if (
        not isinstance(value, (Sequence, np.ndarray))
        or isinstance(value, (str, bytes, memoryview))
        or _is_no_list(value)
    ):
        raise ParameterError(f"{name} must be a list, not {shown(value)}")


def _is_no_list(value: Any) -> bool:
    """Whether it is an array of something else than objects."""
    return isinstance(value, np.ndarray) and (value.ndim != 1 or value.dtype != object)


def instance(value: Any, name: str, *kinds: type) -> None:
    """Refuse what is of none of some classes."""
    if not isinstance(value, kinds):
        wanted = " or ".join(f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}" for kind in kinds)
        raise ParameterError(f"{name} must be {wanted}, not {shown(value)}")


# --- arrays --------------------------------------------------------------------------------------------------------


def clean(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy where a kernel would take it for another type: strided, unaligned or read-only."""
    return array if array.flags.carray else np.array(array, order="C")


def floats(values: Any, name: str, what: str = "numbers") -> NDArray[np.float64]:
    """A float64 array of any shape, fit for kernels; not necessarily finite."""
    if type(values) is np.ndarray and values.dtype == np.float64:  # also of the other byte order: `==` tells them apart
        return clean(values)
    array = _array(values, name, what)
    if array.dtype.kind == "O":
        if not all(map(_is_real, array.flat)):
            raise ParameterError(f"{name} must be {what}, not {shown(values)}")
        array = np.array([real(value, name) for value in array.flat], np.float64).reshape(array.shape)
    elif array.dtype.kind not in "iuf" and array.size:
        raise ParameterError(f"{name} must be {what}, not {shown(values)}")
    with np.errstate(over="ignore"):  # a longdouble that is too large becomes infinite
        return clean(array.astype(np.float64, copy=False))


def numbers(values: Any, name: str, what: str = "numbers", *, bools: bool = False) -> NDArray[Any]:
    """An array of whole numbers or floats of the dtype that it comes with; with `bools` also of truth values."""
    array = _array(values, name, what)
    if array.dtype.kind == "O":
        return floats(values, name, what)
    if array.dtype.kind not in ("biuf" if bools else "iuf") and array.size:
        raise ParameterError(f"{name} must be {what}, not {shown(values)}")
    return array


def wholes(values: Any, name: str, what: str = "whole numbers") -> NDArray[np.int64]:
    """An int64 array of any shape, fit for kernels."""
    if type(values) is np.ndarray and values.dtype == np.int64:
        return clean(values)
    array = _array(values, name, what)
    if not array.size:
        return np.empty(array.shape, np.int64)
    if array.dtype.kind == "O":
        if not all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in array.flat):
            raise ParameterError(f"{name} must be {what}, not {shown(values)}")
        limits = np.iinfo(np.int64)
        array = np.array([min(max(value, limits.min), limits.max) for value in array.flat]).reshape(array.shape)
    elif array.dtype.kind not in "iu":
        raise ParameterError(f"{name} must be {what}, not {shown(values)}")
    if array.dtype == np.uint64:  # saturate: whatever the limits are, it lies beyond them
        array = np.minimum(array, np.uint64(np.iinfo(np.int64).max))
    return clean(array.astype(np.int64, copy=False))


def _array(values: Any, name: str, what: str) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ParameterError(f"{name} must be {what} without masked values")
    try:
        return np.asarray(values)
    except Exception:  # ragged or endless lists, and whatever a stranger's __array__ raises
        raise ParameterError(f"{name} must be {what}, not {shown(values)}") from None


def finite(array: NDArray[np.float64], name: str, largest: float = LARGEST) -> None:
    """Refuse coordinates that are not finite, or beyond `largest`."""
    fine = np.abs(array) <= min(largest, _LARGEST_FLOAT)  # NaN fails
    if not fine.all():
        at = np.unravel_index(int(np.argmin(fine)), fine.shape)
        row = array[at[:-1]]
        where = f"{name}[{', '.join(map(str, at[:-1]))}]" if len(at) > 1 else name
        if not np.isfinite(array[at]):
            raise GeometryError(f"{where} is not finite: {shown(row.tolist())}")
        raise GeometryError(f"{where} must be within {largest:g} m of the origin, not {shown(row.tolist())}")


def points3(
    points: ArrayLike, name: str = "points", height: float = 0.0, *, largest: float = LARGEST
) -> NDArray[np.float64]:
    """A finite (n, 3) float64 array from (n, 2) or (n, 3) points; missing heights are `height`."""
    array = floats(points, name, "numbers of shape (n, 2) or (n, 3)")
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise ParameterError(f"{name} must have shape (n, 2) or (n, 3), not {array.shape}")
    finite(array, name, largest)
    if array.shape[1] == 2:
        array = np.column_stack([array, np.full(len(array), height)])
    return array


def point3(
    point: ArrayLike, name: str = "point", height: float = 0.0, *, largest: float = LARGEST
) -> NDArray[np.float64]:
    """A finite (3,) float64 array from (x, y) or (x, y, z); a missing height is `height`."""
    array = floats(point, name, "(x, y) or (x, y, z)")
    if array.shape not in ((2,), (3,)):
        raise ParameterError(f"{name} must be (x, y) or (x, y, z), not of shape {array.shape}")
    finite(array, name, largest)
    return array if array.size == 3 else np.array([array[0], array[1], height])


def places(points: ArrayLike, name: str = "points", *, largest: float = LARGEST) -> tuple[NDArray[np.float64], bool]:
    """One point or many as a finite (q, 3) float64 array, and whether it is one; missing heights are 0.

    >>> places((3, 4))
    (array([[3., 4., 0.]]), True)
    """
    array = floats(points, name, "numbers of shape (q, 2) or (q, 3), or one point")
    if not array.size:
        return np.empty((0, 3)), False
    single = array.ndim == 1
    return points3(array[None] if single else array, name, largest=largest), single


def ends(
    starts: ArrayLike, goals: ArrayLike, *, largest: float = LARGEST
) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
    """One start and goal or many as (q, 3) arrays of the same length, and whether they are one pair.

    A single start serves many goals, and a single goal many starts.
    """
    first, one_start = places(starts, "starts", largest=largest)
    last, one_goal = places(goals, "goals", largest=largest)
    if one_start != one_goal:
        count = len(last) if one_start else len(first)
        first, last = (np.array(np.broadcast_to(part, (count, 3))) for part in (first, last))
    same_length(first, last)
    return first, last, one_start and one_goal


def nodes(values: Any, name: str, count: int, what: str = "node", whose: str = "the graph") -> NDArray[np.int32]:
    """Numbers of some of `count` nodes, of any shape."""
    array = wholes(values, name, f"{what} numbers")
    if array.size and not (array.min() >= 0 and array.max() < count):
        bad = array[(array < 0) | (array >= count)].flat[0]
        raise OffMapError(f"{name} names a {what} outside 0 to {count - 1}: {bad} is not a {what} of {whose}")
    return array.astype(np.int32)


def node_pairs(starts: NDArray[np.int32], goals: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Starts and goals of many queries as (q,) arrays; one of the two may be a single node that serves all."""
    for name, array in (("starts", starts), ("goals", goals)):
        if array.ndim > 1:
            raise ParameterError(f"{name} must be one-dimensional, not of shape {array.shape}")
    starts, goals = np.atleast_1d(starts), np.atleast_1d(goals)
    if 1 not in (len(starts), len(goals)):
        same_length(starts, goals)
    first, last = np.broadcast_arrays(starts, goals)
    return np.array(first), np.array(last)


def same_length(starts: Any, goals: Any) -> None:
    """Refuse starts and goals that do not pair up."""
    if len(starts) != len(goals):
        raise ParameterError(f"starts and goals must have the same length (got {len(starts)} and {len(goals)})")


def costs(values: NDArray[Any], name: str = "costs", first: int = 0) -> None:
    """Refuse costs of edges that are negative or NaN, or finite but above `LARGEST_COST`; infinity blocks an edge.

    `first` is the number of the first of them where they are part of a longer list.
    """
    if not values.size:
        return
    low, high = values.min(), values.max()
    if low >= 0 and high <= LARGEST_COST:  # NaN fails
        return
    with np.errstate(invalid="ignore"):
        bad = ~(values >= 0) | ((values > LARGEST_COST) & np.isfinite(values))
    if bad.any():
        at = int(np.argmax(bad))
        limit = f"at most {LARGEST_COST:g}" if values[at] > 0 else "at least 0"
        raise ParameterError(f"{name}[{first + at}] must be {limit} (infinity blocks the edge), not {values[at]}")


# --- what annotations say ------------------------------------------------------------------------------------------

_Check = Callable[[Any, str], Any]
_BY_ANNOTATION: dict[str, _Check] = {
    "bool": flag,
    "float": real,
    "str": text,
    "File": file,
    "str | os.PathLike[str]": file,
    "Progress": callback,
}
_CALLBACK = re.compile(r"Callable\[.*\]|Price|Search")
_MAPPING = re.compile(r"(Mapping|dict)\[[^|]*\]")
_SEVERAL = re.compile(r"Iterable\[(?!ArrayLike).*\]")
_SEQUENCE = re.compile(r"(Sequence|list)\[(?!int\]|float\])[^|]*\]|(list|tuple)\[.*\] \| (list|tuple)\[.*\]")
_CLASS = re.compile(r"(?:_?\w+\.)?([A-Z]\w+)")
_LITERAL = re.compile(r"Literal\[([^\]]*)\]")
# Names in annotations that are no class of this package: arrays and numbers, which each callable checks itself.
_NO_CLASS = {
    "ArrayLike",
    "NDArray",
    "Any",
    "Points",
    "Floats",
    "Ids",
    "Flags",
    "Array",
    "Cells",
    "Kinds",
    "Polygon",
    "T",
}


def checked(thing: _T) -> _T:
    """Decorate a public class or function: arguments that are not of the class that their annotation names are refused.

    `Mesh`, `bool`, `str`, `float`, files, callbacks, mappings and lists are compared, with None where the annotation
    or the default allows it. Arrays and the ranges of numbers are left to the callable. In a class, `__init__` and all
    public methods are decorated.
    """
    if not inspect.isclass(thing):
        return _checking(thing)  # type: ignore[return-value, arg-type]
    for name, member in list(vars(thing).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, (classmethod, staticmethod)):
            setattr(thing, name, type(member)(_checking(member.__func__)))
        elif inspect.isfunction(member):
            setattr(thing, name, _checking(member))
    return thing


def renamed(**former: str | tuple[str, Callable[[Any], Any]]) -> Callable[[_T], _T]:
    """Decorate a method of a `checked` class or a `checked` function whose arguments have had other names.

    Each former name is given with the new one, and with a function of its value where that has changed too. For one
    version the former names are taken as well, with a DeprecationWarning that says what to write instead.

    >>> @checked
    ... class Map:
    ...     @renamed(quick=("exact", opposite("quick")))
    ...     def path(self, *, exact: bool = True):
    ...         return exact
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     Map().path(quick=True)
    False
    >>> print(said[0].message)
    path: quick= is now exact=
    """

    def mark(function: _T) -> _T:
        function._former = former  # type: ignore[attr-defined]
        return function

    return mark


def opposite(name: str) -> Callable[[Any], bool]:
    """Return what turns the value of a flag that has been called `name` into that of its opposite."""
    return lambda value: not flag(value, name)


def moved(former: str, new: str) -> Callable[..., Any]:
    """Return a method that stands under a former name for one version: it warns, and calls the `new` one."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"{former} is now {new}", DeprecationWarning, stacklevel=2)
        return getattr(self, new)(*args, **kwargs)

    call.__name__ = former
    call.__doc__ = f"Deprecated: use `{new}`."
    call.__deprecated__ = new  # type: ignore[attr-defined]
    return call


def moved_property(former: str, new: str) -> Any:
    """Return a property that stands under a former name for one version: it warns, and gives the `new` one."""

    def get(self: Any) -> Any:
        warnings.warn(f"{former} is now {new}", DeprecationWarning, stacklevel=2)
        return getattr(self, new)

    return property(get, doc=f"Deprecated: use `{new}`.")


def _renaming(function: Callable[..., Any]) -> dict[str, tuple[str, Callable[[Any], Any] | None]]:
    former = getattr(function, "_former", {})
    return {old: (new, None) if isinstance(new, str) else new for old, new in former.items()}


def _with_new_names(
    kwargs: dict[str, Any], former: dict[str, tuple[str, Callable[[Any], Any] | None]], where: str
) -> dict[str, Any]:
    """Keyword arguments of which some may have former names."""
    result = {}
    for name, value in kwargs.items():
        new, convert = former.get(name, (name, None))
        if new != name:
            if new in kwargs:
                raise TypeError(f"{where}: {name}= is now {new}=, and both were given")
            warnings.warn(f"{where}: {name}= is now {new}=", DeprecationWarning, stacklevel=3)
        result[new] = value if convert is None else convert(value)
    return result


def _checking(function: Callable[..., Any]) -> Callable[..., Any]:
    former = _renaming(function)
    parameters = list(inspect.signature(function).parameters.values())
    checks: dict[str, _Check] = {}
    places: list[tuple[int, str, _Check]] = []
    for at, parameter in enumerate(parameters):
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        check = _check_of(parameter)
        if check is not None:
            checks[parameter.name] = check
            if parameter.kind is not parameter.KEYWORD_ONLY:
                places.append((at, parameter.name, check))
    if not checks and not former:
        return function

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if former and not former.keys().isdisjoint(kwargs):
            kwargs = _with_new_names(kwargs, former, function.__name__)
        given = len(args)
        for at, name, check in places:
            if at >= given:
                break
            check(args[at], name)
        for name, value in kwargs.items():
            if name in checks:
                checks[name](value, name)
        return function(*args, **kwargs)

    return run


def _check_of(parameter: inspect.Parameter) -> _Check | None:
    annotation = parameter.annotation
    if not isinstance(annotation, str):
        return None
    kinds = annotation.strip("\"'").removesuffix(" | None")
    optional = kinds != annotation.strip("\"'") or parameter.default is None
    check = _BY_ANNOTATION.get(kinds)
    if check is None and _CALLBACK.fullmatch(kinds):
        check = callback
    if check is None and _MAPPING.fullmatch(kinds):
        check = mapping
    if check is None and _SEVERAL.fullmatch(kinds):
        check = several
    if check is None and _SEQUENCE.fullmatch(kinds):
        check = sequence
    if check is None and _LITERAL.fullmatch(kinds):
        options = tuple(word.strip(" '\"") for word in kinds[8:-1].split(","))
        check = functools.partial(_one_of, options)
    if check is None:
        names = [_CLASS.fullmatch(part) for part in kinds.split(" | ")]
        if all(names) and not any(match.group(1) in _NO_CLASS for match in names if match):
            check = _Classes(tuple(match.group(1) for match in names if match))
    if check is None or not optional:
        return check
    return functools.partial(_or_none, check)


def _one_of(options: tuple[str, ...], value: Any, name: str) -> None:
    choice(value, name, options)


def _or_none(check: _Check, value: Any, name: str) -> None:
    if value is not None:
        check(value, name)


class _Classes:
    """Refuses what is of none of some classes, which are known by name only: annotations may not be importable."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.known: set[type] = set()

    def __call__(self, value: Any, name: str) -> None:
        kind = type(value)
        if kind in self.known:
            return
        # A `pathlib.Path` is no `Path` of ours.
        ours = [base for base in kind.__mro__ if base.__module__.partition(".")[0] not in sys.stdlib_module_names]
        if not any(base.__name__ in self.names for base in ours):
            wanted = " or ".join(f"{'an' if one[0] in 'AEIOU' else 'a'} {one}" for one in self.names)
            raise ParameterError(f"{name} must be {wanted}, not {shown(value)}")
        self.known.add(kind)
