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
from sanderling.search.background_indexer import start_indexer_process
from sanderling.search.feedback.event_log import open_event_log
from sanderling.storage.collection import open_collection_read_only
from sanderling.web.app import build_app
from sanderling.web.auth import AuthStore
from sanderling.web.connections import BoundedProtocol
from sanderling.web.crawl_view import CollectionCrawlView
from sanderling.web.state import AppState, SearchService

SHUTDOWN_SECONDS = 3
BACKLOG = 64  # accepted in one turn of the event loop; a few turns pass until one counts as a connection


class ServerAddress(Struct, frozen=True):
    """Where to serve."""

    host: str = "127.0.0.1"
    port: int = 8420
    host_names: tuple[str, ...] = ()  # host names it may be asked for under, beside addresses and localhost
    trusted_proxies: tuple[str, ...] = ()  # addresses and networks whose X-Forwarded-For and -Proto are believed

    @property
    def is_public(self) -> bool:
        """Can others than this machine reach it?"""
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host != "localhost"


def open_app_state(folder: Path, address: ServerAddress) -> AppState:
    """Open what the app needs of a collection."""
    open_collection_read_only(folder).close()
    log = open_event_log(folder)
    return AppState(
        SearchService(folder, log), log, CollectionCrawlView(folder), AuthStore(folder), is_public=address.is_public
    )


def serve(folder: Path, address: ServerAddress, report: Callable[[str], None], *, keep_index: bool = True) -> None:
    """Serve until interrupted."""
    rooms = open_app_state(folder, address)
    listening = open_socket(address)
    port = listening.getsockname()[1]
    host = f"[{address.host}]" if ":" in address.host else address.host
    password = rooms.auth_store.create_initial_password()
    if password:
        report(f"password for the settings page, shown this once: {password}")
    report(f"http://{host}:{port}/")
    follower = start_indexer_process(folder) if keep_index else None
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: what was opened is closed
    try:
        with contextlib.suppress(KeyboardInterrupt):  # the usual end of a server
            run_server(rooms, address, [listening])
    finally:
        if follower is not None:
            follower.terminate()
            follower.join()
        rooms.event_log.close()
        rooms.auth_store.close()


def open_socket(address: ServerAddress) -> socket.socket:
    """Take the port, or say why not."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # Named as TCP, or asyncio leaves Nagle's algorithm on and every answer waits 40 ms for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address.host, address.port))
    except OSError as error:
        listening.close()
        raise UsageError(
            f"cannot serve on {address.host} port {address.port}: {error.strerror}; try --port 0"
        ) from None
    listening.listen(BACKLOG)
    return listening


def run_server(app_state: AppState, address: ServerAddress, sockets: Sequence[socket.socket]) -> None:
    """Run the server in this thread until a signal."""
    asyncio.run(uvicorn.Server(build_server_config(app_state, address)).serve(sockets=list(sockets)))


def build_server_config(app_state: AppState, address: ServerAddress) -> uvicorn.Config:
    """Return the settings of the server. Forwarded headers are believed of named proxies only, not even of loopback."""
    return uvicorn.Config(
        build_app(app_state, address.host_names),
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        lifespan="on",
        backlog=BACKLOG,
        http=BoundedProtocol,
        ws="none",
        h11_max_incomplete_event_size=32_768,
        proxy_headers=bool(address.trusted_proxies),
        forwarded_allow_ips=list(address.trusted_proxies),
    )
