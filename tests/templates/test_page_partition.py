"""Description length: natural sets of pages, and the partition of a site without a sample."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.fingerprint.structure import fingerprint_structure
from sanderling.html.parser import parse_html
from sanderling.templates.page_features import PageView
from sanderling.templates.page_partition import (
    BitCosts,
    ReferencePages,
    build_url_pattern,
    is_concept_size,
    partition_pages,
    select_sets,
)

FRAME = "<title>{title}</title><body><header class=top></header>{main}<footer class=foot></footer>"
BODIES = {
    "products": "<div class=product><h1>x</h1><div class=price>1</div></div>",
    "news": "<article class=story><h1>x</h1></article>",
    "about": "<section class=about><h2>x</h2></section>",
}


def build_view(id_: int, path: str, title: str, main: str) -> PageView:
    document = parse_html(FRAME.format(title=title, main=main).encode())
    return PageView(id_, f"https://a.example{path}", title, fingerprint_structure(document))


def small_site() -> list[PageView]:
    return [
        build_view(n * 10 + m, f"/{kind}/{m}.html", f"{kind} number {m}", body)
        for n, (kind, body) in enumerate(BODIES.items())
        for m in range(6)
    ]


def test_types_of_a_site_of_eighteen_pages_are_separated() -> None:
    found = partition_pages(small_site())
    assert sorted((page_type.pattern, len(page_type.ids)) for page_type in found) == [
        ("/about/*.html", 6),
        ("/news/*.html", 6),
        ("/products/*.html", 6),
    ]


def test_the_partition_does_not_depend_on_the_order_of_the_pages() -> None:
    views = small_site()
    shuffled = random.Random(3).sample(views, len(views))
    first, second = partition_pages(views), partition_pages(shuffled)
    assert [(t.pattern, set(t.ids)) for t in first] == [(t.pattern, set(t.ids)) for t in second]


def test_a_type_of_two_pages_is_found() -> None:
    contact = "<form class=contact><fieldset class=name></fieldset><table class=hours></table></form>"
    views = [*small_site(), *(build_view(50 + n, f"/contact/{n}.html", f"contact {n}", contact) for n in range(2))]
    assert ("/contact/*.html", 2) in [(t.pattern, len(t.ids)) for t in partition_pages(views)]


def test_pages_of_one_preformatted_block_are_a_type() -> None:
    views = small_site() + [
        PageView(60 + n, f"https://a.example/rfc/rfc{n}.txt.html", f"RFC {n}", fingerprint_structure(document))
        for n in range(6)
        for document in [parse_html(b"<title>RFC</title><body><pre>" + b"x\n" * 9_000)]
    ]
    assert ("/rfc/*.txt.html", 6) in [(t.pattern, len(t.ids)) for t in partition_pages(views)]


def test_pages_in_twelve_languages_are_one_type() -> None:
    languages = [f"{a}{b}" for a in "abc" for b in "wxyz"]
    views = [
        build_view(n * 100 + m, f"/{language}/{kind}/{m}.html", f"{language}word {m}", body)
        for n, language in enumerate(languages)
        for m, (kind, body) in enumerate(list(BODIES.items())[:2] * 3)
    ]
    found: dict[str, set[int]] = {kind: set() for kind in ("products", "news")}
    leaf = {id_: number for number, t in enumerate(partition_pages(views)) for id_ in t.ids}
    for view in views:
        found["products" if "/products/" in view.url else "news"].add(leaf[view.id])
    assert [len(leaves) for leaves in found.values()] == [1, 1]


def test_patterns_of_urls() -> None:
    assert build_url_pattern(["https://a.example/x/1.html", "https://a.example/x/2.html"]) == "/x/*.html"
    assert build_url_pattern(["https://a.example/a/1", "https://a.example/b/2"]) == "/*/*"
    assert build_url_pattern(["https://a.example/a/b/1", "https://a.example/a/2"]) == "/a/**/*"
    assert build_url_pattern(["https://a.example/"]) == "/"
    assert build_url_pattern(["https://a.example/de/product-1.html", "https://a.example/fr/product-2.html"]) == (
        "/*/product-*.html"
    )
    assert build_url_pattern(["https://a.example/a-b", "https://a.example/a-b-b"]) == "/a-*"
    assert build_url_pattern(["https://a.example/x-", "https://a.example/x--"]) == "/x-*"


PRODUCT, PRICE, NEWS, AUTHOR, ODD, EVEN = (4 * n for n in range(1, 7))


def build_pages() -> list[frozenset[int]]:
    """Thirty products, some without a price, and thirty news pages; odd and even tell nothing else."""
    pages = [frozenset({PRODUCT} if n % 10 == 0 else {PRODUCT, PRICE}) for n in range(30)]
    return [page | {(ODD, EVEN)[n % 2]} for n, page in enumerate([*pages, *[frozenset({NEWS, AUTHOR})] * 30])]


def test_a_type_saves_bits_and_an_accidental_feature_saves_fewer() -> None:
    reference = ReferencePages(build_pages())
    assert reference.measure_saving(PRODUCT) == reference.measure_saving(NEWS)
    assert reference.measure_saving(PRODUCT) > reference.measure_saving(PRICE) > reference.measure_saving(ODD)


@pytest.mark.parametrize("feature", [99, 4])
def test_pages_that_the_reference_does_not_have_save_nothing(feature: int) -> None:
    assert ReferencePages([]).measure_saving(feature) == 0.0
    assert ReferencePages([frozenset({4}), frozenset({8})]).measure_saving(feature) == 0.0


def test_equal_sets_are_one_and_each_view_weighs_the_same() -> None:
    postings = {4: 0b0111, 8: 0b0111, 5: 0b0011, 9: 0b1100}  # one set of view 0, two of view 1
    found = select_sets(postings, 4, 1, 10)
    assert {(one.feature, one.pages): one.weight for one in found} == {
        (4, 0b0111): 1.0,
        (5, 0b11): 0.5,
        (9, 0b1100): 0.5,
    }


@given(st.integers(1, 60), st.data())
def test_a_split_never_costs_more_bits_than_the_whole(size: int, data: st.DataObject) -> None:
    left = data.draw(st.integers(0, size))
    inside, outside = data.draw(st.integers(0, left)), data.draw(st.integers(0, size - left))
    costs = BitCosts(size)
    assert costs.compute_split((left, size - left), inside, outside) <= costs.compute(size, inside + outside) + 1e-6


def test_the_smallest_concepts_grow_with_the_site_to_a_bound() -> None:
    assert [is_concept_size(2, count) for count in (3, 99, 200, 10_000)] == [True, True, False, False]
    assert is_concept_size(4, 1_000_000)
    assert not is_concept_size(20, 20)
