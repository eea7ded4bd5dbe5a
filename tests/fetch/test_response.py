"""Classification of responses and transport errors."""

import pycurl
import pytest
from msgspec.structs import replace

from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.response import (
    build_conditional_headers,
    classify_status,
    classify_transport_error,
    decode_header,
    decode_validator,
    is_cookie_redirect,
    is_past_date,
    is_precondition_failed,
    parse_retry_after,
)
from sanderling.fetch.transport import FetchRequest, FetchResponse
from sanderling.models import Host, Outcome, Reason

URL = "http://a.test/dir/page?q=1"
REQUEST = FetchRequest(URL, parse_endpoint(Host("http://a.test")), None)
NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


def build_response(error: int = pycurl.E_OK, detail: str = "", body: bytes = b"", **rest: object) -> FetchResponse:
    return FetchResponse(REQUEST, [b"HTTP/1.1 200 OK\r\n", b"\r\n"], body, 0.1, curl_error=error, detail=detail, **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "outcome", "reason"),
    [
        (200, Outcome.FETCHED, Reason.NONE),
        (203, Outcome.FETCHED, Reason.NONE),
        (204, Outcome.FETCHED, Reason.NONE),
        (206, Outcome.RETRY, Reason.BROKEN_RESPONSE),
        (300, Outcome.FAILED, Reason.HTTP_ERROR),
        (301, Outcome.FAILED, Reason.REDIRECT_WITHOUT_TARGET),
        (305, Outcome.FAILED, Reason.HTTP_ERROR),
        (308, Outcome.FAILED, Reason.REDIRECT_WITHOUT_TARGET),
        (310, Outcome.FAILED, Reason.HTTP_ERROR),
        (304, Outcome.RETRY, Reason.BROKEN_RESPONSE),
        (401, Outcome.FAILED, Reason.HTTP_ERROR),
        (404, Outcome.GONE, Reason.NONE),
        (408, Outcome.RETRY, Reason.HTTP_ERROR),
        (410, Outcome.GONE, Reason.NONE),
        (429, Outcome.RETRY, Reason.RATE_LIMITED),
        (402, Outcome.FAILED, Reason.PAYMENT_REQUIRED),
        (451, Outcome.FAILED, Reason.HTTP_ERROR),
        (500, Outcome.RETRY, Reason.SERVER_ERROR),
        (503, Outcome.RETRY, Reason.SERVER_ERROR),
        (999, Outcome.FAILED, Reason.HTTP_ERROR),
        (0, Outcome.RETRY, Reason.BROKEN_RESPONSE),
    ],
)
def test_outcome_of_status(status: int, outcome: Outcome, reason: Reason) -> None:
    result = classify_status(status, {}, build_response(), NOW)
    assert (result.outcome, result.reason) == (outcome, reason)


@pytest.mark.parametrize(
    ("fields", "size", "outcome"),
    [
        ({b"content-range": b"bytes 0-24/25", b"content-length": b"25"}, 25, Outcome.FETCHED),
        ({b"content-range": b"bytes 0-24/25"}, 25, Outcome.FETCHED),
        ({b"content-range": b"bytes 0-24/25", b"content-length": b"20"}, 20, Outcome.RETRY),
        ({b"content-range": b"bytes 0-24/25", b"transfer-encoding": b"chunked"}, 20, Outcome.RETRY),
        ({b"content-range": b"bytes 0-24/25", b"transfer-encoding": b"chunked"}, 26, Outcome.RETRY),
        ({b"content-range": b"bytes 0-24/26"}, 25, Outcome.RETRY),
        ({b"content-range": b"bytes 1-24/25"}, 24, Outcome.RETRY),
        ({b"content-range": b"bytes 0-24/*"}, 25, Outcome.RETRY),
        ({b"content-range": b"lines 0-24/25"}, 25, Outcome.RETRY),
        ({b"content-type": b"multipart/byteranges; boundary=x"}, 25, Outcome.RETRY),
    ],
)
def test_complete_range_counts_as_page(fields: dict[bytes, bytes], size: int, outcome: Outcome) -> None:
    assert classify_status(206, fields, build_response(body=b"x" * size), NOW).outcome is outcome


def test_complete_range_may_be_truncated_by_us() -> None:
    fields = {b"content-range": b"bytes 0-24/25"}
    assert (
        classify_status(206, fields, build_response(body=b"x" * 20, is_truncated=True), NOW).outcome is Outcome.FETCHED
    )


@pytest.mark.parametrize(("status", "target"), [(300, URL), (399, URL), (305, ""), (306, "")])
def test_location_is_followed_except_for_305_and_306(status: int, target: str) -> None:
    assert classify_status(status, {b"location": URL.encode()}, build_response(), NOW).location == target


def test_304_needs_a_conditional_request() -> None:
    conditional = FetchResponse(replace(REQUEST, conditional_headers=(b'If-None-Match: "a"',)), [], b"", 0.1)
    assert classify_status(304, {}, conditional, NOW).outcome is Outcome.NOT_MODIFIED


@pytest.mark.parametrize(
    ("location", "target"),
    [
        (b"../x y?z#frag", "http://a.test/x%20y?z"),
        (b"//b.test", "http://b.test/"),
        (b"https://b.test:443/%7Ea", "https://b.test/%7Ea"),
        ("/caf\u00e9".encode(), "http://a.test/caf%C3%A9"),
        (b"/caf\xe9?\xff", "http://a.test/caf%E9?%FF"),
        (b"http://user:secret@b.test/", "http://b.test/"),
        (b"http://0x7f.1/", "http://127.0.0.1/"),
    ],
)
def test_redirect_target_is_resolved(location: bytes, target: str) -> None:
    assert classify_status(302, {b"location": location}, build_response(), NOW).location == target


