"""Letters between a migrant and its host: what each asks for, what came early, what is to be asked for again.

A site that is met for the first time is asked for as a whole. Its pages come before anybody asks for them and are kept
until then; what such a letter did not bring is asked for by name.

A host that cannot be reached, or a link that is cut, is no fault of the pages: their letters are written again, later
and later, for some minutes.
"""

from collections import OrderedDict, defaultdict

from msgspec import Struct

from sanderling.clock import Clock
from sanderling.models import FetchBatch, FetchTask, Host, TemplateFilter, Url
from sanderling.urls.normalize import get_host
from sanderling.workers.migrant import prose
from sanderling.workers.migrant.client import (
    MigrantAddress,
    MigrantClient,
    ReceivedMessage,
    RequestFailure,
    SentRequest,
)
from sanderling.workers.migrant.messages import (
    DIGEST_PREFIX_BYTES,
    REQUEST_LIFETIME_SECONDS,
    TICKS_PER_SECOND,
    MigrantRequest,
    PageMessage,
    RequestedUrl,
    generate_nonce,
)

PAGE_OVERHEAD_BYTES = 1000  # bytes a page costs beside its words
MAX_EARLY_BYTES = 256 * 2**20  # pages the host found before we asked for them
RETRY_TIMEOUT_SECONDS = 300.0  # a host that goes away may come back within this time
MAX_RETRY_SECONDS = 15.0  # seconds between two letters to a host that does not answer


class RequestRetry(Struct, frozen=True):
    """Stops that are to be asked for once more."""

    due_at: float
    sent: SentRequest
    tasks: list[FetchTask]


class ReceivedPage(Struct, frozen=True):
    """A page that came, what it cost on the way, and when it was seen."""

    message: PageMessage
    received_bytes: int
    fetched_at: float


