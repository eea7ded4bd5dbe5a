import gzip
from collections.abc import Callable
from ctypes import CDLL
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.tag_soup import soup, stew

from sanderling.fetch.response_processor import FingerprintInput
from sanderling.fingerprint.fast import fast_scan as module
from sanderling.fingerprint.fast.fast_scan import build_page_scanner, scan_page
from sanderling.html.declared_encoding import BYTE_ORDER_MARKS
from sanderling.html.links import MAX_LINKS, extract_metadata
from sanderling.html.parser import Document, parse_html
from sanderling.html.scanned_page import ScanResult
from sanderling.workers.worker import compute_fingerprints

URL = "http://site.test/a/b"
HEAD = "<!doctype html><html lang=en><head><meta charset=utf-8><title>Tide</title></head><body class=page>"
ACCEPTED = (
    "",
    "just words",
    HEAD + "<p>one<p>two <a href=x>three</a> <a href='y#z' rel='NoFollow me'>four</a><a href='#top'>up</a>",
    "<ul><li><a href=a>A</a><li><a href=b>B</a></ul><table><tr><td><a href=c>C</a><td>d</table>",
    "<a name=top><a href=x>one</a> two",
    "<a href=x><div><p>a block</p></div></a><a href=y><img src=i alt=' a picture '></a>",
    "<a href=x>\u3000\u00a0wide \u2003</a><a href=y>" + "é" * 300 + "</a>",
    "<table><caption>c<tr><th>h</th></tr><tbody><tr><td><table><tr><td>in</table></table>after",
    "<table><tr><td><a href=x>open<td>next</table><a href=y>two</a>",
    "<dl><dt>t<dd>d<dt>t<dd><p>p</dl><form class=f><select><option>1<option>2</select></form>",
    "<svg class=icon><title>Bird</title><path d='M0'/><g><circle></circle></g></svg><h1>after</h1>",
    "text<noscript><a href=n>no</a><img src=t></noscript><script>if (a<b) '<a href=s>'</script><style>a{}</style>",
    "<head><noscript><meta http-equiv=refresh content='0;url=n'></noscript></head><body>t",
    "<meta name=robots content='noindex, nofollow'><link rel=canonical href=c><link rel=next href=n><base href=/q/>",
    "<body><noscript><base href=/n/></noscript><a href=x>y</a>",
    "<body><noscript><base href=/n/></noscript><base href=/own/><a href=x>y</a>",
    "<title>&lt;Tide&gt; &copy; &#8212; &#151;</title><iframe src=f>a <b>frame</b></iframe><area href=m alt=M>",
    "<a href='?a=1&b=2&amp;c=3&copy=4&lt=5&notit=6'>&amp;c</a><textarea>\n<a href=x>&amp;</textarea>",
    "<A HREF=X>up</A><DIV CLASS='a b'>x</DIV><x-card>y</x-card></section></p></br>",
    "<p>1 < 2 <3</p><!-- <a href=x> --><!--><a href=y>z</a><!doctype html><?php <a href=z> ?></>",
    "<b><p>one</b> two</p><i>three",
    "one\r\ntwo<a href=x>three\r\nfour\rfive</a>",
)
REJECTED = (
    "<table>text<tr><td>cell</table>",
    "<table><a href=x>out</a><tr><td>in</table>",
    "<a href=x>one<table><tr><td><a href=y>two</a></table></a>",
    "<p><a href=x>one</p><p>two</a>",
    "<b><a href=x>one</b>two</a>",
    "<span><a href=x>one</span>two</a>",
    "<div><a href=x>one</div>two</a>",
    "<template><a href=x>one</a></template>",
    "<form><form><p>two forms</form>",
    "<select><a href=x>one</a></select>",
    "<svg><a xlink:href=x>one</a></svg>",
    "<svg><style>.a{}</style><div>out</div></svg>",
    "<p><table></table><a href=x><div>one</div></a>",
    "<p><noscript><table><td>one",
    "<h1>one<h2>two</h2></h1>",
    "<noscript><p>one</noscript>two",
    "<script><!--<script></script>one--></script>two",
    "<body class=a><body class=b lang=x><html lang=y>",
    "<frameset><frame src=x></frameset>",
    "<p>&notit; &nGt; &bogus;</p><a href='&rarrw;'>x</a>",
    "<title>no end",
    "<p>&#0;&#xD800;</p>\x00",
    "<plaintext><a href=x>one</a>",
    "<iframe><noscript></noscript><a href=x></iframe>",
    "<span><div></span></div><a href=x>one</span>two</a>",
    "<span><a href=x><p><span>one</p></span>two</a>",
    "<x-a><a href=x><span><x-a>one</span></x-a>two</a>",
    "<b><a href=x><table><tr><td><b>one</td></tr></table></b>two</a>",
    "<b><table><tr><td></b></td></tr></table><a href=x>one</b>two</a>",
    "<option><a href=x><option>one<option>two</option></option>three</a>",
    "<form><p><span></form><a href=x>one</p>two</a>",
    "<li><a href=x>one<dialog><li>two</li></dialog></a>",
    "<span><dialog></span><noscript></dialog>one",
    "<dialog><noscript><b><dialog><b><p></b></b></dialog>one",
    "<p><b><h2> <dialog></b><noscript></dialog>one",
    "<ruby><p><rt><noscript></p>one",
    "<a href=x>one<command>two</a>three",
    "<a href=x>one<isindex>two</a>three",
    '<!doctype html public "-//w3c//dtd xhtml 1.0><p>one<table></table><a href=x>two</p>three</a>',
    '<!doctype html public "-//w3c//dtd xhtml 1.0//" http://h><p>one<table></table><a href=x>two</p>three</a>',
    "<table><td><a href=x><object></table>one",
    "<g><a href=x>one<svg></g>two</svg></a>",
    "<a href=x><svg><desc><g></svg>one</a>two",
)

