"""The structure index: looking up pages that are built alike."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.db.connection import apply_migrations, connect_sqlite
from sanderling.db.schema.templates import MIGRATIONS
from sanderling.fingerprint.structure import decode_features, fingerprint_structure
from sanderling.html.parser import parse_html
from sanderling.templates.structure_bands import BANDS, compute_band_keys
from sanderling.templates.template_index import IndexedPage, Structures
from sanderling.templates.template_views import PageView


def signature(main: str) -> bytes:
    menu = "".join(f"<div class=m{chr(97 + n)}></div>" for n in range(12))
    return fingerprint_structure(parse_html(f"<body><nav class=menu>{menu}</nav><main>{main}</main><footer>".encode()))


PRODUCT = signature("<div class=product><h1></h1><div class=price></div></div>")
REVIEWED = signature("<div class=product><h1></h1><div class=price></div></div><section class=reviews></section>")
NEWS = signature("<article class=story><h1></h1><div class=byline></div></article>")
OTHER = fingerprint_structure(parse_html(b"<body><form><fieldset><table><h2>"))


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Structures]:
    db = connect_sqlite(tmp_path / "c.db")
    apply_migrations(db, {"structure": MIGRATIONS})
    structures = Structures(db)
    pages = [IndexedPage(n, 1, f"http://h/p/{n}", "P", REVIEWED if n % 3 else PRODUCT) for n in range(1, 31)]
    pages += [IndexedPage(n, 1, f"http://h/n/{n}", "N", NEWS) for n in range(31, 51)]
    pages += [IndexedPage(99, 2, "http://other/p/1", "P", PRODUCT), IndexedPage(98, 2, "http://other/x", "X", OTHER)]
    structures.add(pages)
    structures.relearn(1, [PageView(p.id, p.url, p.title, decode_features(p.signature)) for p in pages if p.site == 1])
    yield structures
    db.close()


def sample(id_: int) -> PageView:
    """A page of the first site: products up to 30, every third without reviews, then news."""
    build = NEWS if id_ > 30 else REVIEWED if id_ % 3 else PRODUCT
    return PageView(id_, f"http://h/{'n' if id_ > 30 else 'p'}/{id_}", "N" if id_ > 30 else "P", decode_features(build))


def test_the_pages_of_a_template_are_found_from_one_of_them_the_most_alike_first(index: Structures) -> None:
    found = index.find_same_template(1, sample(3))
    assert {match.id for match in found} == set(range(1, 31))
    assert found[0].similarity == 1.0
    assert {match.id for match in found if match.similarity == 1.0} == set(range(3, 31, 3))


def test_a_site_that_was_not_learned_has_nothing_alike(index: Structures) -> None:
    assert index.find_same_template(7, sample(1)) == []


def test_a_signature_finds_pages_of_every_site(index: Structures) -> None:
    found = index.like_signature(PRODUCT, least=0.85, limit=1000)
    assert {match.id for match in found} == {*range(1, 31), 99}


def test_a_limit_keeps_the_most_alike(index: Structures) -> None:
    found = index.like_signature(PRODUCT, least=0.1, limit=5)
    assert len(found) == 5
    assert all(match.similarity == 1.0 for match in found)


def test_a_page_that_comes_later_joins_its_template(index: Structures) -> None:
    index.add([IndexedPage(60, 1, "http://h/n/60", "N", NEWS)])
    assert 60 in {match.id for match in index.find_same_template(1, sample(31))}
    assert not index.is_stale(1)


def test_a_site_that_grew_by_half_is_learned_again(index: Structures) -> None:
    index.add([IndexedPage(100 + n, 1, f"http://h/n/{n}", "N", NEWS) for n in range(25)])
    assert index.is_stale(1)
    assert index.is_stale(2)


def test_a_page_that_is_gone_is_not_found(index: Structures) -> None:
    index.remove([31])
    assert 31 not in {match.id for match in index.find_same_template(1, sample(32))}


def test_a_page_built_anew_changes_its_shape(index: Structures) -> None:
    index.add([IndexedPage(31, 1, "http://h/p/31", "P", PRODUCT)])
    assert index.signature(31) == PRODUCT
    assert 31 in {match.id for match in index.find_same_template(1, sample(1))}


def test_what_was_learned_outlives_the_program(index: Structures) -> None:
    again = Structures(index.db)
    assert again.find_same_template(1, sample(3)) == index.find_same_template(1, sample(3))
    assert not again.is_stale(1)


def test_like_signatures_share_keys_and_unlike_ones_do_not() -> None:
    assert set(compute_band_keys(decode_features(PRODUCT))) & set(compute_band_keys(decode_features(REVIEWED)))
    assert not set(compute_band_keys(decode_features(PRODUCT))) & set(compute_band_keys(decode_features(OTHER)))
    assert len(compute_band_keys(decode_features(PRODUCT))) == BANDS
    assert compute_band_keys(frozenset()) == []


def test_a_sample_with_a_list_that_few_have_finds_those_that_have_it(index: Structures) -> None:
    entries = "<div class=cited></div>" * 3
    cited = signature(f"<div class=product><h1></h1><div class=price></div></div>{entries}<hr>")
    index.add([IndexedPage(n, 1, f"http://h/p/{n}", "P", PRODUCT) for n in range(200, 260)])
    index.add([IndexedPage(n, 1, f"http://h/p/{n}", "P", cited) for n in (300, 301, 302)])
    found = index.find_same_template(1, PageView(300, "http://h/p/300", "P", decode_features(cited)))
    assert {match.id for match in found} == {300, 301, 302}
    assert {300, 301, 302} < {match.id for match in index.find_same_template(1, sample(3))}
