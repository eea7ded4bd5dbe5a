"""Hostile server over HTTP/2: correct frames, and several protocol violations."""

import socket
import ssl
import time
from contextlib import suppress

import trustme
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import RequestReceived
from h2.exceptions import ProtocolError
from tests.hostile.server import HostileServer, Request

HEADERS = [(":status", "200"), ("content-type", "text/html")]


def tls_context(authority: trustme.CA, *names: str, protocol: str = "http/1.1") -> ssl.SSLContext:
    """Return a server-side TLS context with a certificate of this authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols([protocol])
    authority.issue_cert(*names).configure_cert(context)
    return context


def speak_http2(connection: socket.socket, server: HostileServer) -> bool:
    """Serve requests on a connection until either side closes it."""
    h2 = H2Connection(H2Configuration(client_side=False))
    h2.initiate_connection()
    connection.sendall(h2.data_to_send())
    with suppress(ProtocolError):  # the client sends after we closed
        while data := connection.recv(65536):
            for event in h2.receive_data(data):
                if isinstance(event, RequestReceived):
                    path = dict(event.headers or [])[b":path"].decode()
                    server.requests.append(Request("GET", path, b"", time.monotonic()))
                    answer(h2, event.stream_id or 0, path)
            if server.paths[-1:] == ["/endless"]:
                fill_window(h2, 1)
            connection.sendall(h2.data_to_send())
            if server.paths[-1:] == ["/rubbish"]:
                connection.sendall(b"\0\0\x05\xff\xff\xff\xff\xff\xffrubbish" * 10)
    return False


def answer(h2: H2Connection, stream: int, path: str) -> None:
    """Respond to a stream according to its path."""
    h2.send_headers(stream, HEADERS)
    if path == "/reset":
        h2.send_data(stream, b"<title>Cut</title>")
        h2.reset_stream(stream, ErrorCodes.INTERNAL_ERROR)
    elif path == "/away":
        h2.close_connection(ErrorCodes.ENHANCE_YOUR_CALM)
    elif path == "/endless":
        fill_window(h2, stream)
    elif path == "/rubbish":
        h2.send_data(stream, b"<title>Half")
    elif path == "/short":
        h2.send_data(stream, b"<title>Half", end_stream=False)
        h2.close_connection()
    else:
        h2.send_data(stream, b"<title>Two</title>", end_stream=True)


def fill_window(h2: H2Connection, stream: int) -> None:
    """Send as much as flow control allows, without ending the stream."""
    while (room := h2.local_flow_control_window(stream)) > 0:
        h2.send_data(stream, b"a" * min(room, h2.max_outbound_frame_size))
