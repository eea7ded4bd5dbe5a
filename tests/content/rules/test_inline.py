"""Tests of boilerplate inside the main content, and of content that resembles it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.parity import agree

from sanderling.content.extract import extract_blocks
from sanderling.fingerprint.build import fingerprint_page
from sanderling.html.parser import parse_html
from sanderling.html.text import render_text

PROSE = "Sanderlings run along the edge of the waves and pick up what the water leaves behind, number {0}."
TEXT = "".join(f"<p>{PROSE.format(number)}</p>" for number in range(40))
LINKS = "<ul><li><a href=/1>Fares</a><li><a href=/2>Dogs</a></ul>"
BOILERPLATE = {
    "related": f"<div><h3>Related articles</h3>{LINKS}</div>",
    "related, with a line each": "<section><h2>You may also like:</h2><article><h3><a href=/1>A new boat</a></h3>"
    f"<p>{PROSE}</p></article></section>",
    "more from": f"<div><h4>More from the harbour</h4>{LINKS}</div>",
    "related in Japanese": f"<div><p>関連記事</p>{LINKS}</div>",
    "related links in an aside": f"<aside><h3>Related articles</h3>{LINKS}</aside>",
    "links in an aside": f"<aside><h3>Harbour</h3>{LINKS}<p><a href=/3>A new boat</a></p></aside>",
    "other products with their prices": "<section><h2>Customers also bought</h2>"
    "<div><a href=/p/1><img src=/1.jpg><span>A kettle</span></a><span>€ 12.90</span></div>"
    "<div><a href=/p/2><img src=/2.jpg><span>A lamp</span></a><p>€ 22.90</p></div></section>",
    "advertisement": "<div class=ad-slot><a href=//shop.example/1>Cheap flights</a></div>",
    "related by name": f"<div class='post RelatedPosts'><p>Onwards</p>{LINKS}</div>",
    "share": "<div><button>Share</button><button>Copy link</button></div>",
    "share with a title": "<div><p>Share this page:</p><a href='//x.com/intent/tweet?url=x'>X</a></div>",
    "share, all on one line": "<div><a href=#>Teilen</a> <a href=#>Drucken</a> <a href=#>E-Mail</a></div>",
    "share by where links lead": "<ul><li><a href='https://www.facebook.com/sharer.php?u=x'>Tell friends</a></ul>",
    "back to top": "<p><a href=#top>Back to top ↑</a></p>",
    "feedback": "<div><p>Was this article helpful?</p><button>Yes</button><button>No</button><p>3 of 4 say so</p>"
    "</div>",
    "feedback, counted": "<p>12 out of 34 found this helpful</p>",
    "feedback in Spanish": "<div>¿Te ha resultado útil? <a href=#>Sí</a> <a href=#>No</a></div>",
    "newsletter": "<div><h3>Stay in touch</h3><p>Be the first to know.</p><form><input type=email></form></div>",
    "newsletter by class name": "<div class=newsletter-box><p>Read about us</p><input><button>Go</button></div>",
    "breadcrumbs": "<div><a href=/>Home</a> › <a href=/h>Help</a> › <span>Terms</span></div>",
    "next": "<div><a href=/n>Next: Dogs</a></div>",
    "contents": "<div><p>On this page</p><ul><li><a href=#1>Fares and dogs</a><li><a href=#2>2. Boats</a></ul></div>",
    "call to action": "<div><h2>Ready to go?</h2><p>Create your account today.</p><a href=/go>Sign up</a></div>",
}
HEADINGS = "<h2>1. Fares and dogs</h2><h2>Boats</h2>"
SIMILAR_CONTENT = {
    "a section about related things": f"<div><h3>Related parties</h3><p>Our daughters.</p>{LINKS}</div>",
    "related things in the row of the text": f"<h3>Related articles</h3>{LINKS}",
    "related things at length": f"<div><h3>Related articles</h3><p>{PROSE * 5}</p>{LINKS}</div>",
    "a note in an aside": f"<aside><h3>Related duties</h3><p>{PROSE}</p></aside>",
    "facts in an aside": "<aside><h3>Key facts</h3><p>Closes on 5 May</p><a href=/1>Apply</a></aside>",
    "a price in an aside": "<aside><p>€ 12</p><ul><li><a href=/1>Buy a seat</a><li><a href=/2>Ask us</a></ul></aside>",
    "slots that are no advertisement": "<div class='upload-slots'><a href=/1>Upload at nine</a></div>",
    "slots in two names": "<div class='road slot'><a href=/1>Cross at nine</a></div>",
    "a section about sharing": "<div><h3>Share</h3><p>A share gives one vote.</p></div>",
    "networks": "<div><p>We give data to</p><ul><li><a href=//fb.example/>Facebook</a><li>X</ul></div>",
    "print as a word": "<ul><li>Print</li><li>E-mail</li></ul>",
    "a question in prose": f"<div><p>{PROSE}</p><p>Was it helpful to the other readers?</p></div>",
    "a form": "<div><h3>Object</h3><p>Enter your address.</p><form><input><button>Send</button></form></div>",
    "offers": "<div><h3>Sea</h3><p>For ships</p><a href=/s>Get started</a></div>"
    "<div><h3>Ocean</h3><p>For fleets</p><a href=/o>Get started</a></div>",
    "an offer with its price": "<div><h3>Sea</h3><p>From 5 euro</p><a href=/s>Get started</a></div>",
    "contents of another page": "<div><p>Contents</p><a href=/1>Part one</a><p><a href=/2>Part two</a></p></div>",
    "a heading about breadcrumbs": "<h2 class=breadcrumbs>Bread</h2>",
    "what comes next": "<ul><li><a href=/1>Next steps</a><li><a href=/2>Home insurance</a></ul>",
    "a word inside a line": "<p>Use <span class=share-button>this</span> as you like.</p>",
}


def extract_main_lines(markup: str) -> list[str]:
    page = extract_blocks(parse_html(markup.encode(), "utf-8"))
    return [line for line, is_main in zip(page.lines, page.main_mask, strict=True) if is_main and line]


@pytest.mark.parametrize("template", ["<main>{0}{1}</main>", "<div><h1>Rules</h1>{0}{1}</div>"])
@pytest.mark.parametrize("name", BOILERPLATE)
def test_inline_boilerplate_is_removed(name: str, template: str) -> None:
    text = TEXT + HEADINGS * (name == "contents")
    assert extract_main_lines(template.format(text, BOILERPLATE[name])) == extract_main_lines(template.format(text, ""))


@pytest.mark.parametrize("name", SIMILAR_CONTENT)
def test_content_that_resembles_boilerplate_is_kept(name: str) -> None:
    text = extract_main_lines(f"<main>{TEXT}{SIMILAR_CONTENT[name]}<p>{PROSE}</p></main>")
    assert text[40:-1] == [line for line in render_text(parse_html(SIMILAR_CONTENT[name].encode())).split("\n") if line]


def test_link_list_of_a_hub_page_is_content() -> None:
    assert extract_main_lines(f"<main><h1>Help</h1><div><h2>Popular articles</h2>{LINKS}</div></main>")[-2:] == [
        "Fares",
        "Dogs",
    ]


def test_links_and_images_of_inline_boilerplate_are_not_main() -> None:
    card = "<div><h2>Related articles</h2><a href=/{0}><img src=/{0}.png></a><h3><a href=/{0}>Fog</a></h3></div>"
    for template in ("<main>{0}{1}</main>", "<div>{0}<p><a href=/x>On</a></p>{1}</div>"):
        old, new = (
            fingerprint_page(parse_html(template.format(TEXT, card.format(name)).encode())) for name in ("a", "b")
        )
        assert (old.main_links, old.main_images) == (new.main_links, new.main_images)
    old, new = (
        fingerprint_page(parse_html(f"<main>{TEXT}<p>Fog: <a href=/{name}>Fog</a>{card}".encode()))
        for name in ("a", "b")
    )
    assert old.main_links != new.main_links


LINES = st.sampled_from(
    (
        *(
            "Related articles",
            "More from us",
            "Was this helpful?",
            "Yes",
            "Share",
            "Facebook",
            "Sign up",
            "Our newsletter",
        ),
        *(
            "Home › Help",
            "Next: Dogs",
            "Contents",
            "Fares",
            "Dogs",
            "2. Dogs",
            "Fares and a few other words, and more",
            "5",
        ),
        *(PROSE, f"{PROSE} {PROSE} {PROSE}", "Rules"),
    )
)
PAGE = (
    "<{0}><div><a href=/0>{1}</a></div><h1>{2}</h1>{text}<div><h2>{3}</h2><ul><li><a href=/1>{4}</a></li>"
    "<li><a href=/2>{5}</a> {6}</li></ul><p>{7}</p></div><div><p>{8}</p><button>{9}</button></div>"
    "<div><h3>{10}</h3><p>{11}</p><form><input name=m></form></div><p><a href=#t>{12}</a></p>"
    "<div><h3>{13}</h3><p>{14}</p><a href=/go>{15}</a></div></{0}>"
)


@given(tag=st.sampled_from(("main", "div")), words=st.lists(LINES, min_size=15, max_size=15), edits=st.data())
def test_fast_comparison_agrees_with_full_fingerprints(tag: str, words: list[str], edits: st.DataObject) -> None:
    changed = list(words)
    for _ in range(edits.draw(st.integers(1, 3))):
        changed[edits.draw(st.integers(0, 14))] = edits.draw(LINES)
    old, new = (PAGE.format(tag, *lines, text=TEXT) for lines in (words, changed))
    agree(old.encode(), new.encode())


@example("class=related-posts", "class=posts")
@example("href='//t.me/share?x'", "href='//t.me/x'")
@example("id=sharebar", "id=bar")
@given(old=st.sampled_from(("", "class=newsletter")), new=st.sampled_from(("class=x", "class=share-bar")))
def test_changed_class_names_and_share_links_are_compared(old: str, new: str) -> None:
    for template in ("<main>{0}{1}</main>", "<div>{0}{1}</div>"):
        for tag in ("div", "a"):
            old_page, new_page = (
                template.format(TEXT, f"<ul><li><{tag} {name}><a href=/1>Fares</a></{tag}></ul>") for name in (old, new)
            )
            agree(old_page.encode(), new_page.encode())
            agree(new_page.encode(), old_page.encode())


RELATED = "<div><h2>Related articles</h2><p><a href=/y>One</a><p><a href=/z>Two</a></div>"


def test_deeply_nested_links_and_images() -> None:
    deep = "<span>" * 2_000 + "<img src=/x.jpg><a href=/w>w</a>"
    tree = parse_html(
        f"<main>{''.join(f'<p>{PROSE.format(n)}' for n in range(9))}{RELATED}<div>{deep}</div></main>".encode()
    )
    assert fingerprint_page(tree).version


def test_form_beyond_text_limit_is_ignored() -> None:
    form = "<form>Sign up to our newsletter<input><button>x</button></form>"
    text = f"<main><p>{'word ' * 799_990}</p><p>ab</p><form>Subscribe<input></form>{'<p>more</p>' * 100}{form}</main>"
    assert extract_blocks(parse_html(text.encode())).lines
