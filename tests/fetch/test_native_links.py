"""Links packed in C equal those resolved in Python."""

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Raw, msgpack
from tests.support.native_library import compiled

from sanderling.fetch import native_links
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.link_resolution import resolve_links
from sanderling.fetch.native_links import build_link_table, build_packer, pack_scanned_links
from sanderling.fetch.response_processor import ResponseProcessor
from sanderling.fetch.transport import FetchRequest, FetchResponse, HostEndpoint
from sanderling.html.links import PageMetadata, RawLink, add_anchor_links
from sanderling.html.native import load_library
from sanderling.html.scanned_page import ScanResult
from sanderling.models import FetchTask, Host, Link, Url
from sanderling.urls.normalize import LENGTH_LIMIT
from sanderling.workers.worker import compute_fingerprints

PackLinks = Callable[[PageMetadata, ScanResult, str, bool], tuple[Link, ...] | None]

URL = "http://site.test/a/b/page.html"
PIECES = (
    *("../", "./", "/", "//", ".", "..", "a", "B", "b.html", "c d", "é", "%41", "%2F", "?", "?q=1&r=/:", "#", "#x"),
    *(":", "@", "\\", "'", "~_!$&()*+,;=-", "http:", "https:", "HTTP://", "mailto:x@y.org", "javascript:", "c:/"),
    *("http://site.test", "http://site.test/", "http://site.test:80", "https://x.org", "https://x-y.co.uk/", "1.2.3.4"),
    *("http://127.1/", "http://a.1x/", "http://0x7f/", "http://xn--a/", "http://a_b/", "http://a..b/", "http://a./"),
    *("http://site.test.evil/", "http://u:p@x.org/", " ", "\t", "\n", "\x01", "\xa0", "x" * LENGTH_LIMIT),
)
BASES = ("", "http://site.test/", "https://x.org/p?q=/r/", "http://site.test:8080/a//b/", "data:x", "http://[::1]/q")
hrefs = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join)
rels = st.sampled_from(("", "nofollow", "NoFollow me", "me\x0bnofollow", "nofollow\xa0", "nofollower", "a\x01nofollow"))
anchors = st.sampled_from(("", "words", "é" * 40, "w" * 300))
rows = st.lists(st.tuples(hrefs.filter(bool), rels, anchors), max_size=8)


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> PackLinks:
    native = load_library(compiled(tmp_path_factory.mktemp("native"), ["-O1"]))
    assert native is not None
    call, read = build_packer(native), msgpack.Decoder(tuple[Link, ...]).decode

    def pack_and_decode(head: PageMetadata, page: ScanResult, url: str, nofollow: bool) -> tuple[Link, ...] | None:
        found = call(head, build_link_table(head, page, url), url, nofollow)
        return None if found is None else read(found)

    return pack_and_decode


def build_scan(rows: list[tuple[str, str, str]], same_page_link: tuple[str, str] | None = None) -> ScanResult:
    table = "".join(f"{href}\0{rel}\0{anchor}\0" for href, rel, anchor in rows)
    return ScanResult("UTF-8", "", [], table.encode(), [], (b"", b""), same_page_link)


def has_equal_links(pack: PackLinks, head: PageMetadata, page: ScanResult, nofollow: bool = False) -> bool:
    found = pack(head, page, URL, nofollow)
    return found is None or found == resolve_links(add_anchor_links(head, page, URL), nofollow)


@given(rows=rows, heads=rows, base=st.sampled_from(BASES), nofollow=st.booleans(), has_same_page_link=st.booleans())
@example([("x", "nofollow", ""), ("./x", "", "words")], [], "", False, False)
@example([("x", "nofollow", "one"), ("x", "", "two"), ("/a/b/x", "", "three")], [("x", "", "")], "", False, True)
@example([("../../../../x", "", ""), ("http://site.test/x", "", "")], [], "", False, False)
def test_packed_links_equal_resolved_links(
    pack: PackLinks, rows: list[tuple[str, str, str]], heads: list[tuple[str, str, str]], base: str, nofollow: bool,
    has_same_page_link: bool,
) -> None:  # fmt: skip
    links = {href: RawLink(href, anchor, rel == "nofollow") for href, rel, anchor in heads}
    head = PageMetadata(base or URL, list(links.values()))
    page = build_scan([(href.partition("#")[0] or "y", rel, anchor) for href, rel, anchor in rows])
    page = build_scan([], ("me", "up")) if has_same_page_link and not rows else page
    assert has_equal_links(pack, head, page, nofollow)


def test_complex_links_are_resolved_in_python(pack: PackLinks) -> None:
    page = build_scan(
        [("b.html", "", "B"), ("../c?d=e", "nofollow", ""), ("./é", "", ""), ("mailto:x@y.org", "", "write")]
    )
    assert pack(PageMetadata(URL, []), page, URL, False) == (
        Link(Url("http://site.test/a/b/b.html"), "", "B"),
        Link(Url("http://site.test/a/c?d=e"), nofollow=True),
        Link(Url("http://site.test/a/b/%C3%A9")),
    )


@pytest.mark.parametrize(
    "page",
    [
        build_scan([("x", "", "")] * 4001),
        build_scan([("x", "nofollow\xa0", "")]),
        build_scan([("http://site.test/é" + "x" * LENGTH_LIMIT, "", "")]),
        build_scan([("x", "", "w" * 70_000)]),
    ],
    ids=["too many", "non-ASCII space", "too long", "link text too long"],
)
def test_unsupported_pages_are_not_packed(pack: PackLinks, page: ScanResult) -> None:
    assert pack(PageMetadata(URL, []), page, URL, False) is None


def test_page_without_base_url_or_with_refresh_is_not_packed(pack: PackLinks) -> None:
    page = build_scan([("x", "", "")])
    assert pack(PageMetadata("data:x", []), page, URL, False) is None
    assert pack_scanned_links(PageMetadata(URL, [], refresh_target="y"), page, URL, False) is None


def test_processor_packs_links_only_if_enabled(pack: PackLinks, monkeypatch: pytest.MonkeyPatch) -> None:
    del pack  # skips the test without a compiler
    head = [b"HTTP/1.1 200 OK\r\n", b"Content-Type: text/html; charset=utf-8\r\n", b"\r\n"]
    body = b"<title>t</title><a href=x>one</a><a href=../y rel=nofollow>two</a>"
    response = FetchResponse(
        FetchRequest(URL, HostEndpoint(Host("http://site.test"), "site.test", 80), None), head, body, 0.1
    )
    task = FetchTask(1, 1, Url(URL))
    unpacked = ResponseProcessor(FetchSettings(), compute_fingerprints).process(task, response, 1.0)
    packed = ResponseProcessor(FetchSettings(), compute_fingerprints, packs_links=True).process(task, response, 1.0)
    assert isinstance(packed.links, Raw)
    assert msgpack.decode(packed.links, type=tuple[Link, ...]) == unpacked.links
    assert [link.url for link in unpacked.links] == ["http://site.test/a/b/x", "http://site.test/a/y"]
    monkeypatch.setattr(native_links, "_packer", None)
    assert (
        ResponseProcessor(FetchSettings(), compute_fingerprints, packs_links=True).process(task, response, 1.0).links
        == unpacked.links
    )
