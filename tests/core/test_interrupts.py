"""Ctrl-C: kernels that make arrays, long builds, and changes of several steps."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from wayfold.core.batches import run_chunks
from wayfold.core.interrupts import interruptible, off_main_thread, stopper, uninterrupted


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_work_off_the_main_thread_gives_its_result_or_raises_its_error():
    assert off_main_thread(lambda: threading.current_thread() is threading.main_thread()) is False
    with pytest.raises(ZeroDivisionError):
        off_main_thread(lambda: 1 // 0)
    # In another thread there is nothing to leave.
    names = []
    thread = threading.Thread(target=lambda: names.append(off_main_thread(lambda: threading.current_thread().name)))
    thread.start()
    thread.join()
    assert names == [thread.name]


def test_ctrl_c_ends_a_long_build_at_once_and_the_rest_of_it_stops():
    begun, go_on, stopped = threading.Event(), threading.Event(), threading.Event()

    @interruptible
    def build():
        check = stopper()
        threading.Thread(target=lambda: begun.wait() and interrupt()).start()
        begun.set()
        assert go_on.wait(60)
        try:
            check()
        except BaseException:
            stopped.set()
            raise

    with pytest.raises(KeyboardInterrupt):
        build()
    go_on.set()
    assert stopped.wait(60)


def test_the_chunks_of_a_build_that_nobody_waits_for_are_not_begun():
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    done = []

    def work(first, last):
        begun.set()
        assert go_on.wait(60)
        done.append(first)

    @interruptible
    def build():
        threading.Thread(target=lambda: begun.wait() and interrupt()).start()
        try:
            run_chunks(work, 1000, workers=2, chunk=1)
        finally:
            ended.set()

    with pytest.raises(KeyboardInterrupt):
        build()
    go_on.set()
    assert ended.wait(60)
    assert len(done) <= 2


def test_a_batch_that_is_interrupted_waits_for_what_has_begun_and_begins_no_more():
    begun, done = [], []
    both = threading.Barrier(3)
    go_on = threading.Event()

    def work(first, last):
        begun.append(first)
        both.wait(60)
        assert go_on.wait(60)
        done.append(first)

    def signal_then_let_go():
        both.wait(60)
        usual = signal.getsignal(signal.SIGINT)
        interrupt()
        while signal.getsignal(signal.SIGINT) is usual:  # until the batch waits for its end
            pass
        go_on.set()

    threading.Thread(target=signal_then_let_go).start()
    with pytest.raises(KeyboardInterrupt):
        run_chunks(work, 1000, workers=2, chunk=1)
    assert len(begun) == 2
    assert sorted(done) == sorted(begun)


def test_a_batch_raises_the_first_error_of_its_work_and_of_its_progress():
    def work(first, last):
        if first == 5:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_chunks(work, 1000, workers=3, chunk=1)

    def progress(items):
        raise LookupError

    with pytest.raises(LookupError):
        run_chunks(lambda first, last: None, 1000, workers=3, chunk=1, progress=progress)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_batch_does_each_item_once_and_tells_of_all(workers):
    items, told = [], []
    run_chunks(lambda first, last: items.extend(range(first, last)), 103, workers=workers, chunk=10,
               progress=told.append)  # fmt: skip
    assert sorted(items) == list(range(103))
    assert sum(told) == 103


def test_a_change_of_several_steps_is_complete_before_ctrl_c_counts():
    steps = []

    def change():
        with uninterrupted(), uninterrupted():
            interrupt()
            while len(steps) < 1000:
                steps.append(len(steps))

    with pytest.raises(KeyboardInterrupt):
        change()
    assert len(steps) == 1000
    with pytest.raises(KeyboardInterrupt):  # and afterwards as always
        sum(interrupt() is None for _ in range(1000))


def test_an_error_inside_a_change_is_not_lost():
    with pytest.raises(ZeroDivisionError), uninterrupted():
        raise ZeroDivisionError
    before = signal.getsignal(signal.SIGINT)
    with uninterrupted():
        pass
    assert signal.getsignal(signal.SIGINT) is before


def _in_a_child(pipe):
    pipe.send(off_main_thread(lambda: 7))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_helpers_of_its_own():
    off_main_thread(lambda: None)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_in_a_child, args=(there,))
    child.start()
    assert here.poll(60)
    assert here.recv() == 7
    child.join(60)


def test_an_interrupted_script_ends_though_a_helper_is_at_work():
    script = """
        import os, signal, threading
        from wayfold.core.interrupts import off_main_thread
        go = threading.Event()
        def work():
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait()
        try:
            off_main_thread(work)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout == "interrupted\n"
