"""Requests on the wire: headers, TLS, HTTP/2, proxies, credentials, cookies, and the address guard."""

import socket
from pathlib import Path

import pycurl
import pytest
import trustme
from tests.fetch.conftest import FetchEnvironment, build_batch, run_to_end
from tests.hostile.http2 import speak_http2, tls_context
from tests.hostile.server import Behavior, Exchange, HostileServer, redirect_to, rules

from sanderling.errors import UsageError
from sanderling.fetch import address_guard, curl_transfer
from sanderling.fetch.curl_client import CurlClient, find_ca_file
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.transport import FetchRequest, FetchResponse, HostEndpoint
from sanderling.models import FetchBatch, FetchTask, Host, Outcome, Reason, RobotsTxt, Url, Visit


def page(exchange: Exchange) -> None:
    exchange.page(b"<title>Page</title>")


def fetch(settings: FetchSettings, url: str, endpoint: HostEndpoint) -> FetchResponse:
    """Send a request and wait for its response."""
    client = CurlClient(settings)
    client.start(FetchRequest(url, endpoint, None, max_body=1000, timeout=5.0))
    while not (responses := client.wait(1.0)):
        pass
    client.close()
    return responses[0]


def fetch_page(env: FetchEnvironment, server: HostileServer, path: str, host: str = "", **options: object) -> Visit:
    """Fetch a page without robots.txt; `host` is another name of the server."""
    name = Host(host or server.host)
    loop = env.open_loop(FetchSettings(**{"allow_private": True, **options}))  # type: ignore[arg-type]
    task = FetchTask(1, 1, Url(name + path))
    addresses = ("127.0.0.1",) if host else ()
    loop.submit(FetchBatch(name, (task,), addresses, RobotsTxt(name, 404, b"", 0.0, 1e12), 0.0))
    return run_to_end(loop).visits[0]


