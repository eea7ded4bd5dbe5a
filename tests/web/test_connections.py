"""One client cannot keep the others out of the server, whatever it sends or does not send."""

import http.client
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from types import MappingProxyType

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sanderling.web.connections import BoundedProtocol
from sanderling.web.server import ServerAddress, build_server_config, open_socket
from sanderling.web.state import AppState


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the address of the client and the length of the body."""
    assert scope["type"] == "http"
    request = Request(scope, receive)
    answer = f"{request.client.host if request.client else ''} {len(await request.body())}"
    await PlainTextResponse(answer)(scope, receive, send)


@contextmanager
def running(config: uvicorn.Config) -> Iterator[int]:
    """The port of a server."""
    listening = open_socket(ServerAddress(port=0))
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def bounded(app: ASGIApp, seconds: float = 60.0, most: int = 20) -> uvicorn.Config:
    """A server with small limits."""
    limits = {"request_seconds": seconds, "most_connections": most}
    return uvicorn.Config(app, log_level="error", lifespan="off", http=type("Small", (BoundedProtocol,), limits))


def ask(port: int, source: str = "127.0.0.1", headers: Mapping[str, str] = MappingProxyType({})) -> str:
    """Send one request from this address, and return what is said."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=(source, 0))
    try:
        link.request("GET", "/", headers=headers)
        return link.getresponse().read().decode()
    finally:
        link.close()


@pytest.mark.parametrize(
    "begun", [b"", b"GET / HTTP/1.1\r\nHost: a", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx"]
)
def test_a_request_that_is_not_completed_is_ended(begun: bytes) -> None:
    with running(bounded(echo, 0.2)) as port, socket.create_connection(("127.0.0.1", port), 60) as half:
        half.sendall(begun)
        with suppress(ConnectionResetError):
            assert half.recv(100) == b""


def can_send(half: socket.socket, line: bytes) -> bool:
    """Send a line and wait a moment; False once the server has closed the connection."""
    try:
        half.sendall(line)
        return half.recv(100) != b""
    except TimeoutError:
        return True
    except ConnectionError:
        return False


def test_a_request_that_trickles_in_is_ended_too() -> None:
    with running(bounded(echo, 0.3)) as port, socket.create_connection(("127.0.0.1", port), 60) as half:
        half.settimeout(0.05)
        half.sendall(b"GET / HTTP/1.1\r\n")
        while can_send(half, b"a: b\r\n"):
            pass


def test_a_kept_connection_answers_again_after_the_time_limit_of_its_first_request() -> None:
    with running(bounded(echo, 0.2)) as port:
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for _ in range(2):
            link.request("POST", "/", b"four")
            assert link.getresponse().read() == b"127.0.0.1 4"
            threading.Event().wait(0.4)
        link.close()


def test_half_open_requests_of_one_client_do_not_block_another() -> None:
    with running(bounded(echo)) as port, ExitStack() as held:
        for _ in range(60):  # three times what fits
            half = held.enter_context(socket.create_connection(("127.0.0.1", port), 60))
            half.sendall(b"GET / HTTP/1.1\r\nHost: a")
        assert ask(port, "127.0.0.2") == "127.0.0.2 0"
        assert ask(port) == "127.0.0.1 0"


def test_connections_of_others_outlive_a_crowd_from_one_address() -> None:
    with running(bounded(echo)) as port, ExitStack() as held:
        kept = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=("127.0.0.3", 0))
        kept.connect()
        for _ in range(60):
            held.enter_context(socket.create_connection(("127.0.0.1", port), 60))
        kept.request("GET", "/")
        assert kept.getresponse().read() == b"127.0.0.3 0"
        kept.close()


@pytest.mark.parametrize(
    ("proxies", "seen"), [((), "127.0.0.1"), (("10.0.0.0/8",), "127.0.0.1"), (("127.0.0.1",), "9.9.9.9")]
)
def test_forwarded_addresses_are_believed_of_named_proxies_only(
    rooms: AppState, proxies: tuple[str, ...], seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")  # as containers set it for other servers
    monkeypatch.setattr("sanderling.web.server.build_app", lambda *_: echo)
    config = build_server_config(rooms, ServerAddress(trusted_proxies=proxies))
    assert config.http is BoundedProtocol
    config.lifespan = "off"
    with running(config) as port:
        assert ask(port, headers={"X-Forwarded-For": "9.9.9.9"}) == f"{seen} 0"
