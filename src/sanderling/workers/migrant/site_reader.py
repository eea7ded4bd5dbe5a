"""Reads the pages of a site from its own web server or from a folder."""

import mimetypes
import time
from collections.abc import Sequence
from email.utils import formatdate
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote

from msgspec import Struct

from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.response_processor import (
    Fingerprinter,
    FingerprintInput,
    ResponseProcessor,
    VisitFields,
    build_unfetched_visit,
    skip_fingerprints,
)
from sanderling.fetch.robots import RobotsRules, build_robots_rules
from sanderling.fetch.transport import FetchRequest, FetchResponse
from sanderling.fingerprint.structure import fingerprint_structure
from sanderling.html.parser import Document
from sanderling.html.scanned_page import ScanResult
from sanderling.models import FetchBatch, FetchTask, Host, Outcome, Reason, RobotsTxt, Visit
from sanderling.page_fingerprints import PageFingerprints
from sanderling.urls.normalize import get_host
from sanderling.warc.http_head import build_stored_head
from sanderling.workers.migrant.owner_rules import SiteRules, list_request_urls

RUN_SECONDS = 0.05
ROBOTS_SECONDS = 86400.0
ALLOWED_DOT_NAMES = (".", "..", ".well-known")


class SiteResponse(Struct, frozen=True):
    """A visit with the head and body of its response."""

    visit: Visit
    head: bytes = b""
    body: bytes = b""


class SiteReader(Protocol):
    """Source of the pages of a site."""

    def submit(self, tasks: Sequence[FetchTask]) -> None: ...
    def run_once(self) -> tuple[list[SiteResponse], list[RobotsTxt]]: ...
    def close(self) -> None: ...


def build_fetch_settings(user_agent: str) -> FetchSettings:
    """Build settings for plain bodies, which are compressed together later."""
    return FetchSettings(
        user_agent=user_agent, headers=("Accept-Encoding: identity",), allow_private=True, keep_requests=False,
        latency_factor=0.0,
    )  # fmt: skip


class PlainResponseProcessor(ResponseProcessor):
    """Keeps head and body instead of WARC records."""

    def _pack_records(
        self,
        _task: FetchTask,
        response: FetchResponse,
        visit_fields: VisitFields,
        _fetched_at: float,
        _digest: bytes = b"",
    ) -> None:
        visit_fields["head"], visit_fields["response_record"] = (
            build_stored_head(b"".join(response.head_lines), len(response.body)),
            response.body,
        )


class PlainFetchLoop(FetchLoop):
    """A fetch loop whose visits carry head and body."""

    def __init__(self, settings: FetchSettings, fingerprinter: Fingerprinter) -> None:
        super().__init__(settings, fingerprinter)
        self._processor = PlainResponseProcessor(settings, fingerprinter)

    def _is_allowed(self, rules: RobotsRules, url: str) -> bool:
        return is_allowed(rules, url)


def is_allowed(rules: RobotsRules, url: str) -> bool:
    """Check a URL and its decoded forms against robots.txt."""
    return all(rules.is_allowed(variant) for variant in list_request_urls(url, get_host(url)))


class HttpSiteReader:
    """Fetches pages from the address set by the owner, and from nowhere else."""

    def __init__(self, site: SiteRules, user_agent: str, fingerprinter: Fingerprinter = skip_fingerprints) -> None:
        self.site = site
        self.fetch_loop = PlainFetchLoop(build_fetch_settings(user_agent), fingerprinter)

    def submit(self, tasks: Sequence[FetchTask]) -> None:
        """Queue pages without a crawl delay: the site's rate limiter sets the pace."""
        self.fetch_loop.submit(FetchBatch(Host(self.site.site), tuple(tasks), (self.site.address,), None, 0.0,
                                   self.site.connections))  # fmt: skip

    def run_once(self) -> tuple[list[SiteResponse], list[RobotsTxt]]:
        """Run the fetch loop for a short time and return the responses."""
        report = self.fetch_loop.run_for(RUN_SECONDS)
        return [SiteResponse(visit, visit.head, visit.response_record) for visit in report.visits], list(report.robots)

    def close(self) -> None:
        self.fetch_loop.close()