class MigrantRequests:
    """Everything that was written to one host and is not answered yet."""

    def __init__(self, address: MigrantAddress, user_agent: str, clock: Clock) -> None:
        self._address, self._user_agent, self._clock = address, user_agent, clock
        self._client = MigrantClient(address, clock)
        self._sites: set[Host] = set()
        self._open_requests: dict[bytes, SentRequest] = {}  # not answered to the end yet, by nonce
        self._whole_site_request: SentRequest | None = None  # the letter for a whole site
        self._expected_tasks: dict[Url, FetchTask] = {}  # stops that it should bring
        self._early_pages: OrderedDict[Url, ReceivedPage] = OrderedDict()  # came before they were asked for
        self._early_bytes = 0
        self._retries: list[RequestRetry] = []
        self._failing_since = 0.0  # 0: the last letter was answered
        self._failure_count = 0

    def add_site(self, host: Host) -> bool:
        """Is this a site we come to for the first time?"""
        is_new = host not in self._sites
        self._sites.add(host)
        return is_new

    def request_batch(self, batch: FetchBatch, is_whole_site: bool) -> list[tuple[FetchTask, ReceivedPage]]:
        """Send for the stops of one site; those that are here already come back at once."""
        here, missing = list[tuple[FetchTask, ReceivedPage]](), list[FetchTask]()
        for stop in batch.tasks:
            early = self._pop_early_page(stop.url)
            if early is not None:
                here.append((stop, early))
            else:
                missing.append(stop)
        if self._whole_site_request is not None and not is_whole_site:
            self._expected_tasks |= {stop.url: stop for stop in missing}
        elif missing:
            self.send_request(batch.host, missing, is_whole_site, batch.robots is None, batch.template_filter)
        return here

    def send_request(
        self,
        host: Host,
        tasks: list[FetchTask],
        is_whole_site: bool = False,
        includes_robots: bool = False,
        template_filter: TemplateFilter | None = None,
    ) -> None:
        """Write one letter."""
        now = self._clock()
        wanted = tuple(
            RequestedUrl((stop.request_url or stop.url)[len(host) :], stop.digest[:DIGEST_PREFIX_BYTES], stop.depth)
            for stop in tasks
        )
        letter = MigrantRequest(
            self._client.public_key,
            self._address.receiver,
            host,
            now,
            now + REQUEST_LIFETIME_SECONDS,
            generate_nonce(),
            wanted,
            is_whole_site,
            user_agent=self._user_agent,
            includes_robots=includes_robots,
            accepted_encodings=(prose.NAME,) if prose.is_here() else (),
            template_filter=template_filter,
        )
        sent = SentRequest(letter, dict(enumerate(tasks)))
        self._whole_site_request = sent if is_whole_site else self._whole_site_request
        self._open_requests[letter.nonce] = sent
        self._client.outbox.put(sent)

    def send_due_retries(self) -> None:
        """Write the letters that failed and have waited long enough."""
        due = [again for again in self._retries if again.due_at <= self._clock()]
        for again in due:
            self._retries.remove(again)
            letter = again.sent.request
            for host, stops in _group_by_host(again.tasks).items():
                self.send_request(host, stops, False, letter.includes_robots, letter.template_filter)

    def receive(self, timeout: float) -> ReceivedMessage | None:
        """The next message, if one comes within this time; what follows the end of an answer is not heard."""
        try:
            news = self._client.inbox.get(timeout=timeout) if timeout else self._client.inbox.get_nowait()
            while news[0].request.nonce not in self._open_requests:
                news = self._client.inbox.get_nowait()
        except MigrantClient.EMPTY:
            return None
        if not isinstance(news[1], RequestFailure):
            self._failing_since, self._failure_count = 0.0, 0
        return news

    def pop_task(self, sent: SentRequest, target: int | str) -> FetchTask | None:
        """Whom a message is for: it is not waited for any more. None if nobody asked, or not yet."""
        if isinstance(target, int):
            return sent.open_tasks.pop(target, None)
        return self._expected_tasks.pop(Url(sent.request.site + target), None)

    def store_early_page(self, sent: SentRequest, page: ReceivedPage) -> None:
        """Keep a page of a whole site until somebody asks for it; the oldest go when there are too many."""
        where = page.message.target
        if not isinstance(where, str) or sent is not self._whole_site_request or not where.startswith("/"):
            return
        self._pop_early_page(Url(sent.request.site + where))  # one that is sent twice is kept once
        self._early_pages[Url(sent.request.site + where)] = page
        self._early_bytes += _estimate_page_bytes(page.message)
        while self._early_bytes > MAX_EARLY_BYTES:
            self._early_bytes -= _estimate_page_bytes(self._early_pages.popitem(last=False)[1].message)

    def _pop_early_page(self, url: Url) -> ReceivedPage | None:
        early = self._early_pages.pop(url, None)
        self._early_bytes -= _estimate_page_bytes(early.message) if early is not None else 0
        return early

    def complete_request(self, sent: SentRequest) -> None:
        """A letter was answered; what the whole site did not bring is asked for by name."""
        del self._open_requests[sent.request.nonce]
        if sent is self._whole_site_request:
            self._whole_site_request = None
            asked, self._expected_tasks = list(self._expected_tasks.values()), {}
            for host, stops in _group_by_host(asked).items():
                self.send_request(host, stops)

    def handle_failure(self, sent: SentRequest, failure: RequestFailure) -> list[FetchTask]:
        """A letter was not answered: it is written again later, or its stops are given up and come back."""
        del self._open_requests[sent.request.nonce]
        stops = list(sent.open_tasks.values())
        if sent is self._whole_site_request:
            self._whole_site_request = None
            stops += self._expected_tasks.values()
            self._expected_tasks = {}
        now = self._clock()
        self._failing_since = self._failing_since or now
        if failure.is_final or now - self._failing_since >= RETRY_TIMEOUT_SECONDS:
            return stops
        if stops:
            self._retries.append(RequestRetry(now + min(2.0**self._failure_count, MAX_RETRY_SECONDS), sent, stops))
            self._failure_count += 1
        return []

    def cancel(self) -> list[FetchTask]:
        """Wait for nothing any more: everything that was asked for comes back."""
        stops = [stop for sent in self._open_requests.values() for stop in sent.open_tasks.values()]
        for sent in self._open_requests.values():
            sent.open_tasks.clear()
        stops += [*self._expected_tasks.values(), *(stop for again in self._retries for stop in again.tasks)]
        self._expected_tasks.clear()
        self._retries.clear()
        return stops

    def close(self) -> None:
        """Leave the host."""
        self._client.close()


def build_received_page(sent: SentRequest, message: PageMessage, received_bytes: int) -> ReceivedPage:
    """A page with its time by our clock; it was not looked at before we asked."""
    return ReceivedPage(
        message, received_bytes, sent.request.issued_at + max(0.0, message.issue_offset / TICKS_PER_SECOND)
    )


def _group_by_host(tasks: list[FetchTask]) -> dict[Host, list[FetchTask]]:
    """While a whole site is on its way, stops of other sites are asked for too."""
    found = defaultdict[Host, list[FetchTask]](list)
    for stop in tasks:
        found[get_host(stop.url)].append(stop)
    return found


def _estimate_page_bytes(message: PageMessage) -> int:
    return len(message.body) + len(message.head) + len(str(message.target)) + PAGE_OVERHEAD_BYTES
