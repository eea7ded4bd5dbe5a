"""HTTP/3 is used after a server offered it at its own port, with the same addresses and limits."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pycurl
import pytest
import trustme
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.h3.connection import H3Connection
from aioquic.h3.events import H3Event, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import QuicEvent
from tests.fetch.conftest import FetchEnvironment
from tests.hostile.http2 import tls_context
from tests.hostile.server import Exchange, HostileServer

from sanderling.fetch.curl_client import CurlClient
from sanderling.fetch.curl_transfer import Http3, can_use_http3, has_http3
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.transport import FetchRequest, FetchResponse, HostEndpoint
from sanderling.http.head import parse_head
from sanderling.models import Host, Reason

needs_http3 = pytest.mark.skipif(not has_http3(), reason="this libcurl has no HTTP/3")


class Http3Server(QuicConnectionProtocol):
    """Answers every request with a page, a large one for /large."""

    http: H3Connection | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        self.http = self.http or H3Connection(self._quic)
        for received in self.http.handle_event(event):
            self.answer(self.http, received)
        self.transmit()

    def answer(self, http: H3Connection, event: H3Event) -> None:
        if isinstance(event, HeadersReceived):
            path = dict(event.headers)[b":path"]
            http.send_headers(event.stream_id, [(b":status", b"200"), (b"content-type", b"text/html")])
            body = b"x" * 200_000 if path == b"/large" else b"<title>Quick</title>"
            http.send_data(event.stream_id, body, end_stream=True)


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


class Site(NamedTuple):
    """A server over TCP whose responses offer an alternative, and HTTP/3 at the UDP port of the same number."""

    server: HostileServer
    offers: list[str]
    settings: FetchSettings

    def fetch_thrice(self, offer: str, path: str = "/a") -> list[FetchResponse]:
        """Fetch a page, and then another one twice, with a single client."""
        port = self.server.port
        self.offers[:] = [offer.format(port=port)]
        client, responses = CurlClient(self.settings), list[FetchResponse]()
        endpoint = HostEndpoint(Host(f"https://a.test:{port}"), "a.test", port, ("127.0.0.1",))
        for target in ("/a", path, path):
            client.start(FetchRequest(f"https://a.test:{port}{target}", endpoint, None, max_body=100_000, timeout=20.0))
            while not (done := client.wait(1.0)):
                pass
            responses += done
        client.close()
        return responses


@pytest.fixture
def tcp_site(env: FetchEnvironment, authority: trustme.CA, tmp_path: Path) -> Site:
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    offers = list[str]()

    def show(exchange: Exchange) -> None:
        exchange.page(b"<title>Page</title>", f"Alt-Svc: {offers[0]}")

    server = env.start_server({"/a": show, "/large": show}, tls=tls_context(authority, "a.test"))
    return Site(server, offers, FetchSettings(allow_private=True, ca_file=str(tmp_path / "ca.pem")))


@pytest.fixture
def site(tcp_site: Site, authority: trustme.CA, tmp_path: Path) -> Iterator[Site]:
    certificate = authority.issue_cert("a.test")
    certificate.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "server.pem"))
    configuration = QuicConfiguration(is_client=False, alpn_protocols=["h3"])
    configuration.load_cert_chain(str(tmp_path / "server.pem"), str(tmp_path / "server.pem"))
    loop, ready, stopped = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def run() -> None:
        port = tcp_site.server.port
        server = await serve("127.0.0.1", port, configuration=configuration, create_protocol=Http3Server)
        ready.set()
        await stopped.wait()
        server.close()
        await asyncio.sleep(0)

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()))
    thread.start()
    ready.wait()
    yield tcp_site
    loop.call_soon_threadsafe(stopped.set)
    thread.join()
    loop.close()


def get_protocol(response: FetchResponse) -> bytes:
    return response.head_lines[0].split()[0]


@needs_http3
def test_offered_http3_is_used(site: Site) -> None:
    first, second, third = site.fetch_thrice('h3=":{port}"; ma=3600')
    assert (get_protocol(first), first.body) == (b"HTTP/1.1", b"<title>Page</title>")
    assert (get_protocol(second), second.body) == (b"HTTP/3", b"<title>Quick</title>")
    assert get_protocol(third) == b"HTTP/3"  # over the same connection
    assert (second.address, parse_head(second.head_lines)[0]) == ("127.0.0.1", 200)


@needs_http3
def test_limits_hold_over_http3(site: Site) -> None:
    _, second, _ = site.fetch_thrice('h2=":1", h3=":{port}"', "/large")
    assert (get_protocol(second), second.curl_error) == (b"HTTP/3", pycurl.E_FILESIZE_EXCEEDED)


@needs_http3
@pytest.mark.parametrize("offer", ['h3="other.test:{port}"', 'h3=":1"', 'h3-29=":{port}"', "clear", 'h3=":99999999"'])
def test_other_offers_are_ignored(site: Site, offer: str) -> None:
    assert get_protocol(site.fetch_thrice(offer)[1]) == b"HTTP/1.1"


@needs_http3
def test_server_without_quic_is_fetched_over_tcp(tcp_site: Site) -> None:
    responses = tcp_site.fetch_thrice('h3=":{port}"')
    assert [(found.curl_error, get_protocol(found)) for found in responses] == [(pycurl.E_OK, b"HTTP/1.1")] * 3


@needs_http3
def test_private_address_is_refused_over_http3() -> None:
    client = CurlClient(FetchSettings())
    client._shared.http3_endpoints["a.test:1"] = Http3.USED
    endpoint = HostEndpoint(Host("https://a.test:1"), "a.test", 1, ("127.0.0.1",))
    client.start(FetchRequest("https://a.test:1/", endpoint, None, (), 1000, timeout=20.0))
    while not (done := client.wait(1.0)):
        pass
    assert done[0].abort_reason is Reason.PRIVATE_ADDRESS
    client.close()


def test_proxies_and_old_versions_have_no_http3() -> None:
    assert not can_use_http3(FetchSettings(proxy="http://127.0.0.1:1"))
    assert not can_use_http3(FetchSettings(http2=False))
