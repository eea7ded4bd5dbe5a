"""From a reply to a visit."""

import hashlib
import io
from typing import Any

import pytest
from tests.fetch.conftest import LOCAL, Road, bring_home
from tests.hostile.server import gzip_of, tagged
from warcio.archiveiterator import ArchiveIterator

from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.process import Fingerprinter, FingerprintInput, ResponseProcessor, skip_fingerprints
from sanderling.fetch.transport import FetchRequest, FetchResponse
from sanderling.fingerprint.fast.stable_hash import compute_stable_hash, unpack_stable_hash
from sanderling.fingerprint.model import is_current_fingerprint
from sanderling.frontier.ordering.topic import unpack_relevance
from sanderling.html.parser import Document
from sanderling.html.scanned_page import ScanResult
from sanderling.models import FetchBatch, FetchTask, Host, Link, Outcome, RobotsTxt, StoredVersion, Url, Visit
from sanderling.workers.worker import compute_fingerprints as worker_marks

HOST = Host("http://a.test")
URL = f"{HOST}/dir/page"
NOW = 1_700_000_000.25


def look(
    body: bytes,
    *headers: str,
    stop: FetchTask | None = None,
    marks: Fingerprinter | None = None,
    **settings: Any,
) -> Visit:
    """Observe an answer of 200 with this body at http://a.test/dir/page."""
    lines = ["HTTP/1.1 200 OK", *(headers or ("Content-Type: text/html",)), ""]
    raw = [f"{line}\r\n".encode("latin-1") for line in lines]
    reply = FetchResponse(FetchRequest(URL, parse_endpoint(HOST), None), raw, body, 0.5, "192.0.2.1", 99)
    return ResponseProcessor(FetchSettings(**settings), marks or skip_fingerprints).process(
        stop or FetchTask(3, 9, Url(URL)), reply, NOW
    )


def record(member: bytes) -> Any:
    """Read one packed record with the reference reader."""
    return next(iter(ArchiveIterator(io.BytesIO(member), check_digests="raise")))


