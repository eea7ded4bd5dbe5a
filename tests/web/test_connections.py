"""No client can block other clients."""

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


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Return client address and body length."""
    assert scope["type"] == "http"
    request = Request(scope, receive)
    answer = f"{request.client.host if request.client else ''} {len(await request.body())}"
    await PlainTextResponse(answer)(scope, receive, send)


@contextmanager
def run_server(config: uvicorn.Config) -> Iterator[int]:
    listener = open_socket(ServerAddress(port=0))
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def build_config(app: ASGIApp, seconds: float = 60.0, most: int = 20) -> uvicorn.Config:
    limits = {"request_seconds": seconds, "max_connections": most}
    return uvicorn.Config(app, log_level="error", lifespan="off", http=type("Small", (BoundedProtocol,), limits))


def send_request(port: int, source: str = "127.0.0.1", headers: Mapping[str, str] = MappingProxyType({})) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=(source, 0))
    try:
        connection.request("GET", "/", headers=headers)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize(
    "begun", [b"", b"GET / HTTP/1.1\r\nHost: a", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx"]
)
def test_incomplete_request_is_closed(begun: bytes) -> None:
    with run_server(build_config(echo, 0.2)) as port, socket.create_connection(("127.0.0.1", port), 60) as client:
        client.sendall(begun)
        with suppress(ConnectionResetError):
            assert client.recv(100) == b""


def can_send(client: socket.socket, line: bytes) -> bool:
    """Return whether the server still accepts data."""
    try:
        client.sendall(line)
        return client.recv(100) != b""
    except TimeoutError:
        return True
    except ConnectionError:
        return False


def test_slow_request_is_closed() -> None:
    with run_server(build_config(echo, 0.3)) as port, socket.create_connection(("127.0.0.1", port), 60) as client:
        client.settimeout(0.05)
        client.sendall(b"GET / HTTP/1.1\r\n")
        while can_send(client, b"a: b\r\n"):
            pass


def test_keep_alive_connection_gets_a_new_deadline() -> None:
    with run_server(build_config(echo, 0.2)) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for _ in range(2):
            connection.request("POST", "/", b"four")
            assert connection.getresponse().read() == b"127.0.0.1 4"
            threading.Event().wait(0.4)
        connection.close()


def test_incomplete_requests_do_not_block_another_client() -> None:
    with run_server(build_config(echo)) as port, ExitStack() as stack:
        for _ in range(60):  # three times max_connections
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))
            client.sendall(b"GET / HTTP/1.1\r\nHost: a")
        assert send_request(port, "127.0.0.2") == "127.0.0.2 0"
        assert send_request(port) == "127.0.0.1 0"


def test_connection_survives_many_from_another_address() -> None:
    with run_server(build_config(echo)) as port, ExitStack() as stack:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=("127.0.0.3", 0))
        connection.connect()
        for _ in range(60):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"127.0.0.3 0"
        connection.close()


@pytest.mark.parametrize(
    ("proxies", "seen"), [((), "127.0.0.1"), (("10.0.0.0/8",), "127.0.0.1"), (("127.0.0.1",), "9.9.9.9")]
)
def test_forwarded_headers_are_trusted_only_from_named_proxies(
    proxies: tuple[str, ...], seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")  # set in containers for other servers
    config = build_server_config(echo, ServerAddress(trusted_proxies=proxies))
    assert config.http is BoundedProtocol
    config.lifespan = "off"
    with run_server(config) as port:
        assert send_request(port, headers={"X-Forwarded-For": "9.9.9.9"}) == f"{seen} 0"
