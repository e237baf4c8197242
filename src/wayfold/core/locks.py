"""Queries beside edits: a lock that many readers share and one writer has alone, and objects seen at one moment."""

from __future__ import annotations

import copy
import functools
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

from wayfold.core.interrupts import uninterrupted

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")


class Portable:
    """Objects that can be pickled and deep-copied: what belongs to this process stays behind and is made anew.

    `_OWN` names it: locks, and pools of scratch memory. Others may ask and edit the object meanwhile; the copy is the
    object as it was before an edit or as it was after it. Edits that replace the object's state at once need nothing
    for this. Those that change it in place are held off by its `_lock`, a `ReadersWriter`, until all of it is copied.
    """

    _OWN: ClassVar[tuple[tuple[str, Callable[[], Any]], ...]] = ()

    def _state(self) -> dict[str, Any]:
        """What travels. Queries add to dicts, also to `__dict__`: only ``dict(...)`` copies them at one moment."""
        own = dict(self._OWN)
        return {
            name: dict(value) if type(value) is dict else value
            for name, value in dict(self.__dict__).items()
            if name not in own
        }

    def __getstate__(self) -> Any:
        lock = getattr(self, "_lock", None)
        if not isinstance(lock, ReadersWriter):
            return self._state()
        hold = _Hold(lock)
        return self._state(), hold

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state[0] if isinstance(state, tuple) else state)
        self.__dict__.update({name: make() for name, make in self._OWN})

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        with still(self):
            other = object.__new__(type(self))
            memo[id(self)] = other
            other.__setstate__(copy.deepcopy(self._state(), memo))
        return other

    def __copy__(self) -> Self:
        other = object.__new__(type(self))  # a shallow copy shares everything, its locks as well
        other.__dict__.update(self.__dict__)
        return other


class ReadersWriter:
    """Readers run side by side; a writer waits for them, and those that come later wait for the writer.

    Each thread that reads has a lock of its own, and a writer takes them all. Ctrl-C may come between any two steps of
    Python code, also on the way into and out of a ``with`` block; only locks of the interpreter itself are safe from
    it, and reading takes nothing else. Writing puts Ctrl-C off. Reading costs less than a microsecond. A thread may
    read while it reads or writes already; one that reads must not write.
    """

    def __init__(self) -> None:
        self._turn = threading.RLock()  # of the thread that writes
        self._mine = threading.local()  # the lock of each thread that has read, which goes with the thread
        self._all: weakref.WeakSet[Any] = weakref.WeakSet()
        self._writers: set[object] = set()  # writing or waiting

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return ReadersWriter, ()  # in another process nobody reads or writes yet

    def reading(self) -> AbstractContextManager[Any]:
        """Hold off writers for a ``with`` block."""
        own: Any = getattr(self._mine, "lock", None)
        if own is None:
            own = threading.RLock()
            with self._turn:
                self._all.add(own)
                self._mine.lock = own
        if self._writers and not own._is_owned():
            with self._turn:  # otherwise one query after the other might keep writers waiting for ever
                pass
        return cast(AbstractContextManager[Any], own)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold off everybody else for a ``with`` block; Ctrl-C has its effect after it."""
        with uninterrupted():
            me = object()
            self._writers.add(me)
            try:
                with self._turn, ExitStack() as all_of_them:
                    for own in self._all:
                        all_of_them.enter_context(own)
                    yield
            finally:
                self._writers.discard(me)


def still(thing: Any) -> AbstractContextManager[Any]:
    """Hold off whoever would change an object in place; nothing for objects that have no `ReadersWriter`."""
    lock = getattr(thing, "_lock", None)
    return lock.reading() if isinstance(lock, ReadersWriter) else nullcontext()


class _Hold:
    """Holds writers off until it is pickled, or dropped because the pickling has failed.

    It is the last part of the state that it belongs to. Parts are pickled in order, so that all of the others are
    written by then.
    """

    def __init__(self, lock: ReadersWriter) -> None:
        with uninterrupted():
            own = lock.reading()
            own.__enter__()
            self._own: AbstractContextManager[Any] | None = own

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        self._release()
        return _nothing, ()

    def __del__(self) -> None:
        with suppress(AttributeError, RuntimeError):  # it was never held, or belongs to a thread that has ended
            self._release()

    def _release(self) -> None:
        with uninterrupted():
            own, self._own = self._own, None
            if own is not None:
                own.__exit__(None, None, None)


def _nothing() -> None:
    """What a `_Hold` is in a pickle."""


def reads(method: _F) -> _F:
    """Decorate a method of what has a `_lock` and must not see an edit half done."""

    @functools.wraps(method)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._lock.reading():
            return method(self, *args, **kwargs)

    return cast(_F, run)


def writes(method: _F) -> _F:
    """Decorate a method that edits; Ctrl-C has its effect after it."""

    @functools.wraps(method)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._lock.writing():
            return method(self, *args, **kwargs)

    return cast(_F, run)


def view(thing: _T) -> _T:
    """An object as it is now, whatever its `__dict__` is replaced by later; both see what is computed for it."""
    other = object.__new__(type(thing))
    other.__dict__ = thing.__dict__
    return other


def at_one_moment(method: _F) -> _F:
    """Decorate a method of an object whose edits replace its `__dict__`: it sees one state from beginning to end."""

    @functools.wraps(method)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(view(self), *args, **kwargs)

    return cast(_F, run)


if TYPE_CHECKING:
    derived = functools.cached_property
else:

    class derived(functools.cached_property):  # noqa: N801 - used like `cached_property`
        """A cached property of such an object: worked out from one state, and kept with that state."""

        def __get__(self, instance, owner=None):
            return super().__get__(instance if instance is None else view(instance), owner)
