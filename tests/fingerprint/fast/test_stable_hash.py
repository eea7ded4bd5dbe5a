"""What is left of a page without what no mark sees."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.tag_soup import soup

from sanderling.content.class_names import REQUIRED_SUBSTRINGS
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.fast import stable_hash as module
from sanderling.fingerprint.fast.stable_hash import (
    build_stable_hasher,
    compute_stable_hash,
    pack_stable_hash,
    unpack_stable_hash,
)
from sanderling.fingerprint.fast.tag_compare import FINGERPRINTED_ATTRIBUTES
from sanderling.fingerprint.scripts import DATA_SCRIPT_TYPES, MAX_IDENTIFIER_CODE_SIZE, MAX_SCRIPT_LENGTH
from sanderling.html.native import NativeLibrary
from sanderling.html.parser import parse_html
from sanderling.html.xhtml import XHTML_NAMESPACE

Sifter = Callable[[bytes], bytes]
PAGE = (
    "<!doctype html><html><head><meta charset=utf-8><title>Tide</title>{0}</head><body><main><h1>Tide</h1>"
    "<p>Sanderlings run along the edge of the waves and pick up what the water leaves behind.</p></main></body></html>"
)
UNSEEN = (
    "<!-- made in %d ms -->",
    "<!-- <b>made</b> in %d ms -->",
    '<meta name="csrf-token" content="%d">',
    '<link rel="preload" href="/a%d.js">',
    '<link rel="stylesheet" href="/a.css?v=%d">',
    '<link rel="stylesheet" href="/a.%d87654321.css">',
    '<script nonce="%d">go()</script>',
    '<script src="/a/b.js?v=%d"></script>',
    '<script src="/Xk3LmZ9QpR7sT1uV%d/b.js"></script>',
    '<script type="application/json">{"now": %d}</script>',
    "<script>var now = %d, name = 'a%d';</script>",
    f'<script>go([{"now()," * 1000}"%d"])</script>',
    '<div data-now="%d" title="%d"></div>',
    '<button aria-controls="n%d">more</button>',
    '<i id="num%d"></i>',
    '<i id="%dfe-0a%d"></i>',
    '<form action="/go?at=%d"><input type="hidden" name="csrf" value="%d"></form>',
    '<a href="/mail#%d">mail</a>',
    '<img src="/gull.png?X-Date=%d&amp;X-Sum=%d" alt="a gull">',
    '<iframe src="/map?at=%d"></iframe>',
    "<svg><desc>a gull</desc></svg><script>go('<%d>')</script>",
    "<math><mi>x</mi><mo>=</mo></math><script>go('<%d>')</script>",
    "<pre>tide</pre><table></table><script>go(%d)</script>",
)
KEPT = (
    "words %d",
    '<p class="a%d">',
    "<p style='top: %dpx'>",
    "<b%d>",
    '<meta http-equiv="content-language" content="%d">',
    '<script src="/a%d/b.js"></script>',
    '<script src="/123456789%d/b.js"></script>',  # a number of a build in a path; marks would not see it
    '<link rel="next stylesheet" href="/a%d.css">',
    '<link rel="&#115;tylesheet" href="/a%d.css">',
    '<link rel="stylesheet" href="/a&#63;%d.css">',
    '<a href="/%d">other</a>',
    '<a href="#%d">here</a>',
    '<a href="/?id=%d">other</a>',
    '<i id="num%d&#48;"></i>',
    '<img src="/gull.png?id=%d">',
    '<img src="/gull.png?&#105;d=%d">',
    '<input type="text" value="%d">',
    '<input type="text" type="hidden" value="%d">',
    "<title>Tide %d</title>",
    "<textarea><b nonce=%d></textarea>",
    "<style>b { top: %dpx }</style>",
    "<iframe><b nonce=%d></iframe>",
    "<pre><script>go(%d)</script></pre>",
    "<pre><table></pre><script>go(%d)</script>",
    "<svg><script>go(%d)</script></svg>",
    "<plaintext><b nonce=%d>",
    "<!doctype html %d>",
    "<?xml %d?>",
    "1 <2 nonce=%d>",
)
DOUBTFUL = (
    "\0",
    "<!-- no end",
    "<p title='no end>",
    "<svg><![CDATA[ > <b nonce=1> ]]></svg>",
    '<script src="a"/>',
    "<script><!-- <script> </script> --></script>",
    "<iframe></noscript><p></iframe>",
    "<svg><title><plaintext></title></svg>",
)
HEAD = '<head><meta charset="utf-8"/><title>Tide</title></head>'
XML = f'<html xmlns="{XHTML_NAMESPACE.decode()}">{HEAD}<body>{{}}</body></html>'
PROSE = "<h1>Tide</h1>" + 5 * "<p>Sanderlings run along the edge of the waves and pick up what is there.</p>"
TOLD = (  # what is seen of odd pages: a piece, and what stands in it before and after
    ("<script>now=%s</script>", "1.5", "15"),  # code without bones counts for nothing
    ("<script>now=%s</script>", "1", "'1'"),
    ("<frameset><script>go('%s')</script></frameset>", "<frame src=tide>", "<frame src=wave>"),
    ("<svg></math><script>go('%s')</script></svg>", "<b class=tide>", "<b class=wave>"),
    ("<svg><desc><p></svg></p></desc><script>go('%s')</script></svg>", "<b class=tide>", "<b class=wave>"),
    ("<math><mi><p></math></p></mi><script>go('%s')</script></math>", "<b class=tide>", "<b class=wave>"),
    (PROSE + "<svg><link rel=x id=%s><text>Some words</text></link></svg>", "cookie-banner", "gull"),
    ("<pre><table></pre><tr><td><script>go(%s)</script></table></pre>", "1", "2"),
    ("<pre><object></pre><script>go(%s)</script></object></pre>", "1", "2"),
    (XML.format('<style><style/></style><div class="tide"/><p>Words</p><!-- %s -->'), "gull", "gull -- tern"),
    (XML.format('<div class="tide"/><p>Words</p><!-- %s --><plaintext><script/></plaintext>'), "gull", "gull -- tern"),
    (
        "<svg><iframe>&lt;/noscript&lt;</iframe></svg><noscript><!-- </noscript><b class=%s> --></noscript>",
        *("tide", "wave"),
    ),
    ('<img src="/gull.png?\u0131d=%s">', "1", "2"),  # "i" for patterns that know no case
    ('<img src="/gull.png?\u017frc=%s">', "1", "2"),
)


@pytest.fixture(scope="session")
def left(native: NativeLibrary) -> Sifter:
    return build_stable_hasher(native)


def written(piece: str, number: int) -> bytes:
    """A page with a piece in its head or body, which has a number in it."""
    return PAGE.format(piece.replace("%d", str(number))).encode()


def is_sure(left: Sifter, old: bytes, new: bytes) -> bool:
    """See that marks see no difference between two pages of which the same is left; say whether it is."""
    mine = left(old)
    if not mine or mine != left(new):
        return False
    before, after = parse_html(old), parse_html(new)
    if before.encoding == after.encoding and (before.encoding or "").lower() == "utf-8":
        assert fingerprint_page(before) == fingerprint_page(after), (old, new)
    return True


@pytest.mark.parametrize("piece", UNSEEN)
def test_what_no_mark_sees_is_taken_out(left: Sifter, piece: str) -> None:
    assert is_sure(left, written(piece, 1_111), written(piece, 22_222))


@pytest.mark.parametrize("piece", KEPT)
def test_what_may_be_seen_stays(left: Sifter, piece: str) -> None:
    old, new = (left(written(piece, number)) for number in (1_111, 22_222))
    assert old
    assert new
    assert old != new


@pytest.mark.parametrize(("piece", "before", "after"), TOLD)
def test_what_is_seen_of_odd_pages_is_not_taken_out(left: Sifter, piece: str, before: str, after: str) -> None:
    page = piece if piece.startswith("<html") else f"<!doctype html><meta charset=utf-8><title>Tide</title>{piece}"
    old, new = (page.replace("%s", value).encode() for value in (before, after))
    assert fingerprint_page(parse_html(old)) != fingerprint_page(parse_html(new))
    assert not is_sure(left, old, new)


@pytest.mark.parametrize("name", sorted(FINGERPRINTED_ATTRIBUTES - {b"aria-controls", b"aria-expanded"}))
def test_every_attribute_that_a_mark_may_see_stays(left: Sifter, name: bytes) -> None:
    old, new = (left(b"<div %s='%s'>" % (name.upper(), value)) for value in (b"gull", b"tern"))
    assert old
    assert old != new
    assert left(b"<div %s=gull>" % name) != left(b"<div>")


@pytest.mark.parametrize("piece", DOUBTFUL)
def test_where_tags_may_not_be_what_they_seem_nothing_is_said(left: Sifter, piece: str) -> None:
    assert left(written(piece, 0)) == b""


def test_nothing_is_said_of_pages_in_other_charsets(left: Sifter) -> None:
    assert left("<p>Küste".encode()) != b""
    assert left("<p>Küste".encode("latin-1")) == b""


def test_scripts_are_cut_as_marks_cut_them(left: Sifter) -> None:
    for length in (
        MAX_IDENTIFIER_CODE_SIZE - 1,
        MAX_IDENTIFIER_CODE_SIZE,
        MAX_IDENTIFIER_CODE_SIZE + 1,
        MAX_SCRIPT_LENGTH,
        MAX_SCRIPT_LENGTH + 1,
    ):
        code = "go('a');\r\n".ljust(length + 1, "x")
        for other in (code.replace("go", "to"), code.replace("'a'", "'b'"), code.replace("x", "1", 1)):
            is_sure(left, written(f"<script>{code}</script>", 0), written(f"<script>{other}</script>", 0))
    assert left(b"<script>go()</script>") != left(b"<script>stop()</script>")
    assert left(b"<script>'no end()</script>") != left(b"<script>'no edge()</script>")
    for kind in DATA_SCRIPT_TYPES:
        script = f"<script type={kind.upper()}>[%d, {{}}]</script>"
        assert is_sure(left, written(script, 1), written(script, 2))


@pytest.mark.parametrize(
    "piece",
    [
        "<div><button aria-controls=x>More</button><script>go('%s')</script></div><div hidden>An answer</div>",
        "<div class=share-buttons><a href=/share>Share</a> <a href=/s>Tell</a><script>go('%s')</script></div>",
    ],
)
def test_how_long_a_script_is_makes_no_others_of_the_words_around_it(left: Sifter, piece: str) -> None:
    old, new = (f"<main>{PROSE}{piece}</main>".replace("%s", length * "x") for length in (1, 2_900))
    assert is_sure(left, written(old, 0), written(new, 0))


def test_what_a_script_in_a_link_says_is_not_its_words(left: Sifter) -> None:
    link = "<a href=/share>Share<script>go(%d)</script></a>"
    page = f"<main>{PROSE}<div class=share-buttons>{link} <a href=/now>go(1111) now</a></div></main>"
    assert is_sure(left, written(page, 1_111), written(page, 22_222))


def test_a_name_of_furniture_has_a_letter_that_is_no_digit() -> None:
    """Ids of digits of base 16 alone are taken out: none sounds like a menu."""
    assert all(set(sign.decode()) - set("abcdef") for sign in REQUIRED_SUBSTRINGS)


@given(st.integers(0, 1 << 32))
def test_of_pages_nobody_would_write_no_more_is_taken_out_than_marks_miss(left: Sifter, seed: int) -> None:
    dice = Random(seed)
    page = re.sub("option", "b", soup(dice), flags=re.IGNORECASE)  # of which marks see scripts that nobody reads
    for _ in range(3):
        piece, at = dice.choice((*UNSEEN, *KEPT)), dice.randrange(len(page) + 1)
        page = page[:at] + piece + page[at:]
    is_sure(left, *(page.replace("%d", str(number)).encode() for number in (1_111, 22_222)))


def test_no_more_is_taken_out_of_live_pages_than_marks_miss(left: Sifter, suites: Path) -> None:
    folder, sure = suites / "change-ota", 0
    pairs = [json.loads(line) for line in (folder / "pairs.jsonl").read_text().splitlines()]
    for pair in pairs:
        sure += is_sure(left, *(gzip.decompress((folder / pair[side]).read_bytes()) for side in ("old", "new")))
    assert sure > len(pairs) / 5


def test_what_is_left_is_tied_to_its_body() -> None:
    mark = pack_stable_hash(b"12345678", b"digest of one body")
    assert unpack_stable_hash(mark, b"digest of one body") == b"12345678"
    assert unpack_stable_hash(mark, b"another digest") == b""
    assert unpack_stable_hash(b"\0" + mark, b"digest of one body") == b""
    assert unpack_stable_hash(b"", b"digest") == pack_stable_hash(b"", b"digest") == b""


def test_without_the_library_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_native_hasher", None)
    assert compute_stable_hash(b"<p>tide") == b""


def test_no_page_reads_or_writes_beyond_its_room(guarded: Callable[[str], None]) -> None:
    guarded(
        """
        from tests.fingerprint.fast.test_stable_hash import DOUBTFUL, KEPT, UNSEEN
        from sanderling.fingerprint.fast.stable_hash import sifter
        left = sifter(native)
        for turn in range(6000):
            page = bytearray(soup(dice).encode())
            for _ in range(3):
                at = dice.randrange(len(page) + 1)
                page[at:at + dice.randrange(3)] = dice.choice([*UNSEEN, *KEPT, *DOUBTFUL, *BITS]).encode()
            left(bytes(page[:dice.randrange(len(page) + 1)] if turn % 3 else page))
        """
    )
