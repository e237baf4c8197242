"""Compiled kernels kept on disk: one file for each kernel and signature, trusted only where nobody else can write.

Numba's own cache believes its files: a damaged one ends in an error of `pickle`, and since they are pickles, one that
somebody else wrote runs what they like. Its index and its data are two files, so that two processes that compile at
once can give one kernel the code of another. Here a file holds its checksum, its key and the code; a file that is
damaged, of another key or of another version is no file, and is compiled and written again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import platform
import secrets
import stat
import sys
import warnings
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import caching
from numba.core.serialize import dumps

_FOLDER = "kernels"
_DIGEST = 32  # bytes of a SHA-256
_VERSIONS = (sys.implementation.cache_tag, platform.machine(), numba.__version__, llvmlite.__version__, np.__version__)


def _read_own(file: str) -> bytes:
    """The content of a regular file that nobody but the user (or root) can have written."""
    # Without O_NONBLOCK, opening a FIFO that somebody put here would wait for ever.
    with open(os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as handle:
        there = os.fstat(handle.fileno())
        own = not hasattr(os, "geteuid") or (there.st_uid in (os.geteuid(), 0) and not there.st_mode & 0o022)
        return handle.read() if stat.S_ISREG(there.st_mode) and own else b""


class KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """The cache of one kernel.

    Files lie in a folder ``kernels`` beside Python's own caches (or in Numba's user-wide folder, or where
    NUMBA_CACHE_DIR says). That folder is made for the user alone. One that others can write to, or that belongs to
    somebody else than the user or root, is neither read nor written, and a warning says so once.
    """

    _told = False

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._folder = os.path.join(self._cache_path, _FOLDER)
        self._base = f"{function.__module__.removeprefix('wayfold.')}.{function.__qualname__}"

    def _stamp(self, signature: Any) -> Any:
        """What the kernel was made of; a file with another stamp is out of date."""
        return ()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for a signature, None where there is none that can be trusted."""
        if not self._enabled:
            return None
        target_context.refresh()
        try:
            if not self._trusted():
                return None
            content = _read_own(self._file(sig, target_context.codegen()))
            digest, body = content[:_DIGEST], content[_DIGEST:]
            if hashlib.sha256(body).digest() != digest:
                return None
            key, payload = pickle.loads(body)
            if key != self._key(sig, target_context.codegen()):
                return None
            return self._impl.rebuild(target_context, payload)
        except Exception:  # whatever is wrong with a file: then there is none, and the kernel is compiled
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel; ignores write errors."""
        if not self._enabled or not self._impl.check_cachable(data):
            return
        try:
            self._impl.locator.ensure_cache_path()
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._folder, 0o700)
            if not self._trusted():
                return
            body = dumps((self._key(sig, data.codegen), self._impl.reduce(data)))
            file = self._file(sig, data.codegen)
            part = f"{file}.{secrets.token_hex(6)}.part"
            try:
                with open(part, "xb") as handle:
                    handle.write(hashlib.sha256(body).digest())
                    handle.write(body)
                os.replace(part, file)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(part)
                raise
        except OSError:  # full or read-only: compiled code still works
            self.disable()

    def flush(self) -> None:
        """Forget what is kept of this kernel."""
        with contextlib.suppress(OSError):
            for name in os.listdir(self._folder):
                if name.startswith(f"{self._base}-"):
                    os.unlink(os.path.join(self._folder, name))

    def _key(self, sig: Any, codegen: Any) -> str:
        made_of = super()._index_key(sig, codegen), self._stamp(sig)
        return repr((self._base, made_of, bool(numba.config.BOUNDSCHECK), _VERSIONS))

    def _file(self, sig: Any, codegen: Any) -> str:
        # Without the stamp: what is out of date is overwritten, and does not pile up.
        which = repr((sig, codegen.magic_tuple(), bool(numba.config.BOUNDSCHECK), _VERSIONS))
        return os.path.join(self._folder, f"{self._base}-{hashlib.sha256(which.encode()).hexdigest()[:16]}.nbc")

    def _trusted(self) -> bool:
        """Whether nobody but the user (or root) can have written what lies in the folder."""
        if not hasattr(os, "geteuid"):
            return True
        try:
            there = os.lstat(self._folder)
        except FileNotFoundError:
            return False
        if not stat.S_ISDIR(there.st_mode) or there.st_uid not in (os.geteuid(), 0):
            problem = "it does not belong to you"
        elif there.st_mode & 0o022:
            problem = "others can write to it"
        else:
            return True
        self.disable()
        if not KernelCache._told:
            KernelCache._told = True
            warnings.warn(
                f"compiled kernels are not kept in {self._folder}, because {problem}; they are compiled in every "
                "process: remove that folder, and it is made anew for you alone",
                RuntimeWarning,
                stacklevel=2,
            )
        return False
