"""Run a command and measure wall time, CPU time of all its processes, and peak memory."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

# ru_maxrss would not do: it knows one process, and counts ours before the exec. A look takes some
# milliseconds where three processes hold 150 MB together (6 on a busy machine); five in a second are about a percent.
SAMPLE_SECONDS = 0.5


class Cost(Struct, frozen=True):
    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int  # proportional set size, summed over the process tree
    exit_code: int  # negative: the signal that ended it
    machine_seconds: float = 0.0  # CPU time of the whole machine meanwhile, ours in it


def measure(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None, limit_seconds: float = 900
) -> Cost:
    """Run a command in a folder; its output goes to output.txt."""
    with (folder / "output.txt").open("wb") as output:
        start, busy = time.perf_counter(), machine_cpu_seconds()
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        watch = Watch(process.pid)
        timer = threading.Timer(limit_seconds, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall, busy = time.perf_counter() - start, machine_cpu_seconds() - busy
        timer.cancel()
        peak = watch.stop()
        process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(wall, usage.ru_utime + usage.ru_stime, peak, process.returncode, busy)


class Watch:
    """A thread that looks at the memory of a process tree now and then."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        """Stop looking; return the peak in bytes."""
        self._over.set()
        self._thread.join()
        return self._peak

    def _look(self) -> None:
        while not self._over.wait(SAMPLE_SECONDS):
            self._peak = max(self._peak, sum(map(pss, tree(self._pid))))


def tree(pid: int) -> list[int]:
    """A process and all its descendants."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in children for one in tree(int(child)))]


def pss(pid: int) -> int:
    """Return the proportional memory of a process in bytes."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def machine_cpu_seconds() -> float:
    """CPU time that all processes of this machine have used."""
    user, nice, system, _idle, _wait, irq, softirq, *_ = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def tree_cpu_seconds(pid: int) -> float:
    """CPU time that a process and its living descendants have used."""
    ticks = 0
    for one in tree(pid):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
