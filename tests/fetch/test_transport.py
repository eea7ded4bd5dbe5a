"""A fetch loop over a transport other than curl."""

from tests.support.simulated_clock import SimulatedClock

from sanderling.fetch.curl_client import CurlClient
from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.response_processor import skip_fingerprints
from sanderling.fetch.transport import FetchRequest, FetchResponse, HostEndpoint, Transport
from sanderling.models import FetchBatch, FetchTask, Host, Outcome, Reason, Url, Visit

HOST = Host("https://site.test")
ADDRESSES = ("93.184.216.34",)
PAGES = {
    "/robots.txt": b"User-agent: *\nDisallow: /private",
    "/a": b"<title>A</title><a href=/b>b</a>",
    "/b": b"<title>B</title>",
}


class FakeTransport:
    """Serves PAGES from memory; responses are complete at the next `wait`."""

    def __init__(self, settings: FetchSettings) -> None:
        self.settings = settings
        self.started: list[FetchRequest] = []
        self.in_flight: list[FetchRequest] = []
        self.is_paused = self.is_closed = False

    @property
    def is_busy(self) -> bool:
        return bool(self.in_flight)

    def has_capacity(self, pending_responses: int = 0) -> bool:
        return len(self.in_flight) + pending_responses < self.settings.max_in_flight

    def start(self, request: FetchRequest) -> None:
        self.started.append(request)
        self.in_flight.append(request)

    def wait(self, timeout: float) -> list[FetchResponse]:
        if self.is_paused:
            return []
        requests, self.in_flight = self.in_flight, []
        return [self._respond(request) for request in requests]

    def _respond(self, request: FetchRequest) -> FetchResponse:
        body = PAGES.get(request.url.removeprefix(HOST))
        status = b"HTTP/1.1 404 Not Found\r\n" if body is None else b"HTTP/1.1 200 OK\r\n"
        head = [status, b"Content-Type: text/html\r\n", b"\r\n"]
        return FetchResponse(request, head, body or b"", 0.1, request.endpoint.addresses[0])

    def drop_addresses(self, endpoint: HostEndpoint) -> None:
        del endpoint

    def cancel(self) -> list[FetchRequest]:
        requests, self.in_flight = self.in_flight, []
        return requests

    def close(self) -> None:
        self.is_closed = True


def open_loop(settings: FetchSettings) -> tuple[FetchLoop, FakeTransport]:
    opened: list[FakeTransport] = []

    def open_transport(settings: FetchSettings) -> Transport:
        opened.append(FakeTransport(settings))
        return opened[0]

    loop = FetchLoop(settings, skip_fingerprints, SimulatedClock(1000.0), "w", open_transport=open_transport)
    return loop, opened[0]


def submit(loop: FetchLoop, *paths: str, addresses: tuple[str, ...] = ADDRESSES) -> None:
    tasks = tuple(FetchTask(n, 7, Url(HOST + path)) for n, path in enumerate(paths))
    loop.submit(FetchBatch(HOST, tasks, addresses, delay_seconds=0.0, max_connections=4))


def run_to_end(loop: FetchLoop) -> dict[str, Visit]:
    visits: list[Visit] = []
    while loop.load:
        visits += loop.run_for(1.0).visits
    return {visit.url.removeprefix(HOST): visit for visit in visits}


def test_fetch_loop_applies_robots_and_reports_visits_over_any_transport() -> None:
    loop, transport = open_loop(FetchSettings())
    submit(loop, "/a", "/b", "/private/c", "/none")
    visits = run_to_end(loop)
    assert {path: (visit.outcome, visit.reason) for path, visit in visits.items()} == {
        "/a": (Outcome.FETCHED, Reason.NONE),
        "/b": (Outcome.FETCHED, Reason.NONE),
        "/private/c": (Outcome.SKIPPED, Reason.ROBOTS),
        "/none": (Outcome.GONE, Reason.NONE),
    }
    assert [request.url for request in transport.started] == [
        f"{HOST}{path}" for path in ("/robots.txt", "/a", "/b", "/none")
    ]
    assert (visits["/a"].title, [link.url for link in visits["/a"].links]) == ("A", [f"{HOST}/b"])
    assert visits["/a"].address == ADDRESSES[0]


def test_fetch_loop_respects_the_capacity_of_the_transport() -> None:
    loop, transport = open_loop(FetchSettings(max_in_flight=1))
    submit(loop, "/a", "/b")
    run_to_end(loop)
    transport.is_paused = True
    submit(loop, "/a", "/b")
    loop.run_for(0.0)
    assert [request.url for request in transport.in_flight] == [f"{HOST}/a"]


def test_private_addresses_never_reach_the_transport() -> None:
    loop, transport = open_loop(FetchSettings())
    submit(loop, "/a", addresses=("10.0.0.1",))
    assert run_to_end(loop)["/a"].reason is Reason.PRIVATE_ADDRESS
    assert transport.started == []


def test_cancel_returns_requests_of_the_transport_and_close_closes_it() -> None:
    loop, transport = open_loop(FetchSettings())
    transport.is_paused = True
    submit(loop, "/a", "/b")
    loop.run_for(0.0)
    assert {visit.outcome for visit in loop.cancel()} == {Outcome.RETURNED}
    assert (loop.load, transport.is_busy) == (0, False)
    loop.close()
    assert transport.is_closed


def test_curl_client_is_a_transport() -> None:
    client: Transport = CurlClient(FetchSettings())
    assert client.has_capacity()
    assert not client.is_busy
    client.close()
