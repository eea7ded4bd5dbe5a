"""A slow link between two network namespaces, with the byte counters of the kernel at its end.

`tc netem` does it where the kernel has it. Where it has not, two tun devices stand at the ends and this process carries
the packets between them, one after the other at the rate of the link, each for as long as the way takes.
"""

import fcntl
import json
import os
import struct
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

NEAR, FAR = "10.77.0.1", "10.77.0.2"
TUNSETIFF = 0x400454CA
TUN_WITHOUT_HEADER = 0x1001
QUEUE = 1000  # packets; netem's own default


class Link(Struct, frozen=True):
    near: str
    far: str
    device: str
    kind: str  # netem or tun

    def bytes(self) -> int:
        """Bytes that crossed the link so far, both ways, as the kernel counted them at the near end."""
        answer = run(["ip", "-n", self.near, "-s", "-j", "link", "show", self.device])
        stats = json.loads(answer)[0]["stats64"]
        return int(stats["rx"]["bytes"]) + int(stats["tx"]["bytes"])

    def inside(self, end: str, command: Sequence[str]) -> list[str]:
        """Return a command that runs at an end of the link."""
        return ["ip", "netns", "exec", end, *command]


def run(command: Sequence[str]) -> str:
    """Run a command of the system."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def is_possible() -> str:
    """Empty if namespaces can be made here, else why not."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    name = f"sanderling-try-{os.getpid()}"
    try:
        run(["ip", "netns", "add", name])
        run(["ip", "netns", "del", name])
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no network namespaces here: {error}"
    return ""


@contextmanager
def slow_link(seconds: float = 0.05, bits_per_second: float = 10e6) -> Iterator[Link]:
    """Two namespaces joined by a link with this round trip and this rate each way."""
    near, far = f"sanderling-near-{os.getpid()}", f"sanderling-far-{os.getpid()}"
    with ExitStack() as stack:
        for name in (near, far):
            run(["ip", "netns", "add", name])
            stack.callback(run, ["ip", "netns", "del", name])
            run(["ip", "-n", name, "link", "set", "lo", "up"])
        kind = "netem" if _netem(near, far, seconds / 2, bits_per_second) else "tun"
        if kind == "tun":
            stack.enter_context(_tun(near, far, seconds / 2, bits_per_second))
        yield Link(near, far, "slow", kind)


def _address(name: str, own: str, other: str) -> None:
    run(["ip", "-n", name, "addr", "add", own, "peer", other, "dev", "slow"])
    run(["ip", "-n", name, "link", "set", "slow", "up"])


def _netem(near: str, far: str, seconds: float, rate: float) -> bool:
    run(["ip", "link", "add", "slow", "netns", near, "type", "veth", "peer", "name", "slow", "netns", far])
    try:
        for name in (near, far):
            way = ["delay", f"{seconds * 1000:g}ms", "rate", f"{rate:.0f}bit", "limit", str(QUEUE)]
            run(["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "slow", "root", "netem", *way])
    except subprocess.CalledProcessError:
        run(["ip", "-n", near, "link", "del", "slow"])
        return False
    _address(near, NEAR, FAR)
    _address(far, FAR, NEAR)
    return True


@contextmanager
def _tun(near: str, far: str, seconds: float, rate: float) -> Iterator[None]:
    ends = [_open_tun(near), _open_tun(far)]
    _address(near, NEAR, FAR)
    _address(far, FAR, NEAR)
    ways = [Way(ends[0], ends[1], seconds, rate), Way(ends[1], ends[0], seconds, rate)]
    for way in ways:
        way.start()
    try:
        yield
    finally:
        for way in ways:
            way.stop()
        for end in ends:
            os.close(end)


def _open_tun(namespace: str) -> int:
    end = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH", b"slow", TUN_WITHOUT_HEADER))
    run(["ip", "link", "set", "slow", "netns", namespace])
    return end


class Way:
    """One direction, with the rate and the delay of the link."""

    def __init__(self, source: int, sink: int, seconds: float, rate: float) -> None:
        self.source, self.sink, self.seconds, self.rate = source, sink, seconds, rate
        self.packets: deque[tuple[float, bytes]] = deque()
        self.there = threading.Condition()
        self.stopped = False
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self._take, self._give)]

    def start(self) -> None:
        """Begin to carry."""
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        """Carry no more."""
        self.stopped = True
        with self.there:
            self.there.notify()

    def _take(self) -> None:
        free_at = 0.0
        while not self.stopped:
            try:
                packet = os.read(self.source, 65536)
            except OSError:
                return
            free_at = max(free_at, time.monotonic()) + len(packet) * 8 / self.rate
            if len(self.packets) < QUEUE:
                with self.there:
                    self.packets.append((free_at + self.seconds, packet))
                    self.there.notify()

    def _give(self) -> None:
        while not self.stopped:
            with self.there:
                while not self.packets and not self.stopped:
                    self.there.wait()
                if self.stopped:
                    return
                due, packet = self.packets.popleft()
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                os.write(self.sink, packet)
            except OSError:
                continue


def round_trip(link: Link) -> float:
    """Measure the way there and back, as a check of the link itself."""
    script = (
        "import socket, time; s = socket.socket(); t = time.monotonic();"
        f"code = s.connect_ex(('{FAR}', 9)); print(time.monotonic() - t)"
    )
    python = Path("/usr/bin/env").as_posix()
    return min(float(run(link.inside(link.near, [python, "python3", "-c", script]))) for _ in range(3))
