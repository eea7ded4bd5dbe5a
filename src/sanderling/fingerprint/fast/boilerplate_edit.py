"""Texts in furniture that became others: that they are no content is seen from what stands around them.

What a page says of its parts is asked of these texts alone, not of the whole page. Where more would have to be known,
or another line could be read in another way for it, the page is read as a whole.
"""

from collections.abc import Sequence, Set

from msgspec import Struct

from sanderling.content.class_names import BOILERPLATE, classify_name, is_consent_section
from sanderling.content.extract import (
    LABEL_BY_ROLE,
    ROLE_OR_HIDDEN_SELECTOR,
    TAGS_BY_LABEL,
    TextBlocks,
    is_hidden,
    is_site_header,
)
from sanderling.content.line_coverage import (
    EXCLUDED,
    HIDDEN,
    LANDMARK,
    MAIN,
    MAX_BOILERPLATE_SHARE,
    NAV_OR_FOOTER,
    NOSCRIPT,
    VERBATIM,
)
from sanderling.content.line_features import MIN_PROSE_LENGTH, compute_weighted_length, compute_weighted_lengths
from sanderling.content.policy_notices import is_content_anywhere
from sanderling.fingerprint.fast.common_affix import count_common_ends
from sanderling.fingerprint.fast.text_edits import TextEdit, restore_old_texts
from sanderling.html.parser import Document, Element
from sanderling.html.text import TEXT_LAYOUT, render_annotated_text, render_text

LABEL_BY_TAG = {tag: label for label, tags in TAGS_BY_LABEL.items() for tag in tags}
SEPARATE_TAGS = frozenset(("div", "section", "article", "aside", "header", "p", "ul", "ol", "dl", "fieldset"))
"""Tags whose lines have nothing else in them, and that may be called anything."""
BOILERPLATE_CONTAINER_TAGS = SEPARATE_TAGS | {"nav", "footer"}
OWN_LINE_TAGS = BOILERPLATE_CONTAINER_TAGS | {"li", "td", "th", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6"}
CHANGED_LABEL = "changed"
ALL_LINES = slice(None)


class _BoilerplateContainer(Struct, frozen=True):
    """The part of a page around a text that makes it furniture."""

    element: Element
    is_landmark: bool  # then it is furniture unless much of the prose is inside


class _LabeledLines(Struct, frozen=True):
    """The lines of a page, and which of them some elements cover."""

    lines: list[str]
    areas: dict[str, list[slice]]

    def flag_lines(self, label: str) -> bytes:
        """Paint the lines inside elements of a label."""
        rows = bytearray(len(self.lines))
        for area in self.areas.get(label, ()):
            rows[area] = b"\1" * len(range(*area.indices(len(rows))))
        return bytes(rows)

    def count_prose(self, area: slice) -> int:
        """Count the letters of prose in some lines."""
        return sum([size for size in compute_weighted_lengths(self.lines[area]) if size >= MIN_PROSE_LENGTH])


def read_boilerplate_edit(tree: Document, edits: Sequence[TextEdit]) -> tuple[TextBlocks, TextBlocks] | None:
    """Read what a page was and what it is, if all that differs is furniture and no other line is read otherwise for it.

    None if that is not sure. Of the lines that do not differ, it is not said what they are. Bare times among those that
    do may decide how others are read: `compare_lines` says so.
    """
    around = [some for swap in edits if (some := _find_boilerplate_container(swap))]
    named = tree.select(ROLE_OR_HIDDEN_SELECTOR) if len(around) == len(edits) else []
    labels = [LABEL_BY_ROLE.get(element.attr("role") or "") for element in named]
    if len(around) < len(edits) or MAIN in labels or tree.find_all("main"):
        return None
    veiled = [element for element in named if is_hidden(element)]
    page = _read_labeled_lines(
        tree, veiled, _find_changed_element(edits), [some.element for some in around if some.is_landmark]
    )
    last = _read_old_lines(tree, edits, page)
    if len(last) != len(page.lines) or not _is_short_edit(last, page.lines):
        return None
    hidden = [element for element, label in zip(named, labels, strict=True) if label == EXCLUDED]
    hidden += [
        element for tag in (*TAGS_BY_LABEL[EXCLUDED], *TAGS_BY_LABEL[NOSCRIPT]) for element in tree.find_all(tag)
    ]
    most = MAX_BOILERPLATE_SHARE * (
        page.count_prose(ALL_LINES) - sum(compute_weighted_length(element.text) for element in (*veiled, *hidden))
    )
    if any(page.count_prose(area) > most for area in page.areas.get(LANDMARK, ())):
        return None
    rows = bytes(len(last)), page.flag_lines(VERBATIM), page.flag_lines(HIDDEN)
    return TextBlocks(last, *rows, None), TextBlocks(page.lines, *rows, None)


def _find_boilerplate_container(edit: TextEdit) -> _BoilerplateContainer | None:
    """Find the part around a text that makes it furniture; none for program text, and for what is not shown."""
    around = [element for element in edit.node.ancestors if isinstance(element, Element)]
    if any(LABEL_BY_TAG.get(element.tag) == VERBATIM or is_hidden(element) for element in around):
        return None
    labels = [LABEL_BY_ROLE.get(element.attr("role") or "") or _get_label(element) for element in around]
    for element, label in zip(around, labels, strict=True):
        if element.tag in BOILERPLATE_CONTAINER_TAGS and label in (EXCLUDED, NAV_OR_FOOTER):
            return _BoilerplateContainer(element, is_landmark=False)
    for element, label in zip(around, labels, strict=True):
        if element.tag in SEPARATE_TAGS and (label == LANDMARK or _has_boilerplate_name(element)):
            return _BoilerplateContainer(element, is_landmark=True)
    return None


def _get_label(element: Element) -> str | None:
    return None if element.tag == "header" and not is_site_header(element) else LABEL_BY_TAG.get(element.tag)


def _has_boilerplate_name(element: Element) -> bool:
    heard = (classify_name(element.attr(name) or "") for name in ("class", "id"))
    return any(sounds & BOILERPLATE and not is_consent_section(element, sounds) for sounds in heard)


def _is_short_edit(old: list[str], new: list[str]) -> bool:
    """Say whether the lines that differ are no prose, or as long as they were: no share of the page is another then.

    A line that may be main content for its words alone is judged on the whole page.
    """
    start, tail = count_common_ends(old, new)
    differing = (line for lines in (old, new) for line in lines[start : len(lines) - tail])
    if any(map(is_content_anywhere, differing)):
        return False
    sizes = zip(*(map(compute_weighted_length, lines[start : len(lines) - tail]) for lines in (old, new)), strict=True)
    return all(mine == yours or max(mine, yours) < MIN_PROSE_LENGTH for mine, yours in sizes)


def _read_labeled_lines(
    tree: Document, hidden: list[Element], changed_elements: list[Element], landmarks: list[Element]
) -> _LabeledLines:
    """Read the lines of a page, and which of them some elements and program text cover."""
    named = [(HIDDEN, hidden), (CHANGED_LABEL, changed_elements), (LANDMARK, landmarks)]
    rules = {tag: [VERBATIM] for tag in TAGS_BY_LABEL[VERBATIM]}
    text, spans = render_annotated_text(tree, rules, [(label, elements) for label, elements in named if elements])
    areas: dict[str, list[slice]] = {}
    numbers = _map_offsets_to_lines(text, {place for start, end, _ in spans for place in (start, max(start, end - 1))})
    for start, end, label in spans:
        areas.setdefault(label, []).append(slice(numbers[start], numbers[max(start, end - 1)] + 1))
    return _LabeledLines(text.split("\n"), areas)


def _map_offsets_to_lines(text: str, offsets: Set[int]) -> dict[int, int]:
    """Number the lines in which some places of a text are, going through it once."""
    numbers, number, last = {}, 0, 0
    for place in sorted(offsets):
        number += text.count("\n", last, place)
        numbers[place], last = number, place
    return numbers


def _find_changed_element(edits: Sequence[TextEdit]) -> list[Element]:
    """Find the element that has the only text that differs in lines of its own; none if there are several texts."""
    around = edits[0].node.ancestors if len(edits) == 1 else ()
    return [element for element in around if isinstance(element, Element) and element.tag in OWN_LINE_TAGS][:1]


def _read_old_lines(tree: Document, edits: Sequence[TextEdit], labeled_lines: _LabeledLines) -> list[str]:
    """Read what the lines of a page were: those of the element that differs, if they read as they do by themselves."""
    block, area = _find_changed_element(edits), next(iter(labeled_lines.areas.get(CHANGED_LABEL, ())), slice(0))
    is_alone = bool(block) and block[0].to_text(TEXT_LAYOUT).split("\n") == labeled_lines.lines[area]
    with restore_old_texts(edits):
        if not is_alone:
            return render_text(tree).split("\n")
        before = block[0].to_text(TEXT_LAYOUT).split("\n")
    return [*labeled_lines.lines[: area.start], *before, *labeled_lines.lines[area.stop :]]
