"""Classify responses and transport errors by head and error code."""

import re

import pycurl
from msgspec import Struct

from sanderling.clock import parse_http_date
from sanderling.fetch.transport import FetchResponse
from sanderling.http.head import HeaderFields, has_final_head, parse_head
from sanderling.models import Outcome, Reason
from sanderling.urls.normalize import resolve_url

TUNNEL_FAILED = "CONNECT tunnel failed"  # curl has no error code for a proxy that refuses
MAX_RETRY_AFTER = 86_400.0
NON_ASCII_BYTE = re.compile(rb"[\x80-\xff]")
MATCH_VALIDATOR = re.compile(rb"[^\x00-\x1f\x7f]{1,512}").fullmatch  # a valid ETag or Last-Modified

MATCH_CONTENT_RANGE = re.compile(rb"bytes 0-(\d{1,15})/(\d{1,15})", re.IGNORECASE).fullmatch
REDIRECT_STATUSES = frozenset((301, 302, 303, 307, 308))  # browsers follow no others

CURL_ERROR_REASONS = {
    pycurl.E_COULDNT_RESOLVE_HOST: Reason.DNS,
    pycurl.E_COULDNT_RESOLVE_PROXY: Reason.CONNECT,
    pycurl.E_COULDNT_CONNECT: Reason.CONNECT,
    97: Reason.CONNECT,  # CURLE_PROXY, missing in pycurl
    pycurl.E_OPERATION_TIMEDOUT: Reason.TIMEOUT,
    pycurl.E_SSL_CONNECT_ERROR: Reason.TLS,
    pycurl.E_PEER_FAILED_VERIFICATION: Reason.TLS,
    pycurl.E_SSL_CERTPROBLEM: Reason.TLS,
    pycurl.E_SSL_CIPHER: Reason.TLS,
    pycurl.E_SSL_ISSUER_ERROR: Reason.TLS,
    pycurl.E_SSL_INVALIDCERTSTATUS: Reason.TLS,
    pycurl.E_URL_MALFORMAT: Reason.BAD_URL,
    pycurl.E_FILESIZE_EXCEEDED: Reason.TOO_LARGE,
    100: Reason.TOO_MANY_HEADERS,  # CURLE_TOO_LARGE (a header line), missing in pycurl
}
"""Reasons of curl errors; all others are BROKEN_RESPONSE."""

REASON_OUTCOMES = {
    Reason.BAD_URL: Outcome.SKIPPED,
    Reason.MEDIA_TYPE: Outcome.SKIPPED,
    Reason.PRIVATE_ADDRESS: Outcome.SKIPPED,
    Reason.TOO_LARGE: Outcome.SKIPPED,
    Reason.TOO_MANY_HEADERS: Outcome.FAILED,
}
"""Final outcomes of reasons; all others are retried."""

ABORT_DETAILS = {
    Reason.TOO_LARGE: "more than {limit} bytes",
    Reason.TOO_MANY_HEADERS: "response headers too large",
    Reason.MEDIA_TYPE: "media type not accepted",
}
"""Details of transfers that we aborted: curl only reports a write error."""


class ResponseClass(Struct, frozen=True):
    """Outcome of a visit as far as the response head shows."""

    outcome: Outcome
    reason: Reason = Reason.NONE
    detail: str = ""
    retry_after: float = 0.0
    location: str = ""


FETCHED = ResponseClass(Outcome.FETCHED)
TRUNCATED_HEAD = ResponseClass(Outcome.RETRY, Reason.BROKEN_RESPONSE, "connection closed inside the response head")


def classify_transport_error(response: FetchResponse) -> ResponseClass | None:
    """Return the outcome of a failed transfer (None: it did not fail)."""
    if response.is_buffer_full:
        return ResponseClass(Outcome.RETURNED, detail="too many large bodies at once")
    if response.abort_reason:
        return ResponseClass(
            REASON_OUTCOMES.get(response.abort_reason, Outcome.FAILED),
            response.abort_reason,
            _build_detail(response.abort_reason, response),
        )
    if response.curl_error == pycurl.E_OK:
        return None if has_final_head(response.head_lines) else TRUNCATED_HEAD
    reason = (
        Reason.CONNECT
        if TUNNEL_FAILED in response.detail
        else CURL_ERROR_REASONS.get(response.curl_error, Reason.BROKEN_RESPONSE)
    )
    if reason is Reason.TIMEOUT and response.head_lines and "too slow" in response.detail:
        reason = Reason.TOO_SLOW
    if response.curl_error == pycurl.E_PEER_FAILED_VERIFICATION:  # a retry within minutes would not help
        return ResponseClass(Outcome.FAILED, reason, response.detail)
    detail = _build_detail(reason, response) if reason is Reason.TOO_LARGE else response.detail
    return ResponseClass(REASON_OUTCOMES.get(reason, Outcome.RETRY), reason, detail)


def _build_detail(reason: Reason, response: FetchResponse) -> str:
    return ABORT_DETAILS[reason].format(limit=response.request.max_body) if reason in ABORT_DETAILS else response.detail


