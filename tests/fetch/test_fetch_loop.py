"""A migrant's trip: robots, pace, manners, and what it brings home. The server is real, the clock is ours."""

import zlib
from threading import Event

import pytest
from msgspec import structs
from tests.fetch.conftest import LOCAL, Road, bring_home, itinerary
from tests.hostile.server import Guest, HostileServer, redirect_to, rules, silent, status

from sanderling.clock import SimulatedClock
from sanderling.fetch.curl_client import CurlClient
from sanderling.fetch.fetch_loop import REPORT_WAIT_SECONDS
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.report_buffer import MAX_REPORT_VISITS
from sanderling.fetch.transport import FetchResponse
from sanderling.models import (
    SUSPECT_LOSSES,
    FetchBatch,
    FetchTask,
    Host,
    Outcome,
    Reason,
    RobotsTxt,
    Url,
    Visit,
    WorkerReport,
)


def page(guest: Guest) -> None:
    guest.page(b"<title>Page</title>")


def fates(parcel: WorkerReport) -> dict[str, tuple[Outcome, Reason]]:
    return {visit.url.partition("//")[2].partition("/")[2]: (visit.outcome, visit.reason) for visit in parcel.visits}


FETCHED = (Outcome.FETCHED, Reason.NONE)
KEPT_OUT = (Outcome.SKIPPED, Reason.ROBOTS)
SENT_HOME = (Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE)