Scanner = Callable[[bytes], ScanResult | None]


@pytest.fixture(scope="module")
def scan(native: CDLL) -> Scanner:
    scan_body = build_page_scanner(native)
    return lambda body: None if body.startswith(BYTE_ORDER_MARKS) else scan_body(body, "UTF-8")  # as `scan_page` does


def read_page(page: Document | ScanResult, body: bytes) -> object:
    return extract_metadata(page, URL), compute_fingerprints(page, FingerprintInput(body))


def agrees_with_tree(scan: Scanner, body: bytes) -> bool:
    scanned = scan(body)
    return scanned is None or read_page(scanned, body) == read_page(parse_html(body, "utf-8"), body)


@pytest.mark.parametrize("page", ACCEPTED)
def test_accepted_page_is_read_as_from_the_tree(scan: Scanner, page: str) -> None:
    body = page.encode()
    assert (scanned := scan(body)) is not None
    assert read_page(scanned, body) == read_page(parse_html(body, "utf-8"), body)


@pytest.mark.parametrize("page", REJECTED)
def test_page_that_a_parser_repairs_is_rejected(scan: Scanner, page: str) -> None:
    assert scan(page.encode()) is None


@given(seed=st.integers(0, 1 << 40))
def test_tag_soup_is_read_as_from_the_tree(scan: Scanner, seed: int) -> None:
    assert agrees_with_tree(scan, soup(Random(seed)).encode())
    assert agrees_with_tree(scan, stew(Random(seed)).encode())


