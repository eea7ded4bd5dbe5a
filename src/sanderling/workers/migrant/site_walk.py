"""Answers a request beside a web server: fetches URLs, follows links, reports changes."""

import time
from collections import deque
from collections.abc import Iterator

from sanderling.fetch.template_filter import build_parked_visit, has_matching_structure
from sanderling.models import FetchTask, Outcome, Reason, Url, Visit
from sanderling.urls.normalize import get_host, normalize_url, split_url
from sanderling.workers.migrant.messages import (
    DIGEST_CHECK_BYTES,
    DIGEST_PREFIX_BYTES,
    TICKS_PER_SECOND,
    EndMessage,
    FilteredMessage,
    MigrantMessage,
    MigrantRequest,
    MissedMessage,
    PageMessage,
    RobotsMessage,
)
from sanderling.workers.migrant.owner_rules import RefusalReason
from sanderling.workers.migrant.rate_limit import SiteRateLimiter
from sanderling.workers.migrant.site_reader import SiteReader, SiteResponse

MAX_IN_FLIGHT = 64  # pages submitted to the site reader
MIN_WATCH_SECONDS = 0.1  # lower limit of the watch interval


class SiteWalk:
    """Pages of a request, by task id: requested URLs first, then discovered URLs."""

    def __init__(self, request: MigrantRequest, rate_limiter: SiteRateLimiter, reader: SiteReader) -> None:
        self.request = request
        self.rate_limiter = rate_limiter
        self.site = rate_limiter.site
        self.reader = reader
        self.max_pages = min(self.site.max_pages, request.max_pages or self.site.max_pages)
        self.request_paths: list[str] = []  # as requested, by task id
        self.url_paths: list[str] = []  # as normalized, by task id
        self.known_digests: list[bytes] = []  # digest prefixes, by task id
        self.absence_by_id: dict[int, tuple[int, Reason]] = {}  # status and reason of missing pages
        self.id_by_path: dict[str, int] = {}
        self.allowed_ids: list[int] = []  # pages to fetch, in watch mode repeatedly
        self.pending_tasks: deque[FetchTask] = deque()
        self.in_flight = 0
        self.page_count = self.unchanged_count = 0

    def generate_messages(self) -> Iterator[MigrantMessage]:
        """Visit all pages; in watch mode repeat until the request expires."""
        yield from self._enqueue_requested()
        yield from self._visit_pending()
        yield EndMessage(self.page_count, self.unchanged_count)  # one per round, also as a sign of life
        ends_at = min(time.time() + self.request.watch_seconds, self.request.expires_at)
        interval = max(MIN_WATCH_SECONDS, self.request.watch_interval_seconds)
        while time.time() + interval < ends_at:
            time.sleep(interval)
            if self.rate_limiter.is_within_hours():
                self.pending_tasks.extend(self._build_task(id_) for id_ in self.allowed_ids)
                yield from self._visit_pending()
            yield EndMessage(self.page_count, self.unchanged_count)

    def _enqueue_requested(self) -> Iterator[MissedMessage]:
        for index, requested in enumerate(self.request.urls):
            url = normalize_url(self.site.site + requested.path)
            if url is None or get_host(url.url) != self.site.site:
                self._add_path(requested.path, requested.path, requested.known_digest)
                yield MissedMessage(index, Outcome.SKIPPED, Reason.BAD_URL)
                continue
            name = split_url(url.url)[1]
            id_ = self._add_path(split_url(url.request_url)[1], name, requested.known_digest)
            if self.site.is_path_allowed(name) and len(self.allowed_ids) < self.max_pages:
                self._enqueue(id_)
            else:
                yield MissedMessage(index, Outcome.SKIPPED, Reason.EXCLUDED, "the owner of the site does not allow it")

    def _add_path(self, request_path: str, url_path: str, known_digest: bytes = b"") -> int:
        id_ = len(self.request_paths)
        self.request_paths.append(request_path)
        self.url_paths.append(url_path)
        self.known_digests.append(known_digest)
        self.id_by_path.setdefault(url_path, id_)
        return id_

    def _enqueue(self, id_: int) -> None:
        self.allowed_ids.append(id_)
        self.pending_tasks.append(self._build_task(id_))

    def _build_task(self, id_: int) -> FetchTask:
        path, name = self.request_paths[id_], self.url_paths[id_]
        return FetchTask(id_, 0, Url(self.site.site + name), self.site.site + path if path != name else "")

    def _visit_pending(self) -> Iterator[MigrantMessage]:
        while self.pending_tasks or self.in_flight:
            if not self.rate_limiter.is_within_hours():
                yield from self._defer_pending()
            count = self.rate_limiter.acquire(min(len(self.pending_tasks), MAX_IN_FLIGHT - self.in_flight))
            if count:
                self.in_flight += count
                self.reader.submit([self.pending_tasks.popleft() for _ in range(count)])
            elif not self.in_flight:
                self.rate_limiter.wait()
                continue
            seen, robots = self.reader.run_once()
            self.in_flight -= len(seen)
            if self.request.includes_robots:
                yield from (RobotsMessage(found) for found in robots)
            for item in seen:
                yield from self._report_visit(item)

    def _defer_pending(self) -> Iterator[MissedMessage]:
        """Report pending pages for a later retry: the allowed hours have ended."""
        while self.pending_tasks:
            id_ = self.pending_tasks.popleft().id
            yield MissedMessage(
                self._get_target(id_), Outcome.RETRY, Reason.MIGRANT_REFUSED, RefusalReason.OUTSIDE_HOURS
            )

    def _get_target(self, id_: int) -> int | str:
        return id_ if id_ < len(self.request.urls) else self.url_paths[id_]

    def _report_visit(self, response: SiteResponse) -> Iterator[MigrantMessage]:
        """Generate the message of a visit; an unchanged page has no message."""
        visit, id_ = response.visit, response.visit.id
        target = self._get_target(id_)
        self.page_count += 1
        if self.request.is_whole_site:
            self._enqueue_links(visit)
        digest = visit.digest[:DIGEST_PREFIX_BYTES]
        is_known = visit.outcome is Outcome.FETCHED and digest and digest == self.known_digests[id_]
        if is_known or self._is_still_absent(visit):
            self.unchanged_count += 1
        elif self._is_filtered_out(visit):
            yield FilteredMessage(target, build_parked_visit(visit))
        elif response.head:
            if visit.outcome is Outcome.FETCHED:
                self.known_digests[id_] = digest
            issue_offset = int((visit.visited_at - self.request.issued_at) * TICKS_PER_SECOND)
            duration_ms = 1 + int(visit.duration_seconds * 1000)
            check = visit.digest[:DIGEST_CHECK_BYTES]
            yield PageMessage(target, issue_offset, duration_ms, response.head, response.body, check)
        elif visit.outcome in (Outcome.RETURNED, Outcome.RETRY):
            yield MissedMessage(target, Outcome.RETRY, visit.reason, visit.detail)
        else:
            yield MissedMessage(target, visit.outcome, visit.reason, visit.detail)

    def _is_still_absent(self, visit: Visit) -> bool:
        """Return whether a page is missing for the same reason as before."""
        if visit.outcome is Outcome.FETCHED:
            self.absence_by_id.pop(visit.id, None)
            return False
        old, new = self.absence_by_id.get(visit.id), (visit.status, visit.reason)
        self.absence_by_id[visit.id], self.known_digests[visit.id] = new, b""
        return old == new

    def _is_filtered_out(self, visit: Visit) -> bool:
        """Check whether the template filter rejects a new page."""
        template_filter = self.request.template_filter
        if template_filter is None or visit.outcome is not Outcome.FETCHED or self.known_digests[visit.id]:
            return False
        return not has_matching_structure(template_filter, visit.fingerprints.structure or b"")

    def _enqueue_links(self, visit: Visit) -> None:
        """Enqueue new links within the site. Redirects are followed by the crawler."""
        links = () if visit.nofollow else visit.links
        for link in links:
            if link.nofollow or get_host(link.url) != self.site.site or len(self.allowed_ids) >= self.max_pages:
                continue
            name = split_url(link.url)[1]
            if (
                name not in self.id_by_path
                and name.startswith(self.request.path_prefix)
                and self.site.is_path_allowed(name)
            ):
                path = (
                    link.request_url[len(self.site.site) :]
                    if link.request_url.startswith(self.site.site + "/")
                    else name
                )
                self._enqueue(self._add_path(path, name))
