"""Hashes of links and images in the main content, without boilerplate inside it."""

from collections.abc import Set

from sanderling.content.extract import MAX_MAIN_ELEMENTS, PageLandmarks, TextBlocks, is_site_header
from sanderling.content.main_region import find_region_element
from sanderling.fingerprint.assets import MAX_LINKS, hash_images
from sanderling.fingerprint.link_targets import hash_main_links
from sanderling.html.parser import Document, Element
from sanderling.html.text import compact_text, get_element_text

BOILERPLATE_TAGS = ("nav", "footer", "aside", "noscript", "dialog")
NON_CONTENT_TAGS = ("nav", "footer")  # inside a declared main element
MAX_SEARCHED_SIZE = 20_000  # bytes of boilerplate that are searched for the text of each link
PROSE_LINK_SELECTOR, PROSE_IMAGE_SELECTOR = "p a[href]", "p img, figure img"
SECTION_TAGS = frozenset(("div", "section", "article", "aside", "form", "p", "ul", "ol", "li", "td", "dl", "dd"))
"""Tags whose text is on lines of its own."""


def hash_main_assets(tree: Document, landmarks: PageLandmarks, page_blocks: TextBlocks) -> tuple[set[int], set[int]]:
    """Hash links and images of the declared main element, else the detected region, else paragraphs."""
    comments = [
        comment
        for comment in landmarks.comments[:MAX_MAIN_ELEMENTS]
        if page_blocks.comment_texts and compact_text(get_element_text(comment)) in page_blocks.comment_texts
    ]
    if page_blocks.is_main_declared:
        areas = (
            [area for tag in NON_CONTENT_TAGS for area in _find_within(landmarks.main_elements, tag)]
            + landmarks.non_content
            + comments
        )
        links, images = (
            _drop_inline_boilerplate(_find_within(landmarks.main_elements, tag), page_blocks) for tag in ("a", "img")
        )
        return hash_main_links(_drop_inside(links, areas, "a")), hash_images(_drop_inside(images, areas, "img"))
    region = (
        None
        if page_blocks.main_region is None
        else find_region_element(page_blocks.main_region, tree, page_blocks.lines)
    )
    links = tree.select(PROSE_LINK_SELECTOR) if region is None else region.find_all("a")
    shown = tree.select(PROSE_IMAGE_SELECTOR) if region is None else region.find_all("img")
    images = [image for image in shown if image.closest("a") is None]
    links, images = _drop_inline_boilerplate(links, page_blocks), _drop_inline_boilerplate(images, page_blocks)
    if not links and not images:
        return set(), set()
    areas = [area for tag in BOILERPLATE_TAGS for area in tree.find_all(tag)]
    areas += [
        *landmarks.non_content,
        *landmarks.boilerplate,
        *comments,
        *filter(is_site_header, tree.find_all("header")),
    ]
    if region is not None:  # an element named like a banner is none if it contains the main region
        around = {region, *region.ancestors}
        areas = [area for area in areas if area not in around]
    return hash_main_links(_select_text_links(links, areas, page_blocks)), hash_images(
        _drop_inside(images, areas, "img")
    )


def _find_within(parts: list[Element], tag: str) -> list[Element]:
    return list(dict.fromkeys(element for part in parts[:MAX_MAIN_ELEMENTS] for element in part.find_all(tag)))


def _drop_inline_boilerplate(elements: list[Element], page_blocks: TextBlocks) -> list[Element]:
    if not page_blocks.inline_boilerplate:
        return elements
    joined_texts, cache = (
        b"\n".join(page_blocks.inline_boilerplate),
        _InlineBoilerplateCache(page_blocks.inline_boilerplate),
    )
    is_short = len(joined_texts) <= MAX_SEARCHED_SIZE
    candidates = elements[:MAX_LINKS]
    return [
        element
        for element in candidates
        if (is_short and compact_text(get_element_text(element)) not in joined_texts) or not cache[element]
    ]


class _InlineBoilerplateCache(dict[Element, bool]):
    """Whether an element is inside a section whose text is boilerplate."""

    def __init__(self, boilerplate_texts: Set[bytes]) -> None:
        self.boilerplate_texts, self.max_size = boilerplate_texts, max(map(len, boilerplate_texts))

    def __missing__(self, element: Element) -> bool:
        visited, is_inside = list[Element](), False
        for above in (element, *element.ancestors):
            if not isinstance(above, Element) or is_inside:
                break
            if above in self:
                is_inside = self[above]
                break
            visited.append(above)
            text = compact_text(get_element_text(above))
            if len(text) > self.max_size:  # and so do all its ancestors
                break
            is_inside = above.tag in SECTION_TAGS and text in self.boilerplate_texts
        self.update(dict.fromkeys(visited, is_inside))
        return is_inside


def _select_text_links(links: list[Element], areas: list[Element], page_blocks: TextBlocks) -> list[Element]:
    remaining = _drop_inside(links, areas, "a")
    return (
        [link for link in remaining if get_element_text(link) not in page_blocks.menu_lines]
        if page_blocks.menu_lines
        else remaining
    )


def _drop_inside(elements: list[Element], areas: list[Element], tag: str) -> list[Element]:
    inside = {element for area in areas for element in area.find_all(tag)} if elements else set()
    return [element for element in elements if element not in inside]