@given(body=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
@example(b"<a href=\xff>")
@example(b"\xef\xbb\xbf")
@example(b"<a href=x>\xe2\x82</a>")
def test_arbitrary_bytes_are_read_as_from_the_tree(scan: Scanner, body: bytes) -> None:
    assert agrees_with_tree(scan, body)


def test_live_pages_are_read_as_from_the_tree(scan: Scanner, suites: Path) -> None:
    pages = [gzip.decompress(file.read_bytes()) for file in sorted((suites / "change-ota").glob("*.html.gz"))]
    assert [page[:80] for page in pages if not agrees_with_tree(scan, page)] == []
    assert sum(scan(page) is not None for page in pages) > len(pages) / 2


def test_html5lib_pages_are_read_as_from_the_tree(scan: Scanner, suites: Path) -> None:
    files = (suites / "html5lib/tree-construction").glob("*.dat")
    texts = [text for file in files for text in file.read_bytes().split(b"#data\n")[1:]]
    pages = [text.partition(b"\n#errors")[0] for text in texts]
    contexts = [(b"", b""), (b"<!doctype html><body>", b""), (b"<div><p>", b"<a href=z>t</a>"),
                (b"<a href=q>", b"</a>u"),
              (b"<table><tr><td>", b"</table><a href=i>o</a>")]  # fmt: skip
    assert len(pages) > 500
    assert [page for page in pages for pre, post in contexts if not agrees_with_tree(scan, pre + page + post)] == []


def test_deeply_nested_page_is_rejected(scan: Scanner) -> None:
    for part in ("<div>", "<span>", "<b>", "<table><td>", "<a href=x><p>"):
        assert scan(part.encode() * 600) is None


def test_page_with_too_many_fields_is_rejected(scan: Scanner) -> None:
    assert scan(b"<meta name=a>" * 7_000) is not None
    assert scan(b"<meta name=a>" * 8_000) is None


def test_empty_links_do_not_count_toward_the_limit(scan: Scanner) -> None:
    body = b"<a href=''>x</a>" * 2 + b"".join(b"<a href=/%d>x</a>" % n for n in range(MAX_LINKS + 1))
    assert scan(body) is not None
    assert agrees_with_tree(scan, body)
    assert agrees_with_tree(scan, b"<base href=/q/>" + body)


def test_possible_soft_404_is_rejected(scan: Scanner) -> None:
    assert scan(b"<title>404 not found</title><h1>Gone</h1>") is None
    assert scan(b"<title>Tide</title><h1>Page <i>not found</i></h1>") is None
    assert scan(b"<p>this domain is for sale") is None
    assert scan(b" " * 5000 + b"this domain is for sale") is None
    assert scan(b"this do<pre>&#10;main is for sale") is None
    assert scan(b"<p><noscript><title>x</title></noscript><svg><title>404 not found</title></svg>not found") is None
    assert scan(b"<title>404 not found</title>" + b"<p>a long page about errors" * 300) is not None


def test_ascii_page_in_another_encoding_is_scanned() -> None:
    scanned = scan_page(b"<p>tide", "latin1")
    assert scanned is None or scanned.encoding == "windows-1252"
    assert scan_page("<p>café".encode("latin1"), "latin1") is None


@pytest.mark.parametrize(
    "start",
    [
        '<!-- <script src="x"/> -->',
        "<title>a <script/></title>",
        '<textarea><iframe src="x"/></textarea>',
        "<svg><title/></svg>",
        "<svg><style/></svg>",
        '<script src="x"/>',
        '<SCRIPT src="x"/>',
    ],
)
def test_xhtml_page_is_read_as_from_the_tree(scan: Scanner, start: str) -> None:
    page = f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{start}<a href="y"/>one</body></html>'
    assert agrees_with_tree(scan, page.encode())
    assert (scan(page.encode()) is None) is ("svg" in start or start.startswith(("<script", "<SCRIPT")))


def test_no_scan_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_native_scanner", None)
    assert scan_page(b"<p>tide", "utf-8") is None


def test_no_page_accesses_memory_out_of_bounds(guarded: Callable[[str], None]) -> None:
    guarded(
        """
        from sanderling.fetch.native_links import build_link_table, build_packer
        from sanderling.fingerprint.fast.fast_scan import build_page_scanner
        from sanderling.html.links import extract_metadata
        URL = "http://site.test/a/b?c"
        scan, pack = build_page_scanner(native), build_packer(native)
        for turn in range(6000):
            page = bytearray(soup(dice).encode())
            for _ in range(turn % 4):
                at = dice.randrange(len(page) + 1)
                page[at:at + dice.randrange(3)] = dice.choice(BITS).encode("latin-1")
            scanned = scan(bytes(page[:dice.randrange(len(page) + 1)] if turn % 3 else page), "UTF-8")
            if scanned is not None:
                head = extract_metadata(scanned, URL)
                pack(head, build_link_table(head, scanned, URL), URL, False)
        """
    )
