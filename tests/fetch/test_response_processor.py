"""Turning responses into visits."""

import hashlib
import io
from typing import Any

import pytest
from tests.fetch.conftest import LOCAL, FetchEnvironment, run_to_end
from tests.hostile.server import gzip_of, tagged
from warcio.archiveiterator import ArchiveIterator

from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.response_processor import Fingerprinter, FingerprintInput, ResponseProcessor, skip_fingerprints
from sanderling.fetch.transport import FetchRequest, FetchResponse
from sanderling.fingerprint.fast.stable_hash import compute_stable_hash, unpack_stable_hash
from sanderling.fingerprint.model import is_current_fingerprint
from sanderling.frontier.ordering.topic import unpack_relevance
from sanderling.html.parser import Document
from sanderling.html.scanned_page import ScanResult
from sanderling.models import FetchBatch, FetchTask, Host, Link, Outcome, RobotsTxt, StoredVersion, Url, Visit
from sanderling.page_fingerprints import NO_FINGERPRINTS, PageFingerprints
from sanderling.workers.worker import compute_fingerprints as worker_fingerprints

HOST = Host("http://a.test")
URL = f"{HOST}/dir/page"
NOW = 1_700_000_000.25


def process_body(
    body: bytes,
    *headers: str,
    task: FetchTask | None = None,
    fingerprinter: Fingerprinter | None = None,
    **settings: Any,
) -> Visit:
    """Process a 200 response with this body at http://a.test/dir/page."""
    lines = ["HTTP/1.1 200 OK", *(headers or ("Content-Type: text/html",)), ""]
    raw = [f"{line}\r\n".encode("latin-1") for line in lines]
    response = FetchResponse(FetchRequest(URL, parse_endpoint(HOST), None), raw, body, 0.5, "192.0.2.1", 99)
    return ResponseProcessor(FetchSettings(**settings), fingerprinter or skip_fingerprints).process(
        task or FetchTask(3, 9, Url(URL)), response, NOW
    )


def read_record(member: bytes) -> Any:
    """Parse a packed record with warcio."""
    return next(iter(ArchiveIterator(io.BytesIO(member), check_digests="raise")))


