"""Queries beside edits: a lock that many readers share and one writer has alone, and objects seen at one moment."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")

# Seconds between looks at who is left. Whoever leaves tells those who wait, unless Ctrl-C ends it on its way out.
_TICK = 0.05


class ReadersWriter:
    """Readers run side by side; a writer waits for them, and those that come later wait for the writer.

    A thread that reads or writes may read again. Helper threads of a reader must not: a waiting writer would stop
    them, and so the reader, whom it waits for. Reading costs about a microsecond.
    """

    def __init__(self) -> None:
        self._readers: set[int] = set()  # threads
        self._writer: int | None = None  # the thread that writes, or waits for readers to leave
        self._turn = threading.Lock()  # of writers
        self._gate = threading.Condition(threading.Lock())

    # A reader enters itself and then looks for a writer; a writer the other way round. So one sees the other, without
    # a lock. Leaving is a single step that nothing can interrupt, and repeating it does no harm.

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold off writers."""
        me = threading.get_ident()
        if me in self._readers or me == self._writer:
            yield
            return
        try:
            self._readers.add(me)
            while self._writer is not None:
                self._readers.discard(me)
                with self._gate:
                    self._gate.notify_all()
                    while self._writer is not None:
                        self._gate.wait(_TICK)
                self._readers.add(me)
            yield
        finally:
            self._readers.discard(me)
            if self._writer is not None:
                with self._gate:
                    self._gate.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold off everybody."""
        me = threading.get_ident()
        if me == self._writer:
            yield
            return
        with self._turn:
            try:
                self._writer = me
                with self._gate:
                    while self._readers:
                        self._gate.wait(_TICK)
                yield
            finally:
                self._writer = None
                with self._gate:
                    self._gate.notify_all()


def reads(method: _F) -> _F:
    """Decorate a method of what has a `_lock` and must not see an edit half done."""

    @functools.wraps(method)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._lock.reading():
            return method(self, *args, **kwargs)

    return cast(_F, run)


def writes(method: _F) -> _F:
    """Decorate a method that edits."""

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
