"""How a migrant is: what the scheduler weighs when it chooses who goes."""

import os
import time

from sanderling.clock import Clock
from sanderling.models import Visit, Vitals

PAGE = os.sysconf("SC_PAGE_SIZE")
SMOOTHING = 0.1  # weight of the newest latency in the running mean


class Pulse:
    """Counts what a migrant does and reads what it uses."""

    def __init__(self, name: str, clock: Clock) -> None:
        self._name, self._clock = name, clock
        self._pages = self._bytes = 0
        self._latency = 0.0
        self._since = (time.monotonic(), time.process_time(), 0)

    def count(self, visit: Visit) -> None:
        """Note a visit that went over the network."""
        self._pages += 1
        self._bytes += visit.wire_bytes
        self._latency += SMOOTHING * (visit.seconds - self._latency) if self._pages > 1 else visit.seconds

    def take(self, load: int) -> Vitals:
        """Say how the migrant is; shares and rates are those since the last time."""
        wall, cpu, received = self._since
        self._since = (time.monotonic(), time.process_time(), self._bytes)
        passed = max(self._since[0] - wall, 1e-9)
        return Vitals(
            migrant=self._name,
            at=self._clock(),
            load=load,
            cpu_share=min((self._since[1] - cpu) / passed, 1.0),
            memory_bytes=memory_used(),
            memory_left=memory_left(),
            disk_left=disk_left(),
            bytes_per_second=(self._bytes - received) / passed,
            latency_seconds=self._latency,
            pages=self._pages,
        )


def memory_used() -> int:
    """Bytes of this process that are in memory; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * PAGE
    except OSError:
        return 0


def memory_left() -> int:
    """Bytes the machine could still give; 0 where the system does not say."""
    try:
        with open("/proc/meminfo") as meminfo:
            lines = dict(line.split(":", 1) for line in meminfo)
    except OSError:
        return 0
    return int(lines.get("MemAvailable", "0").split()[0]) * 1024


def disk_left(folder: str = ".") -> int:
    """Bytes free where the migrant stands."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize
