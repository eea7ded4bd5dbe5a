"""Texts in furniture that became others: that they are no content is seen from what stands around them.

What a page says of its parts is asked of these texts alone, not of the whole page. Where more would have to be known,
or another line could be read in another way for it, the page is read as a whole.
"""

from collections.abc import Sequence, Set

from msgspec import Struct

from sanderling.content.class_names import FURNITURE, is_section, sound
from sanderling.content.extract import LABELS, MARKED, TAGS, Blocks, is_banner, is_veiled
from sanderling.content.line_features import PROSE, size_of, sizes_of
from sanderling.content.policy_notices import matters_anywhere
from sanderling.content.regions import HIDDEN, LANDMARK, MAIN, MOST, OUTSIDE, UNSCRIPTED, VEILED, VERBATIM
from sanderling.fingerprint.fast.common_affix import ends
from sanderling.fingerprint.fast.text_swaps import Swap, as_it_was
from sanderling.html.parser import Document, Element
from sanderling.html.text import LAYOUT, annotated, text

LABEL = {tag: label for label, tags in TAGS.items() for tag in tags}
APART = frozenset(("div", "section", "article", "aside", "header", "p", "ul", "ol", "dl", "fieldset"))
"""Tags whose lines have nothing else in them, and that may be called anything."""
WHOLE = APART | {"nav", "footer"}
ONE_LINE = WHOLE | {"li", "td", "th", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6"}
CHANGED = "changed"
ALL = slice(None)


class _Around(Struct, frozen=True):
    """The part of a page around a text that makes it furniture."""

    element: Element
    is_landmark: bool  # then it is furniture unless much of the prose is inside


class _Page(Struct, frozen=True):
    """The lines of a page, and which of them some elements cover."""

    lines: list[str]
    areas: dict[str, list[slice]]

    def rows(self, label: str) -> bytes:
        """Paint the lines inside elements of a label."""
        rows = bytearray(len(self.lines))
        for area in self.areas.get(label, ()):
            rows[area] = b"\1" * len(range(*area.indices(len(rows))))
        return bytes(rows)

    def prose(self, area: slice) -> int:
        """Count the letters of prose in some lines."""
        return sum([size for size in sizes_of(self.lines[area]) if size >= PROSE])


def furniture_before(tree: Document, swaps: Sequence[Swap]) -> tuple[Blocks, Blocks] | None:
    """Read what a page was and what it is, if all that differs is furniture and no other line is read otherwise for it.

    None if that is not sure. Of the lines that do not differ, it is not said what they are. Bare times among those that
    do may decide how others are read: `compare_lines` says so.
    """
    around = [some for swap in swaps if (some := _furniture(swap))]
    named = tree.select(MARKED) if len(around) == len(swaps) else []
    labels = [LABELS.get(element.attr("role") or "") for element in named]
    if len(around) < len(swaps) or MAIN in labels or tree.find_all("main"):
        return None
    veiled = [element for element in named if is_veiled(element)]
    page = _read(tree, veiled, _block(swaps), [some.element for some in around if some.is_landmark])
    last = _lines_before(tree, swaps, page)
    if len(last) != len(page.lines) or not _are_short(last, page.lines):
        return None
    hidden = [element for element, label in zip(named, labels, strict=True) if label == HIDDEN]
    hidden += [element for tag in (*TAGS[HIDDEN], *TAGS[UNSCRIPTED]) for element in tree.find_all(tag)]
    most = MOST * (page.prose(ALL) - sum(size_of(element.text) for element in (*veiled, *hidden)))
    if any(page.prose(area) > most for area in page.areas.get(LANDMARK, ())):
        return None
    rows = bytes(len(last)), page.rows(VERBATIM), page.rows(VEILED)
    return Blocks(last, *rows, None), Blocks(page.lines, *rows, None)


def _furniture(swap: Swap) -> _Around | None:
    """Find the part around a text that makes it furniture; none for program text, and for what is not shown."""
    around = [element for element in swap.node.ancestors if isinstance(element, Element)]
    if any(LABEL.get(element.tag) == VERBATIM or is_veiled(element) for element in around):
        return None
    labels = [LABELS.get(element.attr("role") or "") or _label(element) for element in around]
    for element, label in zip(around, labels, strict=True):
        if element.tag in WHOLE and label in (HIDDEN, OUTSIDE):
            return _Around(element, is_landmark=False)
    for element, label in zip(around, labels, strict=True):
        if element.tag in APART and (label == LANDMARK or _sounds(element)):
            return _Around(element, is_landmark=True)
    return None


def _label(element: Element) -> str | None:
    return None if element.tag == "header" and not is_banner(element) else LABEL.get(element.tag)


def _sounds(element: Element) -> bool:
    heard = (sound(element.attr(name) or "") for name in ("class", "id"))
    return any(sounds & FURNITURE and not is_section(element, sounds) for sounds in heard)


def _are_short(old: list[str], new: list[str]) -> bool:
    """Say whether the lines that differ are no prose, or as long as they were: no share of the page is another then.

    A line that may be main content for its words alone is judged on the whole page.
    """
    start, tail = ends(old, new)
    differing = (line for lines in (old, new) for line in lines[start : len(lines) - tail])
    if any(map(matters_anywhere, differing)):
        return False
    sizes = zip(*(map(size_of, lines[start : len(lines) - tail]) for lines in (old, new)), strict=True)
    return all(mine == yours or max(mine, yours) < PROSE for mine, yours in sizes)


def _read(tree: Document, veiled: list[Element], block: list[Element], landmarks: list[Element]) -> _Page:
    """Read the lines of a page, and which of them some elements and program text cover."""
    named = [(VEILED, veiled), (CHANGED, block), (LANDMARK, landmarks)]
    rules = {tag: [VERBATIM] for tag in TAGS[VERBATIM]}
    text, spans = annotated(tree, rules, [(label, elements) for label, elements in named if elements])
    areas: dict[str, list[slice]] = {}
    numbers = _numbers(text, {place for start, end, _ in spans for place in (start, max(start, end - 1))})
    for start, end, label in spans:
        areas.setdefault(label, []).append(slice(numbers[start], numbers[max(start, end - 1)] + 1))
    return _Page(text.split("\n"), areas)


def _numbers(text: str, places: Set[int]) -> dict[int, int]:
    """Number the lines in which some places of a text are, going through it once."""
    numbers, number, last = {}, 0, 0
    for place in sorted(places):
        number += text.count("\n", last, place)
        numbers[place], last = number, place
    return numbers


def _block(swaps: Sequence[Swap]) -> list[Element]:
    """Find the element that has the only text that differs in lines of its own; none if there are several texts."""
    around = swaps[0].node.ancestors if len(swaps) == 1 else ()
    return [element for element in around if isinstance(element, Element) and element.tag in ONE_LINE][:1]


def _lines_before(tree: Document, swaps: Sequence[Swap], page: _Page) -> list[str]:
    """Read what the lines of a page were: those of the element that differs, if they read as they do by themselves."""
    block, area = _block(swaps), next(iter(page.areas.get(CHANGED, ())), slice(0))
    is_alone = bool(block) and block[0].to_text(LAYOUT).split("\n") == page.lines[area]
    with as_it_was(swaps):
        if not is_alone:
            return text(tree).split("\n")
        before = block[0].to_text(LAYOUT).split("\n")
    return [*page.lines[: area.start], *before, *page.lines[area.stop :]]