class TestPage:
    """One parse gives everything."""

    def test_a_visit_says_what_was_seen_and_when(self) -> None:
        visit = look(
            b"<html lang=en><title> A \n page </title>", 'ETag: "x"', "Last-Modified: d", "Content-Type: text/html"
        )
        assert (visit.id, visit.token, visit.url, visit.visited_at) == (3, 9, URL, NOW)
        assert (visit.outcome, visit.status, visit.mime) == (Outcome.FETCHED, 200, "text/html")
        assert (visit.title, visit.language) == ("A page", "en")
        assert (visit.etag, visit.last_modified) == ('"x"', "d")
        assert (visit.duration_seconds, visit.address, visit.received_bytes) == (0.5, "192.0.2.1", 99)

    def test_links_are_resolved_normalised_and_named_once(self) -> None:
        visit = look(
            b"<a href=x>one</a><a href='./x#frag'>again</a><a href=//b.test/%7Eu>two</a>"
            b"<a href=mailto:a@b>no</a><a href='http://['>no</a><a href=x rel=nofollow>no</a>"
        )
        assert visit.links == (
            Link(Url("http://a.test/dir/x"), "", "one"),
            Link(Url("http://b.test/~u"), "http://b.test/%7Eu", "two"),
        )

    def test_a_base_moves_the_links(self) -> None:
        visit = look(b"<base href=/other/><a href=x>one</a>")
        assert [link.url for link in visit.links] == ["http://a.test/other/x"]

    def test_a_refresh_is_a_link(self) -> None:
        visit = look(b"<meta http-equiv=refresh content='0; url=next'>")
        assert [link.url for link in visit.links] == ["http://a.test/dir/next"]

    def test_what_the_head_leads_to_is_added_to_what_the_page_does(self) -> None:
        html, link = "Content-Type: text/html", "Link: </same>; rel=canonical, <x>; rel=next, <y>; rel=prev"
        visit = look(b"<a href=x>one</a>", html, link, "Link: </map>; rel=sitemap", "Refresh: 0;url=z")
        assert [link.url for link in visit.links] == [f"{HOST}/dir/{name}" for name in "xzy"]
        assert visit.links[0].anchor == "one"
        assert visit.canonical == f"{HOST}/same"
        assert [pointer.url for pointer in visit.file_refs] == [f"{HOST}/map"]
        assert look(b"<link rel=canonical href=/own>", html, link).canonical == f"{HOST}/own"

    def test_a_document_that_is_no_page_may_name_the_page_it_is_of(self) -> None:
        visit = look(b"%PDF", "Content-Type: application/pdf", "Link: </page>; rel=canonical")
        assert visit.canonical == f"{HOST}/page"
        assert visit.links == ()

    def test_with_a_topic_the_page_is_scored_and_each_link_says_what_it_promises(self) -> None:
        body = (
            b"<title>On vacuum</title><p>A vacuum cleans. <a href=/1>more</a></p><div><a href=/vacuum.html>x</a></div>"
            b"<nav><a href=/2>Vacuum</a><a href=/3>Home</a></nav>"
        )
        visit = look(body, topic_weights={"vacuum": 1.0})
        assert unpack_relevance(visit.fingerprints["relevance"]) > 0.3
        around, path, anchor, nothing = (link.topic_score for link in visit.links)
        assert anchor == path > around > nothing == 0
        assert "relevance" not in look(body).fingerprints

    def test_a_canonical_is_noted(self) -> None:
        assert look(b"<link rel=canonical href='/%7Ehome'>").canonical == "http://a.test/~home"

    def test_a_canonical_that_is_no_url_is_none(self) -> None:
        assert look(b"<link rel=canonical href='http://['>").canonical == ""

    @pytest.mark.parametrize(
        ("body", "header"),
        [(b"<meta name=robots content='noindex, nofollow'>", "X: y"), (b"", "X-Robots-Tag: noindex, nofollow")],
    )
    def test_page_and_header_can_forbid_index_and_following(self, body: bytes, header: str) -> None:
        visit = look(body + b"<a href=x>x</a>", "Content-Type: text/html", header)
        assert (visit.noindex or visit.header_noindex, visit.nofollow) == (True, True)
        assert [link.nofollow for link in visit.links] == [True]

    @pytest.mark.parametrize("agent", ["sanderling/1", "Viewport/1", "GENERATOR"])
    def test_a_page_may_speak_to_a_robot_of_any_name(self, agent: str) -> None:
        page = f'<meta name="{agent.partition("/")[0].lower()}" content="noindex"><p>tide'
        assert look(page.encode(), "Content-Type: text/html; charset=utf-8", user_agent=agent).noindex

    @pytest.mark.parametrize(("until", "noindex"), [("Mon, 13 Nov 2023 10:00:00 GMT", True), ("2033-01-01", False)])
    def test_a_page_that_is_over_is_not_for_the_index(self, until: str, noindex: bool) -> None:
        html = "Content-Type: text/html"
        assert look(f"<meta name=robots content='unavailable_after: {until}'>".encode()).noindex is noindex
        assert look(b"<p>x", html, f"X-Robots-Tag: unavailable_after: {until}").header_noindex is noindex

    def test_one_link_that_may_be_followed_is_enough(self) -> None:
        visit = look(b"<a href=x rel=nofollow></a><a href=x#2>words</a>")
        assert visit.links == (Link(Url("http://a.test/dir/x"), "", "words", False),)

    def test_marks_are_computed_from_the_same_tree(self) -> None:
        def count(page: Document | ScanResult) -> bytes:
            blocks = page.structure_blocks if isinstance(page, ScanResult) else list(page.iter_elements(("body", "h2")))
            return b"%d" % len(blocks)

        for kind in ("text/html", "text/html; charset=utf-8"):  # with a tree, and at a glance
            visit = look(b"<h2>1</h2><h2>2", f"Content-Type: {kind}", marks=lambda page, _: {"blocks": count(page)})
            assert visit.fingerprints == {"blocks": b"3"}

    def test_a_page_that_was_another_is_parsed(self) -> None:
        seen: list[Document | ScanResult] = []

        def note(page: Document | ScanResult, _known: FingerprintInput) -> dict[str, bytes]:
            seen.append(page)
            return {}

        plain = "Content-Type: text/html; charset=utf-8"
        look(b"<p>1", plain, stop=FetchTask(3, 9, Url(URL), digest=b"another"), marks=note)
        look(b"<p>1", plain, marks=note, topic_weights={"tides": 1.0})
        assert [type(page) for page in seen] == [Document, Document]

    def test_a_mark_that_fails_is_our_mistake_and_is_heard(self) -> None:
        def broken(_page: Document | ScanResult) -> bytes:
            raise KeyError("tide")

        with pytest.raises(KeyError, match="tide"):
            look(b"<p>", marks=lambda page, _: {"broken": broken(page)})

    @pytest.mark.parametrize(
        ("body", "header", "title", "charset"),
        [
            ("<title>Caf\u00e9</title>".encode(), "text/html; charset=UTF-8", "Caf\u00e9", "utf-8"),
            (
                "<title>Caf\u00e9</title>".encode("latin-1"),
                "text/html; charset=iso-8859-1",
                "Caf\u00e9",
                "windows-1252",
            ),
            ("<title>Caf\u00e9</title>".encode("latin-1"), "text/html; charset=klingon", "Caf\u00e9", "windows-1252"),
            (
                "<meta charset=koi8-r><title>\u043c\u0438\u0440</title>".encode("koi8-r"),
                "text/html",
                "\u043c\u0438\u0440",
                "koi8-r",
            ),
        ],
    )
    def test_charsets_are_believed_as_far_as_they_go(self, body: bytes, header: str, title: str, charset: str) -> None:
        visit = look(body, f"Content-Type: {header}")
        assert (visit.title, visit.charset) == (title, charset)

    @pytest.mark.parametrize("mime", ["text/plain", "application/pdf", "image/png"])
    def test_what_is_no_page_is_kept_but_not_read(self, mime: str) -> None:
        visit = look(b"<title>No</title><a href=x>", f"Content-Type: {mime}")
        assert (visit.title, visit.links, visit.size) == ("", (), 27)
        assert visit.response_record

    def test_a_page_without_a_type_is_recognised(self) -> None:
        assert look(b"<!DOCTYPE html><title>Yes</title>", "X: y").title == "Yes"

    def test_a_page_that_is_too_large_to_parse_is_kept_and_says_so(self) -> None:
        visit = look(b"<title>Big</title>" + b"x" * 100, max_page=100)
        assert (visit.outcome, visit.title, visit.detail) == (Outcome.FETCHED, "", "not parsed: page has 118 bytes")