class TestPage:
    """Links, metadata and fingerprints of a page."""

    def test_visit_fields_of_a_page(self) -> None:
        visit = process_body(
            b"<html lang=en><title> A \n page </title>", 'ETag: "x"', "Last-Modified: d", "Content-Type: text/html"
        )
        assert (visit.id, visit.token, visit.url, visit.visited_at) == (3, 9, URL, NOW)
        assert (visit.outcome, visit.status, visit.mime) == (Outcome.FETCHED, 200, "text/html")
        assert (visit.title, visit.language) == ("A page", "en")
        assert (visit.etag, visit.last_modified) == ('"x"', "d")
        assert (visit.duration_seconds, visit.address, visit.received_bytes) == (0.5, "192.0.2.1", 99)

    def test_links_are_resolved_normalized_and_deduplicated(self) -> None:
        visit = process_body(
            b"<a href=x>one</a><a href='./x#frag'>again</a><a href=//b.test/%7Eu>two</a>"
            b"<a href=mailto:a@b>no</a><a href='http://['>no</a><a href=x rel=nofollow>no</a>"
        )
        assert visit.links == (
            Link(Url("http://a.test/dir/x"), "", "one"),
            Link(Url("http://b.test/~u"), "http://b.test/%7Eu", "two"),
        )

    def test_base_element_applies_to_links(self) -> None:
        visit = process_body(b"<base href=/other/><a href=x>one</a>")
        assert [link.url for link in visit.links] == ["http://a.test/other/x"]

    def test_meta_refresh_is_a_link(self) -> None:
        visit = process_body(b"<meta http-equiv=refresh content='0; url=next'>")
        assert [link.url for link in visit.links] == ["http://a.test/dir/next"]

    def test_header_links_are_added_to_page_links(self) -> None:
        html, link = "Content-Type: text/html", "Link: </same>; rel=canonical, <x>; rel=next, <y>; rel=prev"
        visit = process_body(b"<a href=x>one</a>", html, link, "Link: </map>; rel=sitemap", "Refresh: 0;url=z")
        assert [link.url for link in visit.links] == [f"{HOST}/dir/{name}" for name in "xzy"]
        assert visit.links[0].anchor == "one"
        assert visit.canonical == f"{HOST}/same"
        assert [file_ref.url for file_ref in visit.file_refs] == [f"{HOST}/map"]
        assert process_body(b"<link rel=canonical href=/own>", html, link).canonical == f"{HOST}/own"

    def test_canonical_header_of_a_pdf(self) -> None:
        visit = process_body(b"%PDF", "Content-Type: application/pdf", "Link: </page>; rel=canonical")
        assert visit.canonical == f"{HOST}/page"
        assert visit.links == ()

    def test_focused_crawl_scores_page_and_links(self) -> None:
        body = (
            b"<title>On vacuum</title><p>A vacuum cleans. <a href=/1>more</a></p><div><a href=/vacuum.html>x</a></div>"
            b"<nav><a href=/2>Vacuum</a><a href=/3>Home</a></nav>"
        )
        visit = process_body(body, topic_weights={"vacuum": 1.0})
        assert unpack_relevance(visit.fingerprints.relevance or b"") > 0.3
        context, path, anchor, plain_link = (link.topic_score for link in visit.links)
        assert anchor == path > context > plain_link == 0
        assert process_body(body).fingerprints.relevance is None

    def test_canonical_link_is_normalized(self) -> None:
        assert process_body(b"<link rel=canonical href='/%7Ehome'>").canonical == "http://a.test/~home"

    def test_invalid_canonical_is_ignored(self) -> None:
        assert process_body(b"<link rel=canonical href='http://['>").canonical == ""

    @pytest.mark.parametrize(
        ("body", "header"),
        [(b"<meta name=robots content='noindex, nofollow'>", "X: y"), (b"", "X-Robots-Tag: noindex, nofollow")],
    )
    def test_noindex_and_nofollow_in_page_and_header(self, body: bytes, header: str) -> None:
        visit = process_body(body + b"<a href=x>x</a>", "Content-Type: text/html", header)
        assert (visit.noindex or visit.header_noindex, visit.nofollow) == (True, True)
        assert [link.nofollow for link in visit.links] == [True]

    @pytest.mark.parametrize("agent", ["sanderling/1", "Viewport/1", "GENERATOR"])
    def test_robots_meta_for_any_agent_name(self, agent: str) -> None:
        page = f'<meta name="{agent.partition("/")[0].lower()}" content="noindex"><p>tide'
        assert process_body(page.encode(), "Content-Type: text/html; charset=utf-8", user_agent=agent).noindex

    @pytest.mark.parametrize(("until", "noindex"), [("Mon, 13 Nov 2023 10:00:00 GMT", True), ("2033-01-01", False)])
    def test_unavailable_after_in_the_past_is_noindex(self, until: str, noindex: bool) -> None:
        html = "Content-Type: text/html"
        assert process_body(f"<meta name=robots content='unavailable_after: {until}'>".encode()).noindex is noindex
        assert process_body(b"<p>x", html, f"X-Robots-Tag: unavailable_after: {until}").header_noindex is noindex

    def test_target_is_followed_if_any_link_allows_it(self) -> None:
        visit = process_body(b"<a href=x rel=nofollow></a><a href=x#2>words</a>")
        assert visit.links == (Link(Url("http://a.test/dir/x"), "", "words", False),)

    def test_fingerprints_use_tree_or_fast_scan(self) -> None:
        def count(page: Document | ScanResult, _known: FingerprintInput) -> PageFingerprints:
            blocks = page.structure_blocks if isinstance(page, ScanResult) else list(page.iter_elements(("body", "h2")))
            return PageFingerprints(structure=b"%d" % len(blocks))

        for kind in ("text/html", "text/html; charset=utf-8"):  # parsed, and fast-scanned
            visit = process_body(b"<h2>1</h2><h2>2", f"Content-Type: {kind}", fingerprinter=count)
            assert visit.fingerprints == PageFingerprints(structure=b"3")

    def test_changed_or_scored_page_is_parsed(self) -> None:
        seen: list[Document | ScanResult] = []

        def record_page(page: Document | ScanResult, _known: FingerprintInput) -> PageFingerprints:
            seen.append(page)
            return NO_FINGERPRINTS

        plain = "Content-Type: text/html; charset=utf-8"
        process_body(b"<p>1", plain, task=FetchTask(3, 9, Url(URL), digest=b"another"), fingerprinter=record_page)
        process_body(b"<p>1", plain, fingerprinter=record_page, topic_weights={"tides": 1.0})
        assert [type(page) for page in seen] == [Document, Document]

    def test_exception_in_fingerprinter_propagates(self) -> None:
        def broken(_page: Document | ScanResult) -> bytes:
            raise KeyError("tide")

        with pytest.raises(KeyError, match="tide"):
            process_body(b"<p>", fingerprinter=lambda page, _: PageFingerprints(structure=broken(page)))

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
    def test_charset_detection(self, body: bytes, header: str, title: str, charset: str) -> None:
        visit = process_body(body, f"Content-Type: {header}")
        assert (visit.title, visit.charset) == (title, charset)

    @pytest.mark.parametrize("mime", ["text/plain", "application/pdf", "image/png"])
    def test_other_media_types_are_stored_but_not_parsed(self, mime: str) -> None:
        visit = process_body(b"<title>No</title><a href=x>", f"Content-Type: {mime}")
        assert (visit.title, visit.links, visit.size) == ("", (), 27)
        assert visit.response_record

    def test_html_without_content_type_is_detected(self) -> None:
        assert process_body(b"<!DOCTYPE html><title>Yes</title>", "X: y").title == "Yes"

    def test_oversized_page_is_stored_but_not_parsed(self) -> None:
        visit = process_body(b"<title>Big</title>" + b"x" * 100, max_page=100)
        assert (visit.outcome, visit.title, visit.detail) == (Outcome.FETCHED, "", "not parsed: page has 118 bytes")


