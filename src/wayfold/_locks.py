"""Queries beside edits: a lock that many readers share and one writer has alone, and objects seen at one moment."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

from wayfold._interrupts import uninterrupted

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")


class Portable:
    """Objects that can be pickled and deep-copied: what belongs to this process stays behind and is made anew.

    `_OWN` names it: locks, and pools of scratch memory.
    """

    _OWN: ClassVar[tuple[tuple[str, Callable[[], Any]], ...]] = ()

    def __getstate__(self) -> dict[str, Any]:
        own = dict(self._OWN)
        return {name: value for name, value in self.__dict__.items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__.update({name: make() for name, make in self._OWN})

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
        self._own: dict[int, Any] = {}  # a lock for each thread that has read
        self._writers: set[object] = set()  # writing or waiting

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return ReadersWriter, ()  # in another process nobody reads or writes yet

    def reading(self) -> AbstractContextManager[Any]:
        """Hold off writers for a ``with`` block."""
        own = self._own.get(threading.get_ident())
        if own is None:
            with self._turn:
                own = self._own.setdefault(threading.get_ident(), threading.RLock())
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
                    for own in self._own.values():
                        all_of_them.enter_context(own)
                    yield
            finally:
                self._writers.discard(me)


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
