"""Turn a response into a visit: decode, hash, parse, resolve links, compute fingerprints, pack records."""

import hashlib
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.link_resolution import (
    LinkScorer,
    add_header_links,
    resolve_file_refs,
    resolve_links,
    resolve_page_requisites,
)
from sanderling.fetch.native_links import pack_scanned_links
from sanderling.fetch.record_packer import RecordPacker
from sanderling.fetch.requisite_response import is_requisite_type
from sanderling.fetch.response import (
    ResponseClass,
    classify_status,
    classify_transport_error,
    decode_header,
    decode_validator,
    is_past_date,
)
from sanderling.fetch.topic_score import build_link_scorer, score_page_relevance
from sanderling.fetch.transport import FetchResponse
from sanderling.fingerprint.fast.fast_scan import scan_page
from sanderling.fingerprint.fast.stable_hash import HASHED_CHARSET, compute_stable_hash, pack_stable_hash
from sanderling.frontier.ordering.topic import Topic, TopicScorer, pack_relevance
from sanderling.html.form_fields import pack_form_page
from sanderling.html.json_results import pack_json_page
from sanderling.html.links import PageMetadata, add_anchor_links, extract_head, extract_metadata
from sanderling.html.native_tables import IGNORED_META_NAMES
from sanderling.html.parser import Document, is_html, parse_charset, parse_html
from sanderling.html.robots_meta import parse_robots_tag, parse_unavailable_after
from sanderling.html.scanned_page import ScanResult
from sanderling.html.script_built import looks_built_by_scripts
from sanderling.http.decoding import decode_body
from sanderling.http.head import HeaderFields, get_media_type, parse_head
from sanderling.models import FetchTask, Outcome, Reason, StoredVersion, UrlRole, Visit
from sanderling.page_fingerprints import NO_FINGERPRINTS, PageFingerprints
from sanderling.page_rendering import describe_unrendered
from sanderling.urls.normalize import resolve_url
from sanderling.warc.http_head import build_stored_head


class FingerprintInput(Struct, frozen=True):
    """A page body and its previous version, as input of fingerprints."""

    body: bytes
    is_changed: bool = False  # differs from the previous version
    previous_body: bytes = b""  # empty if not available or not needed
    previous_version: StoredVersion | None = None
    stable_hash: bytes = b""  # empty: not computed
    has_same_stable_hash: bool = False  # as the previous version
    url: str = ""


Fingerprinter = Callable[[Document | ScanResult, FingerprintInput], PageFingerprints]
"""Compute the fingerprints of a page; a changed page is passed as a document tree."""

VisitFields = dict[str, Any]  # fields of a `Visit` by name

UNCHANGED_DETAIL = "unchanged"
MAX_CHARSET_LENGTH = 40


def skip_fingerprints(_page: Document | ScanResult, _known: FingerprintInput) -> PageFingerprints:
    return NO_FINGERPRINTS


