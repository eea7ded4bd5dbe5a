"""The blocks of a page's text, each told main content from furniture: navigation, footers, banners, what is hidden.

A page that declares its main part (`main`, role=main) is believed, and all of that part is main content but for its
menus and footers, and for furniture inside the text (`trimmings`). Elsewhere landmarks, telling class names and runs of
bare links are furniture, unless most of the page's prose is inside them. No rule knows a site.
"""

from functools import cache
from itertools import islice

from msgspec import Struct

from sanderling.content.class_names import commenting, hinted, hinted_inside
from sanderling.content.collapsible import is_folded
from sanderling.content.main_region import BOXES, Core
from sanderling.content.regions import (
    ARTICLE,
    ASKING,
    BESIDE,
    BOX,
    BUTTON,
    CHOICE,
    COMMENT,
    HEADING,
    HIDDEN,
    HINTED,
    LANDMARK,
    LINK,
    MAIN,
    OUTSIDE,
    SHARER,
    SIDEBAR,
    TITLE,
    TRIMMED,
    UNSCRIPTED,
    VALUE,
    VEILED,
    VERBATIM,
    WATCHED,
    Areas,
    paint,
)
from sanderling.content.rules.share_links import sharers
from sanderling.content.streamed_parts import is_streamed_part, streamed_into
from sanderling.content.user_rules import EVERYTHING, Attention
from sanderling.html.parser import Document, Element
from sanderling.html.text import annotated, has_words

ROLES = {
    MAIN: ("main",),
    HIDDEN: ("dialog", "alertdialog", "alert"),
    OUTSIDE: ("navigation", "contentinfo", "menu", "menubar"),
    LANDMARK: ("banner", "complementary", "search", "toolbar"),
}
TAGS = {
    MAIN: ("main",),
    HIDDEN: ("iframe", "object", "dialog"),
    UNSCRIPTED: ("noscript",),
    OUTSIDE: ("nav", "footer", "menu"),
    CHOICE: ("select",),
    LANDMARK: ("header", "aside", "form"),
    VERBATIM: ("pre", "textarea"),
}
ASKED = ("header", "form")  # landmarks, if they have no title
LANDMARKS = {tag: [label] for label, tags in TAGS.items() for tag in tags if tag not in ASKED}
LINKS = {"a": [LINK], "button": [LINK, BUTTON]}
HEADINGS = {"h1": [TITLE, HEADING]} | {f"h{level}": [HEADING] for level in range(2, 7)}
PARTS = HEADINGS | {tag: [BOX] for tag in BOXES} | {"article": [BOX, ARTICLE], "dd": [VALUE]}
ASIDE = {"aside": [LANDMARK, BOX, BESIDE]}  # in a declared main part it is text like any other, but a part of its own
VALUES = "tr > :first-child + td:last-child"
LABELS = {role: label for label, roles in ROLES.items() for role in roles}
MARKED = '[role],[hidden],[style*="display:none"],[style*="display: none"]'
APART = ("navigation", "dialog")  # roles whose links are not of the text
MAX_PARTS = 50  # that a page declares to be its main one; no page for people has so many
MAX_NAMED = 10_000  # elements of one label that are told from others; no page for people has so many
MAX_FIELDS = 100  # to fill in; a page with more is a form
MAX_ABOVE = 4  # elements around a field that may have its words


class Blocks(Struct, frozen=True):
    """The lines of text of a page, empty ones too, and for each whether it is main content."""

    lines: list[str]
    main: bytes  # one byte for each line: 1 for main content, 0 for furniture
    verbatim: bytes  # the same: 1 for program text and the like, in which a time is no stamp
    veiled: bytes  # the same: 1 for what is there and not shown
    said: "Said | None"  # None if nobody asked the page itself
    is_believed: bool = False  # in which part is the main one
    linked: frozenset[int] = frozenset()  # lines with links and others whose words decide about main content
    menus: frozenset[str] = frozenset()  # lines of bare links beside the text
    trimmed: frozenset[bytes] = frozenset()  # letters of the parts and lines inside the text that are furniture
    comments: frozenset[bytes] = frozenset()  # letters of the parts below the text in which readers speak
    core: Core | None = None  # the part with nearly all of the text, if the page declares none
    margin: int = 0  # letters that may come and go before another line could be main content


class Said(Struct, frozen=True):
    """What a page says of its parts."""

    main: list[Element]
    furniture: list[Element]  # known by their class names not to be content; unread where there is a main part
    trimmings: list[Element]  # that may be furniture inside the text, by their class names
    roles: list[tuple[str, Element]]
    veiled: list[Element]  # there and not shown
    comments: list[Element]  # what readers say, by its name
    classes: list[str] | None = None  # of all elements that have some; None where nobody asked
    sidebars: list[Element] = []  # by their class names; unread where there is a main part

    @property
    def apart(self) -> list[Element]:
        """The elements that say themselves that they are not of the text."""
        return [element for role, element in self.roles if role in APART]

    def within(self, tree: Document, tag: str) -> list[Element]:
        """Find the elements of a tag in the parts that a page declares to be its main one, or in all of it."""
        if not self.main:
            return tree.find_all(tag)[:MAX_NAMED]
        return [element for part in self.main[:MAX_PARTS] for element in part.find_all(tag)][:MAX_NAMED]


