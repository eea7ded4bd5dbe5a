"""Network namespaces with real addresses that act as separate machines."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import pytest
from msgspec import Struct

NUMBERS = count(0)


class Machine(Struct, frozen=True):
    """A namespace, its address, and our end of its veth pair."""

    name: str
    address: str
    cable: str

    def inside(self, command: Sequence[str]) -> list[str]:
        """Return a command that runs in the namespace."""
        return ["ip", "netns", "exec", self.name, *command]

    def cut(self) -> None:
        """Set the link down."""
        ip("link", "set", self.cable, "down")

    def mend(self) -> None:
        """Set the link up."""
        ip("link", "set", self.cable, "up")


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def need_namespaces() -> None:
    """Skip the test if namespaces cannot be created."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    if not any((Path(folder) / "ip").exists() for folder in os.environ.get("PATH", "").split(":")):
        pytest.skip("network namespaces need the command ip (iproute2)")
    name = f"sl-try-{os.getpid()}"
    try:
        ip("netns", "add", name)
        try:
            ip("-n", name, "link", "set", "lo", "up")
        finally:
            ip("netns", "del", name)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"network namespaces cannot be used here: {error.stderr.decode(errors='replace').strip()}")


@contextmanager
def machines(many: int) -> Iterator[list[Machine]]:
    """Create namespaces, each with its own veth pair."""
    with ExitStack() as stack:
        found = []
        for _ in range(many):
            number = next(NUMBERS)  # devices of earlier machines may be removed late
            tag = f"sl{os.getpid() % 100_000}x{number}"
            net = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}.{number * 4}"
            ours, theirs = (net.rpartition(".")[0] + f".{number * 4 + end}" for end in (1, 2))
            ip("netns", "add", tag)
            stack.callback(ip, "netns", "del", tag)  # also deletes both ends of the veth pair
            ip("link", "add", tag, "type", "veth", "peer", "name", "eth0", "netns", tag)
            ip("addr", "add", f"{ours}/30", "dev", tag)
            ip("link", "set", tag, "up")
            ip("-n", tag, "addr", "add", f"{theirs}/30", "dev", "eth0")
            ip("-n", tag, "link", "set", "eth0", "up")
            ip("-n", tag, "link", "set", "lo", "up")
            found.append(Machine(tag, theirs, tag))
        yield found