class ResponseProcessor:
    """Processes responses with the limits and fingerprints of a crawl."""

    def __init__(self, settings: FetchSettings, compute_fingerprints: Fingerprinter, packs_links: bool = False) -> None:
        self._settings = settings
        self._compute_fingerprints = compute_fingerprints
        self._packs_links = packs_links  # links are sent, but not read in this process
        self._agent = settings.agent_token
        self._topic_scorer = TopicScorer(Topic(settings.topic_weights)) if settings.topic_weights else None
        self._record_packer = RecordPacker(settings)

    def process(self, task: FetchTask, response: FetchResponse, fetched_at: float) -> Visit:
        status, fields = parse_head(response.head_lines)
        result = classify_transport_error(response)
        is_complete = result is None
        result = result or classify_status(status, fields, response, fetched_at)
        visit_fields: VisitFields = {}
        if result.outcome is Outcome.FETCHED:
            result = self._read_body(task, response, fields, visit_fields, fetched_at)
        elif result.outcome is Outcome.NOT_MODIFIED:
            visit_fields["head"] = build_stored_head(b"".join(response.head_lines), 0)
            self._read_robots_tag(fields, visit_fields, fetched_at)
        elif is_complete:
            self._pack_records(task, response, visit_fields, fetched_at)
            if 300 <= status < 400 and result.outcome is Outcome.FAILED and task.role is UrlRole.PAGE:
                self._read_choice_links(response, fields, visit_fields, fetched_at)
        return Visit(
            task.id,
            task.token,
            task.url,
            result.outcome,
            fetched_at,
            result.reason,
            result.detail,
            status,
            response.duration_seconds,
            received_bytes=response.received_bytes,
            address=response.address,
            location=result.location,
            retry_after=result.retry_after,
            etag=decode_validator(fields.get(b"etag")),
            last_modified=decode_validator(fields.get(b"last-modified")),
            role=task.role,
            **visit_fields,
        )

    def _read_body(
        self, task: FetchTask, response: FetchResponse, headers: HeaderFields, visit_fields: VisitFields,
        fetched_at: float,
    ) -> ResponseClass:  # fmt: skip
        """Decode and hash a body; unless unchanged, parse it and pack the records."""
        coding = decode_header(headers.get(b"content-encoding", b""))
        limit = self._settings.get_max_body(task.role)
        body, reason = decode_body(response.body, coding, limit)
        if reason is Reason.TOO_LARGE:
            return ResponseClass(Outcome.SKIPPED, reason, f"more than {limit} bytes after decoding {coding[:50]!r}")
        if reason:
            return ResponseClass(Outcome.FAILED, reason, f"content coding {coding[:50]!r}")
        digest = self._read_body_metadata(body, headers, visit_fields, fetched_at)
        if digest == task.digest:
            visit_fields["head"] = build_stored_head(b"".join(response.head_lines), len(response.body))
            return ResponseClass(Outcome.FETCHED, detail=UNCHANGED_DETAIL)
        if task.role is UrlRole.REQUISITE and not is_requisite_type(visit_fields["mime"]):
            return ResponseClass(Outcome.SKIPPED, Reason.MEDIA_TYPE, f"not part of a page: {visit_fields['mime']}")
        self._pack_records(task, response, visit_fields, fetched_at, digest if body is response.body else b"")
        if task.role is not UrlRole.PAGE:
            from sanderling.fetch.sitemap_response import parse_non_page  # rarely needed

            mime, charset = visit_fields["mime"], visit_fields["charset"]
            fields, detail = parse_non_page(task.role, response.request.url, body, mime, charset)
            visit_fields.update(fields)
            return ResponseClass(Outcome.FETCHED, detail=detail)
        if b"link" in headers or b"refresh" in headers:
            self._read_link_headers(response.request.url, headers, visit_fields)
        if not is_html(visit_fields["mime"], body):
            is_result = self._settings.extracts_forms and visit_fields["mime"].endswith("json")
            visit_fields["form_data"] = pack_json_page(body[: self._settings.max_page]) if is_result else b""
            return ResponseClass(Outcome.FETCHED)
        if len(body) > self._settings.max_page:
            return ResponseClass(Outcome.FETCHED, detail=f"not parsed: page has {len(body)} bytes")
        parsed_page = self._scan_or_parse(task, body, visit_fields["charset"])
        unavailable_after = self._read_page(response.request.url, parsed_page, visit_fields)
        visit_fields["noindex"] |= is_past_date(unavailable_after, fetched_at)
        visit_fields["rendering"] = describe_unrendered(looks_built_by_scripts(body), task.rendering)
        return ResponseClass(Outcome.FETCHED)

    def _read_choice_links(
        self, response: FetchResponse, headers: HeaderFields, visit_fields: VisitFields, fetched_at: float
    ) -> None:
        """Extract the links of a 3xx response that is not a redirect (300)."""
        coding = decode_header(headers.get(b"content-encoding", b""))
        body, reason = decode_body(response.body, coding, self._settings.max_page)
        if reason or not is_html(get_media_type(headers), body):
            return
        self._read_robots_tag(headers, visit_fields, fetched_at)
        page = parse_html(body, parse_charset(decode_header(headers.get(b"content-type", b""))))
        metadata = extract_metadata(page, response.request.url, agent=self._agent)
        visit_fields["nofollow"] = visit_fields.get("nofollow", False) or metadata.nofollow
        visit_fields["links"] = resolve_links(metadata, visit_fields["nofollow"])
        visit_fields["links_dropped"] = metadata.dropped_count

    def _read_body_metadata(
        self, body: bytes, headers: HeaderFields, visit_fields: VisitFields, fetched_at: float
    ) -> bytes:
        """Store digest, size, media type and X-Robots-Tag; return the digest."""
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
        """Return the page, fast-scanned where that suffices, and the fingerprint input."""
        previous = self._compare_with_previous(task, body)
        page = (scan_page(body, charset) if self._can_use_fast_scan(previous) else None) or parse_html(body, charset)
        # In another encoding the same bytes are other characters.
        if previous.has_same_stable_hash and (page.encoding or "").lower() != HASHED_CHARSET:
            previous = self._compare_with_previous(task, body, use_stable_hash=False)
            page = page if isinstance(page, Document) else parse_html(body, charset)
        return page, previous

    def _compare_with_previous(self, task: FetchTask, body: bytes, use_stable_hash: bool = True) -> FingerprintInput:
        """Build the fingerprint input; read the previous body if the stable hash changed."""
        last, archive = task.last_version, self._settings.archive_folder
        if not task.digest or last is None or not last.is_page or not archive:
            return FingerprintInput(body, bool(task.digest), url=task.url)
        stable_hash = compute_stable_hash(body) if use_stable_hash and last.charset == HASHED_CHARSET else b""
        if stable_hash and stable_hash == last.stable_hash:
            return FingerprintInput(body, True, b"", last, stable_hash, has_same_stable_hash=True)
        from sanderling.fetch.stored_body import read_stored_body  # lazy: most pages of most crawls are new

        previous = read_stored_body(archive, last, self._settings.max_page)
        return FingerprintInput(body, True, previous, last, stable_hash, url=task.url)

    def _read_robots_tag(self, headers: HeaderFields, visit_fields: VisitFields, fetched_at: float) -> None:
        if tag := decode_header(headers.get(b"x-robots-tag", b"")):
            visit_fields["header_noindex"], visit_fields["nofollow"] = parse_robots_tag(tag, self._agent)
            visit_fields["header_noindex"] |= is_past_date(parse_unavailable_after(tag, self._agent), fetched_at)

    def _read_link_headers(self, url: str, headers: HeaderFields, visit_fields: VisitFields) -> None:
        """Store the links of the headers; links of the page take precedence."""
        from sanderling.fetch.link_header import extract_header_links  # rarely needed
        from sanderling.fetch.sitemap_response import find_change_list

        header_links = extract_header_links(url, headers, visit_fields["nofollow"])
        visit_fields["canonical"], visit_fields["links"] = header_links.canonical, header_links.links
        visit_fields["file_refs"] = header_links.file_refs + find_change_list(url, headers.get(b"link", b""))

    def _read_page(
        self, url: str, parsed_page: "tuple[Document | ScanResult, FingerprintInput]", visit_fields: VisitFields
    ) -> str:
        """Store everything extracted from a page; return its `unavailable_after` date."""
        page, fingerprint_input = parsed_page
        metadata = self._extract_page(page, url)
        visit_fields["noindex"] |= metadata.noindex
        visit_fields["nofollow"] |= metadata.nofollow
        visit_fields["charset"] = (page.encoding or visit_fields["charset"]).lower()
        visit_fields["title"], visit_fields["language"] = metadata.title, metadata.language
        target = metadata.canonical
        if target and (canonical := resolve_url(metadata.base_url, target, metadata.encoding)) is not None:
            visit_fields["canonical"] = canonical.url
        topic = self._topic_scorer
        visit_fields["file_refs"] = resolve_file_refs(metadata) + visit_fields.get("file_refs", ())
        if self._settings.extracts_forms and isinstance(page, Document):
            visit_fields["form_data"] = pack_form_page(page, url, metadata.base_url)
        if self._settings.extracts_requisites and isinstance(page, Document):
            visit_fields["requisites"] = resolve_page_requisites(page, metadata.base_url, metadata.encoding)
        fingerprints = self._compute_fingerprints(page, fingerprint_input)
        if fingerprint_input.is_changed:
            packed = pack_stable_hash(fingerprint_input.stable_hash, visit_fields["digest"])
            fingerprints = replace(fingerprints, stable_hash=packed)
        score_link = None
        if topic and isinstance(page, Document):
            relevance = pack_relevance(score_page_relevance(topic, page, metadata.title))
            fingerprints = replace(fingerprints, relevance=relevance)
            score_link = build_link_scorer(topic, page, metadata)
        visit_fields["fingerprints"] = fingerprints
        self._resolve_page_links(page, url, metadata, visit_fields, score_link)
        return metadata.unavailable_after

    def _extract_page(self, page: Document | ScanResult, url: str) -> PageMetadata:
        """Extract the metadata; the links of a fast-scanned page are added later."""
        if isinstance(page, ScanResult):
            return extract_head(page, url, self._agent)
        return extract_metadata(page, url, bool(self._settings.parking_folder), self._agent)

    def _resolve_page_links(
        self, page: Document | ScanResult, url: str, extracted: PageMetadata, visit_fields: VisitFields,
        score_link: LinkScorer | None,
    ) -> None:  # fmt: skip
        """Resolve the links of page and headers, packed in C where possible."""
        nofollow, header_links = visit_fields["nofollow"], visit_fields.get("links", ())
        if isinstance(page, ScanResult):
            can_pack = self._packs_links and not header_links
            packed = pack_scanned_links(extracted, page, url, nofollow) if can_pack else None
            if packed is not None:
                visit_fields["links"] = packed
                return
            extracted = add_anchor_links(extracted, page, url)
        visit_fields["links"] = add_header_links(resolve_links(extracted, nofollow, score_link), header_links, nofollow)
        visit_fields["links_dropped"] = extracted.dropped_count

    def _can_use_fast_scan(self, fingerprint_input: FingerprintInput) -> bool:
        """Return True if no feature needs the tree."""
        settings, is_different = self._settings, fingerprint_input.is_changed
        needs_tree: object = settings.extracts_requisites or settings.extracts_forms or settings.parking_folder
        needs_tree = needs_tree or (is_different and not fingerprint_input.has_same_stable_hash) or self._topic_scorer
        return not needs_tree and self._agent.lower() not in IGNORED_META_NAMES

    def _pack_records(
        self, task: FetchTask, response: FetchResponse, visit_fields: VisitFields, at: float, digest: bytes = b""
    ) -> None:
        """Pack the WARC records; processors of stored responses override this."""
        visit_fields |= self._record_packer.pack(task, response, at, digest)


def build_unfetched_visit(
    task: FetchTask, outcome: Outcome, reason: Reason, fetched_at: float, detail: str = "", retry_after: float = 0.0
) -> Visit:
    return Visit(task.id, task.token, task.url, outcome, fetched_at, reason, detail, retry_after=retry_after)
