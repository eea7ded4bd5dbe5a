"""The blocks of a page's text, each told main content from furniture: navigation, footers, banners, what is hidden.

A page that declares its main part (`main`, role=main) is believed, and all of that part is main content but for its
menus and footers, and for furniture inside the text (`trimmings`). Elsewhere landmarks, telling class names and runs of
bare links are furniture, unless most of the page's prose is inside them. No rule knows a site.
"""

from functools import cache
from itertools import islice

from msgspec import Struct

from sanderling.content.class_names import find_comment_sections, find_inline_boilerplate, match_class_names
from sanderling.content.collapsible import is_collapsible
from sanderling.content.main_region import CONTAINER_TAGS, MainRegion
from sanderling.content.regions import (
    ARTICLE,
    ASIDE,
    BUTTON,
    COMMENT,
    CONTAINER,
    EXCLUDED,
    FORM_PART,
    HEADING,
    HIDDEN,
    INLINE_CANDIDATE,
    LANDMARK,
    LINK,
    MAIN,
    NAMED_BOILERPLATE,
    NAV_OR_FOOTER,
    NOSCRIPT,
    SELECT,
    SHARE_LINK,
    SIDEBAR,
    TITLE,
    VALUE,
    VERBATIM,
    WATCHED,
    PageRegions,
    mark_lines,
)
from sanderling.content.rules.share_links import find_share_links
from sanderling.content.streamed_parts import find_streamed_parts, is_streamed_part
from sanderling.content.user_rules import NO_USER_RULES, UserRules
from sanderling.html.parser import Document, Element
from sanderling.html.text import has_text, render_annotated_text

ROLES_BY_LABEL = {
    MAIN: ("main",),
    EXCLUDED: ("dialog", "alertdialog", "alert"),
    NAV_OR_FOOTER: ("navigation", "contentinfo", "menu", "menubar"),
    LANDMARK: ("banner", "complementary", "search", "toolbar"),
}
TAGS_BY_LABEL = {
    MAIN: ("main",),
    EXCLUDED: ("iframe", "object", "dialog"),
    NOSCRIPT: ("noscript",),
    NAV_OR_FOOTER: ("nav", "footer", "menu"),
    SELECT: ("select",),
    LANDMARK: ("header", "aside", "form"),
    VERBATIM: ("pre", "textarea"),
}
CONDITIONAL_LANDMARKS = ("header", "form")  # landmarks, if they have no title
LANDMARK_TAGS = {
    tag: [label] for label, tags in TAGS_BY_LABEL.items() for tag in tags if tag not in CONDITIONAL_LANDMARKS
}
LINK_TAGS = {"a": [LINK], "button": [LINK, BUTTON]}
HEADING_TAGS = {"h1": [TITLE, HEADING]} | {f"h{level}": [HEADING] for level in range(2, 7)}
PART_TAGS = (
    HEADING_TAGS | {tag: [CONTAINER] for tag in CONTAINER_TAGS} | {"article": [CONTAINER, ARTICLE], "dd": [VALUE]}
)
ASIDE_TAGS = {
    "aside": [LANDMARK, CONTAINER, ASIDE]
}  # in a declared main part it is text like any other, but a part of its own
VALUE_CELLS = "tr > :first-child + td:last-child"
LABEL_BY_ROLE = {role: label for label, roles in ROLES_BY_LABEL.items() for role in roles}
ROLE_OR_HIDDEN_SELECTOR = '[role],[hidden],[style*="display:none"],[style*="display: none"]'
NON_CONTENT_ROLES = ("navigation", "dialog")  # roles whose links are not of the text
MAX_MAIN_ELEMENTS = 50  # that a page declares to be its main one; no page for people has so many
MAX_LABELED_ELEMENTS = 10_000  # elements of one label that are told from others; no page for people has so many
MAX_FORM_FIELDS = 100  # to fill in; a page with more is a form
MAX_FIELD_ANCESTORS = 4  # elements around a field that may have its words


