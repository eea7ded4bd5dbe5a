"""Serving the app: its databases opened, the index kept up to date beside it, one port."""

import asyncio
import contextlib
import ipaddress
import signal
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn
from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.search.background_indexer import start_following
from sanderling.search.feedback.event_log import open_log
from sanderling.storage.collection import read_collection
from sanderling.web.app import build
from sanderling.web.auth import Door
from sanderling.web.connections import BoundedProtocol
from sanderling.web.crawl_view import CrawlWindow
from sanderling.web.state import Library, Rooms

GRACE_SECONDS = 3
BACKLOG = 64  # accepted in one turn of the event loop; a few turns pass until one counts as a connection


class Place(Struct, frozen=True):
    """Where to serve."""

    host: str = "127.0.0.1"
    port: int = 8420
    names: tuple[str, ...] = ()  # host names it may be asked for under, beside addresses and localhost
    proxies: tuple[str, ...] = ()  # addresses and networks whose X-Forwarded-For and -Proto are believed

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
    listening.listen(BACKLOG)
    return listening


def run(rooms: Rooms, place: Place, sockets: Sequence[socket.socket]) -> None:
    """Run the server in this thread until a signal."""
    asyncio.run(uvicorn.Server(server_config(rooms, place)).serve(sockets=list(sockets)))


def server_config(rooms: Rooms, place: Place) -> uvicorn.Config:
    """Return the settings of the server. Forwarded headers are believed of named proxies only, not even of loopback."""
    return uvicorn.Config(
        build(rooms, place.names), log_level="warning", access_log=False, server_header=False, date_header=True,
        timeout_graceful_shutdown=GRACE_SECONDS, lifespan="on", backlog=BACKLOG, http=BoundedProtocol, ws="none",
        h11_max_incomplete_event_size=32_768, proxy_headers=bool(place.proxies),
        forwarded_allow_ips=list(place.proxies),
    )  # fmt: skip