def said(tree: Document) -> Said:
    """Find the parts of a page that it names."""
    marked = tree.select(MARKED)  # one look at all elements
    roles = [(role, element) for element in marked if (role := element.attr("role"))][:MAX_NAMED]
    veiled = [element for element in marked if is_veiled(element)]
    main = [*tree.find_all("main"), *(element for role, element in roles if role == "main")]
    main += streamed_into(tree, main, marked)
    if not main:
        known = hinted(tree)
        return Said(
            main, known.furniture, known.trimmings, roles, veiled, known.comments, known.classes, known.sidebars
        )
    trimmings = dict.fromkeys(element for part in main[:MAX_PARTS] for element in hinted_inside(part))
    return Said(main, [], list(trimmings), roles, veiled, commenting(tree))


def is_banner(header: Element) -> bool:
    """Say whether a header is furniture; that of an article has its title, unless it leads elsewhere."""
    title = header.select_one("h1,h2,h3") if header.closest("article") is not None else None
    return title is None or title.find("a") is not None or title.closest("a") is not None


def is_asking(form: Element) -> bool:
    """Say whether a form is furniture; one with the title of a page has what is sold there, or the page itself."""
    return form.find("h1") is None


def is_veiled(element: Element) -> bool:
    """Say whether an element is there and not shown, nor folded for readers to unfold."""
    style = element.attr("style") or ""
    is_unseen = "display:none" in style or "display: none" in style or element.attr("hidden") is not None
    return is_unseen and not is_folded(element) and not is_streamed_part(element)


def blocks(tree: Document, attention: Attention = EVERYTHING) -> Blocks:
    """Cut a page into blocks of text; the tree is left as it was."""
    parts = said(tree)
    named = [(LABELS[role], [element]) for role, element in parts.roles if role in LABELS]
    named.append((LANDMARK, [*filter(is_banner, tree.find_all("header")), *filter(is_asking, tree.find_all("form"))]))
    named.append((MAIN, [part for part in parts.main if is_streamed_part(part)]))
    named += [(HINTED, parts.furniture), (HIDDEN, parts.veiled), (VEILED, parts.veiled)]
    named += [(HIDDEN, tree.select(selector)) for selector in attention.ignore]
    named += [(WATCHED, tree.select(selector)) for selector in attention.watch]
    named += [
        (COMMENT, parts.comments),
        (SIDEBAR, [*parts.sidebars, *(() if parts.main else tree.find_all("aside"))]),
        (SIDEBAR, [element for role, element in parts.roles if role == "complementary"]),
        (TRIMMED, parts.trimmings),
        (SHARER, sharers(parts.within(tree, "a"))),
        (ASKING, _asking(tree, parts)),
    ]
    if not parts.main:
        named.append((VALUE, tree.select(VALUES)))
    named = [(label, elements[:MAX_NAMED]) for label, elements in named if elements]
    text, spans = annotated(tree, LANDMARKS | LINKS | PARTS | (ASIDE if parts.main else {}), named)
    lines = text.split("\n")
    areas = Areas(lines, spans)
    verbatim, unseen = bytes(areas.cover(VERBATIM)), bytes(areas.cover(VEILED))
    if attention.is_narrow:
        return Blocks(lines, _watched(areas, lines, attention), verbatim, unseen, parts)
    main, is_believed = areas.main()
    menus = frozenset(lines[place] for place in areas.menus)
    return Blocks(
        lines,
        main,
        verbatim,
        unseen,
        parts,
        is_believed,
        frozenset(areas.weighed if is_believed else (*areas.linked, *areas.weighed)),
        menus,
        areas.trimmed,
        frozenset(areas.comments),
        core=areas.core,
        margin=int(areas.margin),
    )


def _asking(tree: Document, parts: Said) -> list[Element]:
    """Find what asks: the nearest elements around fields to fill in that have words."""
    has = cache(has_words)  # fields have elements around them in common
    around = (islice(field.ancestors, MAX_ABOVE) for field in parts.within(tree, "input")[:MAX_FIELDS])
    found = (next((one for one in above if isinstance(one, Element) and has(one)), None) for above in around)
    return [element for element in dict.fromkeys(found) if element is not None]


def _watched(areas: Areas, lines: list[str], attention: Attention) -> bytes:
    """Say which lines a user wants watched, and not ignored."""
    area = areas.cover(WATCHED)
    if attention.watched is not None:
        for place, line in enumerate(lines):
            area[place] |= attention.watched.search(line) is not None
    paint(area, areas.hidden, 0)
    return bytes(area)
