"""Open the databases, keep the index up to date, and serve."""

import asyncio
import contextlib
import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn
from msgspec import Struct
from msgspec.structs import replace
from starlette.types import ASGIApp

from sanderling.api.collection_access import ensure_collection
from sanderling.api.reports.crawl_view import CollectionCrawlView
from sanderling.api.searching.search_service import SearchService, start_indexer_process
from sanderling.api.searching.user_feedback import open_user_feedback
from sanderling.errors import UsageError
from sanderling.web.app import build_app
from sanderling.web.auth import AuthStore
from sanderling.web.connections import BoundedProtocol
from sanderling.web.replay_app import build_replay_app
from sanderling.web.state import AppState

SHUTDOWN_SECONDS = 3
BACKLOG = 64  # bounds the connections accepted before the limit can apply


class ServerAddress(Struct, frozen=True):
    host: str = "127.0.0.1"
    port: int = 8420
    host_names: tuple[str, ...] = ()  # allowed Host names, in addition to IP addresses and localhost
    trusted_proxies: tuple[str, ...] = ()  # proxies whose X-Forwarded-For and -Proto are trusted
    replay_ports: tuple[int, ...] = ()  # of the replay of stored pages, the first that is free; none: no replay

    @property
    def is_public(self) -> bool:
        """Whether other machines can reach it."""
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host != "localhost"


def open_app_state(folder: Path, address: ServerAddress, *, create: bool = False) -> AppState:
    """Open the services. `create`: also create a collection where there is none."""
    ensure_collection(folder, create=create)
    log = open_user_feedback(folder)
    return AppState(
        SearchService(folder, log), log, CollectionCrawlView(folder), AuthStore(folder), is_public=address.is_public
    )


def serve(
    folder: Path,
    address: ServerAddress,
    report: Callable[[str], None],
    *,
    keep_index: bool = True,
    create: bool = False,
) -> None:
    """Serve until interrupted."""
    app_state = open_app_state(folder, address, create=create)
    listener = open_socket(address)
    port = listener.getsockname()[1]
    host = f"[{address.host}]" if ":" in address.host else address.host
    password = app_state.auth_store.create_initial_password()
    if password:
        report(f"password for the settings page (shown only once): {password}")
    report(f"http://{host}:{port}/")
    stop_replay = start_replay(
        app_state, address, lambda replay_port: report(f"replay, Memento and CDX: http://{host}:{replay_port}/")
    )
    indexer = start_indexer_process(folder) if keep_index else None
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C, so that resources are closed
    try:
        with contextlib.suppress(KeyboardInterrupt):  # the usual way to stop a server
            run_server(app_state, address, [listener])
    finally:
        stop_replay()
        if indexer is not None:
            indexer.terminate()
            indexer.join()
        app_state.close()


def start_replay(app_state: AppState, address: ServerAddress, report: Callable[[int], None]) -> Callable[[], None]:
    """Serve replay in a thread, if it has a port. Returns a function that stops it."""
    listener = _open_first_socket(address)
    if listener is None:
        return lambda: None
    app_state.replay_port = listener.getsockname()[1]
    server = uvicorn.Server(build_server_config(build_replay_app(app_state, address.host_names), address))
    thread = threading.Thread(target=server.run, args=([listener],), name="replay", daemon=True)
    thread.start()
    report(app_state.replay_port)

    def stop() -> None:
        server.should_exit = True
        thread.join(SHUTDOWN_SECONDS)

    return stop


def _open_first_socket(address: ServerAddress) -> socket.socket | None:
    for number, port in enumerate(address.replay_ports, 1):
        try:
            return open_socket(replace(address, port=port))
        except UsageError:
            if number == len(address.replay_ports):
                raise
    return None


def open_socket(address: ServerAddress) -> socket.socket:
    """Bind the port. Raises UsageError."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # With IPPROTO_TCP asyncio disables Nagle's algorithm; otherwise each response waits 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address.host, address.port))
    except OSError as error:
        listener.close()
        raise UsageError(
            f"cannot serve on {address.host} port {address.port}: {error.strerror};"
            " try another port, or 0 for any free one"
        ) from None
    listener.listen(BACKLOG)
    return listener


def run_server(app_state: AppState, address: ServerAddress, sockets: Sequence[socket.socket]) -> None:
    config = build_server_config(build_app(app_state, address.host_names), address)
    asyncio.run(uvicorn.Server(config).serve(sockets=list(sockets)))


def build_server_config(app: ASGIApp, address: ServerAddress) -> uvicorn.Config:
    """Build the configuration. Forwarded headers are trusted only from named proxies."""
    return uvicorn.Config(
        app,
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