class TestBody:
    """Digest of the decoded body; the archive stores raw bytes."""

    def test_digest_ignores_content_coding(self) -> None:
        body = b"<title>Same</title>"
        plain, packed = (
            process_body(body),
            process_body(gzip_of(body), "Content-Type: text/html", "Content-Encoding: gzip"),
        )
        assert plain.digest == packed.digest == hashlib.sha256(body).digest()
        assert plain.size == packed.size == len(body)
        assert packed.title == "Same"

    def test_archive_stores_content_coding(self) -> None:
        body = gzip_of(b"<title>Same</title>")
        visit = process_body(body, "Content-Type: text/html", "Content-Encoding: gzip")
        stored = read_record(visit.response_record)
        assert stored.raw_stream.read() == body
        assert stored.http_headers.get_header("Content-Encoding") == "gzip"
        assert stored.rec_headers.get_header("WARC-Record-ID") == f"<{visit.record_id}>"
        assert stored.rec_headers.get_header("WARC-IP-Address") == "192.0.2.1"

    def test_unchanged_body_is_neither_parsed_nor_packed(self) -> None:
        body = b"<title>Same</title><a href=x>"
        visit = process_body(body, task=FetchTask(3, 9, Url(URL), digest=hashlib.sha256(body).digest()))
        assert (visit.outcome, visit.detail) == (Outcome.FETCHED, "unchanged")
        assert (visit.links, visit.response_record, visit.request_record, visit.record_id) == ((), b"", b"", "")
        assert visit.head.startswith(b"HTTP/1.1 200 OK\r\n")

    @pytest.mark.parametrize("algorithm", ["sha256", "sha1"])
    def test_record_digest_algorithm(self, algorithm: str) -> None:
        visit = process_body(b"<p>", digest=algorithm)
        stored = read_record(visit.response_record)
        stored.content_stream().read()  # warcio verifies the digests
        assert stored.rec_headers.get_header("WARC-Payload-Digest").startswith(f"{algorithm}:")
        assert visit.digest == hashlib.sha256(b"<p>").digest()

    def test_request_record_is_optional(self) -> None:
        assert process_body(b"<p>", keep_requests=False).request_record == b""


class TestStableHash:
    """Pages whose stable hash is unchanged are not parsed."""

    OLD, NEW = (b"<meta charset=utf-8><p>The tide</p><!-- made in %d ms --><a href=x>on</a>" % time for time in (5, 7))

    def process_new_version(
        self, new: bytes, *headers: str, stable_hash: bytes | None = None
    ) -> tuple[list[object], Visit]:
        """Process a new version of OLD, whose archive record is missing; return the pages passed to fingerprints."""
        fingerprinted: list[object] = []

        def fingerprinter(page: Document | ScanResult, known: FingerprintInput) -> PageFingerprints:
            fingerprinted.append(page)
            return worker_fingerprints(page, known)

        stored = StoredVersion(
            "lost.warc.gz",
            0,
            9,
            "utf-8",
            stable_hash=compute_stable_hash(self.OLD) if stable_hash is None else stable_hash,
        )
        task = FetchTask(3, 9, Url(URL), digest=hashlib.sha256(self.OLD).digest(), last_version=stored)
        return fingerprinted, process_body(
            new, *headers, task=task, fingerprinter=fingerprinter, archive_folder="/nowhere"
        )

    def test_same_stable_hash_uses_fast_scan_and_copies_fingerprints(self) -> None:
        [page], visit = self.process_new_version(self.NEW)
        assert isinstance(page, ScanResult)
        assert visit.fingerprints.before == visit.fingerprints.after
        assert visit.fingerprints.page is None
        assert [link.url for link in visit.links] == ["http://a.test/dir/x"]
        assert unpack_stable_hash(visit.fingerprints.stable_hash or b"", visit.digest) == compute_stable_hash(self.OLD)

    def test_different_stable_hash_is_fingerprinted(self) -> None:
        [page], visit = self.process_new_version(self.NEW.replace(b"tide", b"wave"))
        assert isinstance(page, Document)
        assert is_current_fingerprint(visit.fingerprints.page or b"")
        assert unpack_stable_hash(visit.fingerprints.stable_hash or b"", visit.digest) not in (
            b"",
            compute_stable_hash(self.OLD),
        )

    def test_unknown_stable_hash_is_fingerprinted(self) -> None:
        assert is_current_fingerprint(self.process_new_version(self.NEW, stable_hash=b"")[1].fingerprints.page or b"")

    def test_changed_charset_is_fingerprinted(self) -> None:
        [page], visit = self.process_new_version(self.NEW, "Content-Type: text/html; charset=koi8-r")
        assert isinstance(page, Document)
        assert is_current_fingerprint(visit.fingerprints.page or b"")
        assert visit.fingerprints.stable_hash == b""

    def test_missing_native_library_is_fingerprinted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stable_hash = compute_stable_hash(self.OLD)
        monkeypatch.setattr("sanderling.fingerprint.fast.stable_hash._native_hasher", None)
        assert is_current_fingerprint(
            self.process_new_version(self.NEW, stable_hash=stable_hash)[1].fingerprints.page or b""
        )


