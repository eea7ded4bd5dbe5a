"""Measure which noise of other pages, planted into real pages, is ignored, and which edits are reported.

Noise is put where such things stand: at the top of the page, at its end, in its footer, behind its text, and, what is
hardest to tell, inside of it, before its first paragraph or behind its last. Edits are made to what a person who wrote
selectors by hand would choose: the smallest element with most of the paragraphs.
"""

import random
import re
from collections.abc import Callable, Iterator

from benchmarks.changes.mutations import paragraphs
from msgspec import Struct
from turbohtml import Document, Element, Text

from sanderling.html.parser import parse_html

MOST = 0.8  # share of the paragraphs that the text of a page has
LEAST = 600  # letters of paragraphs of a page worth changing
ASIDE = frozenset(
    ("nav", "aside", "footer", "form", "button", "select", "script", "style", "noscript", "template", "dialog", "svg")
)
WORD = re.compile(r"[^\W\d_]{3,}")
NUMBER = re.compile(r"\d{1,6}")
Dice = random.Random
Pair = tuple[str, str]


class Plant(Struct, frozen=True):
    """Noise: its place, and its old and new version."""

    where: str
    old: str
    new: str


def links(*names: str, tag: str = "li") -> str:
    """List some links."""
    return "".join(f"<{tag}><a href='/{name.lower().replace(' ', '-')}'>{name}</a></{tag}>" for name in names)


def call(heading: str, words: str, link: str) -> str:
    """Call to something."""
    return f"<div><h2>{heading}</h2><p>{words}</p><a href='/go'>{link}</a></div>"


def stories(*names: str) -> str:
    """Tell of other pages."""
    items = "".join(f"<div><h3><a href='/n'>{name}</a></h3><p>{name}, and all about it.</p></div>" for name in names)
    return f"<div><h2>More stories</h2>{items}</div>"


COOKIES = "<p>We use cookies to make our site work, to measure how it is used and to show you advertising.</p>"
PLANTS = {
    "promotion bar": Plant(
        "top", "<div>Two for one on all trips this week</div>", "<div>Free parking in August for everybody</div>"
    ),
    "promotion with a price": Plant("top", "", "<div>Get 3 months for $1.99, ends soon</div>"),
    "announcement": Plant("top", "", "<div><h2>Service notice</h2><p>Boats run late because of the wind.</p></div>"),
    "ticker": Plant("top", "<div>HRBR $64,790.29</div>", "<div>HRBR $64,673.73</div>"),
    "headline": Plant("top", "<div>Harbour wall to be raised</div>", "<div>Old lighthouse sold</div>"),
    "weather": Plant("top", "<div>Friday, 1 May 2026 20°C</div>", "<div>Saturday, 2 May 2026 14°C</div>"),
    "login": Plant("top", "<div><a href='/in'>Log in</a></div>", "<div>Hello, guest <a href='/out'>Log out</a></div>"),
    "currency": Plant("top", "<div><button>EUR €</button></div>", "<div><button>USD $</button></div>"),
    "skip link": Plant("top", "", "<a href='#content'>Skip to content</a>"),
    "menu": Plant(
        "top",
        f"<ul>{links('Shoes', 'Bags', 'Coats', 'Hats', 'Sale')}</ul>",
        f"<ul>{links('Shoes', 'Bags', 'Coats', 'Hats', 'Gifts', 'New in')}</ul>",
    ),
    "cookie banner": Plant("end", "", f"<div>{COOKIES}<button>Reject</button><button>Accept</button></div>"),
    "cookie banner of links": Plant(
        "end", "", f"<div><h2>Your privacy</h2>{COOKIES}<a href='#'>Reject</a> <a href='#'>Accept</a></div>"
    ),
    "chat": Plant("end", "", "<div><div>Chat with us</div><div>We answer within 5 minutes</div></div>"),
    "newsletter": Plant("end", "", "<div><h3>Stay in touch</h3><p>Be the first to hear.</p><input type='email'></div>"),
    "subscribers": Plant("end", "<div>Join 11,639 others</div>", "<div>Join 11,641 others</div>"),
    "loading": Plant("end", "<div>Loading...</div>", "<div></div>"),
    "footer links": Plant(
        "foot",
        f"<div>{links('Imprint', 'Privacy', 'Terms', 'Press', tag='span')}</div>",
        f"<div>{links('Imprint', 'Privacy', 'Terms', 'Press', 'Bluesky', tag='span')}</div>",
    ),
    "copyright": Plant("foot", "<div>© 2025 Harbour Company</div>", "<div>© 2026 Harbour Company</div>"),
    "call to sign up": Plant(
        "after",
        call("Ready to go?", "Create your free account today.", "Get started"),
        call("See for yourself", "Talk to us about a ship of your own.", "Book a talk"),
    ),
    "other stories": Plant(
        "after", stories("A new boat", "A seal on the pier"), stories("A new boat", "Storm closes the harbour")
    ),
    "helpful": Plant(
        "after", "<div>12 out of 34 found this helpful</div>", "<div>13 out of 36 found this helpful</div>"
    ),
    "related": Plant(
        "after",
        f"<div><h3>Related</h3><ul>{links('Fares', 'Dogs', 'Fog', 'Jobs')}</ul></div>",
        f"<div><h3>Related</h3><ul>{links('Refunds', 'Dogs', 'Ice', 'Jobs')}</ul></div>",
    ),
}


