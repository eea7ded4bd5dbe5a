"""What goes over the wire: headers, TLS, HTTP/2, proxies, passwords, cookies, and the guard at the socket."""

import socket
from pathlib import Path

import pycurl
import pytest
import trustme
from tests.fetch.conftest import Road, bring_home, itinerary
from tests.hostile.http2 import speak_http2, tls_context
from tests.hostile.server import Behaviour, Guest, HostileServer, redirect_to, rules

from sanderling.errors import UsageError
from sanderling.fetch import address_guard, curl_transfer
from sanderling.fetch.curl_client import CurlClient, find_ca_file
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.transport import FetchRequest, FetchResponse, HostEndpoint
from sanderling.models import FetchBatch, FetchTask, Host, Outcome, Reason, RobotsTxt, Url, Visit


def page(guest: Guest) -> None:
    guest.page(b"<title>Page</title>")


def fetch(settings: FetchSettings, url: str, door: HostEndpoint) -> FetchResponse:
    """Make one request and wait for its end."""
    fetcher = CurlClient(settings)
    fetcher.start(FetchRequest(url, door, None, max_body=1000, timeout=5.0))
    while not (replies := fetcher.wait(1.0)):
        pass
    fetcher.close()
    return replies[0]


def visit(road: Road, server: HostileServer, path: str, host: str = "", **options: object) -> Visit:
    """Send a migrant to one page, without robots.txt; `host` is another name for the server."""
    name = Host(host or server.host)
    made = road.trip(FetchSettings(**{"allow_private": True, **options}))  # type: ignore[arg-type]
    stop = FetchTask(1, 1, Url(name + path))
    addresses = ("127.0.0.1",) if host else ()
    made.submit(FetchBatch(name, (stop,), addresses, RobotsTxt(name, 404, b"", 0.0, 1e12), 0.0))
    return bring_home(made).visits[0]


