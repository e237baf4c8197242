"""The command line: ``wayfold demo | build | info | path | view | warmup``.

Invalid input gives one sentence on stderr and exit status 2, never a traceback. Ctrl-C ends a command with status 130
and leaves every file unchanged; a closed pipe (``| head``) ends it with status 1.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Any


class _Interrupted(BaseException):
    """Ctrl-C, as an exception that no library catches."""


def main() -> None:
    """Run the command line; the console script `wayfold`."""
    # Imported here so that `import wayfold.cli` stays cheap.
    from wayfold.cli.app import app

    run_app(app, "wayfold")


def run_app(app: Any, name: str) -> None:
    """Run a Typer app; errors become one sentence and an exit status."""
    from wayfold.errors import WayfoldError

    _open_streams()
    before = None
    with contextlib.suppress(ValueError):  # not in the main thread, where signals are handled
        before = signal.signal(signal.SIGINT, _interrupt)
    try:
        try:
            app(prog_name=name)
        finally:
            if before is not None:
                signal.signal(signal.SIGINT, before)
            sys.stdout.flush()
    except WayfoldError as error:
        _end(f"{name}: {error}", 2)
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _drop_output()
        _end(f"{name}: {where}{error.strerror or error}", 2)
    except _Interrupted:
        _end(f"{name}: interrupted; no file was changed", 130)


def _interrupt(*_: Any) -> None:
    raise _Interrupted


def _open_streams() -> None:
    """Open the null device for standard streams that are closed."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process lives
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def _drop_output() -> None:
    """Discard unwritten output: Python would try to flush it again at exit, and complain."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _end(sentence: str, status: int) -> None:
    with contextlib.suppress(OSError):
        print(sentence, file=sys.stderr)
    sys.exit(status)