def planted(body: bytes, plant: Plant) -> Pair | None:
    """Both versions of a page with some noise; None if it has no text, or has its text in all of its main part."""
    return next(zip(*(_with(body, plant.where, markup) for markup in (plant.old, plant.new)), strict=True), None)


def _with(body: bytes, where: str, markup: str) -> list[str]:
    tree = parse_html(body)
    place = _place(tree, where)
    if place is None:
        return []
    place[0].insert_adjacent_html(place[1], markup)
    return [tree.html]


def _place(tree: Document, where: str) -> tuple[Element, str] | None:
    """Return the element for the noise."""
    body, text = tree.find("body"), text_of(tree)
    if body is None or text is None:
        return None
    if where in ("top", "end"):
        return body, "afterbegin" if where == "top" else "beforeend"
    if where in ("over", "inside"):
        return text, "afterbegin" if where == "over" else "beforeend"
    if where == "foot":
        return (tree.find_all("footer") or [body])[-1], "beforeend"
    around = [text, *(one for one in text.ancestors if isinstance(one, Element))]
    declared = [one for one in around if one.tag == "main" or one.attr("role") == "main"]
    place = declared[-1] if declared else text
    return None if place.tag == "body" else (place, "afterend")


def text_of(tree: Document) -> Element | None:
    """Find the smallest element with most of the paragraphs; None for a page without text."""
    weights: dict[Element, int] = {}
    found = paragraphs(tree)
    for paragraph in found:
        for above in paragraph.ancestors:
            if isinstance(above, Element):
                weights[above] = weights.get(above, 0) + len(paragraph.text)
    whole = max(weights.values(), default=0)
    chosen = [element for element, weight in weights.items() if weight >= MOST * whole >= MOST * LEAST]
    return min(chosen, key=lambda element: len(list(element.iter_elements())), default=None)


def _texts(text: Element, pattern: re.Pattern[str]) -> list[Text]:
    return [
        node
        for node in text.descendants
        if isinstance(node, Text) and pattern.search(node.data) and not any(map(_is_aside, node.ancestors))
    ]


def _is_aside(node: object) -> bool:
    if not isinstance(node, Element):
        return False
    unseen = node.attr("hidden") is not None or "display:none" in (node.attr("style") or "").replace(" ", "")
    return unseen or node.tag in ASIDE or node.attr("role") in ("navigation", "dialog", "alert", "tooltip")


def _all(text: Element, *tags: str) -> Iterator[Element]:
    for tag in tags:
        for element in text.find_all(tag):
            if element.text.strip() and not any(map(_is_aside, element.ancestors)):
                yield element


def _word(text: Element, dice: Dice) -> bool:
    found = _texts(text, WORD)
    if found:
        node = dice.choice(found)
        node.data = WORD.sub("harbour", node.data, count=1)
    return bool(found)


def _number(text: Element, dice: Dice) -> bool:
    found = _texts(text, NUMBER)
    if found:
        node = dice.choice(found)
        node.data = NUMBER.sub(lambda match: str(int(match[0]) + 3), node.data, count=1)
    return bool(found)


def _delete(*tags: str) -> Callable[[Element, Dice], bool]:
    def change(text: Element, dice: Dice) -> bool:
        found = list(_all(text, *tags))
        if found:
            dice.choice(found).decompose()
        return bool(found)

    return change


def _insert(place: str, markup: str, *tags: str) -> Callable[[Element, Dice], bool]:
    def change(text: Element, dice: Dice) -> bool:
        found = list(_all(text, *tags)) if tags else [text]
        if found:
            dice.choice(found).insert_adjacent_html(place, markup)
        return bool(found)

    return change


def _retarget(text: Element, dice: Dice) -> bool:
    found = [link for link in _all(text, "a") if (link.attr("href") or "").startswith(("http", "/"))]
    if found:
        dice.choice(found).attrs["href"] = "https://other.example/elsewhere"
    return bool(found)


EDITS: dict[str, Callable[[Element, Dice], bool]] = {
    "a word": _word,
    "a number": _number,
    "a paragraph less": _delete("p"),
    "an item or a row less": _delete("li", "tr", "dd"),
    "a heading less": _delete("h2", "h3", "h4", "dt", "th"),
    "a paragraph more": _insert("afterend", "<p>Passengers of the night boat board an hour before it leaves.</p>", "p"),
    "an item more": _insert("afterend", "<li>Parrots and other birds</li>", "li"),
    "a last line": _insert("beforeend", "<p>Written in Port.</p>"),
    "a last section": _insert("beforeend", "<div><h3>Contact</h3><p>Write to harbour@company.example</p></div>"),
    "another target": _retarget,
}


def edited(body: bytes, change: Callable[[Element, Dice], bool], dice: Dice) -> Pair | None:
    """Return both versions of a page with an edit in its text, or None."""
    old = parse_html(body).html
    tree = parse_html(old.encode())
    text = text_of(tree)
    return (old, tree.html) if text is not None and change(text, dice) else None
