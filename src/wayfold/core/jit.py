"""The only place that compiles: decorators over Numba, with a cache that knows what a kernel is made of.

* `kernel` compiles on first call, releases the GIL and caches on disk. Where no cache folder can be written it
  compiles in memory without a word. It cannot allocate; `kernel_with_memory` can.
* `inline` is a kernel small enough to be pasted into its callers, `helper` one that is too large for that.
* `generic` and `implements` give one kernel many meanings: a generic function has one implementation for each
  NamedTuple that describes a search space, and the search that calls it is compiled once for each of them.

Numba's own cache looks only at the file of the cached function. A kernel also depends on the kernels that it calls
and on the implementations that its argument types choose, so both are part of the key here.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import re
import sys
from pathlib import Path

import numba
from numba import types
from numba.core import event
from numba.core.registry import CPUDispatcher
from numba.cpython.unsafe.tuple import tuple_setitem  # noqa: F401 - kernels without arrays of their own use it
from numba.extending import overload

from wayfold.core.interrupts import in_main_thread, off_main_thread
from wayfold.core.kernel_cache import KernelCache

_PACKAGE = Path(__file__).resolve().parents[1]
_IMPORT = re.compile(r"^\s*from\s+(wayfold[\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)", re.MULTILINE)

# Never fastmath: infinity means blocked. Division by zero gives infinity as in numpy, without a check.
_OPTIONS = {"nogil": True, "error_model": "numpy"}

KERNELS: list = []
"""Every kernel that has been declared, in order; `warmup` is complete when each has a compiled signature."""


@functools.cache
def _stamp(file: str) -> str:
    """Hash of a kernel file and of every Wayfold file that it imports, directly or not."""
    seen, waiting = set(), [Path(file).resolve()]
    while waiting:
        path = waiting.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        for module, names in _IMPORT.findall(path.read_text(encoding="utf-8")):
            folder = _PACKAGE.joinpath(*module.split(".")[1:])
            waiting.append(folder.with_suffix(".py"))
            waiting.extend(folder / f"{name}.py" for name in re.findall(r"\w+", names))
    digest = hashlib.sha256()
    for path in sorted(seen):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _space_files(kind) -> set[str]:
    """Files of the NamedTuples inside a Numba type: they choose which generic implementations are compiled in."""
    files = set()
    if isinstance(kind, types.BaseNamedTuple):
        files.add(inspect.getfile(kind.instance_class))
    if isinstance(kind, types.BaseTuple):
        for part in kind:
            files |= _space_files(part)
    return files


class _Cache(KernelCache):
    """The disk cache, with all that a kernel is made of in its stamp."""

    def _stamp(self, signature):
        files = {inspect.getfile(self._py_func)}
        for kind in signature[0] if signature and isinstance(signature[0], tuple) else signature:
            files |= _space_files(kind)
        return tuple(sorted(_stamp(file) for file in files))


class _Announcer(event.Listener):
    """Says once, on a terminal, that the first use compiles."""

    told = False

    def on_start(self, event):
        if not _Announcer.told and sys.stderr is not None and sys.stderr.isatty():
            print(
                "wayfold: compiling for first use (once; `wayfold warmup` does all of it ahead of time) ...",
                file=sys.stderr,
                flush=True,
            )
        _Announcer.told = True

    def on_end(self, event):
        pass


event.register("numba:compile", _Announcer())


def be_quiet() -> None:
    """Say nothing about compiling from now on (for callers that show a progress bar of their own)."""
    _Announcer.told = True


def kernel(function):
    """Compile a free function over arrays on its first call; see the rules for kernels in CONTRIBUTING.

    A kernel cannot create arrays: Numba's reference counting is off in it. Counting references to the arrays inside a
    NamedTuple at every call of an inner loop made the A* of this package half as fast as it is now.
    """
    return _compiled(function, _nrt=False)


def kernel_with_memory(function):
    """Compile a function that has to create arrays, such as one that does not know its output's size beforehand."""
    return _compiled(function, _KernelWithMemory)


def inline(function):
    """Compile a small function that is to be pasted into the kernels that call it."""
    return numba.njit(forceinline=True, _nrt=False, **_OPTIONS)(function)


def helper(function):
    """Compile a function that only kernels call, but that is too large to be pasted into each of them."""
    return numba.njit(_nrt=False, **_OPTIONS)(function)


def helper_with_memory(function):
    """Compile a function that only kernels with memory call, and that creates arrays itself."""
    return numba.njit(**_OPTIONS)(function)


class _Kernel(CPUDispatcher):
    """A kernel whose compiling Ctrl-C cannot cut in half."""

    def compile(self, sig):
        return off_main_thread(functools.partial(super().compile, sig))


class _KernelWithMemory(_Kernel):
    """A kernel that returns arrays: making Python objects of them runs Python code, where no signal may arrive."""

    def __call__(self, *args):
        if in_main_thread():
            return off_main_thread(functools.partial(super().__call__, *args))
        return super().__call__(*args)


def _compiled(function, kind=_Kernel, **options):
    dispatcher = numba.njit(**_OPTIONS, **options)(function)
    dispatcher.__class__ = kind
    # Without a folder to cache in (a read-only install without a home) kernels are compiled in every process.
    with contextlib.suppress(RuntimeError):
        dispatcher._cache = _Cache(function)
    KERNELS.append(dispatcher)
    return dispatcher


def generic(function):
    """Declare a function whose meaning depends on the type of its first argument; see `implements`."""
    return function


def implements(function, space):
    """Give the meaning of a `generic` function for search spaces of the NamedTuple class `space`."""

    def register(implementation):
        def choose(first, *rest):
            if isinstance(first, types.BaseNamedTuple) and first.instance_class is space:
                return implementation
            return None

        options = {"forceinline": True, "_nrt": False, **_OPTIONS}
        overload(function, strict=False, jit_options=options)(choose)
        return implementation

    return register
