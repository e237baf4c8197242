"""The readers-writer lock: who waits for whom, and that nothing that is interrupted keeps it."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from wayfold.core.locks import ReadersWriter


def in_thread(work):
    """Start some work; the returned event is set when it is done."""
    done = threading.Event()

    def run():
        work()
        done.set()

    threading.Thread(target=run, daemon=True).start()
    return done


def write(lock):
    with lock.writing():
        pass


def read(lock):
    with lock.reading():
        pass


def test_readers_share_and_a_writer_waits_for_all_of_them():
    lock = ReadersWriter()
    with lock.reading():
        assert in_thread(lambda: read(lock)).wait(60)
        writer = in_thread(lambda: write(lock))
        assert not writer.wait(0.05)
    assert writer.wait(60)


def test_readers_and_writers_wait_for_a_writer():
    lock = ReadersWriter()
    with lock.writing():
        waiting = [in_thread(lambda: read(lock)), in_thread(lambda: write(lock))]
        assert not any(event.wait(0.05) for event in waiting)
    assert all(event.wait(60) for event in waiting)


def test_what_ends_in_an_error_holds_nothing():
    lock = ReadersWriter()
    for way in (lock.reading, lock.writing):
        with pytest.raises(ZeroDivisionError), way():
            raise ZeroDivisionError
    assert in_thread(lambda: write(lock)).wait(60)


def test_a_thread_may_read_while_it_reads_or_writes_also_when_a_writer_waits():
    lock = ReadersWriter()
    with lock.reading():
        writer = in_thread(lambda: write(lock))
        assert not writer.wait(0.05)
        read(lock)
        assert not writer.wait(0.05)
    assert writer.wait(60)
    with lock.writing():
        read(lock)


def test_a_writer_gets_its_turn_however_busy_readers_are():
    lock = ReadersWriter()
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            read(lock)

    readers = [in_thread(busy) for _ in range(3)]
    for _ in range(50):
        assert in_thread(lambda: write(lock)).wait(60)
    stop.set()
    assert all(reader.wait(60) for reader in readers)


SCRIPT = """
import os, random, signal, sys, threading
from wayfold.core.locks import ReadersWriter

lock, rng, stop = ReadersWriter(), random.Random(3), threading.Event()
state = [0, 0]

def edit():
    while not stop.is_set():
        with lock.writing():
            state[0] += 1
            state[1] += 1

threads = [threading.Thread(target=edit, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
interrupted = 0
while interrupted < 300:
    try:
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 1e-3))
        while True:
            with lock.reading():
                assert state[0] == state[1]
            with lock.writing():
                state[0] += 1
                state[1] += 1
    except KeyboardInterrupt:
        interrupted += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
stop.set()
for thread in threads:
    thread.join(60)
assert not any(thread.is_alive() for thread in threads)
assert state[0] == state[1]
"""


def test_interrupts_leave_the_lock_free_and_the_state_whole():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
