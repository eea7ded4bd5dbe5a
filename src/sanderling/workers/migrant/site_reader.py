"""A site as seen from its own machine: through its web server on loopback, or as a folder of files."""

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
from sanderling.fetch.process import (
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
from sanderling.urls.normalize import get_host
from sanderling.warc.http_head import build_stored_head
from sanderling.workers.migrant.owner_rules import SiteRules, list_request_urls

RUN_SECONDS = 0.05
ROBOTS_SECONDS = 86400.0
ALLOWED_DOT_NAMES = (".", "..", ".well-known")  # names with a dot that hide nothing


class SiteResponse(Struct, frozen=True):
    """One look: the visit, and the answer as it came."""

    visit: Visit
    head: bytes = b""
    body: bytes = b""


class SiteReader(Protocol):
    """Where the pages of one site come from."""

    def submit(self, tasks: Sequence[FetchTask]) -> None: ...
    def run_once(self) -> tuple[list[SiteResponse], list[RobotsTxt]]: ...
    def close(self) -> None: ...


def build_fetch_settings(user_agent: str) -> FetchSettings:
    """Bodies come plain: they are compressed together, later."""
    return FetchSettings(
        user_agent=user_agent, headers=("Accept-Encoding: identity",), allow_private=True, keep_requests=False,
        latency_factor=0.0,
    )  # fmt: skip


class PlainResponseProcessor(ResponseProcessor):
    """Looks at pages as any migrant does, but writes no records of them: they go home by another stream."""

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
    """A trip whose visits carry the pages themselves."""

    def __init__(self, settings: FetchSettings, fingerprinter: Fingerprinter) -> None:
        super().__init__(settings, fingerprinter)
        self._processor = PlainResponseProcessor(settings, fingerprinter)

    def _is_allowed(self, rules: RobotsRules, url: str) -> bool:
        return is_allowed(rules, url)


def is_allowed(rules: RobotsRules, url: str) -> bool:
    """Check against robots.txt a URL and all that a web server may read it as: `%2f` is no way round a rule."""
    return all(rules.is_allowed(one) for one in list_request_urls(url, get_host(url)))


class HttpSiteReader:
    """Asks the site's own web server, at the address its owner named and nowhere else."""

    def __init__(self, site: SiteRules, user_agent: str, fingerprinter: Fingerprinter = skip_fingerprints) -> None:
        self.site = site
        self.fetch_loop = PlainFetchLoop(build_fetch_settings(user_agent), fingerprinter)

    def submit(self, tasks: Sequence[FetchTask]) -> None:
        """Queue some pages; they come as fast as the gate lets them in, so there is no pause between them."""
        self.fetch_loop.submit(FetchBatch(Host(self.site.site), tuple(tasks), (self.site.address,), None, 0.0,
                                   self.site.connections))  # fmt: skip

    def run_once(self) -> tuple[list[SiteResponse], list[RobotsTxt]]:
        """What came within a moment."""
        parcel = self.fetch_loop.run_for(RUN_SECONDS)
        return [SiteResponse(visit, visit.head, visit.response_record) for visit in parcel.visits], list(parcel.robots)

    def close(self) -> None:
        """Close the connections."""
        self.fetch_loop.close()


class FileSiteReader:
    """Reads the site's files; a folder answers with its index.html. Nothing outside the folder is ever read."""

    def __init__(self, site: SiteRules, user_agent: str, fingerprinter: Fingerprinter = skip_fingerprints) -> None:
        self.site = site
        self.root = Path(site.root).resolve()
        self.settings = build_fetch_settings(user_agent)
        self.processor = PlainResponseProcessor(self.settings, fingerprinter)
        self.endpoint = parse_endpoint(Host(site.site))
        self.pending_tasks: list[FetchTask] = []
        self.robots: RobotsTxt | None = None

    def submit(self, tasks: Sequence[FetchTask]) -> None:
        """Queue some pages."""
        self.pending_tasks += tasks

    def run_once(self) -> tuple[list[SiteResponse], list[RobotsTxt]]:
        """Read the next few files."""
        news = []
        if self.robots is None:
            self.robots = self._read_robots()
            news = [self.robots]
        rules = build_robots_rules(self.robots, self.settings.agent_token)
        batch, self.pending_tasks = self.pending_tasks[:16], self.pending_tasks[16:]
        seen = []
        for stop in batch:
            if is_allowed(rules, stop.request_url or stop.url):
                seen.append(self._read_page(stop))
            else:
                seen.append(SiteResponse(build_unfetched_visit(stop, Outcome.SKIPPED, Reason.ROBOTS, time.time())))
        return seen, news

    def close(self) -> None:
        """Nothing is open."""

    def _read_robots(self) -> RobotsTxt:
        """Read robots.txt; one that is there and cannot be read (no permission, a symlink loop) keeps us out."""
        now, body = time.time(), b""
        file = self._find_file("/robots.txt")
        status = 200 if file else 503 if (self.root / "robots.txt").is_symlink() else 404
        try:
            body = file.read_bytes()[: self.settings.max_robots] if file else b""
        except OSError:
            status = 503
        return RobotsTxt(Host(self.site.site), status, body, now, now + ROBOTS_SECONDS)

    def _find_file(self, path: str) -> Path | None:
        """The file of a path, if it is one, inside the folder, and no dot file."""
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
            note = "another name of a page that the owner keeps back"
            return SiteResponse(build_unfetched_visit(task, Outcome.SKIPPED, Reason.EXCLUDED, time.time(), note))
        body, status, stamp = b"not here\n", b"404 Not Found", time.time()
        try:
            if file is not None and file.stat().st_size <= self.settings.max_body:
                body, status, stamp = file.read_bytes(), b"200 OK", file.stat().st_mtime
        except OSError:
            status = b"403 Forbidden"
        kind = (mimetypes.guess_type(str(file))[0] if file else None) or "text/plain"
        head = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nLast-Modified: %s\r\n\r\n" % (
            status, kind.encode(), len(body), formatdate(stamp, usegmt=True).encode())  # fmt: skip
        reply = FetchResponse(
            FetchRequest(url, self.endpoint, None), head.splitlines(keepends=True), body, time.monotonic() - start
        )
        return SiteResponse(self.processor.process(task, reply, time.time()), head, body)


def has_dot_file(name: str) -> bool:
    """Is part of a path hidden by the custom of Unix (`.htpasswd`, `.git/config`)? `.well-known` (RFC 8615) is not."""
    return any(part.startswith(".") and part not in ALLOWED_DOT_NAMES for part in name.split("/"))


def open_site_reader(site: SiteRules, user_agent: str, needs_structure: bool = False) -> SiteReader:
    """The site, however its owner wants it to be looked at; to match pages, their structure is looked at too."""
    marks = _fingerprint_structure if needs_structure else skip_fingerprints
    return FileSiteReader(site, user_agent, marks) if site.root else HttpSiteReader(site, user_agent, marks)


def _fingerprint_structure(page: Document | ScanResult, _fingerprint_input: FingerprintInput) -> dict[str, bytes]:
    return {"structure": fingerprint_structure(page)}
