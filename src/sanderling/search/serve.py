"""Serving the app: its databases opened, the index kept up to date beside it, one port."""

import asyncio
import contextlib
import ipaddress
import multiprocessing
import os
import signal
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn
from msgspec import Struct

from sanderling.errors import CollectionError, UsageError
from sanderling.feedback.log import open_log
from sanderling.index.follow import follow
from sanderling.search.app import build
from sanderling.search.crawl import CrawlWindow
from sanderling.search.login import Door
from sanderling.search.rooms import Library, Rooms
from sanderling.store.collection import read_collection

GRACE_SECONDS = 3
CONNECTIONS = 1_000
WAIT_SECONDS = 5.0  # before following is tried again, where somebody else does it now
POLITE = 10  # on a busy machine the index gets a tenth of what a worker of the crawl gets, and catches up later


class Place(Struct, frozen=True):
    """Where to serve."""

    host: str = "127.0.0.1"
    port: int = 8420
    names: tuple[str, ...] = ()  # host names it may be asked for under, beside addresses and localhost

    @property
    def is_public(self) -> bool:
        """Can others than this machine reach it?"""
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host != "localhost"


def open_rooms(folder: Path, place: Place) -> Rooms:
    """Open what the app needs of a collection."""
    read_collection(folder).close()
    log = open_log(folder)
    return Rooms(Library(folder, log), log, CrawlWindow(folder), Door(folder), public=place.is_public)


def serve(folder: Path, place: Place, say: Callable[[str], None], *, index: bool = True) -> None:
    """Serve until interrupted."""
    rooms = open_rooms(folder, place)
    listening = listen(place)
    port = listening.getsockname()[1]
    host = f"[{place.host}]" if ":" in place.host else place.host
    password = rooms.door.first_password()
    if password:
        say(f"password for the settings page, shown this once: {password}")
    say(f"http://{host}:{port}/")
    follower = start_following(folder) if index else None
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: what was opened is closed
    try:
        with contextlib.suppress(KeyboardInterrupt):  # the usual end of a server
            run(rooms, place, [listening])
    finally:
        if follower is not None:
            follower.terminate()
            follower.join()
        rooms.log.close()
        rooms.door.close()


def listen(place: Place) -> socket.socket:
    """Take the port, or say why not."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    # Named as TCP, or asyncio leaves Nagle's algorithm on and every answer waits 40 ms for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((place.host, place.port))
    except OSError as error:
        listening.close()
        raise UsageError(f"cannot serve on {place.host} port {place.port}: {error.strerror}; try --port 0") from None
    listening.listen(CONNECTIONS)
    return listening


def run(rooms: Rooms, place: Place, sockets: Sequence[socket.socket]) -> None:
    """Run the server in this thread until a signal."""
    config = uvicorn.Config(
        build(rooms, place.names), log_level="warning", access_log=False, server_header=False, date_header=True,
        timeout_graceful_shutdown=GRACE_SECONDS, lifespan="on", limit_concurrency=CONNECTIONS,
        h11_max_incomplete_event_size=32_768,
    )  # fmt: skip
    asyncio.run(uvicorn.Server(config).serve(sockets=list(sockets)))


def start_following(folder: Path) -> multiprocessing.process.BaseProcess:
    """Keep the index up to date in a process of its own, with less right to the processor than the crawl."""
    spawn = multiprocessing.get_context("spawn")
    process = spawn.Process(target=keep_following, args=(folder, os.getpid()), daemon=True, name="index")
    process.start()
    return process


def keep_following(folder: Path, parent: int) -> None:
    """Follow as long as the parent lives; where another process follows already, wait for its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stopped: list[bool] = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    os.nice(POLITE)

    def over() -> bool:
        return bool(stopped) or os.getppid() != parent

    while not over():
        try:
            follow(folder, over)
        except CollectionError:
            signal.sigtimedwait([signal.SIGTERM], WAIT_SECONDS)
