"""Tests of main content where its detection is uncertain."""

import pytest
from tests.support.parity import agree

from sanderling.changes.classify import ChangeKind, classify_diff
from sanderling.content.extract import extract_blocks
from sanderling.html.parser import parse_html

WORDS = "Sanderlings run along the edge of the waves and pick small crabs from the wet sand"
TEXT = "".join(f"<p>{WORDS}, as clause {n} of this document says at some length.</p>" for n in range(12))
SHORT = "".join(f"<p>{WORDS}, as the article says in its paragraph {n} for all readers.</p>" for n in range(7))
NOISY = "".join(f"<p>A long teaser {n} about terns, gulls and other birds of the open sea.</p>" for n in range(60))
EDIT = ("edge of the waves", "border of the sea")


def is_content(old: str, new: str) -> bool:
    """Return whether a change is reported as content; checks that fast paths and full fingerprints agree."""
    return ChangeKind.CONTENT in classify_diff(agree(old.encode(), new.encode())).kinds


def main_text(page: str) -> str:
    blocks = extract_blocks(parse_html(page.encode()))
    return "\n".join(line for line, is_main in zip(blocks.lines, blocks.main_mask, strict=True) if is_main)


PAGES = {
    "text for readers without scripts": f"<div id=root></div><noscript>{TEXT}</noscript>",
    "short text for readers without scripts": "<div id=root></div><noscript>At the edge of the waves</noscript>",
    "text without scripts next to a menu": f"<nav>Menu</nav><noscript>{TEXT}</noscript><p>Loading</p>",
    "a sidebar by tag, longer than the article": f"<article><h1>A</h1>{SHORT}</article><aside>{NOISY}</aside>",
    "a sidebar by name, longer than the article":
        f"<div><h1>A</h1><div>{SHORT}</div></div><div class=sidebar>{NOISY}</div>",
    "a sidebar longer than a short article":
        f"<div><h1>A</h1><div><p>{WORDS}.</p></div></div><div class=sidebar><div>{NOISY}</div></div>",
    "comments longer than a short article":
        f"<div><h1>A</h1><p>{WORDS}.</p></div><div id=comments><div>{NOISY}</div></div>",
    "an article without a title below a long sidebar":
        f"<div class=sidebar><div>{NOISY}</div></div><div><p>{WORDS}.</p></div>",
    "an article without a title above long comments":
        f"<div><p>{WORDS}.</p></div><div id=comments><div>{NOISY}</div></div>",
    "a part that React streams": f'<div hidden id="S:2">{TEXT}</div><div><template id="B:2"></template></div>',
    "a part that React streams into the main part":
        f'<main>{NOISY}<template id="B:2"></template></main><div hidden id="S:2">{SHORT}</div>',
    "the second of two articles":
        f"<div><article><h1>A</h1>{NOISY}</article></div><div><article><h1>B</h1><p>{WORDS}, {WORDS}, {WORDS}.</p>"
        "<button>Share</button><p><a href=/b>Permalink</a></p></article></div>",
    "the first of two articles":
        f"<div><article><h1>B</h1><p>{WORDS}, {WORDS}, {WORDS}.</p><p><a href=/b>Permalink</a></p></article></div>"
        f"<div><article><h1>A</h1>{NOISY}</article></div>",
    "a section of a policy about cookies":
        f"<div>{TEXT.replace('edge', 'end')}<section class=cookie><h2>Cookies</h2><table><tr><td>edge of the waves</td>"
        "<td>1 year</td></tr></table></section></div>",
    "a tooltip": f"<main>{NOISY}<p>Write to us <span role=tooltip>at the edge of the waves</span></p></main>",
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_edit_is_content(name: str) -> None:
    assert is_content(PAGES[name], PAGES[name].replace(*EDIT))


@pytest.mark.parametrize(
    "name", ["with-sidebar", "and-w-sidebar", "sticky-sidebar-parent", "has-menu", "no-footer", "nosidebar", "withMenu"]
)
def test_qualifying_class_name_does_not_make_article_boilerplate(name: str) -> None:
    page = f"<div class={name}><h1>A</h1><p>{WORDS}.</p></div><div>{NOISY}</div>"
    short = f"<div class={name}><p>{WORDS}.</p></div><div>{TEXT.replace('edge', 'end')}</div>"
    assert WORDS in main_text(short)
    assert is_content(page, page.replace(*EDIT))


@pytest.mark.parametrize("name", ["sidebar", "site-footer", "main-menu", "menu-item-has-children", "cookie-banner"])
def test_naming_class_name_makes_element_boilerplate(name: str) -> None:
    page = f"<div class={name}><p>{WORDS}.</p></div><div>{NOISY}</div>"
    assert not is_content(page, page.replace(*EDIT))


def test_cookie_banner_is_boilerplate() -> None:
    banner = f"<div class=cookie><h2>Cookies</h2><p>{WORDS}</p><button>OK</button></div>"
    page = f"<div>{TEXT.replace('edge', 'end')}</div>{banner}"
    assert not is_content(page, page.replace(*EDIT))


def test_long_sidebar_next_to_article_is_boilerplate() -> None:
    page = f"<article><h1>A</h1>{SHORT}</article><aside>{NOISY}</aside>"
    assert "teaser" not in main_text(page)
    assert not is_content(page, page.replace("teaser 7", "teaser about 7"))


def test_teasers_are_boilerplate() -> None:
    teaser = f"<article><h2><a href=/b>Terns</a></h2><p>{WORDS}, {WORDS}, {WORDS}.</p></article>"
    page = f"<div><article><h1>A</h1>{NOISY * 2}</article></div><div>{teaser}</div>"
    assert not is_content(page, page.replace(*EDIT))


@pytest.mark.parametrize(
    "body",
    [
        "<div class=banner><p>{}</p></div><div><h1>Policy</h1>{}</div>",
        "<div class=top-banner><p>{}</p></div><main><h1>Policy</h1>{}</main>",
        "<header><p>{}</p></header><div><div><h1>Policy</h1>{}</div></div>",
    ],
)
def test_policy_notice_above_text_is_content(body: str) -> None:
    notice = "We are changing our privacy policy. The new version takes effect on 1 July 2026."
    sale = "Summer sale: all tickets at half the price until 1 July 2026, only in our shop."
    assert is_content(body.format("Welcome to the harbour of the island.", TEXT), body.format(notice, TEXT))
    assert is_content(body.format(notice, TEXT), body.format(notice.replace("1 July", "9 July"), TEXT))
    for coming in (
        "We will be updating our Privacy Notice next month.",
        "From June 1 this agreement no longer applies.",
    ):
        assert is_content(body.format("Welcome to the harbour of the island.", TEXT), body.format(coming, TEXT))
    assert not is_content(body.format("Welcome to the harbour of the island.", TEXT), body.format(sale, TEXT))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Harbour Company, 12 Old Quay Street, Leith", "Harbour Company, 7 New Market Street, Leith"),
        ("privacy@harbour.example", "dpo@harbour.example"),
        ("Hafen GmbH, Hauptstraße 12, Emden", "Hafen GmbH, Deichstraße 7, Emden"),
        ("12, rue de la Mer, Brest", "7, rue du Port, Brest"),
        ("Call us: +44 20 7946 0018", "Call us: +44 20 7946 0999"),
        ("Tel. 040 1234567", "Tel. 040 7654321"),
        ("ul. Prosta 20, 00-850 Warszawa", "ul. Nowa 3, 00-850 Warszawa"),
        ("4-2-8 Shibakoen, Minato-ku, Tokyo 105-0011", "1-1-2 Oshiage, Sumida-ku, Tokyo 131-0045"),
        ("The Old Quay, Leith EH6 6JJ", "The New Market, Leith EH6 7DN"),
    ],
)
def test_address_in_footer_is_content(old: str, new: str) -> None:
    page = "<main><h1>Policy</h1>{}</main><footer><p>{}</p><p>Imprint of the season</p></footer>"
    assert is_content(page.format(TEXT, old), page.format(TEXT, new))
    assert is_content(page.replace("main>", "div>").format(TEXT, old), page.replace("main>", "div>").format(TEXT, new))
    assert not is_content(page.format(TEXT, old), page.replace("season", "summer").format(TEXT, old))


