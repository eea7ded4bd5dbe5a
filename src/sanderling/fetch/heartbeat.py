"""Heartbeat of a worker: load, memory, disk and throughput, for the scheduler."""

import os
import time

from sanderling.clock import Clock
from sanderling.models import Heartbeat, Visit

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
LATENCY_SMOOTHING = 0.1  # weight of the newest latency in the running mean


class HeartbeatMeter:
    """Counts visits and measures resource usage of a worker."""

    def __init__(self, name: str, clock: Clock) -> None:
        self._name, self._clock = name, clock
        self._page_count = self._bytes = 0
        self._latency = 0.0
        self._last_sample = (time.monotonic(), time.process_time(), 0)

    def count_visit(self, visit: Visit) -> None:
        """Count a visit that used the network."""
        self._page_count += 1
        self._bytes += visit.received_bytes
        self._latency += (
            LATENCY_SMOOTHING * (visit.duration_seconds - self._latency)
            if self._page_count > 1
            else visit.duration_seconds
        )

    def build(self, load: int) -> Heartbeat:
        """Return a heartbeat; shares and rates are since the previous call."""
        last_wall, last_cpu, last_bytes = self._last_sample
        self._last_sample = (time.monotonic(), time.process_time(), self._bytes)
        elapsed = max(self._last_sample[0] - last_wall, 1e-9)
        return Heartbeat(
            worker=self._name,
            sent_at=self._clock(),
            pending_tasks=load,
            cpu_share=min((self._last_sample[1] - last_cpu) / elapsed, 1.0),
            memory_bytes=read_used_memory(),
            free_memory_bytes=read_free_memory(),
            free_disk_bytes=read_free_disk(),
            bytes_per_second=(self._bytes - last_bytes) / elapsed,
            latency_seconds=self._latency,
            page_count=self._page_count,
        )


def read_used_memory() -> int:
    """Return the resident memory of this process in bytes; 0 if unknown."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * PAGE_BYTES
    except OSError:
        return 0


def read_free_memory() -> int:
    """Return the available memory of the machine in bytes; 0 if unknown."""
    try:
        with open("/proc/meminfo") as meminfo:
            lines = dict(line.split(":", 1) for line in meminfo)
    except OSError:
        return 0
    return int(lines.get("MemAvailable", "0").split()[0]) * 1024


def read_free_disk(folder: str = ".") -> int:
    stats = os.statvfs(folder)
    return stats.f_bavail * stats.f_frsize
