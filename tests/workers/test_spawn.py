"""Worker processes, forked or fresh."""

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

both = pytest.mark.parametrize("start", [spawn_worker, fork_worker])


@both
def test_waiting_process_becomes_the_next_worker(start: Callable[[str], SpawnedProcess]) -> None:
    spawned = start("m1-test")
    engine = LocalEngine(FetchSettings(), spawned_processes=[spawned])
    assert engine.create_worker() == spawned.name
    assert not engine.spawned_processes
    assert engine.create_worker() != spawned.name
    engine.close()
    assert spawned.process.poll() is not None  # killed if the machine is too busy for the grace period


@both
def test_worker_ends_when_the_coordinator_is_gone(start: Callable[[str], SpawnedProcess]) -> None:
    spawned = start("m1-test")
    spawned.sock.close()
    assert spawned.process.wait(60) == 0


def test_paused_worker_is_resumed_under_its_name() -> None:
    with spawn_workers(1) as waiting:
        engine = LocalEngine(FetchSettings(), spawned_processes=waiting)
        assert engine.create_worker("old") == "old"
        assert len(waiting) == 1
        engine.close()


def test_unused_processes_are_stopped() -> None:
    with spawn_workers(2) as waiting:
        unused = list(waiting)
    assert all(spawned.process.poll() is not None for spawned in unused)


def test_fresh_worker_keeps_freed_memory_unless_the_environment_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_TOP_PAD_", "4096")
    spawned = spawn_worker("m1-test")
    while not (environ := Path(f"/proc/{spawned.process.pid}/environ").read_bytes()):
        pass  # starting
    spawned.sock.close()
    spawned.process.wait()
    variables = environ.split(b"\0")
    assert b"MALLOC_TOP_PAD_=4096" in variables
    assert f"MALLOC_TRIM_THRESHOLD_={KEEP_FREED_SETTINGS['MALLOC_TRIM_THRESHOLD_'][1]}".encode() in variables


def test_process_with_threads_is_not_forked() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    assert not can_fork()
    stop.set()
    thread.join()


def test_process_without_a_standard_stream_is_not_forked() -> None:
    script = "import os; os.close(0); from sanderling.workers.spawn import can_fork; print(can_fork())"
    for code, output in ((script, b"False"), (script.replace("os.close(0)", "pass"), b"True")):
        assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE).stdout.strip() == output


def test_forked_worker_closes_files_and_resets_signal_handlers(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    with (tmp_path / "open").open("w"):
        spawned = fork_worker("m1-test")
        spawned.sock.sendall(b"\0")  # it waits for the rest of the frame
        while len(descriptors := os.listdir(f"/proc/{spawned.process.pid}/fd")) > 4:
            pass
    signal.signal(signal.SIGTERM, before)
    os.kill(spawned.process.pid, signal.SIGTERM)
    assert spawned.process.wait(60) == -signal.SIGTERM
    assert len(descriptors) == 4  # standard streams and the socket
    spawned.sock.close()


def test_forked_worker_that_fails_exits_with_an_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("failed to start")

    monkeypatch.setattr("sanderling.workers.worker.run_worker", fail)
    spawned = fork_worker("m1-test")
    spawned.sock.close()
    assert spawned.process.wait(60) == 1
    assert "failed to start" in capfd.readouterr().err


def test_wait_for_a_forked_worker_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    spawned = fork_worker("m1-test")
    with pytest.raises(subprocess.TimeoutExpired):
        spawned.process.wait(0)
    spawned.process.kill()
    assert spawned.process.wait() == -signal.SIGKILL
    spawned.process.kill()  # no error if repeated
    spawned.sock.close()


def test_forked_worker_reaped_by_others_has_ended() -> None:
    spawned = fork_worker("m1-test")
    spawned.sock.close()
    os.waitpid(spawned.process.pid, 0)
    assert spawned.process.poll() == 0
    spawned.process.kill()  # no error
