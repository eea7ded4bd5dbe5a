"""Read edited texts inside boilerplate without analyzing the whole page.

Only the ancestors of these texts are classified. If that is not sufficient, or other lines could be affected, the whole
page is read.
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
"""Tags that start a new line and may have any class name."""
BOILERPLATE_CONTAINER_TAGS = SEPARATE_TAGS | {"nav", "footer"}
OWN_LINE_TAGS = BOILERPLATE_CONTAINER_TAGS | {"li", "td", "th", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6"}
CHANGED_LABEL = "changed"
ALL_LINES = slice(None)


class _BoilerplateContainer(Struct, frozen=True):
    """The ancestor of a text that makes it boilerplate."""

    element: Element
    is_landmark: bool  # then it is boilerplate unless it contains much of the prose


class _LabeledLines(Struct, frozen=True):
    """Lines of a page, and ranges covered by labeled elements."""

    lines: list[str]
    areas: dict[str, list[slice]]

    def flag_lines(self, label: str) -> bytes:
        mask = bytearray(len(self.lines))
        for area in self.areas.get(label, ()):
            mask[area] = b"\1" * len(range(*area.indices(len(mask))))
        return bytes(mask)

    def count_prose(self, area: slice) -> int:
        return sum([size for size in compute_weighted_lengths(self.lines[area]) if size >= MIN_PROSE_LENGTH])


def read_boilerplate_edit(tree: Document, edits: Sequence[TextEdit]) -> tuple[TextBlocks, TextBlocks] | None:
    """Return the old and new blocks if all edits are in boilerplate and affect no other line.

    None: not certain. Roles of unchanged lines are not computed. Bare times among the changed lines may affect others:
    `compare_changed_lines` detects that.
    """
    containers = [container for edit in edits if (container := _find_boilerplate_container(edit))]
    named = tree.select(ROLE_OR_HIDDEN_SELECTOR) if len(containers) == len(edits) else []
    labels = [LABEL_BY_ROLE.get(element.attr("role") or "") for element in named]
    if len(containers) < len(edits) or MAIN in labels or tree.find_all("main"):
        return None
    hidden_elements = [element for element in named if is_hidden(element)]
    labeled_lines = _read_labeled_lines(
        tree,
        hidden_elements,
        _find_changed_element(edits),
        [container.element for container in containers if container.is_landmark],
    )
    old_lines = _read_old_lines(tree, edits, labeled_lines)
    if len(old_lines) != len(labeled_lines.lines) or not _is_short_edit(old_lines, labeled_lines.lines):
        return None
    excluded = [element for element, label in zip(named, labels, strict=True) if label == EXCLUDED]
    excluded += [
        element for tag in (*TAGS_BY_LABEL[EXCLUDED], *TAGS_BY_LABEL[NOSCRIPT]) for element in tree.find_all(tag)
    ]
    max_prose = MAX_BOILERPLATE_SHARE * (
        labeled_lines.count_prose(ALL_LINES)
        - sum(compute_weighted_length(element.text) for element in (*hidden_elements, *excluded))
    )
    if any(labeled_lines.count_prose(area) > max_prose for area in labeled_lines.areas.get(LANDMARK, ())):
        return None
    masks = bytes(len(old_lines)), labeled_lines.flag_lines(VERBATIM), labeled_lines.flag_lines(HIDDEN)
    return TextBlocks(old_lines, *masks, None), TextBlocks(labeled_lines.lines, *masks, None)


def _find_boilerplate_container(edit: TextEdit) -> _BoilerplateContainer | None:
    """Return the ancestor that makes a text boilerplate, or None. Code and hidden text are excluded."""
    ancestors = [element for element in edit.node.ancestors if isinstance(element, Element)]
    if any(LABEL_BY_TAG.get(element.tag) == VERBATIM or is_hidden(element) for element in ancestors):
        return None
    labels = [LABEL_BY_ROLE.get(element.attr("role") or "") or _get_label(element) for element in ancestors]
    for element, label in zip(ancestors, labels, strict=True):
        if element.tag in BOILERPLATE_CONTAINER_TAGS and label in (EXCLUDED, NAV_OR_FOOTER):
            return _BoilerplateContainer(element, is_landmark=False)
    for element, label in zip(ancestors, labels, strict=True):
        if element.tag in SEPARATE_TAGS and (label == LANDMARK or _has_boilerplate_name(element)):
            return _BoilerplateContainer(element, is_landmark=True)
    return None


def _get_label(element: Element) -> str | None:
    return None if element.tag == "header" and not is_site_header(element) else LABEL_BY_TAG.get(element.tag)


def _has_boilerplate_name(element: Element) -> bool:
    classes = (classify_name(element.attr(name) or "") for name in ("class", "id"))
    return any(name_class & BOILERPLATE and not is_consent_section(element, name_class) for name_class in classes)


def _is_short_edit(old: list[str], new: list[str]) -> bool:
    """Return whether no share of the page changes: changed lines are not prose, or keep their length."""
    start, tail = count_common_ends(old, new)
    differing = (line for lines in (old, new) for line in lines[start : len(lines) - tail])
    if any(map(is_content_anywhere, differing)):  # may be main content by their words alone
        return False
    sizes = zip(*(map(compute_weighted_length, lines[start : len(lines) - tail]) for lines in (old, new)), strict=True)
    return all(old_size == new_size or max(old_size, new_size) < MIN_PROSE_LENGTH for old_size, new_size in sizes)


def _read_labeled_lines(
    tree: Document, hidden: list[Element], changed_elements: list[Element], landmarks: list[Element]
) -> _LabeledLines:
    labeled_elements = [(HIDDEN, hidden), (CHANGED_LABEL, changed_elements), (LANDMARK, landmarks)]
    rules = {tag: [VERBATIM] for tag in TAGS_BY_LABEL[VERBATIM]}
    text, spans = render_annotated_text(
        tree, rules, [(label, elements) for label, elements in labeled_elements if elements]
    )
    areas: dict[str, list[slice]] = {}
    numbers = _map_offsets_to_lines(
        text, {offset for start, end, _ in spans for offset in (start, max(start, end - 1))}
    )
    for start, end, label in spans:
        areas.setdefault(label, []).append(slice(numbers[start], numbers[max(start, end - 1)] + 1))
    return _LabeledLines(text.split("\n"), areas)


def _map_offsets_to_lines(text: str, offsets: Set[int]) -> dict[int, int]:
    numbers, number, last = {}, 0, 0
    for offset in sorted(offsets):
        number += text.count("\n", last, offset)
        numbers[offset], last = number, offset
    return numbers


def _find_changed_element(edits: Sequence[TextEdit]) -> list[Element]:
    """Return the block element around a single edit; empty for several edits."""
    ancestors = edits[0].node.ancestors if len(edits) == 1 else ()
    return [element for element in ancestors if isinstance(element, Element) and element.tag in OWN_LINE_TAGS][:1]


def _read_old_lines(tree: Document, edits: Sequence[TextEdit], labeled_lines: _LabeledLines) -> list[str]:
    """Return the old lines, rendering only the changed element if it renders independently."""
    elements, area = _find_changed_element(edits), next(iter(labeled_lines.areas.get(CHANGED_LABEL, ())), slice(0))
    is_independent = bool(elements) and elements[0].to_text(TEXT_LAYOUT).split("\n") == labeled_lines.lines[area]
    with restore_old_texts(edits):
        if not is_independent:
            return render_text(tree).split("\n")
        old_lines = elements[0].to_text(TEXT_LAYOUT).split("\n")
    return [*labeled_lines.lines[: area.start], *old_lines, *labeled_lines.lines[area.stop :]]
