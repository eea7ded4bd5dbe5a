"""One errand at a host: look at the pages of a letter, follow links if the whole site is wanted, keep what is new."""

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

MAX_IN_FLIGHT = 64  # stops in the hands of the local migrant
MIN_WATCH_SECONDS = 0.1  # between two looks, however often they are asked for


class SiteWalk:
    """Carries out one letter; its messages come as they are found."""

    def __init__(self, request: MigrantRequest, rate_limiter: SiteRateLimiter, reader: SiteReader) -> None:
        self.request = request
        self.rate_limiter = rate_limiter
        self.site = rate_limiter.site
        self.reader = reader
        self.max_pages = min(self.site.max_pages, request.max_pages or self.site.max_pages)
        self.request_paths: list[str] = []  # as sent, by stop id
        self.url_paths: list[str] = []  # as normalised, by stop id
        self.known_digests: list[bytes] = []  # cut digests, by stop id
        self.absence_by_id: dict[int, tuple[int, Reason]] = {}  # what was no page at the last look, and why, by stop id
        self.id_by_path: dict[str, int] = {}
        self.allowed_ids: list[int] = []  # what may be looked at, now and again
        self.pending_tasks: deque[FetchTask] = deque()
        self.in_flight = 0
        self.page_count = self.unchanged_count = 0

    def generate_messages(self) -> Iterator[MigrantMessage]:
        """Look at everything once; then, if asked to watch, again and again until the time is over."""
        yield from self._enqueue_requested()
        yield from self._visit_pending()
        yield EndMessage(
            self.page_count, self.unchanged_count
        )  # and one after every further look: so the other side knows that we live
        until = min(time.time() + self.request.watch_seconds, self.request.expires_at)
        every = max(MIN_WATCH_SECONDS, self.request.watch_interval_seconds)
        while time.time() + every < until:
            time.sleep(every)
            if self.rate_limiter.is_within_hours():
                self.pending_tasks.extend(self._build_task(id_) for id_ in self.allowed_ids)
                yield from self._visit_pending()
            yield EndMessage(self.page_count, self.unchanged_count)

    def _enqueue_requested(self) -> Iterator[MissedMessage]:
        for place, wanted in enumerate(self.request.urls):
            spelling = normalize_url(self.site.site + wanted.path)
            if spelling is None or get_host(spelling.url) != self.site.site:
                self._add_path(wanted.path, wanted.path, wanted.known_digest)
                yield MissedMessage(place, Outcome.SKIPPED, Reason.BAD_URL)
                continue
            name = split_url(spelling.url)[1]
            id_ = self._add_path(split_url(spelling.request_url)[1], name, wanted.known_digest)
            if self.site.is_path_allowed(name) and len(self.allowed_ids) < self.max_pages:
                self._enqueue(id_)
            else:
                yield MissedMessage(place, Outcome.SKIPPED, Reason.EXCLUDED, "the owner of the host does not admit it")

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
        """The hours are over: what was not looked at yet has to be asked for again."""
        while self.pending_tasks:
            id_ = self.pending_tasks.popleft().id
            yield MissedMessage(
                self._get_target(id_), Outcome.RETRY, Reason.MIGRANT_REFUSED, RefusalReason.OUTSIDE_HOURS
            )

    def _get_target(self, id_: int) -> int | str:
        return id_ if id_ < len(self.request.urls) else self.url_paths[id_]

    def _report_visit(self, response: SiteResponse) -> Iterator[MigrantMessage]:
        """Say what is new; what is as it was known costs nothing."""
        visit, id_ = response.visit, response.visit.id
        where = self._get_target(id_)
        self.page_count += 1
        if self.request.is_whole_site:
            self._enqueue_links(visit)
        cut = visit.digest[:DIGEST_PREFIX_BYTES]
        if (visit.outcome is Outcome.FETCHED and cut and cut == self.known_digests[id_]) or self._is_still_absent(
            visit
        ):
            self.unchanged_count += 1
        elif self._is_filtered_out(visit):
            yield FilteredMessage(where, build_parked_visit(visit))
        elif response.head:
            if visit.outcome is Outcome.FETCHED:
                self.known_digests[id_] = cut
            at, took = (
                int((visit.visited_at - self.request.issued_at) * TICKS_PER_SECOND),
                1 + int(visit.duration_seconds * 1000),
            )
            yield PageMessage(where, at, took, response.head, response.body, visit.digest[:DIGEST_CHECK_BYTES])
        elif visit.outcome in (Outcome.RETURNED, Outcome.RETRY):
            yield MissedMessage(where, Outcome.RETRY, visit.reason, visit.detail)
        else:
            yield MissedMessage(where, visit.outcome, visit.reason, visit.detail)

    def _is_still_absent(self, visit: Visit) -> bool:
        """Was it no page at the last look either, for the same reason? One that returns is news, whatever it says."""
        if visit.outcome is Outcome.FETCHED:
            self.absence_by_id.pop(visit.id, None)
            return False
        before, why = self.absence_by_id.get(visit.id), (visit.status, visit.reason)
        self.absence_by_id[visit.id], self.known_digests[visit.id] = why, b""
        return before == why

    def _is_filtered_out(self, visit: Visit) -> bool:
        """Is this a new page that is not what the brief asks for?"""
        brief = self.request.template_filter
        if brief is None or visit.outcome is not Outcome.FETCHED or self.known_digests[visit.id]:
            return False
        return not has_matching_structure(brief, visit.fingerprints.get("structure", b""))

    def _enqueue_links(self, visit: Visit) -> None:
        """Line up the links of this site that are new; a redirect is followed by who asked."""
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