class TextBlocks(Struct, frozen=True):
    """The lines of text of a page, empty ones too, and for each whether it is main content."""

    lines: list[str]
    main_mask: bytes  # one byte for each line: 1 for main content, 0 for furniture
    verbatim_mask: bytes  # the same: 1 for program text and the like, in which a time is no stamp
    hidden_mask: bytes  # the same: 1 for what is there and not shown
    landmarks: "PageLandmarks | None"  # None if nobody asked the page itself
    is_main_declared: bool = False  # in which part is the main one
    decisive_lines: frozenset[int] = frozenset()  # lines with links and others whose words decide about main content
    menu_lines: frozenset[str] = frozenset()  # lines of bare links beside the text
    inline_boilerplate: frozenset[bytes] = (
        frozenset()
    )  # letters of the parts and lines inside the text that are furniture
    comment_texts: frozenset[bytes] = frozenset()  # letters of the parts below the text in which readers speak
    main_region: MainRegion | None = None  # the part with nearly all of the text, if the page declares none
    margin: int = 0  # letters that may come and go before another line could be main content


class PageLandmarks(Struct, frozen=True):
    """What a page says of its parts."""

    main_elements: list[Element]
    boilerplate: list[Element]  # known by their class names not to be content; unread where there is a main part
    inline_boilerplate: list[Element]  # that may be furniture inside the text, by their class names
    roles: list[tuple[str, Element]]
    hidden: list[Element]  # there and not shown
    comments: list[Element]  # what readers say, by its name
    class_values: list[str] | None = None  # of all elements that have some; None where nobody asked
    sidebars: list[Element] = []  # by their class names; unread where there is a main part

    @property
    def non_content(self) -> list[Element]:
        """The elements that say themselves that they are not of the text."""
        return [element for role, element in self.roles if role in NON_CONTENT_ROLES]

    def find_in_main(self, tree: Document, tag: str) -> list[Element]:
        """Find the elements of a tag in the parts that a page declares to be its main one, or in all of it."""
        if not self.main_elements:
            return tree.find_all(tag)[:MAX_LABELED_ELEMENTS]
        return [element for part in self.main_elements[:MAX_MAIN_ELEMENTS] for element in part.find_all(tag)][
            :MAX_LABELED_ELEMENTS
        ]


def find_landmarks(tree: Document) -> PageLandmarks:
    """Find the parts of a page that it names."""
    marked = tree.select(ROLE_OR_HIDDEN_SELECTOR)  # one look at all elements
    roles = [(role, element) for element in marked if (role := element.attr("role"))][:MAX_LABELED_ELEMENTS]
    veiled = [element for element in marked if is_hidden(element)]
    main = [*tree.find_all("main"), *(element for role, element in roles if role == "main")]
    main += find_streamed_parts(tree, main, marked)
    if not main:
        known = match_class_names(tree)
        return PageLandmarks(
            main,
            known.boilerplate,
            known.inline_boilerplate,
            roles,
            veiled,
            known.comments,
            known.class_values,
            known.sidebars,
        )
    trimmings = dict.fromkeys(element for part in main[:MAX_MAIN_ELEMENTS] for element in find_inline_boilerplate(part))
    return PageLandmarks(main, [], list(trimmings), roles, veiled, find_comment_sections(tree))


def is_site_header(header: Element) -> bool:
    """Say whether a header is furniture; that of an article has its title, unless it leads elsewhere."""
    title = header.select_one("h1,h2,h3") if header.closest("article") is not None else None
    return title is None or title.find("a") is not None or title.closest("a") is not None


def is_form_boilerplate(form: Element) -> bool:
    """Say whether a form is furniture; one with the title of a page has what is sold there, or the page itself."""
    return form.find("h1") is None