class TestServer:
    """Visits of a real server."""

    def visit(self, env: FetchEnvironment, task: FetchTask, host: Host, settings: FetchSettings = LOCAL) -> Visit:
        loop = env.open_loop(settings)
        loop.submit(FetchBatch(host, (task,), (), RobotsTxt(host, 404, b"", 0.0, 1e12), 0.0))
        return run_to_end(loop).visits[0]

    def test_revisit_sends_conditional_request(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/t": tagged})
        url = Url(f"{server.host}/t")
        first = self.visit(env, FetchTask(1, 1, url), server.host)
        again = self.visit(env, FetchTask(1, 2, url, etag=first.etag, last_modified=first.last_modified), server.host)
        assert (first.outcome, again.outcome, again.status) == (Outcome.FETCHED, Outcome.NOT_MODIFIED, 304)
        assert again.response_record == b""
        assert again.head.startswith(b"HTTP/1.1 304 Not Modified\r\n")
        assert server.requests[1].headers["if-modified-since"] == "Tue, 01 Oct 2024 10:00:00 GMT"

    def test_request_record_omits_credentials(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/t": tagged})
        settings = FetchSettings(allow_private=True, headers=("Accept-Language: nl",), basic_auth={"127.0.0.1": "a:b"})
        task = FetchTask(1, 1, Url(f"{server.host}/t?a=b%2f"), etag='"old"')
        stored = read_record(self.visit(env, task, server.host, settings).request_record)
        recorded = stored.http_headers.to_ascii_bytes() + stored.raw_stream.read()
        sent = [line for line in server.requests[0].raw.split(b"\r\n") if not line.startswith(b"Authorization: ")]
        assert b"Authorization: Basic" in server.requests[0].raw
        assert recorded == b"\r\n".join(sent)

    def test_request_record_omits_secret_headers(self, env: FetchEnvironment) -> None:
        server = env.start_server({"/t": tagged})
        secret = ("Cookie: a=b", "authorization: Bearer tide", "Proxy-Authorization: Basic eDp5", "X-Api-Key: tide")
        headers = ("Accept-Language: nl", "Accept:", "X-Empty: ", *secret, "Host: shore.test")
        task = FetchTask(1, 1, Url(f"{server.host}/t"))
        stored = read_record(
            self.visit(env, task, server.host, FetchSettings(allow_private=True, headers=headers)).request_record
        )
        sent = server.requests[0].raw.split(b"\r\n")
        hidden = [line.encode() for line in secret]
        assert set(hidden) < set(sent)
        recorded = stored.http_headers.to_ascii_bytes() + stored.raw_stream.read()
        assert recorded == b"\r\n".join(line for line in sent if line not in hidden)

    def test_redirects_and_errors_are_archived(self, env: FetchEnvironment) -> None:
        server = env.start_server(
            {"/r": lambda exchange: exchange.answer(b"moved", "Location: /t", status="301 Moved")}
        )
        moved = self.visit(env, FetchTask(1, 1, Url(f"{server.host}/r")), server.host)
        missing = self.visit(env, FetchTask(1, 1, Url(f"{server.host}/none")), server.host)
        assert moved.location == f"{server.host}/t"
        assert read_record(moved.response_record).http_headers.get_statuscode() == "301"
        assert read_record(missing.response_record).http_headers.get_statuscode() == "404"
