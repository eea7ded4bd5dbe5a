"""Split a page into lines of text, and classify each as main content or boilerplate.

A declared main element (`<main>`, role=main) is trusted: all of it is main content, except menus, footers, and inline
boilerplate. Otherwise landmarks, class names, and runs of links indicate boilerplate, unless they hold most of the
prose. No rule is specific to a site.
"""

from functools import cache
from itertools import islice

from msgspec import Struct

from sanderling.content.class_names import (
    STREAMED,
    classify_name,
    find_comment_sections,
    find_inline_boilerplate,
    match_class_names,
)
from sanderling.content.collapsible import is_collapsible
from sanderling.content.line_coverage import (
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
    mark_lines,
)
from sanderling.content.main_region import CONTAINER_TAGS, MainRegion
from sanderling.content.regions import PageRegions
from sanderling.content.rules.share_links import find_share_links
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
CONDITIONAL_LANDMARKS = ("header", "form")  # see `is_site_header` and `is_form_boilerplate`
LANDMARK_TAGS = {
    tag: [label] for label, tags in TAGS_BY_LABEL.items() for tag in tags if tag not in CONDITIONAL_LANDMARKS
}
LINK_TAGS = {"a": [LINK], "button": [LINK, BUTTON]}
HEADING_TAGS = {"h1": [TITLE, HEADING]} | {f"h{level}": [HEADING] for level in range(2, 7)}
PART_TAGS = (
    HEADING_TAGS | {tag: [CONTAINER] for tag in CONTAINER_TAGS} | {"article": [CONTAINER, ARTICLE], "dd": [VALUE]}
)
ASIDE_TAGS = {"aside": [LANDMARK, CONTAINER, ASIDE]}  # in a declared main element
VALUE_CELLS = "tr > :first-child + td:last-child"
LABEL_BY_ROLE = {role: label for label, roles in ROLES_BY_LABEL.items() for role in roles}
ROLE_OR_HIDDEN_SELECTOR = '[role],[hidden],[style*="display:none"],[style*="display: none"]'
NON_CONTENT_ROLES = ("navigation", "dialog")
MAX_MAIN_ELEMENTS = 50  # no real page has more
MAX_LABELED_ELEMENTS = 10_000  # per label
MAX_FORM_FIELDS = 100  # a page with more is a form itself
MAX_STREAMED_PARTS = 200
MAX_FIELD_ANCESTORS = 4  # searched for the text of a field


class TextBlocks(Struct, frozen=True):
    """All lines of a page with their classification. Masks have a byte per line."""

    lines: list[str]
    main_mask: bytes
    verbatim_mask: bytes  # <pre> and <textarea>: a time in them is content
    hidden_mask: bytes
    landmarks: "PageLandmarks | None"  # None if they were not searched
    is_main_declared: bool = False
    decisive_lines: frozenset[int] = frozenset()  # lines whose text influenced the classification
    menu_lines: frozenset[str] = frozenset()  # link-only lines outside the text
    inline_boilerplate: frozenset[bytes] = frozenset()  # compacted texts
    comment_texts: frozenset[bytes] = frozenset()  # compacted texts of reader comments
    main_region: MainRegion | None = None  # None if the main element is declared or not found
    margin: int = 0  # characters that may change before another line could become main content


class PageLandmarks(Struct, frozen=True):
    """Elements that a page identifies by tag, role, class name, or hidden attribute."""

    main_elements: list[Element]
    boilerplate: list[Element]  # by class name; empty if a main element is declared
    inline_boilerplate: list[Element]  # candidates by class name
    roles: list[tuple[str, Element]]
    hidden: list[Element]
    comments: list[Element]  # by class name or id
    class_values: list[str] | None = None  # of all elements; None if a main element is declared
    sidebars: list[Element] = []  # by class name; empty if a main element is declared

    @property
    def non_content(self) -> list[Element]:
        return [element for role, element in self.roles if role in NON_CONTENT_ROLES]

    def find_in_main(self, tree: Document, tag: str) -> list[Element]:
        """Return the elements of a tag in the declared main elements, or in the whole page."""
        if not self.main_elements:
            return tree.find_all(tag)[:MAX_LABELED_ELEMENTS]
        return [element for part in self.main_elements[:MAX_MAIN_ELEMENTS] for element in part.find_all(tag)][
            :MAX_LABELED_ELEMENTS
        ]


def find_landmarks(tree: Document) -> PageLandmarks:
    candidates = tree.select(ROLE_OR_HIDDEN_SELECTOR)  # a single pass
    roles = [(role, element) for element in candidates if (role := element.attr("role"))][:MAX_LABELED_ELEMENTS]
    hidden = [element for element in candidates if is_hidden(element)]
    main = [*tree.find_all("main"), *(element for role, element in roles if role == "main")]
    main += _find_streamed_parts(tree, main, candidates)
    if not main:
        named = match_class_names(tree)
        return PageLandmarks(
            main,
            named.boilerplate,
            named.inline_boilerplate,
            roles,
            hidden,
            named.comments,
            named.class_values,
            named.sidebars,
        )
    inline = dict.fromkeys(element for part in main[:MAX_MAIN_ELEMENTS] for element in find_inline_boilerplate(part))
    return PageLandmarks(main, [], list(inline), roles, hidden, find_comment_sections(tree))


