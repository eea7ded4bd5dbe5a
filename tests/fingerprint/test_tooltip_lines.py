import pytest

from sanderling.changes.classify import ChangeKind, compare_fingerprints
from sanderling.changes.word_report import build_diff_report, parse_version
from sanderling.content.user_rules import UserRules
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.fast.compare import PreviousVersion, build_comparison_fingerprints
from sanderling.fingerprint.model import encode_fingerprint
from sanderling.fingerprint.tooltip_lines import MAX_TOOLTIP_LINES
from sanderling.html.parser import parse_html

PAGE = (
    "<!doctype html><meta charset=utf-8><title>Harbor</title><main><h1>Harbor</h1>"
    "<p>The office is open on all days of the week, and the harbor master answers questions of visitors.</p>"
    "<p>Write to <span {}>the office</span> before you come.</p></main><footer><i {}>Imprint</i></footer>"
)
ADDRESSES = (
    ("office@harbor.example", "desk@harbor.example"),
    ("Harbor office, 12 Shore Street", "Harbor office, 14 Shore Street"),
    ("call +49 30 1234567", "call +49 30 1234568"),
    ("Hafenstraße 7", "Hafenstraße 9"),
    ("office&#64;harbor.example", "desk&#64;harbor.example"),
)
OTHERS = (
    ("posted 3 hours ago", "posted 5 hours ago"),
    ("International Harbor Office", "The International Harbor Office"),
    ("1,204 views", "1,377 views"),
    ("2026-05-01T10:00:00", "2026-05-02T11:00:00"),
)


def build_page(tooltip: str, footer_tooltip: str = "") -> bytes:
    return PAGE.format(f'title="{tooltip}"', f'title="{footer_tooltip}"').encode()


def compare_pages(old: bytes, new: bytes, rules: UserRules | None = None) -> tuple[ChangeKind, ...]:
    before, after = (
        encode_fingerprint(fingerprint_page(parse_html(body), rules or UserRules())) for body in (old, new)
    )
    return compare_fingerprints(before, after).kinds


def compare_visits(old: bytes, new: bytes) -> tuple[ChangeKind, ...]:
    """Compare as a worker does, with all short cuts."""
    found = build_comparison_fingerprints(parse_html(new), new, PreviousVersion(old, "utf-8"))
    return compare_fingerprints(found.before or b"", found.after or found.page or b"").kinds


@pytest.mark.parametrize(("old", "new"), ADDRESSES)
def test_address_in_a_tooltip_is_content(old: str, new: str) -> None:
    assert compare_pages(build_page(old), build_page(new)) == (ChangeKind.CONTENT,)
    assert compare_pages(build_page("x", old), build_page("x", new)) == (ChangeKind.CONTENT,)
    assert compare_pages(build_page("x"), build_page(new)) == (ChangeKind.CONTENT,)
    assert compare_visits(build_page(old), build_page(new)) == (ChangeKind.CONTENT,)


@pytest.mark.parametrize(("old", "new"), OTHERS)
def test_other_tooltips_are_ignored(old: str, new: str) -> None:
    assert compare_pages(build_page(old), build_page(new)) == ()
    assert compare_visits(build_page(old), build_page(new)) == ()


def test_diff_shows_the_words_of_a_tooltip() -> None:
    old, new = (parse_version(build_page(address)) for address in ADDRESSES[0])
    (row,) = build_diff_report(old, new).rows
    assert [piece.text for piece in row.pieces] == ["office", "desk", "@harbor.example"]


def test_tooltip_in_an_ignored_element_is_ignored() -> None:
    old, new = (build_page("x", address) for address in ADDRESSES[0])
    assert compare_pages(old, new, UserRules(ignore=("footer",))) == ()


def test_tooltips_are_bounded_and_distinct() -> None:
    many = "".join(f'<i title="a{number}@harbor.example">x</i>' for number in range(2 * MAX_TOOLTIP_LINES))
    plain, full = (fingerprint_page(parse_html(build_page("x") + part.encode())) for part in ("", many))
    twice = fingerprint_page(parse_html(build_page("x") + 2 * b'<i title="a@harbor.example">x</i>'))
    assert len(full.block_roles) - len(plain.block_roles) == MAX_TOOLTIP_LINES + 1
    assert len(twice.block_roles) - len(plain.block_roles) == 2
