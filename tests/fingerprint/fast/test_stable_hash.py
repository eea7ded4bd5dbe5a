import gzip
import json
import re
from collections.abc import Callable
from ctypes import CDLL
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
from sanderling.fingerprint.fast.tag_compare import FINGERPRINTED_NAMES
from sanderling.html.native_tables import (
    DATA_SCRIPT_TYPES,
    MAX_IDENTIFIER_CODE_SIZE,
    MAX_SCRIPT_LENGTH,
    XHTML_NAMESPACE,
)
from sanderling.html.parser import parse_html

Hasher = Callable[[bytes], bytes]
PAGE = (
    "<!doctype html><html><head><meta charset=utf-8><title>Tide</title>{0}</head><body><main><h1>Tide</h1>"
    "<p>Sanderlings run along the edge of the waves and pick up what the water leaves behind.</p></main></body></html>"
)
IGNORED = (
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
    '<link rel="alternate" title="%d Shore Street">',
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
    '<script src="/123456789%d/b.js"></script>',  # a build id in a path; fingerprints would ignore it
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
    '<i title="%d Shore Street">',
    '<i title="tide%d@sea.example">',
    '<i title="&#64;%d">',
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
REJECTED = (
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
ODD_DIFFERENCES = (  # visible differences of odd pages: markup, old value, new value
    ("<script>now=%s</script>", "1.5", "15"),  # code without punctuation is not hashed
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
    ('<img src="/gull.png?\u0131d=%s">', "1", "2"),  # matches "i" in patterns that ignore case
    ('<img src="/gull.png?\u017frc=%s">', "1", "2"),
)


@pytest.fixture(scope="session")
def stable_hash(native: CDLL) -> Hasher:
    return build_stable_hasher(native)


def build_page(markup: str, number: int) -> bytes:
    """Return a page with some markup in which %d is a number."""
    return PAGE.format(markup.replace("%d", str(number))).encode()


def is_equal(stable_hash: Hasher, old: bytes, new: bytes) -> bool:
    """Return whether the stable hashes are equal; assert that the fingerprints are then equal too."""
    old_hash = stable_hash(old)
    if not old_hash or old_hash != stable_hash(new):
        return False
    before, after = parse_html(old), parse_html(new)
    if before.encoding == after.encoding and (before.encoding or "").lower() == "utf-8":
        assert fingerprint_page(before) == fingerprint_page(after), (old, new)
    return True


@pytest.mark.parametrize("markup", IGNORED)
def test_ignored_markup_does_not_change_the_hash(stable_hash: Hasher, markup: str) -> None:
    assert is_equal(stable_hash, build_page(markup, 1_111), build_page(markup, 22_222))


@pytest.mark.parametrize("markup", KEPT)
def test_visible_markup_changes_the_hash(stable_hash: Hasher, markup: str) -> None:
    old, new = (stable_hash(build_page(markup, number)) for number in (1_111, 22_222))
    assert old
    assert new
    assert old != new


@pytest.mark.parametrize(("markup", "before", "after"), ODD_DIFFERENCES)
def test_visible_difference_of_odd_page_changes_the_hash(
    stable_hash: Hasher, markup: str, before: str, after: str
) -> None:
    page = markup if markup.startswith("<html") else f"<!doctype html><meta charset=utf-8><title>Tide</title>{markup}"
    old, new = (page.replace("%s", value).encode() for value in (before, after))
    assert fingerprint_page(parse_html(old)) != fingerprint_page(parse_html(new))
    assert not is_equal(stable_hash, old, new)


@pytest.mark.parametrize("name", sorted(FINGERPRINTED_NAMES - {b"aria-controls", b"aria-expanded"}))
def test_fingerprinted_attributes_change_the_hash(stable_hash: Hasher, name: bytes) -> None:
    old, new = (stable_hash(b"<div %s='%s'>" % (name.upper(), value)) for value in (b"gull@sea", b"tern@sea"))
    assert old
    assert old != new
    assert stable_hash(b"<div %s=gull@sea>" % name) != stable_hash(b"<div>")


@pytest.mark.parametrize("markup", REJECTED)
def test_ambiguous_markup_has_no_hash(stable_hash: Hasher, markup: str) -> None:
    assert stable_hash(build_page(markup, 0)) == b""


def test_page_in_another_charset_has_no_hash(stable_hash: Hasher) -> None:
    assert stable_hash("<p>Küste".encode()) != b""
    assert stable_hash("<p>Küste".encode("latin-1")) == b""


def test_scripts_are_hashed_as_in_fingerprints(stable_hash: Hasher) -> None:
    for length in (
        MAX_IDENTIFIER_CODE_SIZE - 1,
        MAX_IDENTIFIER_CODE_SIZE,
        MAX_IDENTIFIER_CODE_SIZE + 1,
        MAX_SCRIPT_LENGTH,
        MAX_SCRIPT_LENGTH + 1,
    ):
        code = "go('a');\r\n".ljust(length + 1, "x")
        for other in (code.replace("go", "to"), code.replace("'a'", "'b'"), code.replace("x", "1", 1)):
            is_equal(stable_hash, build_page(f"<script>{code}</script>", 0), build_page(f"<script>{other}</script>", 0))
    assert stable_hash(b"<script>go()</script>") != stable_hash(b"<script>stop()</script>")
    assert stable_hash(b"<script>'no end()</script>") != stable_hash(b"<script>'no edge()</script>")
    for kind in DATA_SCRIPT_TYPES:
        script = f"<script type={kind.upper()}>[%d, {{}}]</script>"
        assert is_equal(stable_hash, build_page(script, 1), build_page(script, 2))


@pytest.mark.parametrize(
    "markup",
    [
        "<div><button aria-controls=x>More</button><script>go('%s')</script></div><div hidden>An answer</div>",
        "<div class=share-buttons><a href=/share>Share</a> <a href=/s>Tell</a><script>go('%s')</script></div>",
    ],
)
def test_script_length_does_not_change_the_text_around_it(stable_hash: Hasher, markup: str) -> None:
    old, new = (f"<main>{PROSE}{markup}</main>".replace("%s", length * "x") for length in (1, 2_900))
    assert is_equal(stable_hash, build_page(old, 0), build_page(new, 0))


def test_script_in_a_link_is_not_link_text(stable_hash: Hasher) -> None:
    link = "<a href=/share>Share<script>go(%d)</script></a>"
    page = f"<main>{PROSE}<div class=share-buttons>{link} <a href=/now>go(1111) now</a></div></main>"
    assert is_equal(stable_hash, build_page(page, 1_111), build_page(page, 22_222))


def test_boilerplate_names_are_not_hexadecimal() -> None:
    """Ids of hexadecimal digits are dropped: they are no boilerplate names."""
    assert all(set(sign.decode()) - set("abcdef") for sign in REQUIRED_SUBSTRINGS)


@given(st.integers(0, 1 << 32))
def test_equal_hash_implies_equal_fingerprint_on_tag_soup(stable_hash: Hasher, seed: int) -> None:
    dice = Random(seed)
    page = re.sub("option", "b", soup(dice), flags=re.IGNORECASE)  # fingerprints read scripts inside options
    for _ in range(3):
        markup, at = dice.choice((*IGNORED, *KEPT)), dice.randrange(len(page) + 1)
        page = page[:at] + markup + page[at:]
    is_equal(stable_hash, *(page.replace("%d", str(number)).encode() for number in (1_111, 22_222)))


def test_equal_hash_implies_equal_fingerprint_on_live_pages(stable_hash: Hasher, suites: Path) -> None:
    folder, equal_count = suites / "change-ota", 0
    pairs = [json.loads(line) for line in (folder / "pairs.jsonl").read_text().splitlines()]
    for pair in pairs:
        equal_count += is_equal(
            stable_hash, *(gzip.decompress((folder / pair[side]).read_bytes()) for side in ("old", "new"))
        )
    assert equal_count > len(pairs) / 5


def test_packed_hash_belongs_to_a_body() -> None:
    packed = pack_stable_hash(b"12345678", b"digest of one body")
    assert unpack_stable_hash(packed, b"digest of one body") == b"12345678"
    assert unpack_stable_hash(packed, b"another digest") == b""
    assert unpack_stable_hash(b"\0" + packed, b"digest of one body") == b""
    assert unpack_stable_hash(b"", b"digest") == pack_stable_hash(b"", b"digest") == b""


def test_no_hash_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_native_hasher", None)
    assert compute_stable_hash(b"<p>tide") == b""


def test_no_page_accesses_memory_out_of_bounds(guarded: Callable[[str], None]) -> None:
    guarded(
        """
        from tests.fingerprint.fast.test_stable_hash import REJECTED, KEPT, IGNORED
        from sanderling.fingerprint.fast.stable_hash import build_stable_hasher
        stable_hash = build_stable_hasher(native)
        for turn in range(6000):
            page = bytearray(soup(dice).encode())
            for _ in range(3):
                at = dice.randrange(len(page) + 1)
                page[at:at + dice.randrange(3)] = dice.choice([*IGNORED, *KEPT, *REJECTED, *BITS]).encode()
            stable_hash(bytes(page[:dice.randrange(len(page) + 1)] if turn % 3 else page))
        """
    )