def is_site_header(header: Element) -> bool:
    """Return whether a header is boilerplate; the header of an article with an unlinked title is not."""
    title = header.select_one("h1,h2,h3") if header.closest("article") is not None else None
    return title is None or title.find("a") is not None or title.closest("a") is not None


def is_form_boilerplate(form: Element) -> bool:
    """Return whether a form is boilerplate; a form around the page title is a product or the page itself."""
    return form.find("h1") is None


def is_hidden(element: Element) -> bool:
    """Return whether an element is hidden, and neither collapsible nor streamed."""
    style = element.attr("style") or ""
    has_hidden_style = "display:none" in style or "display: none" in style or element.attr("hidden") is not None
    return has_hidden_style and not is_collapsible(element) and not is_streamed_part(element)


def is_streamed_part(element: Element) -> bool:
    """Return whether a hidden element is a part streamed by React, which a script makes visible."""
    return bool(classify_name(element.attr("id") or "") & STREAMED)


def _find_streamed_parts(tree: Document, main_elements: list[Element], candidates: list[Element]) -> list[Element]:
    """Return the streamed parts that belong into a main element.

    React sends `<div hidden id="S:2">` at the end of the body; a script moves it to `<template id="B:2">`.
    """
    if not main_elements:
        return []
    parts = [element for element in candidates if is_streamed_part(element)][:MAX_STREAMED_PARTS]
    if not parts:
        return []
    main = set(main_elements)
    placeholders = {template.attr("id"): template for template in tree.find_all("template")}
    targets = ((part, placeholders.get((part.attr("id") or "").replace("S:", "B:"))) for part in parts)
    return [part for part, target in targets if target is not None and not main.isdisjoint(target.ancestors)]


def extract_blocks(tree: Document, user_rules: UserRules = NO_USER_RULES) -> TextBlocks:
    """Extract the classified lines of a page. The tree is unchanged afterwards."""
    landmarks = find_landmarks(tree)
    labeled = [(LABEL_BY_ROLE[role], [element]) for role, element in landmarks.roles if role in LABEL_BY_ROLE]
    labeled.append(
        (
            LANDMARK,
            [*filter(is_site_header, tree.find_all("header")), *filter(is_form_boilerplate, tree.find_all("form"))],
        )
    )
    labeled.append((MAIN, [element for element in landmarks.main_elements if is_streamed_part(element)]))
    labeled += [(NAMED_BOILERPLATE, landmarks.boilerplate), (EXCLUDED, landmarks.hidden), (HIDDEN, landmarks.hidden)]
    labeled += [(EXCLUDED, tree.select(selector)) for selector in user_rules.ignore]
    labeled += [(WATCHED, tree.select(selector)) for selector in user_rules.watch]
    labeled += [
        (COMMENT, landmarks.comments),
        (SIDEBAR, [*landmarks.sidebars, *(() if landmarks.main_elements else tree.find_all("aside"))]),
        (SIDEBAR, [element for role, element in landmarks.roles if role == "complementary"]),
        (INLINE_CANDIDATE, landmarks.inline_boilerplate),
        (SHARE_LINK, find_share_links(landmarks.find_in_main(tree, "a"))),
        (FORM_PART, _find_form_parts(tree, landmarks)),
    ]
    if not landmarks.main_elements:
        labeled.append((VALUE, tree.select(VALUE_CELLS)))
    labeled = [(label, elements[:MAX_LABELED_ELEMENTS]) for label, elements in labeled if elements]
    text, spans = render_annotated_text(
        tree, LANDMARK_TAGS | LINK_TAGS | PART_TAGS | (ASIDE_TAGS if landmarks.main_elements else {}), labeled
    )
    lines = text.split("\n")
    regions = PageRegions(lines, spans)
    verbatim, hidden = bytes(regions.build_mask(VERBATIM)), bytes(regions.build_mask(HIDDEN))
    if user_rules.is_watch_only:
        return TextBlocks(lines, _mask_watched_lines(regions, lines, user_rules), verbatim, hidden, landmarks)
    main, is_declared = regions.classify_lines()
    menus = frozenset(lines[n] for n in regions.menu_lines)
    return TextBlocks(
        lines,
        main,
        verbatim,
        hidden,
        landmarks,
        is_declared,
        frozenset(regions.decisive_lines if is_declared else (*regions.link_chars, *regions.decisive_lines)),
        menus,
        regions.inline_boilerplate,
        frozenset(regions.comment_texts),
        main_region=regions.main_region,
        margin=int(regions.margin),
    )


def _find_form_parts(tree: Document, landmarks: PageLandmarks) -> list[Element]:
    """Return the nearest ancestors of input fields that have text."""
    has_cached_text = cache(has_text)  # fields share ancestors
    ancestors = (
        islice(field.ancestors, MAX_FIELD_ANCESTORS)
        for field in landmarks.find_in_main(tree, "input")[:MAX_FORM_FIELDS]
    )
    nearest = (
        next((element for element in chain if isinstance(element, Element) and has_cached_text(element)), None)
        for chain in ancestors
    )
    return [element for element in dict.fromkeys(nearest) if element is not None]


def _mask_watched_lines(regions: PageRegions, lines: list[str], user_rules: UserRules) -> bytes:
    mask = regions.build_mask(WATCHED)
    if user_rules.watch_pattern is not None:
        for n, line in enumerate(lines):
            mask[n] |= user_rules.watch_pattern.search(line) is not None
    mark_lines(mask, regions.excluded_mask, 0)
    return bytes(mask)
