"""Fetch loop: robots.txt, crawl delays, failures and cancellation, against real servers with a simulated clock."""

import zlib
from threading import Event

import pytest
from msgspec import structs
from tests.fetch.conftest import LOCAL, FetchEnvironment, build_batch, run_to_end
from tests.hostile.server import Exchange, HostileServer, redirect_to, rules, silent, status
from tests.support.simulated_clock import SimulatedClock

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


def page(exchange: Exchange) -> None:
    exchange.page(b"<title>Page</title>")


def get_outcomes(report: WorkerReport) -> dict[str, tuple[Outcome, Reason]]:
    return {visit.url.partition("//")[2].partition("/")[2]: (visit.outcome, visit.reason) for visit in report.visits}


FETCHED = (Outcome.FETCHED, Reason.NONE)
DISALLOWED = (Outcome.SKIPPED, Reason.ROBOTS)
ROBOTS_FAILED = (Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE)


class TestRobots:
    """robots.txt is fetched before pages."""

    def test_robots_txt_is_fetched_first_and_once(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": page, "/b": page}, rules("User-agent: *\nDisallow: /b"))
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a", "/b", max_connections=4))
        report = run_to_end(loop)
        loop.submit(build_batch(server, "/a"))
        again = run_to_end(loop)
        assert server.paths == ["/robots.txt", "/a", "/a"]
        assert get_outcomes(report) == {"a": FETCHED, "b": DISALLOWED}
        assert [robots.body for robots in report.robots] == [b"User-agent: *\nDisallow: /b"]
        assert again.robots == ()

    def test_robots_txt_of_the_batch_is_used(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": page})
        known = RobotsTxt(server.host, 200, b"User-agent: sanderling\nDisallow: /a", 0.0, 1e12)
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a", robots=known))
        assert get_outcomes(run_to_end(loop)) == {"a": DISALLOWED}
        assert server.paths == []

    def test_newest_robots_txt_applies(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": page})
        loop = env.open_loop()
        for at, body in ((1.0, b"User-agent: *\nDisallow: /"), (2.0, b"")):
            loop.submit(build_batch(server, "/a", robots=RobotsTxt(server.host, 200, body, at, 1e12)))
            report = run_to_end(loop)
        assert get_outcomes(report) == {"a": FETCHED}

    @pytest.mark.parametrize("line", ["404 Not Found", "403 Forbidden", "401 Unauthorized", "410 Gone"])
    def test_missing_robots_txt_allows_everything(self, env: FetchEnvironment, line: str) -> None:
        server = env.start_server({"/a": page}, status(line))
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a"))
        assert get_outcomes(run_to_end(loop)) == {"a": FETCHED}

    @pytest.mark.parametrize("line", ["500 Internal Server Error", "503 Service Unavailable", "429 Too Many Requests"])
    def test_robots_server_error_returns_all_tasks(self, env: FetchEnvironment, line: str) -> None:
        server = env.start_server({"/a": page}, status(line, "Retry-After: 30"))
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a", "/b"))
        report = run_to_end(loop)
        assert get_outcomes(report) == {"a": ROBOTS_FAILED, "b": ROBOTS_FAILED}
        assert {visit.retry_after for visit in report.visits} == {30.0}
        assert {visit.detail for visit in report.visits} == {f"robots.txt: status {line[:3]}"}
        assert server.paths == ["/robots.txt"]
        assert not report.robots[0].is_reachable

    def test_unreachable_robots_of_the_batch_returns_all_tasks(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": page})
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a", robots=RobotsTxt(server.host, 0, b"", 0.0, 1e12)))
        assert get_outcomes(run_to_end(loop)) == {"a": ROBOTS_FAILED}
        assert server.paths == []

    def test_rejected_tasks_are_reported_without_waiting(
        self, env: FetchEnvironment, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def wait(client: CurlClient, seconds: float) -> list[FetchResponse]:
            waited.append(seconds)
            return original(client, seconds)

        original, waited = CurlClient.wait, list[float]()
        monkeypatch.setattr(CurlClient, "wait", wait)
        server = env.start_server({"/a": page})
        loop = env.open_loop()
        for body, status_ in ((b"", 0), (b"User-agent: *\nDisallow: /", 200)):
            loop.submit(build_batch(server, "/a", robots=RobotsTxt(server.host, status_, body, 0.0, 1e12)))
            assert len(loop.run_for(3600.0).visits) == 1
        assert max(waited) <= REPORT_WAIT_SECONDS

    def test_body_of_error_response_is_not_parsed_as_rules(self, env: FetchEnvironment) -> None:
        server = env.start_server(
            {"/a": page}, lambda exchange: exchange.answer(b"User-agent: *\nDisallow: /", status="404 No")
        )
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a"))
        assert get_outcomes(run_to_end(loop)) == {"a": FETCHED}

    @pytest.mark.parametrize(("content_range", "outcome"), [("0-13/40", ROBOTS_FAILED), ("0-13/14", FETCHED)])
    def test_partial_robots_txt_counts_as_unreachable(
        self, env: FetchEnvironment, content_range: str, outcome: tuple[Outcome, Reason]
    ) -> None:
        def part(exchange: Exchange) -> None:
            exchange.answer(b"User-agent: *\n", f"Content-Range: bytes {content_range}", status="206 Partial Content")

        server = env.start_server({"/a": page}, part)
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a"))
        assert get_outcomes(run_to_end(loop)) == {"a": outcome}

    def test_five_robots_redirects_are_followed(self, env: FetchEnvironment) -> None:
        def hop(exchange: Exchange) -> None:
            step = int(exchange.request.path.rpartition("/")[2])
            if step < 5:
                exchange.answer(b"", f"Location: /hop/{step + 1}", status="301 Moved")
            else:
                exchange.answer(b"User-agent: *\nDisallow: /a")

        server = env.start_server({"/a": page, "/hop/*": hop}, redirect_to("/hop/1"))
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a"))
        assert get_outcomes(run_to_end(loop)) == {"a": DISALLOWED}

    def test_endless_robots_redirects_count_as_missing(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": page}, redirect_to("/robots.txt"))
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a"))
        assert get_outcomes(run_to_end(loop)) == {"a": FETCHED}
        assert server.paths == ["/robots.txt"] * 6 + ["/a"]

    def test_robots_redirect_to_another_host(self, env: FetchEnvironment) -> None:
        other = env.start_server({}, rules("User-agent: *\nDisallow: /a"))
        server = env.start_server({"/a": page}, redirect_to(f"{other.host}/robots.txt"))
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a"))
        report = run_to_end(loop)
        assert get_outcomes(report) == {"a": DISALLOWED}
        assert report.robots[0].host == server.host

    def test_endless_robots_txt_is_truncated(self, env: FetchEnvironment) -> None:
        def endless(exchange: Exchange) -> None:
            exchange.head("Content-Type: text/plain")
            exchange.send(b"User-agent: *\nDisallow: /b\n")
            exchange.forever(b"Disallow: /aaaa\n" * 1000)

        server = env.start_server({"/a": page, "/b": page}, endless)
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a", "/b"))
        report = run_to_end(loop)
        assert get_outcomes(report) == {"a": FETCHED, "b": DISALLOWED}
        assert len(report.robots[0].body) <= 500 * 1024 + 1

    def test_robots_decompression_bomb_is_truncated(self, env: FetchEnvironment) -> None:
        packer = zlib.compressobj(wbits=31)
        body = packer.compress(b"User-agent: *\nDisallow: /b\n" + b"#\n" * 10_000_000) + packer.flush()
        server = env.start_server({"/a": page}, lambda exchange: exchange.answer(body, "Content-Encoding: gzip"))
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a", "/b"))
        report = run_to_end(loop)
        assert get_outcomes(report) == {"a": FETCHED, "b": DISALLOWED}
        assert len(report.robots[0].body) <= 500 * 1024 + 1

    def test_silent_host_does_not_delay_others(self, env: FetchEnvironment) -> None:
        quiet = env.start_server({}, silent)
        lively = env.start_server({f"/{n}": page for n in range(20)})
        loop = env.open_loop(FetchSettings(allow_private=True, robots_timeout=1.0))
        loop.submit(build_batch(quiet, "/a"))
        loop.submit(build_batch(lively, *(f"/{n}" for n in range(20))))
        order = [visit.outcome for visit in run_to_end(loop).visits]
        assert order == [Outcome.FETCHED] * 20 + [Outcome.RETURNED]

    def test_robots_body_with_sitemaps_is_reported(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": page}, rules("Sitemap: /map.xml"))
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a"))
        assert run_to_end(loop).robots[0].body == b"Sitemap: /map.xml"


class TestCrawlDelay:
    """Crawl delay, connection limits and report sizes."""

    def test_crawl_delay_includes_robots_txt(self, env: FetchEnvironment) -> None:
        clock = SimulatedClock(1000.0)
        server = env.start_server({"/a": page, "/b": page})
        loop = env.open_loop(clock=clock)
        loop.submit(build_batch(server, "/a", "/b", delay_seconds=10.0))
        asked = []
        for _ in range(4):
            for _ in range(2):
                loop.run_for(0.2)
            asked.append(server.paths)
            clock.advance(9.9)
            loop.run_for(0.05)
            assert server.paths == asked[-1]
            clock.advance(0.1)
        assert asked[:3] == [["/robots.txt"], ["/robots.txt", "/a"], ["/robots.txt", "/a", "/b"]]

    def test_crawl_delay_holds_across_batches(self, env: FetchEnvironment) -> None:
        clock = SimulatedClock(1000.0)
        server = env.start_server({"/a": page, "/b": page})
        loop = env.open_loop(clock=clock)
        known = RobotsTxt(server.host, 404, b"", 0.0, 1e12)
        loop.submit(build_batch(server, "/a", delay_seconds=10.0, robots=known))
        run_to_end(loop)
        loop.submit(build_batch(server, "/b", delay_seconds=10.0, robots=known))
        loop.run_for(0.1)
        assert server.paths == ["/a"]
        clock.advance(10.0)
        assert get_outcomes(run_to_end(loop)) == {"b": FETCHED}

    def test_clock_set_back_does_not_change_the_crawl_delay(self, env: FetchEnvironment) -> None:
        clock = SimulatedClock(5000.0)
        server = env.start_server({"/a": page, "/b": page})
        loop = env.open_loop(clock=clock)
        loop.submit(
            build_batch(server, "/a", "/b", delay_seconds=10.0, robots=RobotsTxt(server.host, 404, b"", 0.0, 1e12))
        )
        loop.run_for(0.2)
        clock.advance(4.0 - 3600.0)
        loop.run_for(0.1)
        clock.advance(9.9)
        loop.run_for(0.1)
        assert server.paths == ["/a"]
        clock.advance(0.1)
        assert get_outcomes(run_to_end(loop)) == {"b": FETCHED}

    def test_robots_crawl_delay_overrides_zero_delay(self, env: FetchEnvironment) -> None:
        clock = SimulatedClock(1000.0)
        server = env.start_server({"/a": page, "/b": page}, rules("User-agent: *\nCrawl-delay: 5"))
        loop = env.open_loop(clock=clock)
        loop.submit(build_batch(server, "/a", "/b", max_connections=8))
        run_to_end(loop, until=lambda report: bool(report.robots))
        loop.run_for(0.1)
        assert server.paths == ["/robots.txt"], "the delay starts with the robots.txt request"
        clock.advance(5.0)
        run_to_end(loop, until=lambda report: bool(report.visits))
        loop.run_for(0.1)
        assert server.paths == ["/robots.txt", "/a"]
        clock.advance(5.0)
        assert get_outcomes(run_to_end(loop)) == {"b": FETCHED}

    def test_hosts_are_fetched_in_parallel(self, env: FetchEnvironment) -> None:
        clock = SimulatedClock(1000.0)
        servers = [env.start_server({"/a": page}) for _ in range(3)]
        loop = env.open_loop(clock=clock)
        for server in servers:
            known = RobotsTxt(server.host, 404, b"", 0.0, 1e12)
            loop.submit(build_batch(server, "/a", delay_seconds=10.0, robots=known))
        assert len(run_to_end(loop).visits) == 3

    def test_connection_is_reused(self, env: FetchEnvironment) -> None:
        paths = [f"/{n}" for n in range(20)]
        server = env.start_server(dict.fromkeys(paths, page))
        loop = env.open_loop()
        loop.submit(build_batch(server, *paths))
        run_to_end(loop)
        assert server.connections == 1

    def test_connection_limit_per_host(self, env: FetchEnvironment) -> None:
        gate: list[Exchange] = []

        def wait(exchange: Exchange) -> None:
            gate.append(exchange)
            exchange.stopping.wait()

        paths = [f"/{n}" for n in range(10)]
        server = env.start_server(dict.fromkeys(paths, wait))
        loop = env.open_loop()
        loop.submit(build_batch(server, *paths, max_connections=3, robots=RobotsTxt(server.host, 404, b"", 0.0, 1e12)))
        for _ in range(5):
            loop.run_for(0.1)
        assert len(gate) == 3

    def test_in_flight_limit_of_the_worker(self, env: FetchEnvironment) -> None:
        paths = [f"/{n}" for n in range(10)]
        server = env.start_server(dict.fromkeys(paths, silent))
        loop = env.open_loop(FetchSettings(allow_private=True, max_in_flight=2))
        loop.submit(build_batch(server, *paths, max_connections=10, robots=RobotsTxt(server.host, 404, b"", 0.0, 1e12)))
        for _ in range(5):
            loop.run_for(0.1)
        assert len(server.paths) == 2

    def test_report_size_is_limited(self, env: FetchEnvironment) -> None:
        paths = [f"/{n}" for n in range(MAX_REPORT_VISITS + 30)]
        server = env.start_server(dict.fromkeys(paths, page))
        loop = env.open_loop()
        loop.submit(build_batch(server, *paths, max_connections=200))
        sizes = []
        while loop.load:
            sizes.append(len(loop.run_for(5.0).visits))
        assert (sum(sizes), max(sizes) <= MAX_REPORT_VISITS) == (len(paths), True)

    def test_report_waits_for_the_remaining_tasks(self, env: FetchEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sanderling.fetch.fetch_loop.REPORT_WAIT_SECONDS", 60.0)
        paths = [f"/{n}" for n in range(5)]
        loop = env.open_loop()
        loop.submit(build_batch(env.start_server(dict.fromkeys(paths, page)), *paths, max_connections=1))
        report = loop.run_for(60.0)
        assert (len(report.visits), len(report.robots)) == (5, 1)

    def test_report_is_sent_at_half_of_the_load(self, env: FetchEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sanderling.fetch.fetch_loop.REPORT_WAIT_SECONDS", 60.0)
        paths = [f"/{n}" for n in range(40)]
        loop = env.open_loop()
        loop.submit(build_batch(env.start_server(dict.fromkeys(paths, page)), *paths, max_connections=1))
        sizes = []
        while loop.load:
            sizes.append(len(loop.run_for(60.0).visits))
        assert sizes == [20, 10, 8, 2]

    def test_suspect_task_is_announced_and_fetched_alone(self, env: FetchEnvironment) -> None:
        active: set[str] = set()
        concurrent: dict[str, set[str]] = {}

        def slow(exchange: Exchange) -> None:
            active.add(exchange.request.path)
            for path in list(active):
                concurrent.setdefault(path, set()).update(list(active))
            exchange.stopping.wait(0.05)
            active.remove(exchange.request.path)
            exchange.page(b"x")

        paths = [f"/{n}" for n in range(9)]
        server = env.start_server(dict.fromkeys(paths, slow))
        batch = build_batch(server, *paths, max_connections=3)
        tasks = [
            structs.replace(task, token=n, losses=SUSPECT_LOSSES * (n in (4, 5))) for n, task in enumerate(batch.tasks)
        ]
        loop = env.open_loop()
        loop.submit(structs.replace(batch, tasks=tuple(tasks)))
        reported, announced = [], []
        while loop.load:
            report = loop.run_for(5.0)
            reported += [visit.id for visit in report.visits]
            if report.suspect_token:
                announced.append(report.suspect_token)
                assert sorted(reported) == list(range(report.suspect_token))
                assert f"/{report.suspect_token}" not in server.paths
            if reported[-1:] == [5]:
                assert "/6" not in server.paths  # the suspects are reported before other requests start
        assert announced == [4, 5]
        assert (concurrent["/4"], concurrent["/5"]) == ({"/4"}, {"/5"})
        assert max(map(len, concurrent.values())) > 1

    def test_report_does_not_wait_for_a_silent_host(self, env: FetchEnvironment) -> None:
        loop = env.open_loop()
        loop.submit(build_batch(env.start_server({"/0": page, "/1": silent}), "/0", "/1", max_connections=2))
        visits: tuple[Visit, ...] = ()
        while not visits:
            visits = loop.run_for(60.0).visits
        assert (len(visits), loop.load) == (1, 1)


class TestFailures:
    """Failures of a host return its remaining tasks."""

    def test_rate_limit_returns_the_remaining_tasks(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": status("429 Too Many Requests", "Retry-After: 120"), "/b": page})
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a", "/b"))
        report = run_to_end(loop)
        assert get_outcomes(report) == {
            "a": (Outcome.RETRY, Reason.RATE_LIMITED),
            "b": (Outcome.RETURNED, Reason.RATE_LIMITED),
        }
        assert [visit.retry_after for visit in report.visits] == [120.0, 120.0]
        assert server.paths == ["/robots.txt", "/a"]

    def test_late_response_after_rate_limit_is_not_retried(self, env: FetchEnvironment) -> None:
        rate_limit_seen = Event()

        def late(exchange: Exchange) -> None:
            rate_limit_seen.wait(30)
            exchange.answer(status="412 Precondition Failed")

        server = env.start_server({"/a": status("429 Too Many Requests"), "/b": late}, status("404 Not Found"))
        loop = env.open_loop()
        tasks = tuple(FetchTask(n, 7, Url(server.host + path), etag='"old"') for n, path in enumerate(("/a", "/b")))
        loop.submit(FetchBatch(server.host, tasks, delay_seconds=0.0, max_connections=2))
        first = run_to_end(loop, until=lambda report: bool(report.visits))
        rate_limit_seen.set()
        assert get_outcomes(first) == {"a": (Outcome.RETRY, Reason.RATE_LIMITED)}
        assert get_outcomes(run_to_end(loop)) == {"b": (Outcome.RETURNED, Reason.NONE)}
        assert server.paths.count("/b") == 1

    def test_three_connection_failures_return_the_remaining_tasks(self, env: FetchEnvironment) -> None:
        with HostileServer({}) as server:
            host = server.host
        tasks = tuple(FetchTask(n, 1, Url(f"{host}/{n}")) for n in range(5))
        loop = env.open_loop()
        loop.submit(FetchBatch(host, tasks, robots=RobotsTxt(host, 404, b"", 0.0, 1e12), delay_seconds=0.0))
        assert get_outcomes(run_to_end(loop)) == {
            **{str(n): (Outcome.RETRY, Reason.CONNECT) for n in range(3)},
            **{str(n): (Outcome.RETURNED, Reason.CONNECT) for n in (3, 4)},
        }

    def test_url_of_another_host_is_skipped(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": page})
        loop = env.open_loop()
        tasks = (
            FetchTask(1, 1, Url("http://b.test/")),
            FetchTask(2, 1, Url(f"{server.host}0/"), f"{server.host}@b.test/"),
        )
        loop.submit(FetchBatch(server.host, tasks, delay_seconds=0.0))
        report = run_to_end(loop)
        assert {(visit.outcome, visit.reason) for visit in report.visits} == {(Outcome.SKIPPED, Reason.BAD_URL)}

    def test_unresolvable_name_is_a_dns_failure(self, env: FetchEnvironment) -> None:
        host = Host("http://no-such-host.invalid")
        loop = env.open_loop(FetchSettings())
        robots = RobotsTxt(host, 404, b"", 0.0, 1e12)
        loop.submit(FetchBatch(host, (FetchTask(1, 1, Url(f"{host}/")),), robots=robots))
        assert {visit.reason for visit in run_to_end(loop).visits} == {Reason.DNS}


class TestCancel:
    """Cancellation returns all tasks."""

    def test_cancel_returns_queued_tasks_and_finishes_in_flight(self, env: FetchEnvironment) -> None:
        gate = Event()

        def late(exchange: Exchange) -> None:
            gate.wait()
            page(exchange)

        server = env.start_server({"/a": late, "/b": page})
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a", "/b", robots=RobotsTxt(server.host, 404, b"", 0.0, 1e12)))
        loop.run_for(0.1)
        returned = loop.cancel(drop_in_flight=False)
        gate.set()
        assert [(visit.id, visit.token, visit.outcome) for visit in returned] == [(1, 7, Outcome.RETURNED)]
        assert loop.load == 1
        assert get_outcomes(run_to_end(loop)) == {"a": FETCHED}

    def test_cancel_a_single_host(self, env: FetchEnvironment) -> None:
        gate = Event()

        def late(exchange: Exchange) -> None:
            gate.wait()
            page(exchange)

        loop = env.open_loop()
        servers = [env.start_server({"/a": late, "/b": page}) for _ in range(2)]
        for server in servers:
            loop.submit(build_batch(server, "/a", "/b", robots=RobotsTxt(server.host, 404, b"", 0.0, 1e12)))
        loop.run_for(0.1)
        returned = loop.cancel(drop_in_flight=False, host=servers[0].host)
        gate.set()
        assert [visit.url for visit in returned] == [f"{servers[0].host}/b"]
        assert loop.load == 3

    def test_cancel_drops_requests_in_flight(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": silent})
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a", "/b", robots=RobotsTxt(server.host, 404, b"", 0.0, 1e12)))
        loop.run_for(0.1)
        assert {visit.id for visit in loop.cancel()} == {0, 1}
        assert loop.load == 0

    def test_cancel_while_robots_txt_is_in_flight(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/a": page}, silent)
        loop = env.open_loop()
        loop.submit(build_batch(server, "/a"))
        loop.run_for(0.1)
        assert [visit.outcome for visit in loop.cancel()] == [Outcome.RETURNED]
        assert loop.load == 0

    def test_report_without_tasks_is_empty(self, env: FetchEnvironment) -> None:
        assert env.open_loop(name="m1").run_for(0.01) == WorkerReport("m1")


def test_heartbeat_counts_visits(env: FetchEnvironment) -> None:
    server = env.start_server({"/a": page})
    loop = env.open_loop(name="m1")
    loop.submit(build_batch(server, "/a"))
    assert loop.build_heartbeat().pending_tasks == 1
    report = run_to_end(loop)
    heartbeat = loop.build_heartbeat()
    assert (heartbeat.worker, heartbeat.pending_tasks, heartbeat.page_count) == ("m1", 0, 1)
    assert heartbeat.memory_bytes > 1_000_000
    assert heartbeat.latency_seconds == report.visits[0].duration_seconds > 0


def test_visit_has_id_and_token_of_its_task(env: FetchEnvironment) -> None:
    server = env.start_server({"/a": page})
    loop = env.open_loop(LOCAL)
    loop.submit(build_batch(server, "/a"))
    visit = run_to_end(loop).visits[0]
    assert (visit.id, visit.token, visit.address) == (0, 7, "127.0.0.1")


def test_412_is_retried_without_conditional_headers(env: FetchEnvironment) -> None:
    def refuse_conditional(exchange: Exchange) -> None:
        is_conditional = any(name in exchange.request.headers for name in ("if-none-match", "if-modified-since"))
        if is_conditional:
            exchange.answer(status="412 Precondition Failed")
        else:
            page(exchange)

    server = env.start_server({"/a": refuse_conditional, "/b": status("412 Precondition Failed")})
    loop = env.open_loop()
    tasks = tuple(FetchTask(n, 7, Url(server.host + path), etag='"old"') for n, path in enumerate(("/a", "/b")))
    loop.submit(FetchBatch(server.host, tasks, delay_seconds=0.0))
    assert get_outcomes(run_to_end(loop)) == {"a": FETCHED, "b": (Outcome.FAILED, Reason.HTTP_ERROR)}
    assert [server.paths.count(path) for path in ("/a", "/b")] == [2, 2]