class TestRobots:
    """The rules of a host come before its pages."""

    def test_it_is_asked_for_first_and_once(self, road: Road) -> None:
        server = road.server({"/a": page, "/b": page}, rules("User-agent: *\nDisallow: /b"))
        trip = road.trip()
        trip.submit(itinerary(server, "/a", "/b", max_connections=4))
        parcel = bring_home(trip)
        trip.submit(itinerary(server, "/a"))
        again = bring_home(trip)
        assert server.paths == ["/robots.txt", "/a", "/a"]
        assert fates(parcel) == {"a": FETCHED, "b": KEPT_OUT}
        assert [robots.body for robots in parcel.robots] == [b"User-agent: *\nDisallow: /b"]
        assert again.robots == ()

    def test_rules_that_travel_with_the_itinerary_are_not_asked_for(self, road: Road) -> None:
        server = road.server({"/a": page})
        known = RobotsTxt(server.host, 200, b"User-agent: sanderling\nDisallow: /a", 0.0, 1e12)
        trip = road.trip()
        trip.submit(itinerary(server, "/a", robots=known))
        assert fates(bring_home(trip)) == {"a": KEPT_OUT}
        assert server.paths == []

    def test_the_newest_rules_hold(self, road: Road) -> None:
        server = road.server({"/a": page})
        trip = road.trip()
        for at, body in ((1.0, b"User-agent: *\nDisallow: /"), (2.0, b"")):
            trip.submit(itinerary(server, "/a", robots=RobotsTxt(server.host, 200, body, at, 1e12)))
            parcel = bring_home(trip)
        assert fates(parcel) == {"a": FETCHED}

    @pytest.mark.parametrize("line", ["404 Not Found", "403 Forbidden", "401 Unauthorized", "410 Gone"])
    def test_a_host_without_one_lets_us_in(self, road: Road, line: str) -> None:
        server = road.server({"/a": page}, status(line))
        trip = road.trip()
        trip.submit(itinerary(server, "/a"))
        assert fates(bring_home(trip)) == {"a": FETCHED}

    @pytest.mark.parametrize("line", ["500 Internal Server Error", "503 Service Unavailable", "429 Too Many Requests"])
    def test_a_host_that_cannot_say_is_left_alone(self, road: Road, line: str) -> None:
        server = road.server({"/a": page}, status(line, "Retry-After: 30"))
        trip = road.trip()
        trip.submit(itinerary(server, "/a", "/b"))
        parcel = bring_home(trip)
        assert fates(parcel) == {"a": SENT_HOME, "b": SENT_HOME}
        assert {visit.retry_after for visit in parcel.visits} == {30.0}
        assert {visit.detail for visit in parcel.visits} == {f"robots.txt: status {line[:3]}"}
        assert server.paths == ["/robots.txt"]
        assert not parcel.robots[0].is_reachable

    def test_a_host_known_to_be_unreachable_is_not_tried(self, road: Road) -> None:
        server = road.server({"/a": page})
        trip = road.trip()
        trip.submit(itinerary(server, "/a", robots=RobotsTxt(server.host, 0, b"", 0.0, 1e12)))
        assert fates(bring_home(trip)) == {"a": SENT_HOME}
        assert server.paths == []

    def test_nobody_is_waited_for_when_all_are_turned_away(self, road: Road, monkeypatch: pytest.MonkeyPatch) -> None:
        def wait(fetcher: CurlClient, seconds: float) -> list[FetchResponse]:
            waited.append(seconds)
            return honest(fetcher, seconds)

        honest, waited = CurlClient.wait, list[float]()
        monkeypatch.setattr(CurlClient, "wait", wait)
        server = road.server({"/a": page})
        trip = road.trip()
        for body, status_ in ((b"", 0), (b"User-agent: *\nDisallow: /", 200)):
            trip.submit(itinerary(server, "/a", robots=RobotsTxt(server.host, status_, body, 0.0, 1e12)))
            assert len(trip.run_for(3600.0).visits) == 1
        assert max(waited) <= REPORT_WAIT_SECONDS

    def test_an_error_page_is_not_read_as_rules(self, road: Road) -> None:
        server = road.server({"/a": page}, lambda guest: guest.answer(b"User-agent: *\nDisallow: /", status="404 No"))
        trip = road.trip()
        trip.submit(itinerary(server, "/a"))
        assert fates(bring_home(trip)) == {"a": FETCHED}

    @pytest.mark.parametrize(("told", "fate"), [("0-13/40", SENT_HOME), ("0-13/14", FETCHED)])
    def test_a_part_of_it_does_not_say_all_that_is_forbidden(
        self, road: Road, told: str, fate: tuple[Outcome, Reason]
    ) -> None:
        def part(guest: Guest) -> None:
            guest.answer(b"User-agent: *\n", f"Content-Range: bytes {told}", status="206 Partial Content")

        server = road.server({"/a": page}, part)
        trip = road.trip()
        trip.submit(itinerary(server, "/a"))
        assert fates(bring_home(trip)) == {"a": fate}

    def test_it_is_followed_over_five_redirects(self, road: Road) -> None:
        def hop(guest: Guest) -> None:
            step = int(guest.request.path.rpartition("/")[2])
            if step < 5:
                guest.answer(b"", f"Location: /hop/{step + 1}", status="301 Moved")
            else:
                guest.answer(b"User-agent: *\nDisallow: /a")

        server = road.server({"/a": page, "/hop/*": hop}, redirect_to("/hop/1"))
        trip = road.trip()
        trip.submit(itinerary(server, "/a"))
        assert fates(bring_home(trip)) == {"a": KEPT_OUT}

    def test_endless_redirects_mean_there_is_none(self, road: Road) -> None:
        server = road.server({"/a": page}, redirect_to("/robots.txt"))
        trip = road.trip()
        trip.submit(itinerary(server, "/a"))
        assert fates(bring_home(trip)) == {"a": FETCHED}
        assert server.paths == ["/robots.txt"] * 6 + ["/a"]

    def test_it_may_live_on_another_host(self, road: Road) -> None:
        other = road.server({}, rules("User-agent: *\nDisallow: /a"))
        server = road.server({"/a": page}, redirect_to(f"{other.host}/robots.txt"))
        trip = road.trip()
        trip.submit(itinerary(server, "/a"))
        parcel = bring_home(trip)
        assert fates(parcel) == {"a": KEPT_OUT}
        assert parcel.robots[0].host == server.host

    def test_an_endless_one_is_cut_at_a_line_and_obeyed(self, road: Road) -> None:
        def endless(guest: Guest) -> None:
            guest.head("Content-Type: text/plain")
            guest.send(b"User-agent: *\nDisallow: /b\n")
            guest.forever(b"Disallow: /aaaa\n" * 1000)

        server = road.server({"/a": page, "/b": page}, endless)
        trip = road.trip()
        trip.submit(itinerary(server, "/a", "/b"))
        parcel = bring_home(trip)
        assert fates(parcel) == {"a": FETCHED, "b": KEPT_OUT}
        assert len(parcel.robots[0].body) <= 500 * 1024 + 1

    def test_a_bomb_is_cut_and_obeyed(self, road: Road) -> None:
        packer = zlib.compressobj(wbits=31)
        body = packer.compress(b"User-agent: *\nDisallow: /b\n" + b"#\n" * 10_000_000) + packer.flush()
        server = road.server({"/a": page}, lambda guest: guest.answer(body, "Content-Encoding: gzip"))
        trip = road.trip()
        trip.submit(itinerary(server, "/a", "/b"))
        parcel = bring_home(trip)
        assert fates(parcel) == {"a": FETCHED, "b": KEPT_OUT}
        assert len(parcel.robots[0].body) <= 500 * 1024 + 1

    def test_a_silent_one_holds_up_nobody_else(self, road: Road) -> None:
        quiet = road.server({}, silent)
        lively = road.server({f"/{n}": page for n in range(20)})
        trip = road.trip(FetchSettings(allow_private=True, robots_timeout=1.0))
        trip.submit(itinerary(quiet, "/a"))
        trip.submit(itinerary(lively, *(f"/{n}" for n in range(20))))
        order = [visit.outcome for visit in bring_home(trip).visits]
        assert order == [Outcome.FETCHED] * 20 + [Outcome.RETURNED]

    def test_sitemaps_are_kept_in_the_body(self, road: Road) -> None:
        server = road.server({"/a": page}, rules("Sitemap: /map.xml"))
        trip = road.trip()
        trip.submit(itinerary(server, "/a"))
        assert bring_home(trip).robots[0].body == b"Sitemap: /map.xml"