class TestHeaders:
    """We say who we are, and what we take."""

    def test_a_request_says_who_asks_and_what_it_takes(self, road: Road) -> None:
        server = road.server({"/a": page})
        visit(road, server, "/a", user_agent="sanderling/9 (+https://contact.test)")
        assert server.requests[0].headers == {
            "host": f"127.0.0.1:{server.port}",
            "user-agent": "sanderling/9 (+https://contact.test)",
            "accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8",
            "accept-encoding": "gzip, deflate, br, zstd",
        }

    def test_extra_headers_are_sent_and_replace_ours(self, road: Road) -> None:
        server = road.server({"/a": page})
        visit(road, server, "/a", headers=("X-Tide: high", "accept: text/plain"))
        headers = server.requests[0].headers
        assert (headers["x-tide"], headers["accept"]) == ("high", "text/plain")

    @pytest.mark.parametrize("header", ["no colon", "Two: lines\r\nEvil: yes", ": none", "Sp ace: x", "Nul: \0"])
    def test_a_header_that_is_none_is_a_mistake_of_the_user(self, header: str) -> None:
        with pytest.raises(UsageError, match="request header"):
            FetchSettings(headers=(header,))

    def test_a_path_is_sent_as_it_is_spelled(self, road: Road) -> None:
        server = road.server({})
        paths = ["/a", "/a//b/%2e%2E/c%7Ed?x=%20&&y='|[]", "/a/./b", "/b"]
        made = road.trip()
        made.submit(itinerary(server, *paths, robots=RobotsTxt(server.host, 404, b"", 0.0, 1e12)))
        bring_home(made)
        assert server.paths == paths

    def test_the_environment_does_not_choose_a_proxy(self, road: Road, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        server = road.server({"/a": page})
        assert visit(road, server, "/a").outcome is Outcome.FETCHED


class TestGuard:
    """No address but a public one is connected to, however it is named."""

    @pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "0x7f.1", "2130706433", "127.1", "[::ffff:127.0.0.1]"])
    def test_curl_may_not_open_a_socket_to_ourselves(self, road: Road, name: str) -> None:
        server = road.server({"/a": page})
        url = f"http://{name}:{server.port}/a"
        reply = fetch(FetchSettings(), url, parse_endpoint(Host(f"http://{name}:{server.port}")))
        assert (reply.abort_reason, reply.head_lines) == (Reason.PRIVATE_ADDRESS, [])
        assert server.connections == 0

    def test_a_public_name_may_not_lead_inside(self, road: Road) -> None:
        server = road.server({"/a": page})
        door = HostEndpoint(Host(f"http://rebind.test:{server.port}"), "rebind.test", server.port, ("127.0.0.1",))
        assert fetch(FetchSettings(), f"{door.host}/a", door).abort_reason is Reason.PRIVATE_ADDRESS
        assert server.connections == 0

    @pytest.mark.parametrize("addresses", [(), ("127.0.0.1",), ("10.0.0.1", "::1")])
    def test_a_trip_there_ends_before_it_starts(self, road: Road, addresses: tuple[str, ...]) -> None:
        made = road.trip(FetchSettings())
        host = Host("http://localhost:1")
        made.submit(
            FetchBatch(host, (FetchTask(1, 1, Url(f"{host}/")),), addresses, RobotsTxt(host, 404, b"", 0.0, 1e12))
        )
        seen = bring_home(made).visits[0]
        assert (seen.outcome, seen.reason) == (Outcome.SKIPPED, Reason.PRIVATE_ADDRESS)

    def test_robots_txt_may_not_lead_inside_either(self, road: Road, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in (curl_transfer, address_guard):  # let one loopback address stand for the public internet
            monkeypatch.setattr(module, "is_global", lambda address: address == "127.0.0.1")
        inner = road.server({})
        server = road.server({"/a": page}, redirect_to(f"http://127.0.0.2:{inner.port}/robots.txt"))
        made = road.trip(FetchSettings())
        made.submit(itinerary(server, "/a"))
        parcel = bring_home(made)
        assert [(seen.outcome, seen.reason) for seen in parcel.visits] == [
            (Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE)
        ]
        assert parcel.visits[0].detail == "127.0.0.2 is not a public address"
        assert inner.connections == 0

    def test_names_are_pinned_to_the_addresses_that_were_looked_at(self, road: Road) -> None:
        server = road.server({"/a": page})
        seen = visit(road, server, "/a", host=f"http://pinned.test:{server.port}")
        assert (seen.outcome, seen.address) == (Outcome.FETCHED, "127.0.0.1")
        assert server.requests[0].headers["host"] == f"pinned.test:{server.port}"

    def test_a_pin_holds_for_every_request_and_can_be_moved(self, road: Road) -> None:
        server = road.server({"/a": page})
        host = Host(f"http://pinned.test:{server.port}")
        known = RobotsTxt(host, 404, b"", 0.0, 1e12)
        made = road.trip(FetchSettings(allow_private=True))
        stops = tuple(FetchTask(n, 1, Url(f"{host}/a")) for n in range(10))
        made.submit(FetchBatch(host, stops, ("127.0.0.1",), known, 0.0, 4))
        assert {seen.outcome for seen in bring_home(made).visits} == {Outcome.FETCHED}
        other = road.trip(FetchSettings(allow_private=True, connect_timeout=1.0))
        other.submit(FetchBatch(host, stops[:1], ("127.0.0.3",), known, 0.0))
        assert [seen.reason for seen in bring_home(other).visits] == [Reason.CONNECT]
        other.submit(FetchBatch(host, stops[:1], ("127.0.0.1",), known, 0.0))
        assert [seen.outcome for seen in bring_home(other).visits] == [Outcome.FETCHED]

    def test_a_pin_is_pulled_out_when_a_host_is_forgotten(self, road: Road) -> None:
        server = road.server({"/a": page})
        fetcher = CurlClient(FetchSettings(allow_private=True))
        one, two = (HostEndpoint(Host(""), f"{name}.test", server.port, ("127.0.0.1",)) for name in ("one", "two"))

        def get(door: HostEndpoint) -> FetchResponse:
            fetcher.start(FetchRequest(f"http://{door.host_port}/a", door, None, max_body=1000, timeout=5.0))
            while not (replies := fetcher.wait(1.0)):
                pass
            return replies[0]

        assert [get(door).curl_error for door in (one, two, HostEndpoint(Host(""), "one.test", server.port))] == [
            0,
            0,
            0,
        ]
        fetcher.drop_addresses(one)
        get(HostEndpoint(Host(""), "three.test", server.port, ("127.0.0.1",)))
        fresh = HostEndpoint(Host(""), "one.test", server.port)
        server.close_connections()
        assert get(fresh).curl_error == pycurl.E_COULDNT_RESOLVE_HOST
        fetcher.close()


class TestTls:
    """Certificates are checked, unless one host is named where they are not."""

    @pytest.fixture
    def authority(self) -> trustme.CA:
        return trustme.CA()

    @pytest.fixture
    def trusted(self, authority: trustme.CA, tmp_path: Path) -> str:
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        return str(tmp_path / "ca.pem")

    @pytest.fixture
    def server(self, road: Road, authority: trustme.CA) -> HostileServer:
        return road.server({"/a": page}, tls=tls_context(authority, "127.0.0.1", "a.test"))

    def test_a_certificate_nobody_vouches_for_is_refused(self, road: Road, server: HostileServer) -> None:
        seen = visit(road, server, "/a")
        assert (seen.outcome, seen.reason) == (Outcome.FAILED, Reason.TLS)
        assert "certificate" in seen.detail

    def test_a_trusted_certificate_is_taken(self, road: Road, server: HostileServer, trusted: str) -> None:
        assert visit(road, server, "/a", ca_file=trusted).outcome is Outcome.FETCHED

    def test_a_certificate_for_another_name_is_refused(self, road: Road, server: HostileServer, trusted: str) -> None:
        host = f"https://b.test:{server.port}"
        seen = visit(road, server, "/a", host, ca_file=trusted)
        assert (seen.outcome, seen.reason) == (Outcome.FAILED, Reason.TLS)

    def test_one_host_can_be_believed_without(self, road: Road, server: HostileServer) -> None:
        assert visit(road, server, "/a", insecure_hosts=("127.0.0.1",)).outcome is Outcome.FETCHED
        assert visit(road, server, "/a", insecure_hosts=("a.test",)).reason is Reason.TLS

    def test_the_exception_does_not_spread_over_a_used_handle(self, road: Road, server: HostileServer) -> None:
        made = road.trip(FetchSettings(allow_private=True, insecure_hosts=("a.test",)))
        outcomes = []
        for name in ("a.test", "b.test"):
            host = Host(f"https://{name}:{server.port}")
            known = RobotsTxt(host, 404, b"", 0.0, 1e12)
            made.submit(FetchBatch(host, (FetchTask(1, 1, Url(f"{host}/a")),), ("127.0.0.1",), known, 0.0))
            outcomes.append(bring_home(made).visits[0].outcome)
        assert outcomes == [Outcome.FETCHED, Outcome.FAILED]

    def test_what_speaks_no_tls_is_a_tls_failure(self, road: Road) -> None:
        def greet(connection: socket.socket, _: HostileServer) -> bool:
            connection.sendall(b"SSH-2.0-harbour\r\n")
            return False

        server = road.server({}, speak=greet)
        seen = visit(road, server, "/a", host=f"https://a.test:{server.port}")
        assert (seen.outcome, seen.reason) == (Outcome.RETRY, Reason.TLS)


class TestHttp2:
    """Where a server offers HTTP/2 over TLS, it is spoken."""

    @pytest.fixture
    def server(self, road: Road) -> HostileServer:
        tls = tls_context(trustme.CA(), "127.0.0.1", protocol="h2")
        return road.server({}, tls=tls, speak=speak_http2)

    def outcomes(self, road: Road, server: HostileServer, *paths: str) -> dict[str, tuple[Outcome, Reason]]:
        made = road.trip(FetchSettings(allow_private=True, insecure_hosts=("127.0.0.1",)))
        known = RobotsTxt(server.host, 404, b"", 0.0, 1e12)
        made.submit(itinerary(server, *paths, robots=known, max_connections=len(paths)))
        visits = bring_home(made).visits
        return {seen.url.removeprefix(server.host): (seen.outcome, seen.reason) for seen in visits}

    def test_many_requests_share_one_connection(self, road: Road, server: HostileServer) -> None:
        paths = [f"/{n}" for n in range(20)]
        first = self.outcomes(road, server, *paths)
        assert set(first.values()) == {(Outcome.FETCHED, Reason.NONE)}
        assert sorted(server.paths) == sorted(paths)
        assert server.connections < len(paths)

    @pytest.mark.parametrize(("connections", "opened"), [(2, 5), (1, 1)])  # one for all that are new, and four
    def test_what_failed_before_shares_no_connection_where_there_may_be_several(
        self, road: Road, server: HostileServer, connections: int, opened: int
    ) -> None:
        made = road.trip(FetchSettings(allow_private=True, insecure_hosts=("127.0.0.1",)))
        stops = tuple(FetchTask(n, 1, Url(f"{server.host}/{n}"), attempts=n % 2) for n in range(8))
        known = RobotsTxt(server.host, 404, b"", 0.0, 1e12)
        made.submit(FetchBatch(server.host, stops, (), known, 0.0, max_connections=connections))
        assert {seen.outcome for seen in bring_home(made).visits} == {Outcome.FETCHED}
        assert server.connections == opened

    def test_it_is_stored_in_the_form_readers_know(self, road: Road, server: HostileServer) -> None:
        seen = visit(road, server, "/a", insecure_hosts=("127.0.0.1",))
        assert seen.head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert seen.title == "Two"

    @pytest.mark.parametrize("path", ["/reset", "/away", "/short", "/rubbish"])
    def test_broken_frames_are_a_broken_response(self, road: Road, server: HostileServer, path: str) -> None:
        assert self.outcomes(road, server, path) == {path: (Outcome.RETRY, Reason.BROKEN_RESPONSE)}

    def test_an_endless_stream_is_left_at_the_limit(self, road: Road, server: HostileServer) -> None:
        seen = visit(road, server, "/endless", insecure_hosts=("127.0.0.1",), max_body=1_000_000)
        assert (seen.outcome, seen.reason) == (Outcome.SKIPPED, Reason.TOO_LARGE)

    def test_it_can_be_switched_off(self, road: Road) -> None:
        tls = tls_context(trustme.CA(), "127.0.0.1", protocol="http/1.1")
        server = road.server({"/a": page}, tls=tls)
        seen = visit(road, server, "/a", insecure_hosts=("127.0.0.1",), http2=False)
        assert seen.outcome is Outcome.FETCHED


class TestTrust:
    """Certificates are found wherever a system keeps them."""

    def test_the_file_chosen_is_used(self, tmp_path: Path) -> None:
        (tmp_path / "ca.pem").touch()
        assert find_ca_file(str(tmp_path / "ca.pem")) == str(tmp_path / "ca.pem")

    def test_a_file_that_is_not_there_is_a_mistake_of_the_user(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="CA file not found"):
            find_ca_file(str(tmp_path / "none.pem"))

    def test_the_environment_comes_before_the_system(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        mine, system = tmp_path / "mine.pem", tmp_path / "system.pem"
        mine.touch()
        system.touch()
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        assert find_ca_file(paths=("/none", str(system))) == str(system)
        monkeypatch.setenv("SSL_CERT_FILE", str(mine))
        assert find_ca_file(paths=(str(system),)) == str(mine)

    def test_a_system_without_any_gets_those_that_came_with_us(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        assert Path(find_ca_file(paths=())).stat().st_size > 100_000


class TestProxy:
    """Behind a proxy we never see the address, so the name alone is judged."""

    @pytest.fixture
    def proxy(self, road: Road) -> HostileServer:
        return road.server({"http://a.test/x": page, "http://a.test/robots.txt": rules("User-agent: *\nDisallow: /y")})

    def trip_to(self, road: Road, proxy: HostileServer, *urls: str) -> list[Visit]:
        made = road.trip(FetchSettings(proxy=f"http://127.0.0.1:{proxy.port}"))
        host = Host("/".join(urls[0].split("/")[:3]))
        made.submit(FetchBatch(host, tuple(FetchTask(n, 1, Url(url)) for n, url in enumerate(urls)), delay_seconds=0.0))
        return list(bring_home(made).visits)

    def test_robots_and_pages_go_through_it(self, road: Road, proxy: HostileServer) -> None:
        seen = self.trip_to(road, proxy, "http://a.test/x", "http://a.test/y")
        assert {visit.url: visit.reason for visit in seen} == {
            "http://a.test/x": Reason.NONE,
            "http://a.test/y": Reason.ROBOTS,
        }
        assert proxy.paths == ["http://a.test/robots.txt", "http://a.test/x"]

    @pytest.mark.parametrize("host", ["http://localhost", "http://0x7f.1", "http://169.254.169.254", "http://[::1]"])
    def test_it_is_no_way_round_the_guard(self, road: Road, proxy: HostileServer, host: str) -> None:
        assert [visit.reason for visit in self.trip_to(road, proxy, f"{host}/x")] == [Reason.PRIVATE_ADDRESS]
        assert proxy.connections == 0

    def test_nor_is_a_redirect_of_robots_txt(self, road: Road) -> None:
        proxy = road.server({"http://b.test/robots.txt": redirect_to("http://localhost/robots.txt")})
        assert [visit.reason for visit in self.trip_to(road, proxy, "http://b.test/x")] == [Reason.ROBOTS_UNREACHABLE]
        assert proxy.paths == ["http://b.test/robots.txt"]

    def test_one_that_refuses_is_a_connection_that_failed(self, road: Road, proxy: HostileServer) -> None:
        made = road.trip(FetchSettings(proxy=f"http://127.0.0.1:{proxy.port}"))
        host = Host("https://a.test")
        known = RobotsTxt(host, 404, b"", 0.0, 1e12)
        made.submit(FetchBatch(host, (FetchTask(1, 1, Url(f"{host}/x")),), (), known, 0.0))
        seen = bring_home(made).visits[0]
        assert (seen.outcome, seen.reason) == (Outcome.RETRY, Reason.CONNECT)
        assert proxy.requests[0].headers["user-agent"] == FetchSettings().user_agent

    def test_its_address_is_not_taken_for_the_hosts(self, road: Road, proxy: HostileServer) -> None:
        assert self.trip_to(road, proxy, "http://a.test/x")[0].address == ""

    def test_the_environment_does_not_lead_past_it(
        self, road: Road, proxy: HostileServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("no_proxy", "*")
        assert [visit.outcome for visit in self.trip_to(road, proxy, "http://a.test/x")] == [Outcome.FETCHED]


class TestWhoWeAre:
    """Passwords go to their host alone; cookies are kept only if asked for."""

    @pytest.mark.parametrize("with_port", [False, True])
    def test_a_password_goes_to_its_host_alone(self, road: Road, with_port: bool) -> None:
        server = road.server({"/a": page})
        login = {f"a.test:{server.port}" if with_port else "a.test": "crab:s\u00e4lt"}
        made = road.trip(FetchSettings(allow_private=True, basic_auth=login))
        for name in ("a.test", "b.test"):
            host = Host(f"http://{name}:{server.port}")
            known = RobotsTxt(host, 404, b"", 0.0, 1e12)
            made.submit(FetchBatch(host, (FetchTask(1, 1, Url(f"{host}/a")),), ("127.0.0.1",), known, 0.0))
            bring_home(made)
        sent = [request.headers.get("authorization") for request in server.requests]
        assert sent == ["Basic Y3JhYjpzw6RsdA==", None]

    @pytest.mark.parametrize(("cookies", "sent"), [(False, None), (True, "tide=high")])
    def test_cookies_are_off_by_default(self, road: Road, cookies: bool, sent: str | None) -> None:
        server = road.server({"/a": lambda guest: guest.page(b"x", "Set-Cookie: tide=high"), "/b": page})
        made = road.trip(FetchSettings(allow_private=True, cookies=cookies))
        made.submit(itinerary(server, "/a", "/b"))
        bring_home(made)
        assert server.requests[-1].headers.get("cookie") == sent

    @pytest.mark.parametrize(("cookies", "asked"), [(False, 1), (True, 2)])
    def test_a_page_that_gives_a_cookie_and_leads_to_itself_is_asked_for_once_more(
        self, road: Road, cookies: bool, asked: int
    ) -> None:
        def door(guest: Guest) -> None:
            if guest.request.headers.get("cookie") == "tide=high":
                page(guest)
            else:
                guest.answer(b"", "Set-Cookie: tide=high", "Location: /a", status="302 Found")

        server = road.server(
            {"/a": door, "/b": lambda g: g.answer(b"", "Set-Cookie: x=y", "Location: /b", status="302 F")}
        )
        made = road.trip(FetchSettings(allow_private=True, cookies=cookies))
        made.submit(itinerary(server, "/a", "/b"))
        seen = [visit.outcome for visit in bring_home(made).visits]
        assert seen == [Outcome.FETCHED if cookies else Outcome.REDIRECT, Outcome.REDIRECT]
        assert (server.paths.count("/a"), server.paths.count("/b")) == (asked, asked)


class TestLimits:
    """What comes is measured while it comes."""

    def test_only_the_media_types_asked_for_are_kept(self, road: Road) -> None:
        types = {"/html": "text/html; charset=x", "/png": "image/png", "/pdf": "application/pdf"}
        pages: dict[str, Behaviour] = {
            path: lambda guest, t=mime: guest.answer(b"x" * 10, f"Content-Type: {t}")  # type: ignore[misc]
            for path, mime in types.items()
        }
        changed = "203 Non-Authoritative Information"
        pages["/pdf-203"] = lambda guest: guest.answer(b"x", "Content-Type: application/pdf", status=changed)
        server = road.server(pages)
        made = road.trip(FetchSettings(allow_private=True, accepted_types=("text/html", "image/*")))
        made.submit(itinerary(server, *types, "/pdf-203", "/missing"))
        outcomes = {seen.url.removeprefix(server.host): (seen.outcome, seen.reason) for seen in bring_home(made).visits}
        assert outcomes == {
            "/html": (Outcome.FETCHED, Reason.NONE),
            "/png": (Outcome.FETCHED, Reason.NONE),
            "/pdf": (Outcome.SKIPPED, Reason.MEDIA_TYPE),
            "/pdf-203": (Outcome.SKIPPED, Reason.MEDIA_TYPE),
            "/missing": (Outcome.GONE, Reason.NONE),
        }

    def test_too_many_large_bodies_at_once_are_put_off_not_lost(self, road: Road) -> None:
        body = bytes(3_000_000)
        paths = [f"/{n}" for n in range(6)]
        server = road.server(dict.fromkeys(paths, lambda guest: guest.answer(body)))
        made = road.trip(FetchSettings(allow_private=True, max_buffered=4_000_000))
        made.submit(itinerary(server, *paths, max_connections=6))
        visits = bring_home(made).visits
        assert {seen.outcome for seen in visits} <= {Outcome.FETCHED, Outcome.RETURNED}
        assert any(seen.outcome is Outcome.FETCHED for seen in visits)
        assert len(visits) == 6


@pytest.fixture(autouse=True)
def _no_proxy_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
