"""The fetch loop against the hostile server: every misbehavior ends in an outcome with a reason."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests.hostile.server import CUT_HEADS, Behavior, HostileServer, cut_head

import sanderling
from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.response_processor import skip_fingerprints
from sanderling.models import FetchBatch, FetchTask, Outcome, Reason, Url, Visit

SOURCE = Path(sanderling.__file__).parents[1]
PATIENT = FetchSettings(allow_private=True, max_body=12_000_000)
IMPATIENT = FetchSettings(allow_private=True, idle_timeout=1, robots_timeout=1)


@pytest.fixture(scope="module")
def server() -> Iterator[HostileServer]:
    with HostileServer() as server:
        yield server


def visit_all(server: HostileServer, *paths: str, settings: FetchSettings = PATIENT) -> dict[str, Visit]:
    """Fetch these paths and return the visits by path."""
    loop = FetchLoop(settings, skip_fingerprints)
    tasks = tuple(FetchTask(n, 1, Url(server.host + path)) for n, path in enumerate(paths))
    loop.submit(FetchBatch(server.host, tasks, delay_seconds=0, max_connections=min(len(tasks), 60)))
    visits: list[Visit] = []
    while loop.load:
        visits += loop.run_for(1).visits
    loop.close()
    return {visit.url.removeprefix(server.host): visit for visit in visits}


OUTCOMES = {
    "/ok": (Outcome.FETCHED, Reason.NONE),
    "/text": (Outcome.FETCHED, Reason.NONE),
    "/endless-body": (Outcome.SKIPPED, Reason.TOO_LARGE),
    "/endless-chunks": (Outcome.SKIPPED, Reason.TOO_LARGE),
    "/huge-length": (Outcome.SKIPPED, Reason.TOO_LARGE),
    "/header-flood": (Outcome.FAILED, Reason.TOO_MANY_HEADERS),
    "/long-header": (Outcome.FAILED, Reason.TOO_MANY_HEADERS),
    "/interim-flood": (Outcome.FAILED, Reason.TOO_MANY_HEADERS),
    "/interim": (Outcome.FETCHED, Reason.NONE),
    "/bad-chunk": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/endless-chunk-size": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/cut-chunks": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/short-body": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    **dict.fromkeys(CUT_HEADS, (Outcome.RETRY, Reason.BROKEN_RESPONSE)),
    "/long-body": (Outcome.FETCHED, Reason.NONE),
    "/two-lengths": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/negative-length": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/no-status": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/bad-status": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/close": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/reset": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/trailers": (Outcome.FETCHED, Reason.NONE),
    "/hop/7": (Outcome.REDIRECT, Reason.NONE),
    "/redirect": (Outcome.REDIRECT, Reason.NONE),
    "/redirect-self": (Outcome.REDIRECT, Reason.NONE),
    "/redirect-file": (Outcome.FAILED, Reason.REDIRECT_WITHOUT_TARGET),
    "/redirect-nowhere": (Outcome.FAILED, Reason.REDIRECT_WITHOUT_TARGET),
    "/moved-with-a-note": (Outcome.FAILED, Reason.REDIRECT_WITHOUT_TARGET),
    "/found-with-a-note": (Outcome.FAILED, Reason.REDIRECT_WITHOUT_TARGET),
    "/choices": (Outcome.FAILED, Reason.HTTP_ERROR),
    "/choices-preferred": (Outcome.REDIRECT, Reason.NONE),
    "/use-proxy": (Outcome.FAILED, Reason.HTTP_ERROR),
    "/switch-proxy": (Outcome.FAILED, Reason.HTTP_ERROR),
    "/unknown-redirect": (Outcome.REDIRECT, Reason.NONE),
    "/unknown-choices": (Outcome.FAILED, Reason.HTTP_ERROR),
    "/nothing-there": (Outcome.GONE, Reason.NONE),
    "/gone": (Outcome.GONE, Reason.NONE),
    "/forbidden": (Outcome.FAILED, Reason.HTTP_ERROR),
    "/teapot": (Outcome.FAILED, Reason.HTTP_ERROR),
    "/broken": (Outcome.RETRY, Reason.SERVER_ERROR),
    "/unasked-304": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/unasked-206": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/unasked-206-whole": (Outcome.FETCHED, Reason.NONE),
    "/unasked-206-lying": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/unasked-206-cut": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/unasked-206-bare": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/gzip": (Outcome.FETCHED, Reason.NONE),
    "/bomb": (Outcome.SKIPPED, Reason.TOO_LARGE),
    "/double-bomb": (Outcome.SKIPPED, Reason.TOO_LARGE),
    "/bad-gzip": (Outcome.FETCHED, Reason.NONE),
    "/cut-gzip": (Outcome.FAILED, Reason.BAD_ENCODING),
    "/unknown-coding": (Outcome.FAILED, Reason.BAD_ENCODING),
    "/many-codings": (Outcome.FAILED, Reason.BAD_ENCODING),
    "/nul": (Outcome.FETCHED, Reason.NONE),
    "/bad-charset": (Outcome.FETCHED, Reason.NONE),
    "/lying-charset": (Outcome.FETCHED, Reason.NONE),
    "/deep": (Outcome.FETCHED, Reason.NONE),
    "/wide": (Outcome.FETCHED, Reason.NONE),
    "/many-links": (Outcome.FETCHED, Reason.NONE),
    "/many-attributes": (Outcome.FETCHED, Reason.NONE),
    "/binary": (Outcome.FETCHED, Reason.NONE),
    "/calendar/1": (Outcome.FETCHED, Reason.NONE),
    "/trap": (Outcome.FETCHED, Reason.NONE),
}


def test_every_misbehavior_has_its_outcome(server: HostileServer) -> None:
    visits = visit_all(server, *OUTCOMES)
    assert {path: (visit.outcome, visit.reason) for path, visit in visits.items()} == OUTCOMES


def test_truncated_head_is_not_archived_and_blocks_robots_txt(server: HostileServer) -> None:
    visits = visit_all(server, *CUT_HEADS)
    assert {bool(visit.response_record or visit.head or visit.digest) for visit in visits.values()} == {False}
    with HostileServer(robots=cut_head(b"HTTP/1.1 404 Not Found\r\n")) as other:
        visit = visit_all(other, "/")["/"]
    assert (visit.outcome, visit.reason) == (Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE)


@pytest.mark.parametrize("path", ["/moved-with-a-note", "/found-with-a-note", "/choices", "/unknown-choices"])
def test_links_of_redirect_without_location_are_followed(server: HostileServer, path: str) -> None:
    visit = visit_all(server, path)[path]
    assert [link.url for link in visit.links] == [f"{server.host}/elsewhere", f"{server.host}/there"]
    assert (visit.digest, visit.title, bool(visit.response_record)) == (b"", "", True), "archived, but not a page"


def test_slow_responses_are_aborted(server: HostileServer) -> None:
    visits = visit_all(server, "/drip", "/drip-head", "/silent", settings=IMPATIENT)
    assert {path: (visit.outcome, visit.reason) for path, visit in visits.items()} == {
        "/drip": (Outcome.RETRY, Reason.TOO_SLOW),
        "/drip-head": (Outcome.RETRY, Reason.TOO_SLOW),
        "/silent": (Outcome.RETRY, Reason.TIMEOUT),
    }


def test_slow_drip_ends_at_the_total_timeout(server: HostileServer) -> None:
    settings = FetchSettings(allow_private=True, timeout=0.5)
    visit = visit_all(server, "/drip", settings=settings)["/drip"]
    assert (visit.outcome, visit.reason) == (Outcome.RETRY, Reason.TIMEOUT)


def test_endless_decompression_bomb_is_aborted_at_the_limit(server: HostileServer) -> None:
    visits = visit_all(server, "/endless-bomb", settings=FetchSettings(allow_private=True, max_body=100_000))
    assert [(visit.outcome, visit.reason) for visit in visits.values()] == [(Outcome.SKIPPED, Reason.TOO_LARGE)]
    assert all(visit.detail.startswith("more than ") for visit in visits.values())


def test_readable_content_is_extracted(server: HostileServer) -> None:
    visits = visit_all(
        server, "/interim", "/trailers", "/nul", "/deep", "/many-links", "/bad-charset", "/lying-charset"
    )
    assert (visits["/interim"].title, visits["/interim"].etag) == ("After the hints", "")
    assert (visits["/trailers"].title, visits["/trailers"].location) == ("Trailed", "")
    assert visits["/nul"].title == "N\ufffdul"
    assert [link.url for link in visits["/deep"].links] == [f"{server.host}/bottom"]
    assert (len(visits["/many-links"].links), visits["/many-links"].links_dropped > 300_000) == (10_000, True)
    assert visits["/bad-charset"].title == "Caf\u00e9"
    assert visits["/lying-charset"].title == "Caf\u00e9 \u20ac"


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip", "zstd"])
def test_decompression_bombs_of_the_suite_are_aborted(suites: Path, coding: str) -> None:
    body = (suites / "compressed" / f"bomb-{coding}.bin").read_bytes()
    with HostileServer({"/bomb": lambda exchange: exchange.page(body, f"Content-Encoding: {coding}")}) as server:
        visits = visit_all(server, "/bomb", settings=FetchSettings(allow_private=True, max_body=1_000_000))
    assert [(visit.outcome, visit.reason) for visit in visits.values()] == [(Outcome.SKIPPED, Reason.TOO_LARGE)]


def test_damaged_http_ends_in_an_outcome() -> None:
    """Damaged responses, different for each request, the same in every run."""
    random = Random(1922)
    valid = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\nETag: "a"\r\n\r\n'
    valid += b"16\r\n<title>Noise</title>xx\r\n0\r\nX-Trailer: y\r\n\r\n"
    answers = {f"/{n}": damage(valid, random) for n in range(400)}
    pages: dict[str, Behavior] = {
        path: lambda exchange: exchange.send(answers[exchange.request.path]) for path in answers
    }
    with HostileServer(pages) as server:
        visits = visit_all(server, *answers)
    assert set(visits) == set(answers)
    assert {Outcome.FETCHED, Outcome.RETRY} <= {visit.outcome for visit in visits.values()}


def damage(data: bytes, random: Random) -> bytes:
    """Damage some bytes at random."""
    damaged = bytearray(data)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(damaged))
        match random.randrange(4):
            case 0:
                damaged[at] = random.randrange(256)
            case 1:
                del damaged[at : at + random.randrange(20)]
            case 2:
                damaged[at:at] = damaged[at : at + random.randrange(40)]
            case _:
                damaged[at:at] = random.randbytes(random.randrange(10))
        damaged = damaged or bytearray(b"\n")
    return bytes(damaged)


LIMITED_SCRIPT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (500_000_000, 500_000_000))
from sanderling.fetch.response_processor import skip_fingerprints
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.models import FetchBatch, FetchTask
host, *paths = sys.argv[1:]
loop = FetchLoop(FetchSettings(allow_private=True, max_body=12_000_000), skip_fingerprints)
tasks = tuple(FetchTask(n, 1, host + path) for n, path in enumerate(paths))
loop.submit(FetchBatch(host, tasks, delay_seconds=0.0, max_connections=4))
visit_count = 0
while loop.load:
    visit_count += len(loop.run_for(1.0).visits)
print(visit_count)
"""


def test_memory_limit(server: HostileServer) -> None:
    """A worker limited to 500 MB of address space survives all pages."""
    run = [sys.executable, "-W", "error", "-c", LIMITED_SCRIPT, server.host, *OUTCOMES]
    done = subprocess.run(run, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(SOURCE)})
    assert (done.stdout.strip(), done.stderr) == (str(len(OUTCOMES)), "")
