"""Open requests to a migrant, pages received early, and retries.

A new site is requested as a whole; its pages are kept until the frontier asks for them. After a connection error
requests are repeated with growing intervals.
"""

from collections import OrderedDict, defaultdict

from msgspec import Struct

from sanderling.clock import Clock
from sanderling.models import FetchBatch, FetchTask, Host, TemplateFilter, Url
from sanderling.urls.normalize import get_host
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

PAGE_OVERHEAD_BYTES = 1000  # memory of a page in addition to its text
MAX_EARLY_BYTES = 256 * 2**20  # pages received before they were requested
RETRY_TIMEOUT_SECONDS = 300.0  # after this time an unreachable migrant is given up
MAX_RETRY_SECONDS = 15.0  # longest time between two attempts


class RequestRetry(Struct, frozen=True):
    """Tasks to request again at a later time."""

    due_at: float
    sent: SentRequest
    tasks: list[FetchTask]


class ReceivedPage(Struct, frozen=True):
    message: PageMessage
    received_bytes: int
    fetched_at: float


class MigrantRequests:
    """All requests to a migrant that are not answered yet."""

    def __init__(self, address: MigrantAddress, user_agent: str, clock: Clock) -> None:
        self._address, self._user_agent, self._clock = address, user_agent, clock
        self._client = MigrantClient(address, clock)
        self._sites: set[Host] = set()
        self._open_requests: dict[bytes, SentRequest] = {}  # by nonce
        self._whole_site_request: SentRequest | None = None
        self._expected_tasks: dict[Url, FetchTask] = {}  # tasks that the whole-site request should answer
        self._early_pages: OrderedDict[Url, ReceivedPage] = OrderedDict()  # received before they were requested
        self._early_bytes = 0
        self._retries: list[RequestRetry] = []
        self._failing_since = 0.0  # 0: the last request was answered
        self._failure_count = 0

    def add_site(self, host: Host) -> bool:
        """Return True if the site is new."""
        is_new = host not in self._sites
        self._sites.add(host)
        return is_new

    def request_batch(self, batch: FetchBatch, is_whole_site: bool) -> list[tuple[FetchTask, ReceivedPage]]:
        """Return the tasks whose pages have been received early."""
        received, missing = list[tuple[FetchTask, ReceivedPage]](), list[FetchTask]()
        for task in batch.tasks:
            page = self._pop_early_page(task.url)
            if page is not None:
                received.append((task, page))
            else:
                missing.append(task)
        if self._whole_site_request is not None and not is_whole_site:
            self._expected_tasks |= {task.url: task for task in missing}
        elif missing:
            self.send_request(batch.host, missing, is_whole_site, batch.robots is None, batch.template_filter)
        return received

    def send_request(
        self,
        host: Host,
        tasks: list[FetchTask],
        is_whole_site: bool = False,
        includes_robots: bool = False,
        template_filter: TemplateFilter | None = None,
    ) -> None:
        """Queue a request for these tasks of a host."""
        now = self._clock()
        urls = tuple(
            RequestedUrl((task.request_url or task.url)[len(host) :], task.digest[:DIGEST_PREFIX_BYTES], task.depth)
            for task in tasks
        )
        request = MigrantRequest(
            self._client.public_key,
            self._address.receiver,
            host,
            now,
            now + REQUEST_LIFETIME_SECONDS,
            generate_nonce(),
            urls,
            is_whole_site,
            user_agent=self._user_agent,
            includes_robots=includes_robots,
            template_filter=template_filter,
        )
        sent = SentRequest(request, dict(enumerate(tasks)))
        self._whole_site_request = sent if is_whole_site else self._whole_site_request
        self._open_requests[request.nonce] = sent
        self._client.outbox.put(sent)

    def send_due_retries(self) -> None:
        """Repeat failed requests whose waiting time has passed."""
        due = [retry for retry in self._retries if retry.due_at <= self._clock()]
        for retry in due:
            self._retries.remove(retry)
            request = retry.sent.request
            for host, tasks in _group_by_host(retry.tasks).items():
                self.send_request(host, tasks, False, request.includes_robots, request.template_filter)

    def receive(self, timeout: float) -> ReceivedMessage | None:
        """Return None if no message arrived within the timeout."""
        try:
            received = self._client.inbox.get(timeout=timeout) if timeout else self._client.inbox.get_nowait()
            while received[0].request.nonce not in self._open_requests:  # sent after the end of its response
                received = self._client.inbox.get_nowait()
        except MigrantClient.EMPTY:
            return None
        if not isinstance(received[1], RequestFailure):
            self._failing_since, self._failure_count = 0.0, 0
        return received

    def pop_task(self, sent: SentRequest, target: int | str) -> FetchTask | None:
        """Remove and return the task that a message answers (None: not requested yet)."""
        if isinstance(target, int):
            return sent.open_tasks.pop(target, None)
        return self._expected_tasks.pop(Url(sent.request.site + target), None)

    def store_early_page(self, sent: SentRequest, page: ReceivedPage) -> None:
        """Keep a page until it is requested; drop the oldest if memory is short."""
        path = page.message.target
        if not isinstance(path, str) or sent is not self._whole_site_request or not path.startswith("/"):
            return
        url = Url(sent.request.site + path)
        self._pop_early_page(url)
        self._early_pages[url] = page
        self._early_bytes += _estimate_page_bytes(page.message)
        while self._early_bytes > MAX_EARLY_BYTES:
            self._early_bytes -= _estimate_page_bytes(self._early_pages.popitem(last=False)[1].message)

    def _pop_early_page(self, url: Url) -> ReceivedPage | None:
        page = self._early_pages.pop(url, None)
        self._early_bytes -= _estimate_page_bytes(page.message) if page is not None else 0
        return page

    def complete_request(self, sent: SentRequest) -> None:
        """Request tasks that a whole-site request did not answer by URL."""
        del self._open_requests[sent.request.nonce]
        if sent is self._whole_site_request:
            self._whole_site_request = None
            missing, self._expected_tasks = list(self._expected_tasks.values()), {}
            for host, tasks in _group_by_host(missing).items():
                self.send_request(host, tasks)

    def handle_failure(self, sent: SentRequest, failure: RequestFailure) -> list[FetchTask]:
        """Schedule a retry, or return the tasks if the request is given up."""
        del self._open_requests[sent.request.nonce]
        tasks = list(sent.open_tasks.values())
        if sent is self._whole_site_request:
            self._whole_site_request = None
            tasks += self._expected_tasks.values()
            self._expected_tasks = {}
        now = self._clock()
        self._failing_since = self._failing_since or now
        if failure.is_final or now - self._failing_since >= RETRY_TIMEOUT_SECONDS:
            return tasks
        if tasks:
            self._retries.append(RequestRetry(now + min(2.0**self._failure_count, MAX_RETRY_SECONDS), sent, tasks))
            self._failure_count += 1
        return []

    def cancel(self) -> list[FetchTask]:
        """Stop waiting and return all tasks without a result."""
        tasks = [task for sent in self._open_requests.values() for task in sent.open_tasks.values()]
        for sent in self._open_requests.values():
            sent.open_tasks.clear()
        tasks += [*self._expected_tasks.values(), *(task for retry in self._retries for task in retry.tasks)]
        self._expected_tasks.clear()
        self._retries.clear()
        return tasks

    def close(self) -> None:
        self._client.close()


def build_received_page(sent: SentRequest, message: PageMessage, received_bytes: int) -> ReceivedPage:
    """Build a page with its fetch time by our clock."""
    return ReceivedPage(
        message, received_bytes, sent.request.issued_at + max(0.0, message.issue_offset / TICKS_PER_SECOND)
    )


def _group_by_host(tasks: list[FetchTask]) -> dict[Host, list[FetchTask]]:
    tasks_by_host = defaultdict[Host, list[FetchTask]](list)
    for task in tasks:
        tasks_by_host[get_host(task.url)].append(task)
    return tasks_by_host


def _estimate_page_bytes(message: PageMessage) -> int:
    return len(message.body) + len(message.head) + len(str(message.target)) + PAGE_OVERHEAD_BYTES
