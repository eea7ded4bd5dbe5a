"""What a server's answer means: pure decisions over a head or an error, none over what a body says."""

import re

import pycurl
from msgspec import Struct

from sanderling.clock import parse_http_date
from sanderling.fetch.curl_transfer import FetchResponse
from sanderling.http.head import HeaderFields, has_final_head, parse_head
from sanderling.models import Outcome, Reason
from sanderling.urls.normalize import resolve_url

TUNNEL_FAILED = "CONNECT tunnel failed"  # curl has no error of its own for a proxy that refuses
MAX_RETRY_AFTER = 86_400.0
NON_ASCII_BYTE = re.compile(rb"[\x80-\xff]")
MATCH_VALIDATOR = re.compile(rb"[^\x00-\x1f\x7f]{1,512}").fullmatch  # an ETag or Last-Modified that can be sent back

MATCH_CONTENT_RANGE = re.compile(rb"bytes 0-(\d{1,15})/(\d{1,15})", re.IGNORECASE).fullmatch
REDIRECT_STATUSES = frozenset((301, 302, 303, 307, 308))  # those of the standards: browsers follow no others

CURL_ERROR_REASONS = {
    pycurl.E_COULDNT_RESOLVE_HOST: Reason.DNS,
    pycurl.E_COULDNT_RESOLVE_PROXY: Reason.CONNECT,
    pycurl.E_COULDNT_CONNECT: Reason.CONNECT,
    97: Reason.CONNECT,  # the proxy; pycurl has no name for it
    pycurl.E_OPERATION_TIMEDOUT: Reason.TIMEOUT,
    pycurl.E_SSL_CONNECT_ERROR: Reason.TLS,
    pycurl.E_PEER_FAILED_VERIFICATION: Reason.TLS,
    pycurl.E_SSL_CERTPROBLEM: Reason.TLS,
    pycurl.E_SSL_CIPHER: Reason.TLS,
    pycurl.E_SSL_ISSUER_ERROR: Reason.TLS,
    pycurl.E_SSL_INVALIDCERTSTATUS: Reason.TLS,
    pycurl.E_URL_MALFORMAT: Reason.BAD_URL,
    pycurl.E_FILESIZE_EXCEEDED: Reason.TOO_LARGE,
    100: Reason.TOO_MANY_HEADERS,  # one line larger than curl takes; pycurl has no name for it
}
"""What an error of curl means; any other is a broken response."""

REASON_OUTCOMES = {
    Reason.BAD_URL: Outcome.SKIPPED,
    Reason.MEDIA_TYPE: Outcome.SKIPPED,
    Reason.PRIVATE_ADDRESS: Outcome.SKIPPED,
    Reason.TOO_LARGE: Outcome.SKIPPED,
    Reason.TOO_MANY_HEADERS: Outcome.FAILED,
}
"""How a visit ends for a reason; for any other it may be tried again."""

ABORT_DETAILS = {
    Reason.TOO_LARGE: "more than {limit} bytes",
    Reason.TOO_MANY_HEADERS: "more headers than are read",
    Reason.MEDIA_TYPE: "no type that is kept",
}
"""What to say of transfers we ended: curl only knows that we took no more."""


class ResponseClass(Struct, frozen=True):
    """How a visit ended, as far as the head tells."""

    outcome: Outcome
    reason: Reason = Reason.NONE
    detail: str = ""
    retry_after: float = 0.0
    location: str = ""


FETCHED = ResponseClass(Outcome.FETCHED)
TRUNCATED_HEAD = ResponseClass(Outcome.RETRY, Reason.BROKEN_RESPONSE, "connection closed inside the response head")


def classify_transport_error(response: FetchResponse) -> ResponseClass | None:
    """Say what went wrong on the way; None if an answer came whole."""
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
    if (
        response.curl_error == pycurl.E_PEER_FAILED_VERIFICATION
    ):  # tomorrow's certificate may be better, the next minute's is not
        return ResponseClass(Outcome.FAILED, reason, response.detail)
    note = _build_detail(reason, response) if reason is Reason.TOO_LARGE else response.detail
    return ResponseClass(REASON_OUTCOMES.get(reason, Outcome.RETRY), reason, note)


def _build_detail(reason: Reason, response: FetchResponse) -> str:
    return ABORT_DETAILS[reason].format(limit=response.request.max_body) if reason in ABORT_DETAILS else response.detail


def classify_status(status: int, headers: HeaderFields, response: FetchResponse, now: float) -> ResponseClass:
    """Say what an answer without a fault means, given its head."""
    if 200 <= status < 300 and (status != 206 or is_complete_range(headers, response)):
        return FETCHED
    if status == 304 and response.request.conditional_headers:
        return ResponseClass(Outcome.NOT_MODIFIED)
    if 300 <= status < 400 and status not in (304, 305, 306):  # of a proxy, once; and of nobody any more
        return _classify_redirect(status, headers, response.request.url)
    if status in (404, 410):
        return ResponseClass(Outcome.GONE, detail=f"status {status}")
    return _classify_refusal(status, headers, now)


