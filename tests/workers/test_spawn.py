"""Processes that are started ahead of the migrants that live in them: copies of ours, or fresh ones."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.runtime.memory import KEEP_FREED_SETTINGS
from sanderling.workers.local import LocalEngine
from sanderling.workers.spawn import SpawnedProcess, can_fork, fork_worker, spawn_worker, spawn_workers

both = pytest.mark.parametrize("begin", [spawn_worker, fork_worker])


@both
def test_a_process_that_waits_becomes_the_next_migrant(begin: Callable[[str], SpawnedProcess]) -> None:
    newborn = begin("m1-test")
    engine = LocalEngine(FetchSettings(), spawned_processes=[newborn])
    assert engine.create_worker() == newborn.name
    assert not engine.spawned_processes
    assert engine.create_worker() != newborn.name
    engine.close()
    assert newborn.process.poll() == 0


@both
def test_a_migrant_ends_when_the_coordinator_is_gone(begin: Callable[[str], SpawnedProcess]) -> None:
    newborn = begin("m1-test")
    newborn.sock.close()
    assert newborn.process.wait(60) == 0


def test_a_parked_migrant_wakes_up_under_its_old_name() -> None:
    with spawn_workers(1) as waiting:
        engine = LocalEngine(FetchSettings(), spawned_processes=waiting)
        assert engine.create_worker("old") == "old"
        assert len(waiting) == 1
        engine.close()


def test_who_is_left_over_ends() -> None:
    with spawn_workers(2) as waiting:
        left = list(waiting)
    assert all(newborn.process.poll() is not None for newborn in left)


def test_a_fresh_migrant_keeps_freed_memory_unless_its_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_TOP_PAD_", "4096")
    newborn = spawn_worker("m1-test")
    while not (environ := Path(f"/proc/{newborn.process.pid}/environ").read_bytes()):
        pass  # it is just being started
    newborn.sock.close()
    newborn.process.wait()
    told = environ.split(b"\0")
    assert b"MALLOC_TOP_PAD_=4096" in told
    assert f"MALLOC_TRIM_THRESHOLD_={KEEP_FREED_SETTINGS['MALLOC_TRIM_THRESHOLD_'][1]}".encode() in told


def test_a_process_with_threads_is_not_copied() -> None:
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    assert not can_fork()
    over.set()
    thread.join()


def test_a_process_that_lost_a_stream_is_not_copied() -> None:
    ask = "import os; os.close(0); from sanderling.workers.spawn import can_fork; print(can_fork())"
    for code, answer in ((ask, b"False"), (ask.replace("os.close(0)", "pass"), b"True")):
        assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE).stdout.strip() == answer


def test_a_copy_holds_none_of_our_files_and_hears_signals_like_a_fresh_process(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    with (tmp_path / "ours").open("w"):
        newborn = fork_worker("m1-test")
        newborn.sock.sendall(b"\0")  # the first byte of a frame: it waits for the rest
        while len(held := os.listdir(f"/proc/{newborn.process.pid}/fd")) > 4:
            pass
    signal.signal(signal.SIGTERM, before)
    os.kill(newborn.process.pid, signal.SIGTERM)
    assert newborn.process.wait(60) == -signal.SIGTERM
    assert len(held) == 4  # input, output, errors and the way to us
    newborn.sock.close()


def test_a_copy_that_fails_ends_there(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no such life")

    monkeypatch.setattr("sanderling.workers.worker.run_worker", fail)
    newborn = fork_worker("m1-test")
    newborn.sock.close()
    assert newborn.process.wait(60) == 1
    assert "no such life" in capfd.readouterr().err


def test_patience_with_a_copy_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    newborn = fork_worker("m1-test")
    with pytest.raises(subprocess.TimeoutExpired):
        newborn.process.wait(0)
    newborn.process.kill()
    assert newborn.process.wait() == -signal.SIGKILL
    newborn.process.kill()  # once more does no harm
    newborn.sock.close()


def test_a_copy_that_the_system_took_notice_of_has_ended() -> None:
    newborn = fork_worker("m1-test")
    newborn.sock.close()
    os.waitpid(newborn.process.pid, 0)
    assert newborn.process.poll() == 0
    newborn.process.kill()  # and does no harm