def is_hidden(element: Element) -> bool:
    """Say whether an element is there and not shown, nor folded for readers to unfold."""
    style = element.attr("style") or ""
    is_unseen = "display:none" in style or "display: none" in style or element.attr("hidden") is not None
    return is_unseen and not is_collapsible(element) and not is_streamed_part(element)


def extract_blocks(tree: Document, user_rules: UserRules = NO_USER_RULES) -> TextBlocks:
    """Cut a page into blocks of text; the tree is left as it was."""
    parts = find_landmarks(tree)
    named = [(LABEL_BY_ROLE[role], [element]) for role, element in parts.roles if role in LABEL_BY_ROLE]
    named.append(
        (
            LANDMARK,
            [*filter(is_site_header, tree.find_all("header")), *filter(is_form_boilerplate, tree.find_all("form"))],
        )
    )
    named.append((MAIN, [part for part in parts.main_elements if is_streamed_part(part)]))
    named += [(NAMED_BOILERPLATE, parts.boilerplate), (EXCLUDED, parts.hidden), (HIDDEN, parts.hidden)]
    named += [(EXCLUDED, tree.select(selector)) for selector in user_rules.ignore]
    named += [(WATCHED, tree.select(selector)) for selector in user_rules.watch]
    named += [
        (COMMENT, parts.comments),
        (SIDEBAR, [*parts.sidebars, *(() if parts.main_elements else tree.find_all("aside"))]),
        (SIDEBAR, [element for role, element in parts.roles if role == "complementary"]),
        (INLINE_CANDIDATE, parts.inline_boilerplate),
        (SHARE_LINK, find_share_links(parts.find_in_main(tree, "a"))),
        (FORM_PART, _find_form_parts(tree, parts)),
    ]
    if not parts.main_elements:
        named.append((VALUE, tree.select(VALUE_CELLS)))
    named = [(label, elements[:MAX_LABELED_ELEMENTS]) for label, elements in named if elements]
    text, spans = render_annotated_text(
        tree, LANDMARK_TAGS | LINK_TAGS | PART_TAGS | (ASIDE_TAGS if parts.main_elements else {}), named
    )
    lines = text.split("\n")
    areas = PageRegions(lines, spans)
    verbatim, unseen = bytes(areas.build_mask(VERBATIM)), bytes(areas.build_mask(HIDDEN))
    if user_rules.is_watch_only:
        return TextBlocks(lines, _mask_watched_lines(areas, lines, user_rules), verbatim, unseen, parts)
    main, is_believed = areas.classify_lines()
    menus = frozenset(lines[place] for place in areas.menu_lines)
    return TextBlocks(
        lines,
        main,
        verbatim,
        unseen,
        parts,
        is_believed,
        frozenset(areas.decisive_lines if is_believed else (*areas.link_chars, *areas.decisive_lines)),
        menus,
        areas.inline_boilerplate,
        frozenset(areas.comment_texts),
        main_region=areas.main_region,
        margin=int(areas.margin),
    )


def _find_form_parts(tree: Document, landmarks: PageLandmarks) -> list[Element]:
    """Find what asks: the nearest elements around fields to fill in that have words."""
    has = cache(has_text)  # fields have elements around them in common
    around = (
        islice(field.ancestors, MAX_FIELD_ANCESTORS)
        for field in landmarks.find_in_main(tree, "input")[:MAX_FORM_FIELDS]
    )
    found = (next((one for one in above if isinstance(one, Element) and has(one)), None) for above in around)
    return [element for element in dict.fromkeys(found) if element is not None]


def _mask_watched_lines(regions: PageRegions, lines: list[str], user_rules: UserRules) -> bytes:
    """Say which lines a user wants watched, and not ignored."""
    area = regions.build_mask(WATCHED)
    if user_rules.watch_pattern is not None:
        for place, line in enumerate(lines):
            area[place] |= user_rules.watch_pattern.search(line) is not None
    mark_lines(area, regions.excluded_mask, 0)
    return bytes(area)