def _classify_redirect(status: int, headers: HeaderFields, url: str) -> ResponseClass:
    raw = headers.get(b"location")
    if not raw and status in REDIRECT_STATUSES:
        return ResponseClass(Outcome.FAILED, Reason.REDIRECT_WITHOUT_TARGET, f"status {status} without a target")
    if not raw:  # a person may choose; what we do not know of is to be taken for a 300 (RFC 9110, 15)
        return ResponseClass(Outcome.FAILED, Reason.HTTP_ERROR, f"status {status}, several to choose from")
    target = resolve_url(url, decode_header_url(raw))
    if target is None:
        return ResponseClass(
            Outcome.FAILED, Reason.REDIRECT_WITHOUT_TARGET, f"status {status} to {decode_header(raw)[:200]!r}"
        )
    return ResponseClass(Outcome.REDIRECT, location=target.request_url)


def is_complete_range(headers: HeaderFields, response: FetchResponse) -> bool:
    """Tell whether a part of a page, which nobody asked for, is all of it (RFC 9110, 14.4), and all of it came."""
    part = MATCH_CONTENT_RANGE(headers.get(b"content-range", b""))
    if part is None or int(part[1]) + 1 != int(part[2]):
        return False
    return response.is_truncated or len(response.body) == int(part[2])


def is_cookie_redirect(response: FetchResponse) -> bool:
    """Tell whether an answer gives a cookie and leads to the very URL that was asked for."""
    status, fields = parse_head(response.head_lines)
    if not 300 <= status < 400 or b"set-cookie" not in fields or classify_transport_error(response) is not None:
        return False
    return _classify_redirect(status, fields, response.request.url).location == response.request.url


def is_precondition_failed(response: FetchResponse) -> bool:
    """Tell whether a server took offence at being asked for a page only if it changed, instead of saying 304."""
    return (
        bool(response.request.conditional_headers)
        and parse_head(response.head_lines)[0] == 412
        and classify_transport_error(response) is None
    )


def _classify_refusal(status: int, headers: HeaderFields, now: float) -> ResponseClass:
    pause = parse_retry_after(headers.get(b"retry-after", b""), now)
    if status == 429 or (status == 503 and pause):
        return ResponseClass(Outcome.RETRY, Reason.RATE_LIMITED, f"status {status}", pause)
    if 500 <= status < 600:
        return ResponseClass(Outcome.RETRY, Reason.SERVER_ERROR, f"status {status}", pause)
    if status in (408, 425):  # request time-out, too early
        return ResponseClass(Outcome.RETRY, Reason.HTTP_ERROR, f"status {status}", pause)
    if status in (0, 206, 304):  # none at all, or an answer to what was not asked
        return ResponseClass(Outcome.RETRY, Reason.BROKEN_RESPONSE, f"status {status}")
    return ResponseClass(Outcome.FAILED, Reason.HTTP_ERROR, f"status {status}")


def parse_retry_after(value: bytes, now: float) -> float:
    """Read Retry-After, in seconds or as a date; 0 if it says nothing, a day at most."""
    if value.isdigit():
        return float(min(int(value[:9]), MAX_RETRY_AFTER))
    at = parse_http_date(value.decode("latin-1")) if value else None
    return 0.0 if at is None else min(max(at - now, 0.0), MAX_RETRY_AFTER)


def decode_header(raw: bytes) -> str:
    """Read a header's bytes: UTF-8 if they are, Latin-1 if not."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def decode_header_url(raw: bytes) -> str:
    """Read an address in a header: what is no UTF-8 stays the bytes it is, escaped, as in browsers."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return NON_ASCII_BYTE.sub(lambda found: b"%%%02X" % found[0][0], raw).decode("ascii")


def decode_validator(raw: bytes | None) -> str:
    """Keep an ETag or a date that can be sent back as it came; drop what could not."""
    return raw.decode("latin-1") if raw and MATCH_VALIDATOR(raw) else ""


def build_conditional_headers(etag: str, last_modified: str) -> tuple[bytes, ...]:
    """Write the headers that ask for a page only if it changed."""
    headers = []
    if etag:
        headers.append(b"If-None-Match: " + etag.encode("latin-1", "replace"))
    if last_modified:
        headers.append(b"If-Modified-Since: " + last_modified.encode("latin-1", "replace"))
    return tuple(headers)


def is_past_date(date_text: str, now: float) -> bool:
    """Tell whether a time is past; what is no date is never past."""
    if not date_text:
        return False
    from sanderling.discovery.dates import parse_date  # few pages say it

    moment = parse_date(date_text)
    return moment is not None and moment.latest_timestamp < now