class FileSiteReader:
    """Reads files, with index.html for folders. Never reads outside of the root."""

    def __init__(self, site: SiteRules, user_agent: str, fingerprinter: Fingerprinter = skip_fingerprints) -> None:
        self.site = site
        self.root = Path(site.root).resolve()
        self.settings = build_fetch_settings(user_agent)
        self.processor = PlainResponseProcessor(self.settings, fingerprinter)
        self.endpoint = parse_endpoint(Host(site.site))
        self.pending_tasks: list[FetchTask] = []
        self.robots: RobotsTxt | None = None

    def submit(self, tasks: Sequence[FetchTask]) -> None:
        """Queue pages."""
        self.pending_tasks += tasks

    def run_once(self) -> tuple[list[SiteResponse], list[RobotsTxt]]:
        """Read the next few files, and robots.txt before the first."""
        robots = []
        if self.robots is None:
            self.robots = self._read_robots()
            robots = [self.robots]
        rules = build_robots_rules(self.robots, self.settings.agent_token)
        batch, self.pending_tasks = self.pending_tasks[:16], self.pending_tasks[16:]
        responses = []
        for task in batch:
            if is_allowed(rules, task.request_url or task.url):
                responses.append(self._read_page(task))
            else:
                visit = build_unfetched_visit(task, Outcome.SKIPPED, Reason.ROBOTS, time.time())
                responses.append(SiteResponse(visit))
        return responses, robots

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def _read_robots(self) -> RobotsTxt:
        """Read robots.txt. If it exists but cannot be read, nothing is allowed."""
        now, body = time.time(), b""
        file = self._find_file("/robots.txt")
        status = 200 if file else 503 if (self.root / "robots.txt").is_symlink() else 404
        try:
            body = file.read_bytes()[: self.settings.max_robots] if file else b""
        except OSError:
            status = 503
        return RobotsTxt(Host(self.site.site), status, body, now, now + ROBOTS_SECONDS)

    def _find_file(self, path: str) -> Path | None:
        """Return None if the file is missing, hidden, or outside of the root."""
        name = unquote(path.partition("?")[0]).lstrip("/")
        try:
            file = (self.root / name).resolve()
            file = (file / "index.html").resolve() if file.is_dir() else file
            if not file.is_relative_to(self.root) or has_dot_file(name) or not file.is_file():
                return None
            return None if has_dot_file(file.relative_to(self.root).as_posix()) else file
        except (OSError, ValueError, RuntimeError):  # before Python 3.13 a symlink loop is a RuntimeError
            return None

    def _read_page(self, task: FetchTask) -> SiteResponse:
        url = task.request_url or task.url
        start = time.monotonic()
        file = self._find_file(url[len(self.site.site) :])
        if file is not None and self.site.is_file_denied("/" + file.relative_to(self.root).as_posix()):
            detail = "the owner denies access to this file"
            return SiteResponse(build_unfetched_visit(task, Outcome.SKIPPED, Reason.EXCLUDED, time.time(), detail))
        body, status, modified_at = b"not found\n", b"404 Not Found", time.time()
        try:
            if file is not None and file.stat().st_size <= self.settings.max_body:
                body, status, modified_at = file.read_bytes(), b"200 OK", file.stat().st_mtime
        except OSError:
            status = b"403 Forbidden"
        media_type = (mimetypes.guess_type(str(file))[0] if file else None) or "text/plain"
        head = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nLast-Modified: %s\r\n\r\n" % (
            status, media_type.encode(), len(body), formatdate(modified_at, usegmt=True).encode())  # fmt: skip
        response = FetchResponse(
            FetchRequest(url, self.endpoint, None), head.splitlines(keepends=True), body, time.monotonic() - start
        )
        return SiteResponse(self.processor.process(task, response, time.time()), head, body)


def has_dot_file(name: str) -> bool:
    """Return whether a part is hidden (`.git/`), except `.well-known` (RFC 8615)."""
    return any(part.startswith(".") and part not in ALLOWED_DOT_NAMES for part in name.split("/"))


def open_site_reader(site: SiteRules, user_agent: str, needs_structure: bool = False) -> SiteReader:
    fingerprinter = _fingerprint_structure if needs_structure else skip_fingerprints
    return (FileSiteReader if site.root else HttpSiteReader)(site, user_agent, fingerprinter)


def _fingerprint_structure(page: Document | ScanResult, _fingerprint_input: FingerprintInput) -> PageFingerprints:
    return PageFingerprints(structure=fingerprint_structure(page))
