"""One thread that does what is asked, one thing after the other, so that nobody who asks has to wait."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from wayfold.errors import WayfoldError


@dataclass
class Job:
    """Something to do; `what` is told to the user, and a later job of the same `what` takes its place."""

    what: str
    work: Callable[[], None]


class Worker:
    """Does jobs in order in a thread of its own.

    Parameters
    ----------
    begun : callable
        Called with the job's name in the worker's thread before each job, and with "" when nothing is left to do.
    failed : callable
        Called with the sentence of a `WayfoldError` that a job raised.
    """

    def __init__(self, begun: Callable[[str], None], failed: Callable[[str], None]) -> None:
        self._begun, self._failed = begun, failed
        self._jobs: list[Job] = []
        self._change = threading.Condition()
        self._busy = ""
        self._stopped = False
        self._thread = threading.Thread(target=self._run, daemon=True, name="wayfold-viewer")
        self._thread.start()

    @property
    def busy(self) -> str:
        """What is being done, empty for nothing."""
        return self._busy

    def submit(self, what: str, work: Callable[[], None]) -> None:
        """Do something when all before it is done; a waiting job of the same name is not done any more."""
        with self._change:
            self._jobs = [job for job in self._jobs if job.what != what]
            self._jobs.append(Job(what, work))
            self._change.notify_all()

    def offer(self, what: str, work: Callable[[], None]) -> bool:
        """Do something if there is nothing else to do, and say whether."""
        with self._change:
            free = not self._jobs and not self._busy
            if free:
                self._jobs.append(Job(what, work))
                self._change.notify_all()
        return free

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until there is nothing to do; False when it took longer."""
        with self._change:
            return self._change.wait_for(lambda: not self._jobs and not self._busy, seconds)

    def stop(self, seconds: float = 2.0) -> None:
        """Take no other job, and wait so long for the present one; a long build ends with the program."""
        with self._change:
            self._stopped = True
            self._jobs.clear()
            self._change.notify_all()
        self._thread.join(seconds)

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._jobs or self._stopped)
                if self._stopped:
                    return
                job = self._jobs.pop(0)
                self._busy = job.what
            try:
                self._begun(job.what)
                job.work()
            except WayfoldError as error:
                self._failed(str(error))
            except Exception as error:
                # The viewer goes on; whoever runs it should hear of a mistake in the package.
                traceback.print_exc()
                self._failed(f"{type(error).__name__}: {error}")
            with self._change:
                left = bool(self._jobs)
            if not left:
                self._begun("")
            with self._change:
                self._busy = ""
                self._change.notify_all()
