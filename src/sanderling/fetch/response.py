"""What a server's answer means: pure decisions over a head or an error, none over what a body says."""

import re

import pycurl
from msgspec import Struct

from sanderling.clock import http_time
from sanderling.fetch.curl_transfer import Reply
from sanderling.http.head import Fields, has_final_head, read_head
from sanderling.models import Outcome, Reason
from sanderling.urls.normalize import resolve

NO_TUNNEL = "CONNECT tunnel failed"  # curl has no error of its own for a proxy that refuses
MAX_RETRY_AFTER = 86_400.0
NOT_ASCII = re.compile(rb"[\x80-\xff]")
VALIDATOR = re.compile(rb"[^\x00-\x1f\x7f]{1,512}").fullmatch  # an ETag or Last-Modified that can be sent back

RANGE = re.compile(rb"bytes 0-(\d{1,15})/(\d{1,15})", re.IGNORECASE).fullmatch
REDIRECTS = frozenset((301, 302, 303, 307, 308))  # those of the standards: browsers follow no others

FAULTS = {
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

OUTCOMES = {
    Reason.BAD_URL: Outcome.SKIPPED,
    Reason.MEDIA_TYPE: Outcome.SKIPPED,
    Reason.PRIVATE_ADDRESS: Outcome.SKIPPED,
    Reason.TOO_LARGE: Outcome.SKIPPED,
    Reason.TOO_MANY_HEADERS: Outcome.FAILED,
}
"""How a visit ends for a reason; for any other it may be tried again."""

OWN_NOTES = {
    Reason.TOO_LARGE: "more than {limit} bytes",
    Reason.TOO_MANY_HEADERS: "more headers than are read",
    Reason.MEDIA_TYPE: "no type that is kept",
}
"""What to say of transfers we ended: curl only knows that we took no more."""


class Verdict(Struct, frozen=True):
    """How a visit ended, as far as the head tells."""

    outcome: Outcome
    reason: Reason = Reason.NONE
    note: str = ""
    retry_after: float = 0.0
    location: str = ""


FETCHED = Verdict(Outcome.FETCHED)
CUT_HEAD = Verdict(Outcome.RETRY, Reason.BROKEN_RESPONSE, "connection closed inside the response head")


def fault(reply: Reply) -> Verdict | None:
    """Say what went wrong on the way; None if an answer came whole."""
    if reply.crowded:
        return Verdict(Outcome.RETURNED, note="too many large bodies at once")
    if reply.why:
        return Verdict(OUTCOMES.get(reply.why, Outcome.FAILED), reply.why, _note(reply.why, reply))
    if reply.error == pycurl.E_OK:
        return None if has_final_head(reply.lines) else CUT_HEAD
    reason = Reason.CONNECT if NO_TUNNEL in reply.note else FAULTS.get(reply.error, Reason.BROKEN_RESPONSE)
    if reason is Reason.TIMEOUT and reply.lines and "too slow" in reply.note:
        reason = Reason.SLOW
    if (
        reply.error == pycurl.E_PEER_FAILED_VERIFICATION
    ):  # tomorrow's certificate may be better, the next minute's is not
        return Verdict(Outcome.FAILED, reason, reply.note)
    note = _note(reason, reply) if reason is Reason.TOO_LARGE else reply.note
    return Verdict(OUTCOMES.get(reason, Outcome.RETRY), reason, note)


def _note(reason: Reason, reply: Reply) -> str:
    return OWN_NOTES[reason].format(limit=reply.ask.max_body) if reason in OWN_NOTES else reply.note


def judge(status: int, fields: Fields, reply: Reply, now: float) -> Verdict:
    """Say what an answer without a fault means, given its head."""
    if 200 <= status < 300 and (status != 206 or is_whole(fields, reply)):
        return FETCHED
    if status == 304 and reply.ask.conditions:
        return Verdict(Outcome.NOT_MODIFIED)
    if 300 <= status < 400 and status not in (304, 305, 306):  # of a proxy, once; and of nobody any more
        return _redirect(status, fields, reply.ask.url)
    if status in (404, 410):
        return Verdict(Outcome.GONE, note=f"status {status}")
    return _refusal(status, fields, now)


def _redirect(status: int, fields: Fields, url: str) -> Verdict:
    raw = fields.get(b"location")
    if not raw and status in REDIRECTS:
        return Verdict(Outcome.FAILED, Reason.REDIRECT_TO_NOWHERE, f"status {status} without a target")
    if not raw:  # a person may choose; what we do not know of is to be taken for a 300 (RFC 9110, 15)
        return Verdict(Outcome.FAILED, Reason.HTTP_ERROR, f"status {status}, several to choose from")
    target = resolve(url, spelled(raw))
    if target is None:
        return Verdict(Outcome.FAILED, Reason.REDIRECT_TO_NOWHERE, f"status {status} to {text(raw)[:200]!r}")
    return Verdict(Outcome.REDIRECT, location=target.wire)


def is_whole(fields: Fields, reply: Reply) -> bool:
    """Tell whether a part of a page, which nobody asked for, is all of it (RFC 9110, 14.4), and all of it came."""
    part = RANGE(fields.get(b"content-range", b""))
    if part is None or int(part[1]) + 1 != int(part[2]):
        return False
    return reply.cut or len(reply.body) == int(part[2])


def wants_cookie(reply: Reply) -> bool:
    """Tell whether an answer gives a cookie and leads to the very URL that was asked for."""
    status, fields = read_head(reply.lines)
    if not 300 <= status < 400 or b"set-cookie" not in fields or fault(reply) is not None:
        return False
    return _redirect(status, fields, reply.ask.url).location == reply.ask.url


def wants_no_conditions(reply: Reply) -> bool:
    """Tell whether a server took offence at being asked for a page only if it changed, instead of saying 304."""
    return bool(reply.ask.conditions) and read_head(reply.lines)[0] == 412 and fault(reply) is None


def _refusal(status: int, fields: Fields, now: float) -> Verdict:
    pause = retry_after(fields.get(b"retry-after", b""), now)
    if status == 429 or (status == 503 and pause):
        return Verdict(Outcome.RETRY, Reason.RATE_LIMITED, f"status {status}", pause)
    if 500 <= status < 600:
        return Verdict(Outcome.RETRY, Reason.SERVER_ERROR, f"status {status}", pause)
    if status in (408, 425):  # request time-out, too early
        return Verdict(Outcome.RETRY, Reason.HTTP_ERROR, f"status {status}", pause)
    if status in (0, 206, 304):  # none at all, or an answer to what was not asked
        return Verdict(Outcome.RETRY, Reason.BROKEN_RESPONSE, f"status {status}")
    return Verdict(Outcome.FAILED, Reason.HTTP_ERROR, f"status {status}")


def retry_after(value: bytes, now: float) -> float:
    """Read Retry-After, in seconds or as a date; 0 if it says nothing, a day at most."""
    if value.isdigit():
        return float(min(int(value[:9]), MAX_RETRY_AFTER))
    at = http_time(value.decode("latin-1")) if value else None
    return 0.0 if at is None else min(max(at - now, 0.0), MAX_RETRY_AFTER)


def text(raw: bytes) -> str:
    """Read a header's bytes: UTF-8 if they are, Latin-1 if not."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def spelled(raw: bytes) -> str:
    """Read an address in a header: what is no UTF-8 stays the bytes it is, escaped, as in browsers."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return NOT_ASCII.sub(lambda found: b"%%%02X" % found[0][0], raw).decode("ascii")


def validator(raw: bytes | None) -> str:
    """Keep an ETag or a date that can be sent back as it came; drop what could not."""
    return raw.decode("latin-1") if raw and VALIDATOR(raw) else ""


def conditions(etag: str, last_modified: str) -> tuple[bytes, ...]:
    """Write the headers that ask for a page only if it changed."""
    headers = []
    if etag:
        headers.append(b"If-None-Match: " + etag.encode("latin-1", "replace"))
    if last_modified:
        headers.append(b"If-Modified-Since: " + last_modified.encode("latin-1", "replace"))
    return tuple(headers)


def is_over(until: str, now: float) -> bool:
    """Tell whether a time is past; what is no date is never past."""
    if not until:
        return False
    from sanderling.discovery.dates import read_date  # few pages say it

    moment = read_date(until)
    return moment is not None and moment.until < now