@pytest.mark.parametrize(
    "location", [b"file:///etc/passwd", b"javascript:alert(1)", b"http://", b"gopher://a/", b"http://a b/"]
)
def test_redirect_to_another_scheme_fails(location: bytes) -> None:
    result = classify_status(302, {b"location": location}, build_response(), NOW)
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.REDIRECT_WITHOUT_TARGET)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (b"120", 120.0),
        (b"0", 0.0),
        (b"99999999999999999999", 86_400.0),
        (b"Tue, 14 Nov 2023 22:15:20 GMT", 120.0),
        (b"Tue, 14 Nov 2023 22:00:00 GMT", 0.0),
        (b"Fri, 31 Dec 9999 23:59:59 GMT", 86_400.0),
        (b"-5", 0.0),
        (b"soon", 0.0),
        (b"\xff\xfe", 0.0),
        (b"Tue, 99 Nov 99999999 99:99:99 GMT", 0.0),
        (b"", 0.0),
    ],
)
def test_retry_after_in_seconds_or_as_date(value: bytes, seconds: float) -> None:
    assert parse_retry_after(value, NOW) == seconds


def test_503_with_retry_after_is_rate_limited() -> None:
    result = classify_status(503, {b"retry-after": b"60"}, build_response(), NOW)
    assert (result.outcome, result.reason, result.retry_after) == (Outcome.RETRY, Reason.RATE_LIMITED, 60.0)


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (pycurl.E_COULDNT_RESOLVE_HOST, Outcome.RETRY, Reason.DNS),
        (pycurl.E_COULDNT_CONNECT, Outcome.RETRY, Reason.CONNECT),
        (pycurl.E_OPERATION_TIMEDOUT, Outcome.RETRY, Reason.TIMEOUT),
        (pycurl.E_SSL_CONNECT_ERROR, Outcome.RETRY, Reason.TLS),
        (pycurl.E_PEER_FAILED_VERIFICATION, Outcome.FAILED, Reason.TLS),
        (pycurl.E_PARTIAL_FILE, Outcome.RETRY, Reason.BROKEN_RESPONSE),
        (pycurl.E_GOT_NOTHING, Outcome.RETRY, Reason.BROKEN_RESPONSE),
        (pycurl.E_HTTP2, Outcome.RETRY, Reason.BROKEN_RESPONSE),
        (pycurl.E_URL_MALFORMAT, Outcome.SKIPPED, Reason.BAD_URL),
        (100, Outcome.FAILED, Reason.TOO_MANY_HEADERS),
    ],
)
def test_reason_of_curl_error(error: int, outcome: Outcome, reason: Reason) -> None:
    result = classify_transport_error(build_response(error, "message of curl"))
    assert result is not None
    assert (result.outcome, result.reason, result.detail) == (outcome, reason, "message of curl")


def test_abort_reason_takes_precedence_over_curl_error() -> None:
    result = classify_transport_error(build_response(pycurl.E_WRITE_ERROR, abort_reason=Reason.TOO_LARGE))
    assert result is not None
    assert (result.outcome, result.reason) == (Outcome.SKIPPED, Reason.TOO_LARGE)


def test_full_buffer_returns_the_task() -> None:
    result = classify_transport_error(build_response(pycurl.E_WRITE_ERROR, is_buffer_full=True))
    assert result is not None
    assert (result.outcome, result.reason) == (Outcome.RETURNED, Reason.NONE)


@pytest.mark.parametrize("status", [301, 302, 412])
def test_truncated_head_triggers_no_retry(status: int) -> None:
    lines = [b"HTTP/1.1 %d X\r\n" % status, b"Location: " + URL.encode() + b"\r\n", b"Set-Cookie: a=b\r\n"]
    request = replace(REQUEST, conditional_headers=(b'If-None-Match: "a"',))
    truncated, complete = FetchResponse(request, lines, b"", 0.1), FetchResponse(request, [*lines, b"\r\n"], b"", 0.1)
    assert is_cookie_redirect(complete) or is_precondition_failed(complete)
    assert not is_cookie_redirect(truncated)
    assert not is_precondition_failed(truncated)


def test_complete_response_has_no_error() -> None:
    assert classify_transport_error(build_response()) is None


@pytest.mark.parametrize("raw", [None, b"", b'"a\x00b"', b'"a\rb"', b"x" * 513])
def test_invalid_validator_is_dropped(raw: bytes | None) -> None:
    assert decode_validator(raw) == ""


def test_validator_is_sent_back_unchanged() -> None:
    assert build_conditional_headers(decode_validator(b'W/"caf\xe9"'), "") == (b'If-None-Match: W/"caf\xe9"',)
    assert build_conditional_headers("", "yesterday") == (b"If-Modified-Since: yesterday",)
    assert build_conditional_headers("", "") == ()


def test_header_is_utf8_or_latin1() -> None:
    assert decode_header("caf\u00e9".encode()) == decode_header("caf\u00e9".encode("latin-1")) == "caf\u00e9"


def test_past_dates() -> None:
    assert is_past_date("2023-11-13", NOW)
    assert not is_past_date("2023-11-14", NOW)  # the day is not over
    assert not is_past_date("soon", NOW)
    assert not is_past_date("", NOW)