class TestBody:
    """The digest is that of the body without its coding; the archive keeps what came."""

    def test_plain_and_packed_have_the_same_digest(self) -> None:
        body = b"<title>Same</title>"
        plain, packed = look(body), look(gzip_of(body), "Content-Type: text/html", "Content-Encoding: gzip")
        assert plain.digest == packed.digest == hashlib.sha256(body).digest()
        assert plain.size == packed.size == len(body)
        assert packed.title == "Same"

    def test_the_archive_keeps_the_coding(self) -> None:
        body = gzip_of(b"<title>Same</title>")
        visit = look(body, "Content-Type: text/html", "Content-Encoding: gzip")
        kept = record(visit.response_record)
        assert kept.raw_stream.read() == body
        assert kept.http_headers.get_header("Content-Encoding") == "gzip"
        assert kept.rec_headers.get_header("WARC-Record-ID") == f"<{visit.record_id}>"
        assert kept.rec_headers.get_header("WARC-IP-Address") == "192.0.2.1"

    def test_a_body_we_know_is_neither_read_nor_packed_again(self) -> None:
        body = b"<title>Same</title><a href=x>"
        visit = look(body, stop=FetchTask(3, 9, Url(URL), digest=hashlib.sha256(body).digest()))
        assert (visit.outcome, visit.detail) == (Outcome.FETCHED, "unchanged")
        assert (visit.links, visit.response_record, visit.request_record, visit.record_id) == ((), b"", b"", "")
        assert visit.head.startswith(b"HTTP/1.1 200 OK\r\n")

    @pytest.mark.parametrize("algorithm", ["sha256", "sha1"])
    def test_records_carry_the_digest_asked_for(self, algorithm: str) -> None:
        visit = look(b"<p>", digest=algorithm)
        kept = record(visit.response_record)
        kept.content_stream().read()  # the reader checks the digests
        assert kept.rec_headers.get_header("WARC-Payload-Digest").startswith(f"{algorithm}:")
        assert visit.digest == hashlib.sha256(b"<p>").digest()

    def test_requests_can_be_left_out(self) -> None:
        assert look(b"<p>", keep_requests=False).request_record == b""


class TestAlike:
    """Of a page of which the same is left as before, without what no mark sees, nothing more is asked."""

    OLD, NEW = (b"<meta charset=utf-8><p>The tide</p><!-- made in %d ms --><a href=x>on</a>" % time for time in (5, 7))

    def seen(self, new: bytes, *headers: str, left: bytes | None = None) -> tuple[list[object], Visit]:
        """What was looked at, and what was said of it; the last version is OLD, and the archive has lost it."""
        asked: list[object] = []

        def marks(page: Document | ScanResult, known: FingerprintInput) -> dict[str, bytes]:
            asked.append(page)
            return {**worker_marks(page, known)}

        kept = StoredVersion(
            "lost.warc.gz", 0, 9, "utf-8", stable_hash=compute_stable_hash(self.OLD) if left is None else left
        )
        stop = FetchTask(3, 9, Url(URL), digest=hashlib.sha256(self.OLD).digest(), last_version=kept)
        return asked, look(new, *headers, stop=stop, marks=marks, archive_folder="/nowhere")

    def test_a_glance_is_enough_and_it_is_said_to_be_as_it_was(self) -> None:
        [page], visit = self.seen(self.NEW)
        assert isinstance(page, ScanResult)
        assert visit.fingerprints["before"] == visit.fingerprints["after"]
        assert "signature" not in visit.fingerprints
        assert [link.url for link in visit.links] == ["http://a.test/dir/x"]
        assert unpack_stable_hash(visit.fingerprints["sieve"], visit.digest) == compute_stable_hash(self.OLD)

    def test_where_more_differs_it_is_marked(self) -> None:
        [page], visit = self.seen(self.NEW.replace(b"tide", b"wave"))
        assert isinstance(page, Document)
        assert is_current_fingerprint(visit.fingerprints["signature"])
        assert unpack_stable_hash(visit.fingerprints["sieve"], visit.digest) not in (b"", compute_stable_hash(self.OLD))

    def test_where_nobody_knows_what_was_left_it_is_marked(self) -> None:
        assert is_current_fingerprint(self.seen(self.NEW, left=b"")[1].fingerprints["signature"])

    def test_in_another_charset_the_same_letters_are_others(self) -> None:
        [page], visit = self.seen(self.NEW, "Content-Type: text/html; charset=koi8-r")
        assert isinstance(page, Document)
        assert is_current_fingerprint(visit.fingerprints["signature"])
        assert visit.fingerprints["sieve"] == b""

    def test_without_the_library_all_that_came_is_marked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        left = compute_stable_hash(self.OLD)
        monkeypatch.setattr("sanderling.fingerprint.fast.stable_hash._native_hasher", None)
        assert is_current_fingerprint(self.seen(self.NEW, left=left)[1].fingerprints["signature"])


