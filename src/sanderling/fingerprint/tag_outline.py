"""Opening tags of a page with their depth, and the tag fingerprints of IPC section 4.1.2."""

import zlib
from collections import Counter
from itertools import compress, islice
from operator import attrgetter, not_

from msgspec import Struct
from turbohtml import Node

from sanderling.html.parser import Document, Element

MAX_TAGS = 50_000  # of one page; the rest is ignored
MAX_DEPTH = 255
KNOWN_TAGS = (
    *(
        "html",
        "head",
        "body",
        "div",
        "p",
        "a",
        "span",
        "ul",
        "ol",
        "li",
        "table",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "td",
    ),
    *("th", "caption", "colgroup", "col", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "aside", "nav"),
    *(
        "header",
        "footer",
        "main",
        "hgroup",
        "search",
        "address",
        "blockquote",
        "dd",
        "dl",
        "dt",
        "figure",
        "figcaption",
    ),
    *(
        "hr",
        "menu",
        "pre",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "br",
        "cite",
        "code",
        "data",
        "dfn",
        "em",
        "i",
        "kbd",
        "mark",
        "q",
    ),
    *("rp", "rt", "ruby", "s", "samp", "small", "strong", "sub", "sup", "time", "u", "var", "wbr", "area", "audio"),
    *("img", "map", "track", "video", "embed", "iframe", "object", "picture", "source", "svg", "math", "canvas"),
    *("noscript", "script", "style", "link", "meta", "base", "title", "template", "slot", "del", "ins", "button"),
    *("datalist", "fieldset", "form", "input", "label", "legend", "meter", "optgroup", "option", "output", "progress"),
    *("select", "textarea", "details", "dialog", "summary", "center", "font", "big", "tt", "strike", "acronym"),
    *("frame", "frameset", "nobr", "basefont", "blink", "path", "g", "use", "rect", "circle", "line", "polygon"),
)  # the order is part of the stored format
COSMETIC_TAGS = frozenset(
    (
        *("abbr", "acronym", "b", "basefont", "big", "blink", "br", "center", "cite", "code", "dfn", "em", "font"),
        *("hr", "i", "kbd", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup"),
        *("tt", "u", "var", "wbr"),
    )
)  # change only the presentation
INVISIBLE_TAGS = frozenset(("link", "meta", "noscript", "script", "style", "template", "title", "base"))
SKIPPED_TAGS = COSMETIC_TAGS | INVISIBLE_TAGS
SORTED_COSMETIC_TAGS = sorted(COSMETIC_TAGS)
OUTLINE_TAGS = tuple(tag for tag in KNOWN_TAGS if tag not in SKIPPED_TAGS)
UNINDEXED_TAGS = frozenset(("acronym", "blink"))  # not indexed by the parser: each lookup scans the page
UNKNOWN_TAG_CODE = 255  # a tag that HTML does not define
MAX_UNCOMPRESSED_SIZE = 4_096  # bytes; compressing less is not worth the time
GET_TAG, GET_PARENT = attrgetter("tag"), attrgetter("parent")
UNCOMPRESSED, COMPRESSED = b"\0", b"\1"


class TagOutline(Struct, frozen=True, array_like=True):
    """Opening tags in document order, and the depth of each (root: 1)."""

    tags: list[str]
    depths: bytes


def build_outline(tree: Document, elements: list[Element], skipped_tags: frozenset[str] = frozenset()) -> TagOutline:
    """Build the outline of elements; children of skipped tags move up."""
    open_elements: list[object] = [tree, *[None] * (len(elements) + 1)]  # by depth: the last element and its ancestors
    depths, depth, last_parent = [], 0, None
    for element, parent in zip(elements, map(GET_PARENT, elements), strict=True):
        if parent is open_elements[depth]:
            depth += 1
        elif parent is not last_parent:  # else: a sibling of the last element, the most common case
            depth = (
                _find_depth(open_elements, depth, parent) + 1
                or _find_ancestor_depth(open_elements, depth, parent, skipped_tags) + 1
            )
        open_elements[depth] = element
        last_parent = parent
        depths.append(depth)
    if len(depths) and max(depths) > MAX_DEPTH:
        depths = [min(depth, MAX_DEPTH) for depth in depths]
    return TagOutline(list(map(GET_TAG, elements)), bytes(depths))


def _find_depth(open_elements: list[object], depth: int, parent: object) -> int:
    """Return the depth of an open element; -1 if it is not open."""
    while depth >= 0 and open_elements[depth] is not parent:
        depth -= 1
    return depth


def _find_ancestor_depth(
    open_elements: list[object], depth: int, parent: Node | None, skipped_tags: frozenset[str]
) -> int:
    while isinstance(parent, Element) and parent.tag in skipped_tags:
        parent = parent.parent
    found = _find_depth(open_elements, depth, parent)
    if found < 0:  # inside a <template>: its content has no parent in the document
        open_elements[1] = parent
        return 1
    return found


def build_pruned_outline(tree: Document) -> tuple[TagOutline, list[int]]:
    """Build the outline without cosmetic and invisible tags; also count cosmetic tags."""
    skipped_counts = {tag: len(tree.find_all(tag)) for tag in SKIPPED_TAGS - UNINDEXED_TAGS}
    skipped_counts |= dict.fromkeys(UNINDEXED_TAGS, 0) | Counter(map(GET_TAG, tree.iter_elements(UNINDEXED_TAGS)))
    elements = list(islice(tree.iter_elements(OUTLINE_TAGS), MAX_TAGS))
    if len(elements) + sum(skipped_counts.values()) != tree.xpath("count(//*)"):  # the page has unknown tags
        all_elements = list(islice(tree.iter_elements(), MAX_TAGS))
        elements = list(compress(all_elements, map(not_, map(SKIPPED_TAGS.__contains__, map(GET_TAG, all_elements)))))
    return build_outline(tree, elements, SKIPPED_TAGS), [skipped_counts[tag] for tag in SORTED_COSMETIC_TAGS]


class _TagCodes(dict[str, int]):
    def __missing__(self, tag: str) -> int:
        return UNKNOWN_TAG_CODE


_tag_codes = _TagCodes({tag: code for code, tag in enumerate(KNOWN_TAGS)})


def pack_outline(outline: TagOutline) -> bytes:
    """Encode an outline in two bytes per tag, compressed if large."""
    codes = bytes(map(_tag_codes.__getitem__, outline.tags))
    unknown_tags = [tag for tag in outline.tags if tag not in _tag_codes] if UNKNOWN_TAG_CODE in codes else []
    body = codes + outline.depths + b"\0" + " ".join(unknown_tags).encode("utf-8", "replace")
    head = len(codes).to_bytes(4, "little")
    return (
        head + UNCOMPRESSED + body if len(body) <= MAX_UNCOMPRESSED_SIZE else head + COMPRESSED + zlib.compress(body, 1)
    )


class CodedOutline(Struct, frozen=True, array_like=True):
    """A decoded outline with tag codes, and the names of unknown tags in order."""

    tag_codes: bytes
    depths: bytes
    unknown_tags: tuple[str, ...] = ()


def decode_outline(data: bytes) -> CodedOutline:
    count, body = int.from_bytes(data[:4], "little"), data[5:]
    if data[4:5] == COMPRESSED:
        body = zlib.decompress(body)
    names = body[2 * count + 1 :]
    return CodedOutline(body[:count], body[count : 2 * count], tuple(names.decode().split(" ")) if names else ())


def resolve_tag_names(coded: CodedOutline) -> TagOutline:
    unknown_tags = iter(coded.unknown_tags)
    return TagOutline(
        [KNOWN_TAGS[code] if code != UNKNOWN_TAG_CODE else next(unknown_tags) for code in coded.tag_codes], coded.depths
    )
