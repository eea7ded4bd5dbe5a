"""Convert a page for reading: Markdown of its main content or the whole page, tables, embedded structured data.

The main content is selected for precision, by the scoring of Readability (Arc90; Mozilla's readability.js): paragraphs
give points to their ancestors, links take them away. Change detection uses `content.extract` instead, for recall.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache

import msgspec
from turbohtml import Markdown

from sanderling.html.parser import Document, Element, parse_html

MAX_READABLE_BYTES = 4_000_000  # the rest of a page is not converted
STRUCTURED_DATA_FORMATS = ("json_ld", "microdata", "opengraph", "rdfa", "dublin_core")
# Constants of readability.js.
UNLIKELY_NAME = re.compile(
    r"-ad-|ai2html|banner|breadcrumbs|combx|comment|community|cover-wrap|disqus|extra|footer|gdpr|header|legends|menu"
    r"|related|remark|replies|rss|shoutbox|sidebar|skyscraper|social|sponsor|supplemental|ad-break|agegate|pagination"
    r"|pager|popup|yom-remote",
    re.IGNORECASE,
).search
LIKELY_NAME = re.compile(r"and|article|body|column|content|main|mathjax|shadow", re.IGNORECASE).search
POSITIVE_NAME = re.compile(
    r"article|body|content|entry|hentry|h-entry|main|page|pagination|post|text|blog|story", re.IGNORECASE
).search
NEGATIVE_NAME = re.compile(
    r"-ad-|hidden|^hid$| hid$| hid |^hid |banner|combx|comment|com-|contact|footer|gdpr|masthead|media|meta|outbrain"
    r"|promo|related|scroll|share|shoutbox|sidebar|skyscraper|sponsor|shopping|tags|widget",
    re.IGNORECASE,
).search
REMOVED_SELECTOR = (
    "script,style,template,noscript,nav,aside,footer,form,button,input,select,textarea,object,embed,iframe,dialog"
    ",[hidden],[aria-hidden=true],[role=menu],[role=menubar],[role=complementary],[role=navigation],[role=alert]"
    ",[role=alertdialog],[role=dialog]"
)
SCORED_SELECTOR = (
    "p,td,pre,section,h2,h3,h4,h5,h6,div:not(:has(> :is(p,div,table,ul,ol,dl,pre,blockquote,section,article)))"
)
INITIAL_SCORES = {
    "div": 5.0,
    **dict.fromkeys(("pre", "td", "blockquote"), 3.0),
    **dict.fromkeys(("address", "ol", "ul", "dl", "dd", "dt", "li", "form"), -3.0),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6", "th"), -5.0),
}
NAME_WEIGHT = 25.0
MAX_CACHED_NAME = 200  # characters
MIN_CONTENT_CHARS = 500  # with less, elements that look like boilerplate are kept
MIN_PARAGRAPH_CHARS = 25
MAX_ANCESTORS = 5
COMMA = re.compile("[,\u060c\ufe50\ufe10\ufe11\u2e41\u2e34\u2e32\uff0c]")
MAX_WEIGHED, MAX_LINKS = 200, 5_000  # bounds for hostile pages: elements whose links are counted, links of each
TOP_CANDIDATES = 5
ALTERNATIVE_SHARE, MIN_ALTERNATIVES = 0.75, 3
MIN_SIBLING_SCORE = 10.0
SIBLING_SHARE = 0.2
LAYOUT_TABLE_SELECTOR = "table:has(> tbody > tr > td > :is(p,h1,h2,h3,div,ul,table))"
TABLE_TAGS = ("tbody", "thead", "tfoot", "tr", "td", "th")
CLEANED_SELECTOR = "div,section,ul,ol,table"


def render_markdown(body: bytes, charset: str = "", url: str = "", *, main_only: bool = True) -> str:
    """Convert an HTML page to Markdown, with absolute links if `url` is given."""
    tree = parse_html(body[:MAX_READABLE_BYTES], charset)
    if url:
        tree.resolve_links(url)
    if not main_only:
        return (tree.find("body") or tree).to_markdown(Markdown()).strip()
    found = ""
    for is_strict in (True, False):
        markdown = select_main_content(tree, is_strict).to_markdown(Markdown()).strip()
        if len(markdown) > len(found):
            found = markdown
        if len(found) >= MIN_CONTENT_CHARS:
            break
        tree = parse_html(body[:MAX_READABLE_BYTES], charset)
        if url:
            tree.resolve_links(url)
    return found


def select_main_content(tree: Document, is_strict: bool = True) -> Document | Element:
    """Return the element with the main content. Removes boilerplate from the tree.

    `is_strict`: also elements that only look like boilerplate by their names or links.
    """
    whole = tree.find("body") or tree
    tree.remove(REMOVED_SELECTOR)
    if is_strict:
        _remove_unlikely(whole)
    scores = _score_ancestors(whole)
    if not scores:
        return whole
    top, score = _choose_top(scores)
    parent = top.parent
    if isinstance(parent, Element) and parent.tag not in ("html", "tr"):  # cells of a layout table are columns
        _remove_siblings(parent, top, score, scores)
        top = parent
    if is_strict:
        _clean(top)
    if isinstance(top, Element) and top.tag in TABLE_TAGS:  # part of a layout table: the parser drops tags of cells
        return parse_html(top.inner_html.encode("utf-8", "replace"), "utf-8")
    _unwrap_layout_tables(top)
    return top


def _remove_unlikely(whole: Document | Element) -> None:
    """Remove elements whose class or id names boilerplate."""
    for element in whole.select("[class],[id]"):
        name = f"{element.attr('class') or ''} {element.attr('id') or ''}"
        if (
            (_names_boilerplate if len(name) <= MAX_CACHED_NAME else _names_boilerplate.__wrapped__)(name)
            and element.tag not in ("body", "html", "a", "article", "main")
            and element.closest("table,code") is None
        ):
            element.decompose()


@lru_cache(maxsize=4096)
def _names_boilerplate(name: str) -> bool:
    """Return whether class and id name boilerplate. Cached: the pages of a site have the same names."""
    return UNLIKELY_NAME(name) is not None and LIKELY_NAME(name) is None


def _score_ancestors(whole: Document | Element) -> dict[Element, tuple[Element, float]]:
    """Return the scores of elements that contain paragraphs, reduced by their link density."""
    points: defaultdict[Element, float] = defaultdict(float)
    for paragraph in whole.select(SCORED_SELECTOR):
        text = paragraph.text.strip()
        if len(text) < MIN_PARAGRAPH_CHARS:
            continue
        score = 1.0 + len(COMMA.findall(text)) + 1 + min(len(text) // 100, 3)
        for level, ancestor in enumerate(_list_ancestors(paragraph)):
            if ancestor not in points:
                points[ancestor] = INITIAL_SCORES.get(ancestor.tag, 0.0) + _weigh_name(ancestor)
            points[ancestor] += score / (1, 2)[level] if level < 2 else score / (level * 3)
    ranked = sorted(points.items(), key=lambda item: -item[1])[:MAX_WEIGHED]
    link_sizes: dict[Element, float] = {}  # candidates contain each other
    return {element: (element, value * (1 - _compute_link_density(element, link_sizes))) for element, value in ranked}


def _choose_top(scores: Mapping[Element, tuple[Element, float]]) -> tuple[Element, float]:
    """Return the best element, or an ancestor that joins several good ones or scores better."""
    ranked = sorted(scores.values(), key=lambda item: -item[1])[:TOP_CANDIDATES]
    top, best = ranked[0]
    others = [set(_list_ancestors(element, None)) for element, score in ranked[1:] if score >= best * ALTERNATIVE_SHARE]
    for ancestor in _list_ancestors(top, None):
        if ancestor.tag != "body" and sum(ancestor in other for other in others) >= MIN_ALTERNATIVES:
            top = ancestor
            break
    score = last = scores.get(top, (top, 0.0))[1]
    for ancestor in _list_ancestors(top, None):
        if ancestor.tag == "body" or ancestor not in scores:
            continue
        if scores[ancestor][1] < score / 3:
            break
        if scores[ancestor][1] > last:
            top = ancestor
            break
        last = scores[ancestor][1]
    while isinstance(top.parent, Element) and top.parent.tag not in ("body", "html") and _is_only_element(top):
        top = top.parent
    return top, scores.get(top, (top, best))[1]


def _is_only_element(element: Element) -> bool:
    return sum(isinstance(child, Element) for child in element.parent.children) == 1 if element.parent else False


def _list_ancestors(element: Element, limit: int | None = MAX_ANCESTORS) -> list[Element]:
    found: list[Element] = []
    parent = element.parent
    while isinstance(parent, Element) and parent.tag != "html" and (limit is None or len(found) < limit):
        found.append(parent)
        parent = parent.parent
    return found


def _weigh_name(element: Element) -> float:
    """Return a bonus or malus for class and id."""
    weight = 0.0
    for name in (element.attr("class"), element.attr("id")):
        if name:
            weight += NAME_WEIGHT * (bool(POSITIVE_NAME(str(name))) - bool(NEGATIVE_NAME(str(name))))
    return weight


def _compute_link_density(element: Element, link_sizes: dict[Element, float] | None = None) -> float:
    """Return the share of text in links; links within the page count less. `link_sizes`: of elements seen before."""
    length, links = len(element.text), element.select("a")
    if not length or not links:
        return 0.0
    if len(links) > MAX_LINKS:
        return 1.0
    sizes = link_sizes if link_sizes is not None else {}
    linked = sum([sizes[link] if link in sizes else sizes.setdefault(link, _weigh_link(link)) for link in links])
    return min(1.0, linked / length)


def _weigh_link(link: Element) -> float:
    return len(link.text) * (0.3 if (link.attr("href") or "").startswith("#") else 1.0)


def _remove_siblings(
    parent: Element, top: Element, score: float, scores: Mapping[Element, tuple[Element, float]]
) -> None:
    """Remove the siblings of the best element, except paragraphs and elements that score well, too."""
    threshold, name = max(MIN_SIBLING_SCORE, score * SIBLING_SHARE), top.attr("class")
    for sibling in list(parent.children):
        if not isinstance(sibling, Element) or sibling == top:
            continue
        bonus = score * SIBLING_SHARE if name and sibling.attr("class") == name else 0.0
        if sibling in scores and scores[sibling][1] + bonus >= threshold:
            continue
        if sibling.tag == "h1" or (sibling.tag == "p" and _is_prose(sibling)):
            continue
        sibling.decompose()


def _is_prose(paragraph: Element) -> bool:
    text, density = paragraph.text.strip(), _compute_link_density(paragraph)
    return (len(text) > 80 and density < 0.25) or (0 < len(text) <= 80 and density == 0 and text.endswith((".", "。")))


def _clean(top: Element | Document) -> None:
    """Remove lists, tables, and blocks inside the main content that consist of links, forms, or pictures."""
    most = len(top.text) / 2
    for element in reversed(top.select(CLEANED_SELECTOR)):
        weight = _weigh_name(element)
        text = element.text
        if len(text) > most:  # not a part of the content, but most of it
            continue
        if weight < 0:
            element.decompose()
        elif len(COMMA.findall(text)) < 10 and element.tag != "table":
            density = _compute_link_density(element)
            limit = 0.5 if weight >= NAME_WEIGHT else 0.2
            is_list = element.tag in ("ul", "ol")
            if density > (0.5 if is_list else limit) and len(text.strip()) > 0:
                element.decompose()


def _unwrap_layout_tables(whole: Document | Element) -> None:
    """Remove the tags of tables whose cells contain paragraphs and headings, and keep their content."""
    for table in whole.select(LAYOUT_TABLE_SELECTOR):
        for part in reversed(table.select(",".join(TABLE_TAGS))):
            part.unwrap()
        table.unwrap()


def extract_structured_data(body: bytes, charset: str = "", url: str = "") -> dict[str, object]:
    """Return the JSON-LD, microdata, OpenGraph, RDFa, and Dublin Core of a page; formats without data are left out."""
    return collect_structured_data(parse_html(body[:MAX_READABLE_BYTES], charset), url)


def collect_structured_data(tree: Document, url: str = "") -> dict[str, object]:
    """Return the structured data of a parsed page by format."""
    found = tree.structured_data(url or None)
    return {name: _to_builtins(value) for name in STRUCTURED_DATA_FORMATS if (value := getattr(found, name))}


def extract_tables(body: bytes, charset: str = "") -> list[list[list[str]]]:
    """Return the cells of each table, row by row."""
    return parse_html(body[:MAX_READABLE_BYTES], charset).tables()


def _to_builtins(value: object) -> object:
    """Convert the records of the parser to dictionaries and lists."""
    if isinstance(value, Mapping):
        return {str(key): _to_builtins(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_builtins(item) for item in value]
    if hasattr(value, "as_dict"):
        return value.as_dict()
    return value if isinstance(value, str | int | float | bool | None) else msgspec.to_builtins(value, str_keys=True)