class TestOnTheRoad:
    """The same with a real server."""

    def visit(self, road: Road, stop: FetchTask, host: Host, settings: FetchSettings = LOCAL) -> Visit:
        trip = road.trip(settings)
        trip.submit(FetchBatch(host, (stop,), (), RobotsTxt(host, 404, b"", 0.0, 1e12), 0.0))
        return bring_home(trip).visits[0]

    def test_a_second_visit_asks_whether_it_changed(self, road: Road) -> None:
        server = road.server({"/t": tagged})
        url = Url(f"{server.host}/t")
        first = self.visit(road, FetchTask(1, 1, url), server.host)
        again = self.visit(road, FetchTask(1, 2, url, etag=first.etag, last_modified=first.last_modified), server.host)
        assert (first.outcome, again.outcome, again.status) == (Outcome.FETCHED, Outcome.NOT_MODIFIED, 304)
        assert again.response_record == b""
        assert again.head.startswith(b"HTTP/1.1 304 Not Modified\r\n")
        assert server.requests[1].headers["if-modified-since"] == "Tue, 01 Oct 2024 10:00:00 GMT"

    def test_the_request_record_is_what_was_sent_but_for_secrets(self, road: Road) -> None:
        server = road.server({"/t": tagged})
        settings = FetchSettings(allow_private=True, headers=("Accept-Language: nl",), basic_auth={"127.0.0.1": "a:b"})
        stop = FetchTask(1, 1, Url(f"{server.host}/t?a=b%2f"), etag='"old"')
        kept = record(self.visit(road, stop, server.host, settings).request_record)
        stored = kept.http_headers.to_ascii_bytes() + kept.raw_stream.read()
        sent = [line for line in server.requests[0].raw.split(b"\r\n") if not line.startswith(b"Authorization: ")]
        assert b"Authorization: Basic" in server.requests[0].raw
        assert stored == b"\r\n".join(sent)

    def test_headers_that_replace_ours_and_secrets_among_them_are_told_as_they_were_sent(self, road: Road) -> None:
        server = road.server({"/t": tagged})
        secret = ("Cookie: a=b", "authorization: Bearer tide", "Proxy-Authorization: Basic eDp5", "X-Api-Key: tide")
        headers = ("Accept-Language: nl", "Accept:", "X-Empty: ", *secret, "Host: shore.test")
        stop = FetchTask(1, 1, Url(f"{server.host}/t"))
        kept = record(
            self.visit(road, stop, server.host, FetchSettings(allow_private=True, headers=headers)).request_record
        )
        sent = server.requests[0].raw.split(b"\r\n")
        hidden = [line.encode() for line in secret]
        assert set(hidden) < set(sent)
        stored = kept.http_headers.to_ascii_bytes() + kept.raw_stream.read()
        assert stored == b"\r\n".join(line for line in sent if line not in hidden)

    def test_redirects_and_errors_are_archived_too(self, road: Road) -> None:
        server = road.server({"/r": lambda guest: guest.answer(b"moved", "Location: /t", status="301 Moved")})
        moved = self.visit(road, FetchTask(1, 1, Url(f"{server.host}/r")), server.host)
        missing = self.visit(road, FetchTask(1, 1, Url(f"{server.host}/none")), server.host)
        assert moved.location == f"{server.host}/t"
        assert record(moved.response_record).http_headers.get_statuscode() == "301"
        assert record(missing.response_record).http_headers.get_statuscode() == "404"
