"""Ctrl-C at any moment leaves every object whole and never ends the process.

Python runs signal handlers in the main thread, wherever that thread next executes Python code. Compiled code that
makes arrays executes some on its way back, in a place that cannot take an exception; the compiler does in callbacks
that swallow it. Both therefore run in a helper thread, where no signal arrives, while the main thread waits
(`off_main_thread`). Long builds do the same as a whole, so that Ctrl-C stops the waiting at once (`interruptible`). A
change that takes several steps puts Ctrl-C off until it is complete (`uninterrupted`).
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

# Seconds between looks for signals. One that comes just before the main thread begins to wait does not end the waiting,
# and on Windows none does.
TICK = 0.1


class Stopped(BaseException):
    """Ends work in a helper thread that nobody waits for any more; users never see it."""


class _Helper(threading.Thread):
    """A thread that runs one thing after the other; idle ones are kept for reuse."""

    def __init__(self) -> None:
        super().__init__(name="wayfold-helper", daemon=True)
        self.tasks: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.start()

    def run(self) -> None:
        """Work until the process ends."""
        while True:
            task = self.tasks.get()
            task()
            del task
            _idle.append(self)


_idle: list[_Helper] = []
_cancelled: contextvars.ContextVar[threading.Event | None] = contextvars.ContextVar("cancelled", default=None)

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # threads do not survive a fork


def in_main_thread() -> bool:
    """Whether signals arrive in this thread."""
    return threading.current_thread() is threading.main_thread()


def begin(task: Callable[[], None]) -> None:
    """Run `task`, which must not raise, in a helper thread, and go on."""
    try:
        helper = _idle.pop()
    except IndexError:
        with uninterrupted():  # a new thread waits for its beginning in Python code that Ctrl-C could cut in half
            helper = _Helper()
    helper.tasks.put(task)


def off_main_thread(work: Callable[[], _T]) -> _T:
    """Run `work` where no signal arrives and return what it returns.

    In the main thread a helper does it. Ctrl-C stops the waiting; the helper goes on and its result is lost, so `work`
    must change nothing that others see.
    """
    if not in_main_thread():
        return work()
    result: list[_T] = []
    problem: list[BaseException] = []
    done = threading.Lock()
    done.acquire()
    context = contextvars.copy_context()

    def task() -> None:
        try:
            result.append(context.run(work))
        except BaseException as error:  # the caller raises it
            problem.append(error)
        finally:
            done.release()

    begin(task)
    while not done.acquire(timeout=TICK):
        pass
    if problem:
        raise problem.pop()
    return result.pop()


def interruptible(build: Callable[_P, _T]) -> Callable[_P, _T]:
    """Decorate a long build that returns something new: Ctrl-C ends it at once, in the main thread.

    What the build has begun goes on in the background to its next chunk of work (see `check_stopped`) and is dropped.
    Callbacks such as `progress` are called in another thread then.
    """

    @functools.wraps(build)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        if not in_main_thread():
            return build(*args, **kwargs)
        cancelled = threading.Event()
        token = _cancelled.set(cancelled)
        try:
            return off_main_thread(lambda: build(*args, **kwargs))
        except BaseException:
            cancelled.set()
            raise
        finally:
            _cancelled.reset(token)

    return run


def stopper() -> Callable[[], None]:
    """A function that raises `Stopped` once nobody waits for this work any more; it may be called in any thread."""
    cancelled = _cancelled.get()

    def check() -> None:
        if cancelled is not None and cancelled.is_set():
            raise Stopped

    return check


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off until the end of the block: for changes of several steps, which take milliseconds."""
    handler = signal.getsignal(signal.SIGINT) if in_main_thread() else None
    if not callable(handler):  # not the main thread, or signals are ignored or not Python's
        yield
        return
    waiting: list[tuple[Any, ...]] = []
    try:
        signal.signal(signal.SIGINT, lambda *arguments: waiting.append(arguments))
    except ValueError:  # not the main interpreter
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if waiting:
            handler(*waiting[0])
