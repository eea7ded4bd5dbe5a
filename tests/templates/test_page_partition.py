"""Partition of a site into page types without a sample."""

import random

from sanderling.fingerprint.structure import fingerprint_structure
from sanderling.html.parser import parse_html
from sanderling.templates.page_features import PageView
from sanderling.templates.page_partition import build_url_pattern, partition_pages

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