class TestPace:
    """No host is asked more often, or by more connections, than agreed."""

    def test_requests_start_a_delay_apart_robots_txt_too(self, road: Road) -> None:
        clock = SimulatedClock(1000.0)
        server = road.server({"/a": page, "/b": page})
        trip = road.trip(clock=clock)
        trip.submit(itinerary(server, "/a", "/b", delay_seconds=10.0))
        asked = []
        for _ in range(4):
            for _ in range(2):
                trip.run_for(0.2)
            asked.append(server.paths)
            clock.advance(9.9)
            trip.run_for(0.05)
            assert server.paths == asked[-1]
            clock.advance(0.1)
        assert asked[:3] == [["/robots.txt"], ["/robots.txt", "/a"], ["/robots.txt", "/a", "/b"]]

    def test_the_pace_holds_from_one_itinerary_to_the_next(self, road: Road) -> None:
        clock = SimulatedClock(1000.0)
        server = road.server({"/a": page, "/b": page})
        trip = road.trip(clock=clock)
        known = RobotsTxt(server.host, 404, b"", 0.0, 1e12)
        trip.submit(itinerary(server, "/a", delay_seconds=10.0, robots=known))
        bring_home(trip)
        trip.submit(itinerary(server, "/b", delay_seconds=10.0, robots=known))
        trip.run_for(0.1)
        assert server.paths == ["/a"]
        clock.advance(10.0)
        assert fates(bring_home(trip)) == {"b": FETCHED}

    def test_a_clock_that_is_set_back_changes_no_pace(self, road: Road) -> None:
        clock = SimulatedClock(5000.0)
        server = road.server({"/a": page, "/b": page})
        trip = road.trip(clock=clock)
        trip.submit(
            itinerary(server, "/a", "/b", delay_seconds=10.0, robots=RobotsTxt(server.host, 404, b"", 0.0, 1e12))
        )
        trip.run_for(0.2)
        clock.advance(4.0 - 3600.0)
        trip.run_for(0.1)
        clock.advance(9.9)
        trip.run_for(0.1)
        assert server.paths == ["/a"]
        clock.advance(0.1)
        assert fates(bring_home(trip)) == {"b": FETCHED}

    def test_crawl_delay_is_honoured_even_where_we_would_not_wait(self, road: Road) -> None:
        clock = SimulatedClock(1000.0)
        server = road.server({"/a": page, "/b": page}, rules("User-agent: *\nCrawl-delay: 5"))
        trip = road.trip(clock=clock)
        trip.submit(itinerary(server, "/a", "/b", max_connections=8))
        bring_home(trip, until=lambda parcel: bool(parcel.robots))
        trip.run_for(0.1)
        assert server.paths == ["/robots.txt"], "the pause begins with the answer that asks for it"
        clock.advance(5.0)
        bring_home(trip, until=lambda parcel: bool(parcel.visits))
        trip.run_for(0.1)
        assert server.paths == ["/robots.txt", "/a"]
        clock.advance(5.0)
        assert fates(bring_home(trip)) == {"b": FETCHED}

    def test_hosts_do_not_wait_for_each_other(self, road: Road) -> None:
        clock = SimulatedClock(1000.0)
        servers = [road.server({"/a": page}) for _ in range(3)]
        trip = road.trip(clock=clock)
        for server in servers:
            known = RobotsTxt(server.host, 404, b"", 0.0, 1e12)
            trip.submit(itinerary(server, "/a", delay_seconds=10.0, robots=known))
        assert len(bring_home(trip).visits) == 3

    def test_one_connection_is_kept_and_used_again(self, road: Road) -> None:
        paths = [f"/{n}" for n in range(20)]
        server = road.server(dict.fromkeys(paths, page))
        trip = road.trip()
        trip.submit(itinerary(server, *paths))
        bring_home(trip)
        assert server.connections == 1

    def test_no_more_requests_are_in_flight_than_allowed(self, road: Road) -> None:
        gate: list[Guest] = []

        def wait(guest: Guest) -> None:
            gate.append(guest)
            guest.stopping.wait()

        paths = [f"/{n}" for n in range(10)]
        server = road.server(dict.fromkeys(paths, wait))
        trip = road.trip()
        trip.submit(itinerary(server, *paths, max_connections=3, robots=RobotsTxt(server.host, 404, b"", 0.0, 1e12)))
        for _ in range(5):
            trip.run_for(0.1)
        assert len(gate) == 3

    def test_the_whole_migrant_has_a_limit_too(self, road: Road) -> None:
        paths = [f"/{n}" for n in range(10)]
        server = road.server(dict.fromkeys(paths, silent))
        trip = road.trip(FetchSettings(allow_private=True, max_in_flight=2))
        trip.submit(itinerary(server, *paths, max_connections=10, robots=RobotsTxt(server.host, 404, b"", 0.0, 1e12)))
        for _ in range(5):
            trip.run_for(0.1)
        assert len(server.paths) == 2

    def test_a_parcel_is_never_larger_than_a_batch(self, road: Road) -> None:
        paths = [f"/{n}" for n in range(MAX_REPORT_VISITS + 30)]
        server = road.server(dict.fromkeys(paths, page))
        trip = road.trip()
        trip.submit(itinerary(server, *paths, max_connections=200))
        sizes = []
        while trip.load:
            sizes.append(len(trip.run_for(5.0).visits))
        assert (sum(sizes), max(sizes) <= MAX_REPORT_VISITS) == (len(paths), True)

    def test_what_is_done_soon_comes_along(self, road: Road, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sanderling.fetch.fetch_loop.REPORT_WAIT_SECONDS", 60.0)
        paths = [f"/{n}" for n in range(5)]
        trip = road.trip()
        trip.submit(itinerary(road.server(dict.fromkeys(paths, page)), *paths, max_connections=1))
        parcel = trip.run_for(60.0)
        assert (len(parcel.visits), len(parcel.robots)) == (5, 1)

    def test_a_parcel_goes_home_when_half_of_what_is_in_hand_is_done(
        self, road: Road, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sanderling.fetch.fetch_loop.REPORT_WAIT_SECONDS", 60.0)
        paths = [f"/{n}" for n in range(40)]
        trip = road.trip()
        trip.submit(itinerary(road.server(dict.fromkeys(paths, page)), *paths, max_connections=1))
        sizes = []
        while trip.load:
            sizes.append(len(trip.run_for(60.0).visits))
        assert sizes == [20, 10, 8, 2]

    def test_what_migrants_were_lost_over_is_told_at_home_and_then_asked_for_alone(self, road: Road) -> None:
        here: set[str] = set()
        beside: dict[str, set[str]] = {}

        def slow(guest: Guest) -> None:
            here.add(guest.request.path)
            for path in list(here):
                beside.setdefault(path, set()).update(list(here))
            guest.stopping.wait(0.05)
            here.remove(guest.request.path)
            guest.page(b"x")

        paths = [f"/{n}" for n in range(9)]
        server = road.server(dict.fromkeys(paths, slow))
        whole = itinerary(server, *paths, max_connections=3)
        stops = [
            structs.replace(stop, token=n, losses=SUSPECT_LOSSES * (n in (4, 5))) for n, stop in enumerate(whole.tasks)
        ]
        trip = road.trip()
        trip.submit(structs.replace(whole, tasks=tuple(stops)))
        home, told = [], []
        while trip.load:
            parcel = trip.run_for(5.0)
            home += [visit.id for visit in parcel.visits]
            if parcel.suspect_token:
                told.append(parcel.suspect_token)
                assert sorted(home) == list(range(parcel.suspect_token))
                assert f"/{parcel.suspect_token}" not in server.paths
            if home[-1:] == [5]:
                assert "/6" not in server.paths  # it is known that they did no harm before others begin
        assert told == [4, 5]
        assert (beside["/4"], beside["/5"]) == ({"/4"}, {"/5"})
        assert max(map(len, beside.values())) > 1

    def test_a_parcel_does_not_wait_for_a_host_that_is_silent(self, road: Road) -> None:
        trip = road.trip()
        trip.submit(itinerary(road.server({"/0": page, "/1": silent}), "/0", "/1", max_connections=2))
        visits: tuple[Visit, ...] = ()
        while not visits:
            visits = trip.run_for(60.0).visits
        assert (len(visits), trip.load) == (1, 1)


class TestTrouble:
    """What goes wrong at one stop is not done again at the next."""

    def test_a_host_that_says_slow_down_gets_its_other_stops_back(self, road: Road) -> None:
        server = road.server({"/a": status("429 Too Many Requests", "Retry-After: 120"), "/b": page})
        trip = road.trip()
        trip.submit(itinerary(server, "/a", "/b"))
        parcel = bring_home(trip)
        assert fates(parcel) == {
            "a": (Outcome.RETRY, Reason.RATE_LIMITED),
            "b": (Outcome.RETURNED, Reason.RATE_LIMITED),
        }
        assert [visit.retry_after for visit in parcel.visits] == [120.0, 120.0]
        assert server.paths == ["/robots.txt", "/a"]

    def test_a_host_that_said_slow_down_is_not_asked_once_more_by_a_late_answer(self, road: Road) -> None:
        heard = Event()

        def late(guest: Guest) -> None:
            heard.wait(30)
            guest.answer(status="412 Precondition Failed")

        server = road.server({"/a": status("429 Too Many Requests"), "/b": late}, status("404 Not Found"))
        trip = road.trip()
        stops = tuple(FetchTask(n, 7, Url(server.host + path), etag='"old"') for n, path in enumerate(("/a", "/b")))
        trip.submit(FetchBatch(server.host, stops, delay_seconds=0.0, max_connections=2))
        first = bring_home(trip, until=lambda parcel: bool(parcel.visits))
        heard.set()
        assert fates(first) == {"a": (Outcome.RETRY, Reason.RATE_LIMITED)}
        assert fates(bring_home(trip)) == {"b": (Outcome.RETURNED, Reason.NONE)}
        assert server.paths.count("/b") == 1

    def test_after_three_failed_connections_the_rest_goes_home(self, road: Road) -> None:
        with HostileServer({}) as server:
            host = server.host
        stops = tuple(FetchTask(n, 1, Url(f"{host}/{n}")) for n in range(5))
        trip = road.trip()
        trip.submit(FetchBatch(host, stops, robots=RobotsTxt(host, 404, b"", 0.0, 1e12), delay_seconds=0.0))
        assert fates(bring_home(trip)) == {
            **{str(n): (Outcome.RETRY, Reason.CONNECT) for n in range(3)},
            **{str(n): (Outcome.RETURNED, Reason.CONNECT) for n in (3, 4)},
        }

    def test_a_url_of_another_host_is_not_asked_for(self, road: Road) -> None:
        server = road.server({"/a": page})
        trip = road.trip()
        stops = (
            FetchTask(1, 1, Url("http://b.test/")),
            FetchTask(2, 1, Url(f"{server.host}0/"), f"{server.host}@b.test/"),
        )
        trip.submit(FetchBatch(server.host, stops, delay_seconds=0.0))
        parcel = bring_home(trip)
        assert {(visit.outcome, visit.reason) for visit in parcel.visits} == {(Outcome.SKIPPED, Reason.BAD_URL)}

    def test_a_name_that_does_not_resolve_is_a_dns_failure(self, road: Road) -> None:
        host = Host("http://no-such-host.invalid")
        trip = road.trip(FetchSettings())
        robots = RobotsTxt(host, 404, b"", 0.0, 1e12)
        trip.submit(FetchBatch(host, (FetchTask(1, 1, Url(f"{host}/")),), robots=robots))
        assert {visit.reason for visit in bring_home(trip).visits} == {Reason.DNS}


class TestLeaving:
    """A trip can end at any time, and nothing in hand is lost."""

    def test_what_waits_comes_back_and_what_is_in_flight_may_finish(self, road: Road) -> None:
        gate = Event()

        def late(guest: Guest) -> None:
            gate.wait()
            page(guest)

        server = road.server({"/a": late, "/b": page})
        trip = road.trip()
        trip.submit(itinerary(server, "/a", "/b", robots=RobotsTxt(server.host, 404, b"", 0.0, 1e12)))
        trip.run_for(0.1)
        returned = trip.cancel(drop_in_flight=False)
        gate.set()
        assert [(visit.id, visit.token, visit.outcome) for visit in returned] == [(1, 7, Outcome.RETURNED)]
        assert trip.load == 1
        assert fates(bring_home(trip)) == {"a": FETCHED}

    def test_what_waits_for_one_host_can_be_called_back_alone(self, road: Road) -> None:
        gate = Event()

        def late(guest: Guest) -> None:
            gate.wait()
            page(guest)

        trip = road.trip()
        servers = [road.server({"/a": late, "/b": page}) for _ in range(2)]
        for server in servers:
            trip.submit(itinerary(server, "/a", "/b", robots=RobotsTxt(server.host, 404, b"", 0.0, 1e12)))
        trip.run_for(0.1)
        returned = trip.cancel(drop_in_flight=False, host=servers[0].host)
        gate.set()
        assert [visit.url for visit in returned] == [f"{servers[0].host}/b"]
        assert trip.load == 3

    def test_what_is_in_flight_can_be_dropped(self, road: Road) -> None:
        server = road.server({"/a": silent})
        trip = road.trip()
        trip.submit(itinerary(server, "/a", "/b", robots=RobotsTxt(server.host, 404, b"", 0.0, 1e12)))
        trip.run_for(0.1)
        assert {visit.id for visit in trip.cancel()} == {0, 1}
        assert trip.load == 0

    def test_it_can_leave_while_it_waits_for_robots_txt(self, road: Road) -> None:
        server = road.server({"/a": page}, silent)
        trip = road.trip()
        trip.submit(itinerary(server, "/a"))
        trip.run_for(0.1)
        assert [visit.outcome for visit in trip.cancel()] == [Outcome.RETURNED]
        assert trip.load == 0

    def test_without_work_it_brings_nothing(self, road: Road) -> None:
        assert road.trip(name="m1").run_for(0.01) == WorkerReport("m1")


def test_vitals_tell_what_was_done(road: Road) -> None:
    server = road.server({"/a": page})
    trip = road.trip(name="m1")
    trip.submit(itinerary(server, "/a"))
    assert trip.build_heartbeat().pending_tasks == 1
    parcel = bring_home(trip)
    vitals = trip.build_heartbeat()
    assert (vitals.worker, vitals.pending_tasks, vitals.page_count) == ("m1", 0, 1)
    assert vitals.memory_bytes > 1_000_000
    assert vitals.latency_seconds == parcel.visits[0].duration_seconds > 0


def test_stops_keep_their_id_and_token(road: Road) -> None:
    server = road.server({"/a": page})
    trip = road.trip(LOCAL)
    trip.submit(itinerary(server, "/a"))
    visit = bring_home(trip).visits[0]
    assert (visit.id, visit.token, visit.address) == (0, 7, "127.0.0.1")


def test_a_server_that_takes_offence_at_conditions_is_asked_without(road: Road) -> None:
    def touchy(guest: Guest) -> None:
        asked = any(name in guest.request.headers for name in ("if-none-match", "if-modified-since"))
        if asked:
            guest.answer(status="412 Precondition Failed")
        else:
            page(guest)

    server = road.server({"/a": touchy, "/b": status("412 Precondition Failed")})
    trip = road.trip()
    stops = tuple(FetchTask(n, 7, Url(server.host + path), etag='"old"') for n, path in enumerate(("/a", "/b")))
    trip.submit(FetchBatch(server.host, stops, delay_seconds=0.0))
    assert fates(bring_home(trip)) == {"a": FETCHED, "b": (Outcome.FAILED, Reason.HTTP_ERROR)}
    assert [server.paths.count(path) for path in ("/a", "/b")] == [2, 2]
