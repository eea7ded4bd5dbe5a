"""Memory of the processes below a browser process."""

import os
import signal
from contextlib import suppress
from pathlib import Path

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TAB_PROCESS = b"--type=renderer"


def find_descendants(root: int) -> list[int]:
    """Return the process ids below `root`."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                parent = int(Path("/proc", name, "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    found, waiting = [], [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def get_resident_bytes(process: int) -> int:
    """Return the resident memory without shared pages, or 0."""
    with suppress(OSError, ValueError, IndexError):
        _, resident, shared = Path("/proc", str(process), "statm").read_text().split()[:3]
        return (int(resident) - int(shared)) * PAGE_BYTES
    return 0


def kill_large_tabs(root: int, max_bytes: int) -> int:
    """Kill the page processes below `root` that use more memory; return their number."""
    killed = 0
    for process in find_descendants(root):
        if get_resident_bytes(process) > max_bytes:
            with suppress(OSError):
                if TAB_PROCESS in Path("/proc", str(process), "cmdline").read_bytes():
                    os.kill(process, signal.SIGKILL)
                    killed += 1
    return killed
