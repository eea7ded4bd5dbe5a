"""Build the responses of sitemap and change list, for ASGI, WSGI, and the server."""

import gzip
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from sanderling.publisher.http_dates import format_http_date, format_w3c_millis, parse_time
from sanderling.publisher.listings import (
    ChangesQuery,
    ListingPage,
    build_capability_document,
    build_sitemap_index,
    build_urlset,
    format_capability,
    format_link,
    format_period,
    load_changes,
    load_sitemap_entries,
    load_sitemap_parts,
    parse_cursor,
)
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.state_db import Connection, PublisherState, read_transaction

WELL_KNOWN_PATH = "/.well-known/resourcesync"
MAX_CLOCK_SKEW_MS = 60_000  # tolerated clock difference of crawlers
TIME_FORMATS = "ISO 8601 (2024-05-01T10:00:00Z), an HTTP date or unix seconds"


@dataclass(frozen=True, slots=True)
class ListingRequest:
    path: str
    query: str = ""
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case


@dataclass(frozen=True, slots=True)
class ListingResponse:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""


class InvalidRequest(Exception):
    """An invalid request. The message says how to correct it."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.message, self.status = message, status


def is_publisher_path(site: PublishedSite, path: str) -> bool:
    return (
        path in (site.sitemap_path, site.changes_path)
        or path.startswith(WELL_KNOWN_PATH)
        or _is_indexnow_key_path(site, path)
    )


def _is_indexnow_key_path(site: PublishedSite, path: str) -> bool:
    return bool(site.indexnow_key) and path == f"/{site.indexnow_key}.txt"


def build_response(site: PublishedSite, db: Connection, request: ListingRequest, now: int) -> ListingResponse:
    if request.method not in ("GET", "HEAD"):
        return build_text_response(405, "only GET and HEAD are supported", ("Allow", "GET, HEAD"))
    if _is_indexnow_key_path(site, request.path):
        return build_text_response(200, site.indexnow_key)
    try:
        with read_transaction(db) as state:
            return _build_document_response(site, db, state, request, now)
    except InvalidRequest as error:
        return build_text_response(error.status, error.message)


def build_text_response(status: int, message: str, *headers: tuple[str, str]) -> ListingResponse:
    body = (message + "\n").encode()
    return ListingResponse(status, (("Content-Type", "text/plain; charset=utf-8"), *headers), body)


def _build_document_response(
    site: PublishedSite, db: Connection, publisher_state: PublisherState, request: ListingRequest, now: int
) -> ListingResponse:
    query = _parse_parameters(request.query)
    etag = f'W/"{publisher_state.last_commit_time:x}"'
    if _has_matching_etag(request, etag):
        return ListingResponse(
            304, (("ETag", etag), ("Last-Modified", format_http_date(publisher_state.last_commit_time)))
        )
    if request.path.startswith(WELL_KNOWN_PATH):
        return _build_xml_response(request, etag, publisher_state, _build_capabilities(site, request.path))
    if request.path == site.changes_path or "last_visit" in query:
        return _build_changes_response(
            site, db, publisher_state, request, etag, query, max(now, publisher_state.last_commit_time)
        )
    if _is_not_modified_since(request, publisher_state):
        return ListingResponse(
            304, (("ETag", etag), ("Last-Modified", format_http_date(publisher_state.last_commit_time)))
        )
    return _build_xml_response(request, etag, publisher_state, _build_sitemap(site, db, publisher_state, query))


def _parse_parameters(query: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    for name, value in parse_qsl(query[:4000], keep_blank_values=True, max_num_fields=None)[:50]:
        if name.lower() in parameters:
            raise InvalidRequest(f"parameter {name} occurs twice: use it once")
        parameters[name.lower()] = value
    return parameters


def _has_matching_etag(request: ListingRequest, etag: str) -> bool:
    offered = (part.strip() for part in request.headers.get("if-none-match", "").split(","))
    return any(part == "*" or part.removeprefix("W/") == etag.removeprefix("W/") for part in offered if part)


def _is_not_modified_since(request: ListingRequest, publisher_state: PublisherState) -> bool:
    """Check If-Modified-Since for the plain sitemap.

    A partial sitemap would look like mass deletion.
    """
    since = parse_time(request.headers.get("if-modified-since", ""))
    return (
        "if-none-match" not in request.headers
        and since is not None
        and publisher_state.last_commit_time // 1000 <= since // 1000
    )


def _build_changes_response(
    site: PublishedSite,
    db: Connection,
    publisher_state: PublisherState,
    request: ListingRequest,
    etag: str,
    parameters: Mapping[str, str],
    now: int,
) -> ListingResponse:
    changes_query = _parse_changes_query(site, request, parameters, now)
    page = load_changes(db, publisher_state, changes_query)
    if not page.entries and "last_visit" not in parameters and changes_query.since:
        return ListingResponse(304, (("Last-Modified", format_http_date(page.until)),))
    metadata = format_link("up", site.build_url(WELL_KNOWN_PATH)) + format_period(changes_query.since, page.until)
    links = []
    if page.next_cursor:
        next_url = _build_next_url(site, request, changes_query, page)
        metadata += format_link("next", next_url)
        links.append(("Link", f'<{next_url}>; rel="next"'))
    return _build_xml_response(
        request, etag, publisher_state, build_urlset(site, metadata, page.entries), *links, modified_ms=page.until
    )


def _parse_changes_query(
    site: PublishedSite, request: ListingRequest, parameters: Mapping[str, str], now: int
) -> ChangesQuery:
    cursor = parse_cursor(parameters["after"]) if "after" in parameters else ChangesQuery(0).cursor
    if cursor is None:
        raise InvalidRequest("invalid parameter after: copy it from the link to the next page")
    threshold = _parse_number(parameters, "threshold", -1.0)
    limit = int(_parse_number(parameters, "limit", site.page_size))
    if limit < 1:
        raise InvalidRequest("limit must be an integer of at least 1")
    return ChangesQuery(_parse_since(request, parameters, now), threshold, min(limit, site.page_size), cursor)


def _parse_since(request: ListingRequest, parameters: Mapping[str, str], now: int) -> int:
    if "last_visit" not in parameters:
        since = parse_time(request.headers.get("if-modified-since", ""))
        return since if since is not None and since <= now else 0  # RFC 9110: invalid dates are ignored
    since = parse_time(parameters["last_visit"])
    if since is None:
        raise InvalidRequest(f"LAST_VISIT is not a valid time: {parameters['last_visit'][:80]!r}; use {TIME_FORMATS}")
    if since > now + MAX_CLOCK_SKEW_MS:
        raise InvalidRequest(
            f"LAST_VISIT is in the future: the time here is {format_w3c_millis(now)}; use an earlier time"
        )
    return since


def _parse_number(parameters: Mapping[str, str], name: str, default: float) -> float:
    try:
        value = float(parameters.get(name, default))
    except ValueError:
        raise InvalidRequest(f"{name} is not a number: {parameters[name][:80]!r}") from None
    if not math.isfinite(value):
        raise InvalidRequest(f"{name} is not a number: {parameters[name][:80]!r}")
    return value


def _build_next_url(site: PublishedSite, request: ListingRequest, query: ChangesQuery, page: ListingPage) -> str:
    parameters = {
        "LAST_VISIT": format_w3c_millis(query.since),
        "limit": str(query.limit),
        "after": str(page.next_cursor),
    }
    if query.min_priority >= 0:
        parameters["threshold"] = repr(query.min_priority)
    return f"{site.build_url(request.path)}?{urlencode(parameters)}"


def _build_sitemap(
    site: PublishedSite, db: Connection, publisher_state: PublisherState, parameters: Mapping[str, str]
) -> str:
    metadata = format_link("up", site.build_url(WELL_KNOWN_PATH)) + format_link(
        "changes", site.build_url(site.changes_path)
    )
    metadata += format_capability("resourcelist", at=format_w3c_millis(publisher_state.last_commit_time))
    parts = load_sitemap_parts(db)
    if "part" not in parameters and len(parts) > 1:
        return build_sitemap_index(site, metadata, parts)
    part = int(_parse_number(parameters, "part", parts[0][0] if parts else 0))
    if "part" in parameters and part not in dict(parts):
        raise InvalidRequest(f"the sitemap has no part {part}: see {site.build_url(site.sitemap_path)}", 404)
    return build_urlset(site, metadata, load_sitemap_entries(db, publisher_state, part))


def _build_capabilities(site: PublishedSite, path: str) -> str:
    """Build the ResourceSync documents that point to the lists, in two steps."""
    if path == WELL_KNOWN_PATH:
        metadata = format_link("changes", site.build_url(site.changes_path)) + format_capability("description")
        return build_capability_document(
            metadata, [(site.build_url(WELL_KNOWN_PATH + "/capabilities"), "capabilitylist")]
        )
    if path != WELL_KNOWN_PATH + "/capabilities":
        raise InvalidRequest("document not found", 404)
    metadata = format_link("up", site.build_url(WELL_KNOWN_PATH)) + format_capability("capabilitylist")
    lists = [(site.build_url(site.sitemap_path), "resourcelist"), (site.build_url(site.changes_path), "changelist")]
    return build_capability_document(metadata, lists)


def _build_xml_response(
    request: ListingRequest,
    etag: str,
    publisher_state: PublisherState,
    document: str,
    *headers: tuple[str, str],
    modified_ms: int | None = None,
) -> ListingResponse:
    body = document.encode()
    response_headers = [("Content-Type", "application/xml; charset=utf-8"), ("Vary", "Accept-Encoding")]
    last_modified = publisher_state.last_commit_time if modified_ms is None else modified_ms
    response_headers += [
        ("ETag", etag),
        ("Last-Modified", format_http_date(last_modified)),
        ("Cache-Control", "no-cache"),
    ]
    if _accepts_gzip(request.headers.get("accept-encoding", "")):
        body = gzip.compress(body, 6, mtime=0)
        response_headers.append(("Content-Encoding", "gzip"))
    return ListingResponse(200, (*response_headers, *headers), body)


def _accepts_gzip(header: str) -> bool:
    for part in header.lower().split(","):
        coding, _, weight = part.partition(";")
        if coding.strip() in ("gzip", "x-gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