class TestHeaders:
    """Request headers and request targets."""

    def test_default_request_headers(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": page})
        fetch_page(env, server, "/a", user_agent="sanderling/9 (+https://contact.test)")
        assert server.requests[0].headers == {
            "host": f"127.0.0.1:{server.port}",
            "user-agent": "sanderling/9 (+https://contact.test)",
            "accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8",
            "accept-encoding": "gzip, deflate, br, zstd",
        }

    def test_user_headers_replace_defaults(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": page})
        fetch_page(env, server, "/a", headers=("X-Tide: high", "accept: text/plain"))
        headers = server.requests[0].headers
        assert (headers["x-tide"], headers["accept"]) == ("high", "text/plain")

    @pytest.mark.parametrize("header", ["no colon", "Two: lines\r\nEvil: yes", ": none", "Sp ace: x", "Nul: \0"])
    def test_invalid_header_is_a_usage_error(self, header: str) -> None:
        with pytest.raises(UsageError, match="request header"):
            FetchSettings(headers=(header,))

    def test_path_is_sent_unchanged(self, env: FetchEnvironment) -> None:
        server = env.start_server({})
        paths = ["/a", "/a//b/%2e%2E/c%7Ed?x=%20&&y='|[]", "/a/./b", "/b"]
        loop = env.open_loop()
        loop.submit(build_batch(server, *paths, robots=RobotsTxt(server.host, 404, b"", 0.0, 1e12)))
        run_to_end(loop)
        assert server.paths == paths

    def test_proxy_of_the_environment_is_ignored(self, env: FetchEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        server = env.start_server({"/a": page})
        assert fetch_page(env, server, "/a").outcome is Outcome.FETCHED


class TestGuard:
    """Connections to non-public addresses are refused."""

    @pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "0x7f.1", "2130706433", "127.1", "[::ffff:127.0.0.1]"])
    def test_connection_to_loopback_is_refused(self, env: FetchEnvironment, name: str) -> None:
        server = env.start_server({"/a": page})
        url = f"http://{name}:{server.port}/a"
        response = fetch(FetchSettings(), url, parse_endpoint(Host(f"http://{name}:{server.port}")))
        assert (response.abort_reason, response.head_lines) == (Reason.PRIVATE_ADDRESS, [])
        assert server.connections == 0

    def test_public_name_with_private_address_is_refused(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": page})
        endpoint = HostEndpoint(Host(f"http://rebind.test:{server.port}"), "rebind.test", server.port, ("127.0.0.1",))
        assert fetch(FetchSettings(), f"{endpoint.host}/a", endpoint).abort_reason is Reason.PRIVATE_ADDRESS
        assert server.connections == 0

    @pytest.mark.parametrize("addresses", [(), ("127.0.0.1",), ("10.0.0.1", "::1")])
    def test_batch_for_private_address_is_skipped(self, env: FetchEnvironment, addresses: tuple[str, ...]) -> None:
        loop = env.open_loop(FetchSettings())
        host = Host("http://localhost:1")
        loop.submit(
            FetchBatch(host, (FetchTask(1, 1, Url(f"{host}/")),), addresses, RobotsTxt(host, 404, b"", 0.0, 1e12))
        )
        visit = run_to_end(loop).visits[0]
        assert (visit.outcome, visit.reason) == (Outcome.SKIPPED, Reason.PRIVATE_ADDRESS)

    def test_robots_redirect_to_private_address_is_refused(
        self, env: FetchEnvironment, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for module in (curl_transfer, address_guard):  # treat a single loopback address as public
            monkeypatch.setattr(module, "is_global", lambda address: address == "127.0.0.1")
        inner = env.start_server({})
        server = env.start_server({"/a": page}, redirect_to(f"http://127.0.0.2:{inner.port}/robots.txt"))
        loop = env.open_loop(FetchSettings())
        loop.submit(build_batch(server, "/a"))
        report = run_to_end(loop)
        assert [(visit.outcome, visit.reason) for visit in report.visits] == [
            (Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE)
        ]
        assert report.visits[0].detail == "127.0.0.2 is not a public address"
        assert inner.connections == 0

    def test_name_is_pinned_to_checked_addresses(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": page})
        visit = fetch_page(env, server, "/a", host=f"http://pinned.test:{server.port}")
        assert (visit.outcome, visit.address) == (Outcome.FETCHED, "127.0.0.1")
        assert server.requests[0].headers["host"] == f"pinned.test:{server.port}"

    def test_pinned_address_can_be_replaced(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": page})
        host = Host(f"http://pinned.test:{server.port}")
        known = RobotsTxt(host, 404, b"", 0.0, 1e12)
        loop = env.open_loop(FetchSettings(allow_private=True))
        tasks = tuple(FetchTask(n, 1, Url(f"{host}/a")) for n in range(10))
        loop.submit(FetchBatch(host, tasks, ("127.0.0.1",), known, 0.0, 4))
        assert {visit.outcome for visit in run_to_end(loop).visits} == {Outcome.FETCHED}
        other = env.open_loop(FetchSettings(allow_private=True, connect_timeout=1.0))
        other.submit(FetchBatch(host, tasks[:1], ("127.0.0.3",), known, 0.0))
        assert [visit.reason for visit in run_to_end(other).visits] == [Reason.CONNECT]
        other.submit(FetchBatch(host, tasks[:1], ("127.0.0.1",), known, 0.0))
        assert [visit.outcome for visit in run_to_end(other).visits] == [Outcome.FETCHED]

    def test_pinned_address_is_removed_with_its_host(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": page})
        client = CurlClient(FetchSettings(allow_private=True))
        one, two = (HostEndpoint(Host(""), f"{name}.test", server.port, ("127.0.0.1",)) for name in ("one", "two"))

        def get(endpoint: HostEndpoint) -> FetchResponse:
            client.start(FetchRequest(f"http://{endpoint.host_port}/a", endpoint, None, max_body=1000, timeout=5.0))
            while not (responses := client.wait(1.0)):
                pass
            return responses[0]

        assert [
            get(endpoint).curl_error for endpoint in (one, two, HostEndpoint(Host(""), "one.test", server.port))
        ] == [
            0,
            0,
            0,
        ]
        client.drop_addresses(one)
        get(HostEndpoint(Host(""), "three.test", server.port, ("127.0.0.1",)))
        fresh = HostEndpoint(Host(""), "one.test", server.port)
        server.close_connections()
        assert get(fresh).curl_error == pycurl.E_COULDNT_RESOLVE_HOST
        client.close()


class TestTls:
    """Certificate verification."""

    @pytest.fixture
    def authority(self) -> trustme.CA:
        return trustme.CA()

    @pytest.fixture
    def trusted(self, authority: trustme.CA, tmp_path: Path) -> str:
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        return str(tmp_path / "ca.pem")

    @pytest.fixture
    def server(self, env: FetchEnvironment, authority: trustme.CA) -> HostileServer:
        return env.start_server({"/a": page}, tls=tls_context(authority, "127.0.0.1", "a.test"))

    def test_untrusted_certificate_is_refused(self, env: FetchEnvironment, server: HostileServer) -> None:
        visit = fetch_page(env, server, "/a")
        assert (visit.outcome, visit.reason) == (Outcome.FAILED, Reason.TLS)
        assert "certificate" in visit.detail

    def test_trusted_certificate_is_accepted(self, env: FetchEnvironment, server: HostileServer, trusted: str) -> None:
        assert fetch_page(env, server, "/a", ca_file=trusted).outcome is Outcome.FETCHED

    def test_certificate_for_another_name_is_refused(
        self, env: FetchEnvironment, server: HostileServer, trusted: str
    ) -> None:
        host = f"https://b.test:{server.port}"
        visit = fetch_page(env, server, "/a", host, ca_file=trusted)
        assert (visit.outcome, visit.reason) == (Outcome.FAILED, Reason.TLS)

    def test_insecure_host_skips_verification(self, env: FetchEnvironment, server: HostileServer) -> None:
        assert fetch_page(env, server, "/a", insecure_hosts=("127.0.0.1",)).outcome is Outcome.FETCHED
        assert fetch_page(env, server, "/a", insecure_hosts=("a.test",)).reason is Reason.TLS

    def test_insecure_setting_does_not_leak_to_reused_handle(
        self, env: FetchEnvironment, server: HostileServer
    ) -> None:
        loop = env.open_loop(FetchSettings(allow_private=True, insecure_hosts=("a.test",)))
        outcomes = []
        for name in ("a.test", "b.test"):
            host = Host(f"https://{name}:{server.port}")
            known = RobotsTxt(host, 404, b"", 0.0, 1e12)
            loop.submit(FetchBatch(host, (FetchTask(1, 1, Url(f"{host}/a")),), ("127.0.0.1",), known, 0.0))
            outcomes.append(run_to_end(loop).visits[0].outcome)
        assert outcomes == [Outcome.FETCHED, Outcome.FAILED]

    def test_server_without_tls_is_a_tls_failure(self, env: FetchEnvironment) -> None:
        def greet(connection: socket.socket, _: HostileServer) -> bool:
            connection.sendall(b"SSH-2.0-harbour\r\n")
            return False

        server = env.start_server({}, speak=greet)
        visit = fetch_page(env, server, "/a", host=f"https://a.test:{server.port}")
        assert (visit.outcome, visit.reason) == (Outcome.RETRY, Reason.TLS)


class TestHttp2:
    """HTTP/2 over TLS."""

    @pytest.fixture
    def server(self, env: FetchEnvironment) -> HostileServer:
        tls = tls_context(trustme.CA(), "127.0.0.1", protocol="h2")
        return env.start_server({}, tls=tls, speak=speak_http2)

    def outcomes(self, env: FetchEnvironment, server: HostileServer, *paths: str) -> dict[str, tuple[Outcome, Reason]]:
        loop = env.open_loop(FetchSettings(allow_private=True, insecure_hosts=("127.0.0.1",)))
        known = RobotsTxt(server.host, 404, b"", 0.0, 1e12)
        loop.submit(build_batch(server, *paths, robots=known, max_connections=len(paths)))
        visits = run_to_end(loop).visits
        return {visit.url.removeprefix(server.host): (visit.outcome, visit.reason) for visit in visits}

    def test_requests_share_a_connection(self, env: FetchEnvironment, server: HostileServer) -> None:
        paths = [f"/{n}" for n in range(20)]
        first = self.outcomes(env, server, *paths)
        assert set(first.values()) == {(Outcome.FETCHED, Reason.NONE)}
        assert sorted(server.paths) == sorted(paths)
        assert server.connections < len(paths)

    @pytest.mark.parametrize(("connections", "opened"), [(2, 5), (1, 1)])  # a shared connection for new tasks, and four
    def test_retries_use_fresh_connections_if_several_are_allowed(
        self, env: FetchEnvironment, server: HostileServer, connections: int, opened: int
    ) -> None:
        loop = env.open_loop(FetchSettings(allow_private=True, insecure_hosts=("127.0.0.1",)))
        tasks = tuple(FetchTask(n, 1, Url(f"{server.host}/{n}"), attempts=n % 2) for n in range(8))
        known = RobotsTxt(server.host, 404, b"", 0.0, 1e12)
        loop.submit(FetchBatch(server.host, tasks, (), known, 0.0, max_connections=connections))
        assert {visit.outcome for visit in run_to_end(loop).visits} == {Outcome.FETCHED}
        assert server.connections == opened

    def test_http2_response_is_stored_as_http11(self, env: FetchEnvironment, server: HostileServer) -> None:
        visit = fetch_page(env, server, "/a", insecure_hosts=("127.0.0.1",))
        assert visit.head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert visit.title == "Two"

    @pytest.mark.parametrize("path", ["/reset", "/away", "/short", "/rubbish"])
    def test_invalid_frames_are_a_broken_response(
        self, env: FetchEnvironment, server: HostileServer, path: str
    ) -> None:
        assert self.outcomes(env, server, path) == {path: (Outcome.RETRY, Reason.BROKEN_RESPONSE)}

    def test_endless_stream_is_aborted_at_the_limit(self, env: FetchEnvironment, server: HostileServer) -> None:
        visit = fetch_page(env, server, "/endless", insecure_hosts=("127.0.0.1",), max_body=1_000_000)
        assert (visit.outcome, visit.reason) == (Outcome.SKIPPED, Reason.TOO_LARGE)

    def test_http2_can_be_disabled(self, env: FetchEnvironment) -> None:
        tls = tls_context(trustme.CA(), "127.0.0.1", protocol="http/1.1")
        server = env.start_server({"/a": page}, tls=tls)
        visit = fetch_page(env, server, "/a", insecure_hosts=("127.0.0.1",), http2=False)
        assert visit.outcome is Outcome.FETCHED


class TestCaBundle:
    """Location of the CA bundle."""

    def test_configured_ca_file_is_used(self, tmp_path: Path) -> None:
        (tmp_path / "ca.pem").touch()
        assert find_ca_file(str(tmp_path / "ca.pem")) == str(tmp_path / "ca.pem")

    def test_missing_ca_file_is_a_usage_error(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="CA file not found"):
            find_ca_file(str(tmp_path / "none.pem"))

    def test_environment_takes_precedence_over_system(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        own, system = tmp_path / "own.pem", tmp_path / "system.pem"
        own.touch()
        system.touch()
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        assert find_ca_file(paths=("/none", str(system))) == str(system)
        monkeypatch.setenv("SSL_CERT_FILE", str(own))
        assert find_ca_file(paths=(str(system),)) == str(own)

    def test_certifi_is_the_fallback(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        assert Path(find_ca_file(paths=())).stat().st_size > 100_000


class TestProxy:
    """Requests through a proxy, where only the host name can be checked."""

    @pytest.fixture
    def proxy(self, env: FetchEnvironment) -> HostileServer:
        return env.start_server(
            {"http://a.test/x": page, "http://a.test/robots.txt": rules("User-agent: *\nDisallow: /y")}
        )

    def fetch_urls(self, env: FetchEnvironment, proxy: HostileServer, *urls: str) -> list[Visit]:
        loop = env.open_loop(FetchSettings(proxy=f"http://127.0.0.1:{proxy.port}"))
        host = Host("/".join(urls[0].split("/")[:3]))
        loop.submit(FetchBatch(host, tuple(FetchTask(n, 1, Url(url)) for n, url in enumerate(urls)), delay_seconds=0.0))
        return list(run_to_end(loop).visits)

    def test_robots_and_pages_use_the_proxy(self, env: FetchEnvironment, proxy: HostileServer) -> None:
        visits = self.fetch_urls(env, proxy, "http://a.test/x", "http://a.test/y")
        assert {visit.url: visit.reason for visit in visits} == {
            "http://a.test/x": Reason.NONE,
            "http://a.test/y": Reason.ROBOTS,
        }
        assert proxy.paths == ["http://a.test/robots.txt", "http://a.test/x"]

    @pytest.mark.parametrize("host", ["http://localhost", "http://0x7f.1", "http://169.254.169.254", "http://[::1]"])
    def test_proxy_does_not_bypass_the_address_guard(
        self, env: FetchEnvironment, proxy: HostileServer, host: str
    ) -> None:
        assert [visit.reason for visit in self.fetch_urls(env, proxy, f"{host}/x")] == [Reason.PRIVATE_ADDRESS]
        assert proxy.connections == 0

    def test_robots_redirect_does_not_bypass_the_address_guard(self, env: FetchEnvironment) -> None:
        proxy = env.start_server({"http://b.test/robots.txt": redirect_to("http://localhost/robots.txt")})
        assert [visit.reason for visit in self.fetch_urls(env, proxy, "http://b.test/x")] == [Reason.ROBOTS_UNREACHABLE]
        assert proxy.paths == ["http://b.test/robots.txt"]

    def test_refusing_proxy_is_a_connection_failure(self, env: FetchEnvironment, proxy: HostileServer) -> None:
        loop = env.open_loop(FetchSettings(proxy=f"http://127.0.0.1:{proxy.port}"))
        host = Host("https://a.test")
        known = RobotsTxt(host, 404, b"", 0.0, 1e12)
        loop.submit(FetchBatch(host, (FetchTask(1, 1, Url(f"{host}/x")),), (), known, 0.0))
        visit = run_to_end(loop).visits[0]
        assert (visit.outcome, visit.reason) == (Outcome.RETRY, Reason.CONNECT)
        assert proxy.requests[0].headers["user-agent"] == FetchSettings().user_agent

    def test_proxy_address_is_not_reported(self, env: FetchEnvironment, proxy: HostileServer) -> None:
        assert self.fetch_urls(env, proxy, "http://a.test/x")[0].address == ""

    def test_no_proxy_variable_is_ignored(
        self, env: FetchEnvironment, proxy: HostileServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("no_proxy", "*")
        assert [visit.outcome for visit in self.fetch_urls(env, proxy, "http://a.test/x")] == [Outcome.FETCHED]


class TestCredentials:
    """Credentials and cookies."""

    @pytest.mark.parametrize("with_port", [False, True])
    def test_credentials_are_sent_to_their_host_only(self, env: FetchEnvironment, with_port: bool) -> None:
        server = env.start_server({"/a": page})
        login = {f"a.test:{server.port}" if with_port else "a.test": "crab:s\u00e4lt"}
        loop = env.open_loop(FetchSettings(allow_private=True, basic_auth=login))
        for name in ("a.test", "b.test"):
            host = Host(f"http://{name}:{server.port}")
            known = RobotsTxt(host, 404, b"", 0.0, 1e12)
            loop.submit(FetchBatch(host, (FetchTask(1, 1, Url(f"{host}/a")),), ("127.0.0.1",), known, 0.0))
            run_to_end(loop)
        sent = [request.headers.get("authorization") for request in server.requests]
        assert sent == ["Basic Y3JhYjpzw6RsdA==", None]

    @pytest.mark.parametrize(("cookies", "sent"), [(False, None), (True, "tide=high")])
    def test_cookies_are_disabled_by_default(self, env: FetchEnvironment, cookies: bool, sent: str | None) -> None:
        server = env.start_server({"/a": lambda exchange: exchange.page(b"x", "Set-Cookie: tide=high"), "/b": page})
        loop = env.open_loop(FetchSettings(allow_private=True, cookies=cookies))
        loop.submit(build_batch(server, "/a", "/b"))
        run_to_end(loop)
        assert server.requests[-1].headers.get("cookie") == sent

    @pytest.mark.parametrize(("cookies", "request_count"), [(False, 1), (True, 2)])
    def test_cookie_redirect_is_retried_once(self, env: FetchEnvironment, cookies: bool, request_count: int) -> None:
        def require_cookie(exchange: Exchange) -> None:
            if exchange.request.headers.get("cookie") == "tide=high":
                page(exchange)
            else:
                exchange.answer(b"", "Set-Cookie: tide=high", "Location: /a", status="302 Found")

        server = env.start_server(
            {"/a": require_cookie, "/b": lambda g: g.answer(b"", "Set-Cookie: x=y", "Location: /b", status="302 F")}
        )
        loop = env.open_loop(FetchSettings(allow_private=True, cookies=cookies))
        loop.submit(build_batch(server, "/a", "/b"))
        outcomes = [visit.outcome for visit in run_to_end(loop).visits]
        assert outcomes == [Outcome.FETCHED if cookies else Outcome.REDIRECT, Outcome.REDIRECT]
        assert (server.paths.count("/a"), server.paths.count("/b")) == (request_count, request_count)


class TestLimits:
    """Media type and buffer limits."""

    def test_only_accepted_media_types_are_stored(self, env: FetchEnvironment) -> None:
        types = {"/html": "text/html; charset=x", "/png": "image/png", "/pdf": "application/pdf"}
        pages: dict[str, Behavior] = {
            path: lambda exchange, t=mime: exchange.answer(b"x" * 10, f"Content-Type: {t}")  # type: ignore[misc]
            for path, mime in types.items()
        }
        changed = "203 Non-Authoritative Information"
        pages["/pdf-203"] = lambda exchange: exchange.answer(b"x", "Content-Type: application/pdf", status=changed)
        server = env.start_server(pages)
        loop = env.open_loop(FetchSettings(allow_private=True, accepted_types=("text/html", "image/*")))
        loop.submit(build_batch(server, *types, "/pdf-203", "/missing"))
        outcomes = {
            visit.url.removeprefix(server.host): (visit.outcome, visit.reason) for visit in run_to_end(loop).visits
        }
        assert outcomes == {
            "/html": (Outcome.FETCHED, Reason.NONE),
            "/png": (Outcome.FETCHED, Reason.NONE),
            "/pdf": (Outcome.SKIPPED, Reason.MEDIA_TYPE),
            "/pdf-203": (Outcome.SKIPPED, Reason.MEDIA_TYPE),
            "/missing": (Outcome.GONE, Reason.NONE),
        }

    def test_large_bodies_beyond_the_buffer_are_returned(self, env: FetchEnvironment) -> None:
        body = bytes(3_000_000)
        paths = [f"/{n}" for n in range(6)]
        server = env.start_server(dict.fromkeys(paths, lambda exchange: exchange.answer(body)))
        loop = env.open_loop(FetchSettings(allow_private=True, max_buffered=4_000_000))
        loop.submit(build_batch(server, *paths, max_connections=6))
        visits = run_to_end(loop).visits
        assert {visit.outcome for visit in visits} <= {Outcome.FETCHED, Outcome.RETURNED}
        assert any(visit.outcome is Outcome.FETCHED for visit in visits)
        assert len(visits) == 6


@pytest.fixture(autouse=True)
def _clear_proxy_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
