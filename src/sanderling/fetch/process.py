"""From a reply to a visit: decode, digest, parse once, take links and marks, pack."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from sanderling.fetch.curl_client import build_request_headers, serialize_recorded_headers
from sanderling.fetch.curl_transfer import FetchResponse
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.link_resolution import (
    LinkScorer,
    add_header_links,
    resolve_file_refs,
    resolve_links,
    resolve_resources,
)
from sanderling.fetch.native_links import pack_scanned_links
from sanderling.fetch.response import (
    ResponseClass,
    classify_status,
    classify_transport_error,
    decode_header,
    decode_validator,
    is_past_date,
)
from sanderling.fetch.topic_score import build_link_scorer, score_page_relevance
from sanderling.fingerprint.fast.fast_scan import scan_page
from sanderling.fingerprint.fast.stable_hash import HASHED_CHARSET, compute_stable_hash, pack_stable_hash
from sanderling.frontier.ordering.topic import Topic, TopicScorer, pack_relevance
from sanderling.html.links import PageMetadata, add_anchor_links, extract_head, extract_metadata
from sanderling.html.parser import Document, is_html, parse_charset, parse_html
from sanderling.html.robots_meta import parse_robots_tag, parse_unavailable_after
from sanderling.html.scanned_page import IGNORED_META_NAMES, ScanResult
from sanderling.http.decoders import zlib_module
from sanderling.http.decoding import decode_body
from sanderling.http.head import HeaderFields, get_media_type, parse_head
from sanderling.models import FetchTask, Outcome, Reason, StoredVersion, UrlRole, Visit
from sanderling.urls.normalize import resolve_url
from sanderling.warc.http_head import build_stored_head
from sanderling.warc.packer import GZIP_WINDOW_BITS, HttpExchange, pack_metadata, pack_request, pack_response

MAX_HEAD_BYTES = 1 << 20  # bytes of both heads of a record, at most
RESPONSE_TYPE_HEADER = b"\r\nWARC-Type: response\r\n"
HEAD_END = b"\r\n\r\n"


def read_stored_body(folder: str, version: StoredVersion, max_bytes: int) -> bytes:
    """Read the body of an answer as `pack_response` packed it; empty if it is not here, or something else."""
    try:
        with open(Path(folder, version.file), "rb", buffering=0) as file:
            member = os.pread(file.fileno(), version.length, version.offset)
        inflate = zlib_module.decompressobj(GZIP_WINDOW_BITS)
        record = inflate.decompress(member, max_bytes + MAX_HEAD_BYTES)
    except (zlib_module.error, OSError):  # at another place, cut short, never written by us
        return b""
    head, _, block = record.partition(HEAD_END)
    answer, _, body = block.partition(HEAD_END)
    if not inflate.eof or RESPONSE_TYPE_HEADER not in head or not body.endswith(HEAD_END):
        return b""
    coding = decode_header(parse_head(answer.split(b"\r\n"))[1].get(b"content-encoding", b""))
    found, reason = decode_body(body[: -len(HEAD_END)], coding, max_bytes)
    return b"" if reason is not Reason.NONE else found


class FingerprintInput(Struct, frozen=True):
    """What is known of a page whose marks are made."""

    body: bytes
    is_changed: bool = False  # it was another before
    previous_body: bytes = b""  # what it was; empty if that is not at hand, or not asked for
    previous_version: StoredVersion | None = None  # and how that is kept
    stable_hash: bytes = b""  # of it without what no mark sees; empty: nobody knows
    has_same_stable_hash: bool = False  # the same was left of it before


Fingerprinter = Callable[[Document | ScanResult, FingerprintInput], dict[str, bytes]]
"""What later rooms ask of a page, computed once while it is at hand; of one that is another now its tree is."""

VisitFields = dict[str, Any]
"""Fields of a `Visit`, by name; it lives inside this module only."""

UNCHANGED_DETAIL = "unchanged"
MAX_CHARSET_LENGTH = 40


def skip_fingerprints(_page: Document | ScanResult, _known: FingerprintInput) -> dict[str, bytes]:
    """For those who only want the page."""
    return {}


class ResponseProcessor:
    """Looks at replies with the eyes of one crawl: its limits and its marks."""

    def __init__(self, settings: FetchSettings, compute_fingerprints: Fingerprinter, packs_links: bool = False) -> None:
        self._settings = settings
        self._compute_fingerprints = compute_fingerprints
        self._packs_links = packs_links  # links, where it can: what is seen goes home and nobody here looks at it again
        self._agent = settings.agent_token
        self._topic_scorer = TopicScorer(Topic(settings.topic_weights)) if settings.topic_weights else None
        self._has_host_header, self._recorded_headers = serialize_recorded_headers(build_request_headers(settings))

    def process(self, task: FetchTask, response: FetchResponse, fetched_at: float) -> Visit:
        """Say what was seen at one stop."""
        status, fields = parse_head(response.head_lines)
        verdict = classify_transport_error(response)
        came_whole = verdict is None
        verdict = verdict or classify_status(status, fields, response, fetched_at)
        facts: VisitFields = {}
        if verdict.outcome is Outcome.FETCHED:
            verdict = self._read_body(task, response, fields, facts, fetched_at)
        elif verdict.outcome is Outcome.NOT_MODIFIED:
            facts["head"] = build_stored_head(b"".join(response.head_lines), 0)
            self._read_robots_tag(fields, facts, fetched_at)
        elif came_whole:
            self._pack_records(task, response, facts, fetched_at)
            if 300 <= status < 400 and verdict.outcome is Outcome.FAILED and task.role is UrlRole.PAGE:
                self._read_choice_links(response, fields, facts, fetched_at)
        return Visit(
            task.id,
            task.token,
            task.url,
            verdict.outcome,
            fetched_at,
            verdict.reason,
            verdict.detail,
            status,
            response.duration_seconds,
            received_bytes=response.received_bytes,
            address=response.address,
            location=verdict.location,
            retry_after=verdict.retry_after,
            etag=decode_validator(fields.get(b"etag")),
            last_modified=decode_validator(fields.get(b"last-modified")),
            role=task.role,
            **facts,
        )

    def _read_body(
        self,
        task: FetchTask,
        response: FetchResponse,
        headers: HeaderFields,
        visit_fields: VisitFields,
        fetched_at: float,
    ) -> ResponseClass:
        """Decode and digest a body, then read it and pack it, unless it is the one we know."""
        coding = decode_header(headers.get(b"content-encoding", b""))
        limit = self._settings.get_max_body(task.role)
        body, reason = decode_body(response.body, coding, limit)
        if reason is Reason.TOO_LARGE:
            return ResponseClass(
                Outcome.SKIPPED, reason, f"more than {limit} bytes, content coding {coding[:50]!r} removed"
            )
        if reason:
            return ResponseClass(Outcome.FAILED, reason, f"content coding {coding[:50]!r}")
        digest = self._read_body_metadata(body, headers, visit_fields, fetched_at)
        if digest == task.digest:
            visit_fields["head"] = build_stored_head(b"".join(response.head_lines), len(response.body))
            return ResponseClass(Outcome.FETCHED, detail=UNCHANGED_DETAIL)
        self._pack_records(task, response, visit_fields, fetched_at, digest if body is response.body else b"")
        if task.role is not UrlRole.PAGE:
            from sanderling.fetch.sitemap_response import parse_non_page  # few stops are

            found, note = parse_non_page(
                task.role, response.request.url, body, visit_fields["mime"], visit_fields["charset"]
            )
            visit_fields.update(found)
            return ResponseClass(Outcome.FETCHED, detail=note)
        if b"link" in headers or b"refresh" in headers:
            self._read_link_headers(response.request.url, headers, visit_fields)
        if not is_html(visit_fields["mime"], body):
            return ResponseClass(Outcome.FETCHED)
        if len(body) > self._settings.max_page:
            return ResponseClass(Outcome.FETCHED, detail=f"not parsed: a page of {len(body)} bytes")
        until = self._read_page(
            response.request.url, self._scan_or_parse(task, body, visit_fields["charset"]), visit_fields
        )
        visit_fields["noindex"] |= is_past_date(until, fetched_at)
        return ResponseClass(Outcome.FETCHED)

    def _read_choice_links(
        self, response: FetchResponse, headers: HeaderFields, visit_fields: VisitFields, fetched_at: float
    ) -> None:
        """Take the links of an answer that leads nowhere by itself: what browsers show of it, a person goes on from."""
        body, reason = decode_body(
            response.body, decode_header(headers.get(b"content-encoding", b"")), self._settings.max_page
        )
        if reason or not is_html(get_media_type(headers), body):
            return
        self._read_robots_tag(headers, visit_fields, fetched_at)
        page = parse_html(body, parse_charset(decode_header(headers.get(b"content-type", b""))))
        found = extract_metadata(page, response.request.url, agent=self._agent)
        visit_fields["nofollow"] = visit_fields.get("nofollow", False) or found.nofollow
        visit_fields["links"], visit_fields["links_dropped"] = (
            resolve_links(found, visit_fields["nofollow"]),
            found.dropped_count,
        )

    def _read_body_metadata(
        self, body: bytes, headers: HeaderFields, visit_fields: VisitFields, fetched_at: float
    ) -> bytes:
        """Take what is known of a body before it is read: digest, size, type, and what the header says to robots."""
        visit_fields["noindex"] = visit_fields["nofollow"] = False
        digest: bytes = hashlib.sha256(body).digest()
        visit_fields["digest"], visit_fields["size"] = digest, len(body)
        visit_fields["mime"] = get_media_type(headers)
        visit_fields["charset"] = parse_charset(decode_header(headers.get(b"content-type", b"")))[:MAX_CHARSET_LENGTH]
        self._read_robots_tag(headers, visit_fields, fetched_at)
        return digest

    def _scan_or_parse(
        self, task: FetchTask, body: bytes, charset: str
    ) -> "tuple[Document | ScanResult, FingerprintInput]":
        """Look once at a page, closely if much is asked of it; say what is known of it."""
        known = self._compare_with_previous(task, body)
        page = (scan_page(body, charset) if self._can_use_fast_scan(known) else None) or parse_html(body, charset)
        if (
            known.has_same_stable_hash and (page.encoding or "").lower() != HASHED_CHARSET
        ):  # the same letters mean others now
            known = self._compare_with_previous(task, body, use_stable_hash=False)
            page = page if isinstance(page, Document) else parse_html(body, charset)
        return page, known

    def _compare_with_previous(self, task: FetchTask, body: bytes, use_stable_hash: bool = True) -> FingerprintInput:
        """Say what is known of a page that came, and read what it was if it may be another to a mark."""
        last, archive = task.last_version, self._settings.archive_folder
        if not task.digest or last is None or not last.is_page or not archive:
            return FingerprintInput(body, bool(task.digest))
        left = compute_stable_hash(body) if use_stable_hash and last.charset == HASHED_CHARSET else b""
        if left and left == last.stable_hash:
            return FingerprintInput(body, True, previous_version=last, stable_hash=left, has_same_stable_hash=True)
        from sanderling.fetch.process import read_stored_body  # most pages of most crawls are new

        return FingerprintInput(body, True, read_stored_body(archive, last, self._settings.max_page), last, left)

    def _read_robots_tag(self, headers: HeaderFields, visit_fields: VisitFields, fetched_at: float) -> None:
        """Take what the header says to robots."""
        if tag := decode_header(headers.get(b"x-robots-tag", b"")):
            visit_fields["header_noindex"], visit_fields["nofollow"] = parse_robots_tag(tag, self._agent)
            visit_fields["header_noindex"] |= is_past_date(parse_unavailable_after(tag, self._agent), fetched_at)

    def _read_link_headers(self, url: str, headers: HeaderFields, visit_fields: VisitFields) -> None:
        """Take what the headers say of other pages; what the page itself says is added, and goes before it."""
        from sanderling.fetch.link_header import extract_header_links  # few answers say any of it
        from sanderling.fetch.sitemap_response import find_change_list

        leads = extract_header_links(url, headers, visit_fields["nofollow"])
        visit_fields["canonical"], visit_fields["links"] = leads.canonical, leads.links
        visit_fields["file_refs"] = leads.file_refs + find_change_list(url, headers.get(b"link", b""))

    def _read_page(
        self, url: str, parsed_page: "tuple[Document | ScanResult, FingerprintInput]", visit_fields: VisitFields
    ) -> str:
        """Take everything from a page that was looked at; say until when it says that it is there."""
        page, known = parsed_page
        found = self._extract_page(page, url)
        visit_fields["noindex"] |= found.noindex
        visit_fields["nofollow"] |= found.nofollow
        visit_fields["charset"] = (page.encoding or visit_fields["charset"]).lower()
        visit_fields["title"], visit_fields["language"] = found.title, found.language
        canonical = resolve_url(found.base_url, found.canonical, found.encoding) if found.canonical else None
        if canonical is not None:
            visit_fields["canonical"] = canonical.url
        topic = self._topic_scorer
        visit_fields["file_refs"] = resolve_file_refs(found) + visit_fields.get("file_refs", ())
        if self._settings.extracts_resources and isinstance(page, Document):
            visit_fields["resources"] = resolve_resources(page, found.base_url)
        visit_fields["fingerprints"] = self._compute_fingerprints(page, known)
        if known.is_changed:
            visit_fields["fingerprints"]["sieve"] = pack_stable_hash(known.stable_hash, visit_fields["digest"])
        promise = None
        if topic and isinstance(page, Document):
            visit_fields["fingerprints"]["relevance"] = pack_relevance(score_page_relevance(topic, page, found.title))
            promise = build_link_scorer(topic, page, found)
        self._resolve_page_links(page, url, found, visit_fields, promise)
        return found.unavailable_after

    def _extract_page(self, page: Document | ScanResult, url: str) -> PageMetadata:
        """Take what a page says; the links in the text of one seen at a glance are still to come."""
        if isinstance(page, ScanResult):
            return extract_head(page, url, self._agent)
        return extract_metadata(page, url, bool(self._settings.parking_folder), self._agent)

    def _resolve_page_links(
        self,
        page: Document | ScanResult,
        url: str,
        extracted: PageMetadata,
        visit_fields: VisitFields,
        score_link: LinkScorer | None,
    ) -> None:
        """Take all links of a page, and those that its headers say."""
        nofollow, leads = visit_fields["nofollow"], visit_fields.get("links", ())
        if isinstance(page, ScanResult):
            packed = pack_scanned_links(extracted, page, url, nofollow) if self._packs_links and not leads else None
            if packed is not None:
                visit_fields["links"] = packed
                return
            extracted = add_anchor_links(extracted, page, url)
        visit_fields["links"] = add_header_links(resolve_links(extracted, nofollow, score_link), leads, nofollow)
        visit_fields["links_dropped"] = extracted.dropped_count

    def _can_use_fast_scan(self, fingerprint_input: FingerprintInput) -> bool:
        """Say whether a glance is enough: of a page that is new, or as it was to all marks, little is asked."""
        is_other = fingerprint_input.is_changed and not fingerprint_input.has_same_stable_hash
        wants_more = (
            is_other or self._topic_scorer or self._settings.extracts_resources or self._settings.parking_folder
        )
        return not wants_more and self._agent.lower() not in IGNORED_META_NAMES

    def _pack_records(
        self,
        task: FetchTask,
        response: FetchResponse,
        visit_fields: VisitFields,
        fetched_at: float,
        digest: bytes = b"",
    ) -> None:
        """Write the records the archive keeps of this answer; `digest` is the body's, if it came without coding."""
        algorithm = self._settings.digest
        known = digest if algorithm == "sha256" else b""
        exchange = HttpExchange(
            response.request.url, fetched_at, b"".join(response.head_lines), response.body, response.address, "", known
        )
        packed = pack_response(exchange, algorithm)
        visit_fields["head"], visit_fields["response_record"], visit_fields["record_id"] = (
            packed.head,
            packed.member,
            packed.record_id,
        )
        visit_fields["payload_digest"] = packed.payload_digest
        if self._settings.keep_requests:
            asked = HttpExchange(
                response.request.url, fetched_at, self.build_request(response), address=response.address
            )
            visit_fields["request_record"] = pack_request(asked, packed.record_id, algorithm).member
            known_by = (("fetchTimeMs", f"{response.duration_seconds * 1000:.0f}"), ("hopsFromSeed", str(task.depth)))
            visit_fields["metadata_record"] = pack_metadata(
                response.request.url, fetched_at, known_by, packed.record_id, algorithm
            ).member

    def build_request(self, response: FetchResponse) -> bytes:
        """Write the request as curl sent it, without passwords and cookies: those are nobody's to read later."""
        host, _, path = response.request.url.partition("://")[2].partition("/")
        named = "" if self._has_host_header else f"Host: {host}\r\n"
        start = f"GET /{path} HTTP/1.1\r\n{named}".encode()
        return b"".join(
            [start, self._recorded_headers, *[line + b"\r\n" for line in response.request.conditional_headers], b"\r\n"]
        )


def build_unfetched_visit(
    task: FetchTask, outcome: Outcome, reason: Reason, fetched_at: float, detail: str = "", retry_after: float = 0.0
) -> Visit:
    """Say that a stop was not asked for, and why."""
    return Visit(task.id, task.token, task.url, outcome, fetched_at, reason, detail, retry_after=retry_after)