def classify_status(status: int, headers: HeaderFields, response: FetchResponse, now: float) -> ResponseClass:
    """Return the outcome of a complete response."""
    if 200 <= status < 300 and (status != 206 or is_complete_range(headers, response)):
        return FETCHED
    if status == 304 and response.request.conditional_headers:
        return ResponseClass(Outcome.NOT_MODIFIED)
    if 300 <= status < 400 and status not in (304, 305, 306):  # 305 and 306 are obsolete
        return _classify_redirect(status, headers, response.request.url)
    if status in (404, 410):
        return ResponseClass(Outcome.GONE, detail=f"status {status}")
    return _classify_refusal(status, headers, now)


def _classify_redirect(status: int, headers: HeaderFields, url: str) -> ResponseClass:
    raw = headers.get(b"location")
    if not raw and status in REDIRECT_STATUSES:
        return ResponseClass(Outcome.FAILED, Reason.REDIRECT_WITHOUT_TARGET, f"status {status} without a target")
    if not raw:  # unknown codes count as 300 (RFC 9110, 15)
        return ResponseClass(Outcome.FAILED, Reason.HTTP_ERROR, f"status {status}, multiple choices")
    target = resolve_url(url, decode_header_url(raw))
    if target is None:
        return ResponseClass(
            Outcome.FAILED, Reason.REDIRECT_WITHOUT_TARGET, f"status {status} to {decode_header(raw)[:200]!r}"
        )
    return ResponseClass(Outcome.REDIRECT, location=target.request_url)


def is_complete_range(headers: HeaderFields, response: FetchResponse) -> bool:
    """Return True if a partial response covers the whole page (RFC 9110, 14.4)."""
    part = MATCH_CONTENT_RANGE(headers.get(b"content-range", b""))
    if part is None or int(part[1]) + 1 != int(part[2]):
        return False
    return response.is_truncated or len(response.body) == int(part[2])


def is_cookie_redirect(response: FetchResponse) -> bool:
    """Return True for a redirect to the same URL that sets a cookie."""
    status, fields = parse_head(response.head_lines)
    if not 300 <= status < 400 or b"set-cookie" not in fields or classify_transport_error(response) is not None:
        return False
    return _classify_redirect(status, fields, response.request.url).location == response.request.url


def is_precondition_failed(response: FetchResponse) -> bool:
    """Return True for a 412 to a conditional request, which some servers send instead of 304."""
    return (
        bool(response.request.conditional_headers)
        and parse_head(response.head_lines)[0] == 412
        and classify_transport_error(response) is None
    )


def _classify_refusal(status: int, headers: HeaderFields, now: float) -> ResponseClass:
    retry_after = parse_retry_after(headers.get(b"retry-after", b""), now)
    if status == 429 or (status == 503 and retry_after):
        return ResponseClass(Outcome.RETRY, Reason.RATE_LIMITED, f"status {status}", retry_after)
    if 500 <= status < 600:
        return ResponseClass(Outcome.RETRY, Reason.SERVER_ERROR, f"status {status}", retry_after)
    if status in (408, 425):  # Request Timeout, Too Early
        return ResponseClass(Outcome.RETRY, Reason.HTTP_ERROR, f"status {status}", retry_after)
    if status in (0, 206, 304):  # no status, or a range or 304 that was not requested
        return ResponseClass(Outcome.RETRY, Reason.BROKEN_RESPONSE, f"status {status}")
    reason = Reason.PAYMENT_REQUIRED if status == 402 else Reason.HTTP_ERROR
    return ResponseClass(Outcome.FAILED, reason, f"status {status}")


def parse_retry_after(value: bytes, now: float) -> float:
    """Return seconds, at most a day; 0 if missing or invalid."""
    if value.isdigit():
        return float(min(int(value[:9]), MAX_RETRY_AFTER))
    timestamp = parse_http_date(value.decode("latin-1")) if value else None
    return 0.0 if timestamp is None else min(max(timestamp - now, 0.0), MAX_RETRY_AFTER)


def decode_header(raw: bytes) -> str:
    """Decode a header value as UTF-8, else Latin-1."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def decode_header_url(raw: bytes) -> str:
    """Decode a URL in a header; percent-encode bytes that are not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return NON_ASCII_BYTE.sub(lambda match: b"%%%02X" % match[0][0], raw).decode("ascii")


def decode_validator(raw: bytes | None) -> str:
    """Return an ETag or Last-Modified that can be sent back, else ""."""
    return raw.decode("latin-1") if raw and MATCH_VALIDATOR(raw) else ""


def build_conditional_headers(etag: str, last_modified: str) -> tuple[bytes, ...]:
    """Return the request headers for an ETag and a Last-Modified date."""
    headers = []
    if etag:
        headers.append(b"If-None-Match: " + etag.encode("latin-1", "replace"))
    if last_modified:
        headers.append(b"If-Modified-Since: " + last_modified.encode("latin-1", "replace"))
    return tuple(headers)


def is_past_date(date_text: str, now: float) -> bool:
    if not date_text:
        return False
    from sanderling.discovery.dates import parse_date  # rarely needed

    date = parse_date(date_text)
    return date is not None and date.latest_timestamp < now
