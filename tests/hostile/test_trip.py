"""The real migrant against the hostile server: every misbehaviour ends in an outcome with a named reason."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests.hostile.server import CUT_HEADS, Behaviour, HostileServer, cut_head

import sanderling
from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.process import skip_fingerprints
from sanderling.models import FetchBatch, FetchTask, Outcome, Reason, Url, Visit

SOURCE = Path(sanderling.__file__).parents[1]
CALM = FetchSettings(allow_private=True, max_body=12_000_000)
HASTY = FetchSettings(allow_private=True, idle_timeout=1, robots_timeout=1)


@pytest.fixture(scope="module")
def server() -> Iterator[HostileServer]:
    with HostileServer() as server:
        yield server


def visit_all(server: HostileServer, *paths: str, settings: FetchSettings = CALM) -> dict[str, Visit]:
    """Send one migrant to these paths and wait until it has been everywhere."""
    trip = FetchLoop(settings, skip_fingerprints)
    stops = tuple(FetchTask(n, 1, Url(server.host + path)) for n, path in enumerate(paths))
    trip.submit(FetchBatch(server.host, stops, delay_seconds=0, max_connections=min(len(stops), 60)))
    visits: list[Visit] = []
    while trip.load:
        visits += trip.run_for(1).visits
    trip.close()
    return {visit.url.removeprefix(server.host): visit for visit in visits}


FATES = {
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


def test_every_misbehaviour_has_its_named_end(server: HostileServer) -> None:
    visits = visit_all(server, *FATES)
    assert {path: (visit.outcome, visit.reason) for path, visit in visits.items()} == FATES


def test_cut_head_is_not_archived_and_its_robots_txt_keeps_us_out(server: HostileServer) -> None:
    visits = visit_all(server, *CUT_HEADS)
    assert {bool(visit.response_record or visit.head or visit.digest) for visit in visits.values()} == {False}
    with HostileServer(robots=cut_head(b"HTTP/1.1 404 Not Found\r\n")) as other:
        visit = visit_all(other, "/")["/"]
    assert (visit.outcome, visit.reason) == (Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE)


@pytest.mark.parametrize("path", ["/moved-with-a-note", "/found-with-a-note", "/choices", "/unknown-choices"])
def test_what_an_answer_that_leads_nowhere_names_is_followed(server: HostileServer, path: str) -> None:
    visit = visit_all(server, path)[path]
    assert [link.url for link in visit.links] == [f"{server.host}/elsewhere", f"{server.host}/there"]
    assert (visit.digest, visit.title, bool(visit.response_record)) == (b"", "", True), "it is archived, and no page"


def test_who_makes_us_wait_is_left(server: HostileServer) -> None:
    visits = visit_all(server, "/drip", "/drip-head", "/silent", settings=HASTY)
    assert {path: (visit.outcome, visit.reason) for path, visit in visits.items()} == {
        "/drip": (Outcome.RETRY, Reason.TOO_SLOW),
        "/drip-head": (Outcome.RETRY, Reason.TOO_SLOW),
        "/silent": (Outcome.RETRY, Reason.TIMEOUT),
    }


def test_a_drip_under_the_idle_limit_ends_with_the_whole_time(server: HostileServer) -> None:
    settings = FetchSettings(allow_private=True, timeout=0.5)
    visit = visit_all(server, "/drip", settings=settings)["/drip"]
    assert (visit.outcome, visit.reason) == (Outcome.RETRY, Reason.TIMEOUT)


def test_an_endless_bomb_is_left_at_the_limit(server: HostileServer) -> None:
    visit = visit_all(server, "/endless-bomb", settings=FetchSettings(allow_private=True, max_body=100_000))
    assert [(seen.outcome, seen.reason) for seen in visit.values()] == [(Outcome.SKIPPED, Reason.TOO_LARGE)]
    assert all(seen.detail.startswith("more than ") for seen in visit.values())


def test_what_could_be_read_was_read(server: HostileServer) -> None:
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
def test_the_bombs_of_others_are_no_larger(suites: Path, coding: str) -> None:
    body = (suites / "compressed" / f"bomb-{coding}.bin").read_bytes()
    with HostileServer({"/bomb": lambda guest: guest.page(body, f"Content-Encoding: {coding}")}) as server:
        visits = visit_all(server, "/bomb", settings=FetchSettings(allow_private=True, max_body=1_000_000))
    assert [(seen.outcome, seen.reason) for seen in visits.values()] == [(Outcome.SKIPPED, Reason.TOO_LARGE)]


def test_noise_in_place_of_http_ends_in_an_outcome() -> None:
    """Cut, doubled and scrambled answers, a new one per request, the same in every run."""
    chance = Random(1922)
    sound = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\nETag: "a"\r\n\r\n'
    sound += b"16\r\n<title>Noise</title>xx\r\n0\r\nX-Trailer: y\r\n\r\n"
    answers = {f"/{n}": scrambled(sound, chance) for n in range(400)}
    pages: dict[str, Behaviour] = {path: lambda guest: guest.send(answers[guest.request.path]) for path in answers}
    with HostileServer(pages) as server:
        visits = visit_all(server, *answers)
    assert set(visits) == set(answers)
    assert {Outcome.FETCHED, Outcome.RETRY} <= {visit.outcome for visit in visits.values()}


def scrambled(data: bytes, chance: Random) -> bytes:
    """Damage some bytes in one of a few ways."""
    noisy = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(noisy))
        match chance.randrange(4):
            case 0:
                noisy[at] = chance.randrange(256)
            case 1:
                del noisy[at : at + chance.randrange(20)]
            case 2:
                noisy[at:at] = noisy[at : at + chance.randrange(40)]
            case _:
                noisy[at:at] = chance.randbytes(chance.randrange(10))
        noisy = noisy or bytearray(b"\n")
    return bytes(noisy)


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (500_000_000, 500_000_000))
from sanderling.fetch.process import skip_fingerprints
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.models import FetchBatch, FetchTask
host, *paths = sys.argv[1:]
loop = FetchLoop(FetchSettings(allow_private=True, max_body=12_000_000), skip_fingerprints)
tasks = tuple(FetchTask(n, 1, host + path) for n, path in enumerate(paths))
loop.submit(FetchBatch(host, tasks, delay_seconds=0.0, max_connections=4))
seen = 0
while loop.load:
    seen += len(loop.run_for(1.0).visits)
print(seen)
"""


def test_all_of_it_fits_into_little_memory(server: HostileServer) -> None:
    """A migrant that may have half a gigabyte of addresses survives everything, the largest pages too."""
    run = [sys.executable, "-W", "error", "-c", LIMITED, server.host, *FATES]
    done = subprocess.run(run, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(SOURCE)})
    assert (done.stdout.strip(), done.stderr) == (str(len(FATES)), "")
