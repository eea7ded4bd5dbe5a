"""What a server's answer means."""

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
ASK = FetchRequest(URL, parse_endpoint(Host("http://a.test")), None)
NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


def reply(error: int = pycurl.E_OK, note: str = "", body: bytes = b"", **rest: object) -> FetchResponse:
    return FetchResponse(ASK, [b"HTTP/1.1 200 OK\r\n", b"\r\n"], body, 0.1, curl_error=error, detail=note, **rest)  # type: ignore[arg-type]


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
        (451, Outcome.FAILED, Reason.HTTP_ERROR),
        (500, Outcome.RETRY, Reason.SERVER_ERROR),
        (503, Outcome.RETRY, Reason.SERVER_ERROR),
        (999, Outcome.FAILED, Reason.HTTP_ERROR),
        (0, Outcome.RETRY, Reason.BROKEN_RESPONSE),
    ],
)
def test_each_status_has_its_outcome(status: int, outcome: Outcome, reason: Reason) -> None:
    verdict = classify_status(status, {}, reply(), NOW)
    assert (verdict.outcome, verdict.reason) == (outcome, reason)


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
def test_a_part_that_is_all_of_a_page_is_the_page(fields: dict[bytes, bytes], size: int, outcome: Outcome) -> None:
    assert classify_status(206, fields, reply(body=b"x" * size), NOW).outcome is outcome


def test_of_a_part_that_is_all_of_a_page_we_may_take_less() -> None:
    fields = {b"content-range": b"bytes 0-24/25"}
    assert classify_status(206, fields, reply(body=b"x" * 20, is_truncated=True), NOW).outcome is Outcome.FETCHED


@pytest.mark.parametrize(("status", "target"), [(300, URL), (399, URL), (305, ""), (306, "")])
def test_a_preferred_choice_is_followed_and_a_proxy_is_no_place(status: int, target: str) -> None:
    assert classify_status(status, {b"location": URL.encode()}, reply(), NOW).location == target


def test_not_modified_is_an_answer_only_to_who_asked() -> None:
    asked = FetchResponse(replace(ASK, conditional_headers=(b'If-None-Match: "a"',)), [], b"", 0.1)
    assert classify_status(304, {}, asked, NOW).outcome is Outcome.NOT_MODIFIED


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
def test_a_redirect_is_resolved_to_a_wire_url(location: bytes, target: str) -> None:
    assert classify_status(302, {b"location": location}, reply(), NOW).location == target


@pytest.mark.parametrize(
    "location", [b"file:///etc/passwd", b"javascript:alert(1)", b"http://", b"gopher://a/", b"http://a b/"]
)
def test_a_redirect_out_of_the_web_leads_nowhere(location: bytes) -> None:
    verdict = classify_status(302, {b"location": location}, reply(), NOW)
    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, Reason.REDIRECT_WITHOUT_TARGET)


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
def test_retry_after_is_read_in_seconds_and_as_a_date(value: bytes, seconds: float) -> None:
    assert parse_retry_after(value, NOW) == seconds


def test_a_busy_server_that_names_a_time_is_left_alone_for_it() -> None:
    verdict = classify_status(503, {b"retry-after": b"60"}, reply(), NOW)
    assert (verdict.outcome, verdict.reason, verdict.retry_after) == (Outcome.RETRY, Reason.RATE_LIMITED, 60.0)


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
def test_each_error_of_curl_has_its_reason(error: int, outcome: Outcome, reason: Reason) -> None:
    verdict = classify_transport_error(reply(error, "what curl said"))
    assert verdict is not None
    assert (verdict.outcome, verdict.reason, verdict.detail) == (outcome, reason, "what curl said")


def test_our_own_reason_comes_before_curls() -> None:
    verdict = classify_transport_error(reply(pycurl.E_WRITE_ERROR, abort_reason=Reason.TOO_LARGE))
    assert verdict is not None
    assert (verdict.outcome, verdict.reason) == (Outcome.SKIPPED, Reason.TOO_LARGE)


def test_what_was_dropped_for_want_of_room_goes_back_unharmed() -> None:
    verdict = classify_transport_error(reply(pycurl.E_WRITE_ERROR, is_buffer_full=True))
    assert verdict is not None
    assert (verdict.outcome, verdict.reason) == (Outcome.RETURNED, Reason.NONE)


@pytest.mark.parametrize("status", [301, 302, 412])
def test_a_head_that_was_cut_asks_for_nothing(status: int) -> None:
    lines = [b"HTTP/1.1 %d X\r\n" % status, b"Location: " + URL.encode() + b"\r\n", b"Set-Cookie: a=b\r\n"]
    ask = replace(ASK, conditional_headers=(b'If-None-Match: "a"',))
    cut, whole = FetchResponse(ask, lines, b"", 0.1), FetchResponse(ask, [*lines, b"\r\n"], b"", 0.1)
    assert is_cookie_redirect(whole) or is_precondition_failed(whole)
    assert not is_cookie_redirect(cut)
    assert not is_precondition_failed(cut)


def test_a_whole_answer_has_no_fault() -> None:
    assert classify_transport_error(reply()) is None


@pytest.mark.parametrize("raw", [None, b"", b'"a\x00b"', b'"a\rb"', b"x" * 513])
def test_a_validator_that_could_not_be_sent_back_is_dropped(raw: bytes | None) -> None:
    assert decode_validator(raw) == ""


def test_a_validator_goes_back_byte_for_byte() -> None:
    assert build_conditional_headers(decode_validator(b'W/"caf\xe9"'), "") == (b'If-None-Match: W/"caf\xe9"',)
    assert build_conditional_headers("", "yesterday") == (b"If-Modified-Since: yesterday",)
    assert build_conditional_headers("", "") == ()


def test_header_text_is_utf8_or_else_latin1() -> None:
    assert decode_header("caf\u00e9".encode()) == decode_header("caf\u00e9".encode("latin-1")) == "caf\u00e9"


def test_what_is_past_is_over_and_what_is_no_date_is_not() -> None:
    assert is_past_date("2023-11-13", NOW)
    assert not is_past_date("2023-11-14", NOW)  # the day is not over
    assert not is_past_date("soon", NOW)
    assert not is_past_date("", NOW)