@pytest.mark.parametrize(
    "line",
    ["March 15, 2027 The harbour", "Offer ends 5 May. Terms apply.", "+1 234 likes", "Page 12, 204 Results", "v1-2345"],
)
def test_number_in_footer_is_boilerplate(line: str) -> None:
    page = "<main><h1>Policy</h1>{}</main><footer><p>{}</p></footer>"
    assert not is_content(page.format(TEXT, "Imprint"), page.format(TEXT, line))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<p>Page generated on 2026-05-01 10:00 in 0.213 seconds</p>",
         "<p>Page generated on 2026-05-02 11:20 in 0.187 seconds</p>"),
        ("<p>Page generated on May 1, 2026 in 0.213 seconds.</p>",
         "<p>Page generated on May 2, 2026 in 0.187 seconds.</p>"),
        ("<p>Updated yesterday</p>", "<p>Updated this week</p>"),
        ("<p>This page was generated on Tue, 17 Nov 2026 10:22:31 GMT in 0.0321 s with 12 queries</p>",
         "<p>This page was generated on Wed, 18 Nov 2026 09:01:07 GMT in 0.104 s with 9 queries</p>"),
        ("<p>Page rendered in 12 ms. 34 queries in 0.021 seconds.</p>",
         "<p>Page rendered in 41 ms. 38 queries in 0.12 seconds.</p>"),
        ("<p>Seite generiert am 17.11.2026 um 10:22 in 0,213 Sekunden</p>",
         "<p>Seite generiert am 18.11.2026 um 9:01 in 1,2 Sekunden</p>"),
        ("<p>Page générée le 17/11/2026 en 0,213 secondes</p>", "<p>Page générée le 18/11/2026 en 0,498 secondes</p>"),
        ("<p>Página generada en 0,213 segundos</p>", "<p>Página generada en 1,2 segundos</p>"),
        ("<p>Modified a few minutes ago</p>", "<p>Modified last Tuesday</p>"),
        ("<p>Last updated: today</p>", "<p>Last updated: last month</p>"),
        ("<p>Aktualisiert gestern</p>", "<p>Aktualisiert diese Woche</p>"),
        ("<p>Built from commit 0a1b2c3d</p>", "<p>Built from commit 9f8e7d6c</p>"),
        ("<p>See the <a href='https://git.example/a/b/blob/0a1b2c3d/x.md'>source</a>.</p>",
         "<p>See the <a href='https://git.example/a/b/blob/9f8e7d6c/x.md'>source</a>.</p>"),
        ("<p>See the <a href='https://cdn.example/gh/a/b@0a1b2c3d/x.md'>source</a>.</p>",
         "<p>See the <a href='https://cdn.example/gh/a/b@9f8e7d6c/x.md'>source</a>.</p>"),
    ],
)  # fmt: skip
def test_volatile_text_is_not_a_change(old: str, new: str) -> None:
    change = classify_diff(agree(f"<main>{TEXT}{old}</main>".encode(), f"<main>{TEXT}{new}</main>".encode()))
    assert not change.kinds


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("See <a href='/blob/1234567/x'>it</a>.", "See <a href='/blob/7654321/x'>it</a>."),
        ("See <a href='/doc/0a1b2c3d'>it</a>.", "See <a href='/doc/9f8e7d6c'>it</a>."),
        ("The shop opens this week", "The shop opens this month"),
        ("The rules were updated this week for all ships", "The rules were updated last year for all ships"),
    ],
)
def test_text_that_resembles_volatile_text_is_content(old: str, new: str) -> None:
    assert is_content(f"<main>{TEXT}<p>{old}</p></main>", f"<main>{TEXT}<p>{new}</p></main>")
