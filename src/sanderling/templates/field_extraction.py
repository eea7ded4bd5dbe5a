"""From pages of one template to a table: find the fields that every page fills in anew, and read them.

A *slot* is a place where pages of a template hold text: a path of tags and classes, or the value next to a label (`dt`,
`th`). A slot is a field when most pages have it once and they do not all say the same there: what is the same
everywhere belongs to the template.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct

from sanderling.fingerprint.structure import NUMBER_SUFFIX
from sanderling.html.parser import Document, Element

MOST_FIELDS = 40
MOST_ELEMENTS = 3_000  # of a page looked at
SHARE = 0.6  # of the pages that have a field
VARIED = 0.3  # different values over pages
LONGEST = 500  # characters of a value
DEEPEST = 8
SKIPPED = frozenset(
    ("script", "style", "noscript", "template", "option", "button", "svg", "nav", "footer", "head", "dt")
)  # what is no text of the page, or the same on all, or only the label of a value
KINDS = (
    ("price", re.compile(r"^(?:[$€£¥]\s?\d[\d.,]*|\d[\d.,]*\s?(?:[$€£¥]|EUR|USD|GBP))$")),
    ("date", re.compile(r"^(?:\d{4}-\d\d-\d\d|\d{1,2}[./ ]\w+[./ ]\d{4}|\w+ \d{1,2},? \d{4})\b.{0,20}$")),
    ("number", re.compile(r"^[\d.,]+$")),
)


class Field(Struct, frozen=True):
    """A column of the table: its name and where to find it; `css` is empty where a label leads to it."""

    name: str
    xpath: str
    css: str
    share: float


class Slot(Struct, frozen=True):
    """A place that holds text, as XPath and as CSS, with what it would be called."""

    xpath: str
    css: str
    name: str


def induce(documents: Sequence[Document]) -> list[Field]:
    """Find the fields of a template from some of its pages; two pages are the least."""
    values: defaultdict[Slot, list[str]] = defaultdict(list)
    for document in documents:
        found: dict[Slot, list[str]] = {}
        for slot, text in slots(document):
            found.setdefault(slot, []).append(text)
        for slot, texts in found.items():
            if len(texts) == 1:
                values[slot].append(texts[0])
    chosen = [slot for slot, texts in values.items() if _is_field(texts, len(documents))]
    names = _names([(slot, values[slot]) for slot in chosen[:MOST_FIELDS]])
    return [
        Field(name, slot.xpath, slot.css, len(values[slot]) / len(documents))
        for name, slot in zip(names, chosen, strict=False)
    ]


def read_fields(document: Document, fields: Sequence[Field]) -> list[str]:
    """Read one row; a field that the page does not have is empty."""
    return [_value(document, field) for field in fields]


def _value(document: Document, field: Field) -> str:
    found = document.xpath(field.xpath)
    first = found[0] if isinstance(found, list) and found else None
    return _text(first) if isinstance(first, Element) else ""


def _is_field(texts: Sequence[str], pages: int) -> bool:
    return len(texts) >= max(2, SHARE * pages) and len(set(texts)) > max(1, VARIED * len(texts))


def slots(document: Document) -> Iterator[tuple[Slot, str]]:
    """Every place of a page that holds own text."""
    title = document.find("title")
    if title is not None:
        yield Slot("//title", "title", "title"), _text(title)
    body = document.find("body")
    if body is None:
        return
    for number, element in enumerate(body.iter_elements()):
        if number >= MOST_ELEMENTS:
            return
        if element.tag in SKIPPED or not _says_something(element):
            continue
        slot = _slot(element)
        text = _text(element)
        if slot is not None and text:
            yield slot, text


def _says_something(element: Element) -> bool:
    """An element with text directly in it, not only in its children."""
    return any(not isinstance(child, Element) and (child.text or "").strip() for child in element.children)


def _text(element: Element) -> str:
    return " ".join(element.text.split())[:LONGEST]


def _slot(element: Element) -> Slot | None:
    label = _label(element)
    if label:
        return label
    steps, css, node, name = [], [], element, ""
    for _ in range(DEEPEST):
        if node.tag in SKIPPED:
            return None
        word = _class(node)
        steps.append(node.tag + (f"[contains(concat(' ', normalize-space(@class), ' '), ' {word} ')]" if word else ""))
        css.append(node.tag + (f".{word}" if word else ""))
        name = name or word
        parent = node.parent
        if not isinstance(parent, Element) or parent.tag in ("body", "html"):
            break
        node = parent
    heading = element.tag if re.fullmatch(r"h[1-6]", element.tag) else ""
    return Slot("//" + "/".join(reversed(steps)), " > ".join(reversed(css)), name or heading or element.tag)


def _class(element: Element) -> str:
    """The first class of an element that is a plain name and no number."""
    for word in (element.attr("class") or "").split():
        if NUMBER_SUFFIX.sub("", word) == word and re.fullmatch(r"[A-Za-z_][\w-]*", word):
            return word
    return ""


def _label(element: Element) -> Slot | None:
    """The value next to a label: `dd` after `dt`, `td` after `th`."""
    if element.tag not in ("dd", "td"):
        return None
    before = element.previous_sibling
    while before is not None and not isinstance(before, Element):
        before = before.previous_sibling
    if before is None or before.tag != {"dd": "dt", "td": "th"}[element.tag]:
        return None
    words = _text(before)
    if not words or len(words) > 60 or '"' in words:
        return None
    return Slot(
        f'//{before.tag}[normalize-space()="{words}"]/following-sibling::{element.tag}[1]',
        "",
        words.rstrip(":").strip(),
    )


def _names(chosen: Sequence[tuple[Slot, Sequence[str]]]) -> list[str]:
    """Name the columns: by label, class or tag, or by what the values look like; no name twice."""
    used: Counter[str] = Counter()
    names = []
    for slot, texts in chosen:
        kind = next((kind for kind, form in KINDS if all(form.match(text) for text in texts)), "")
        name = re.sub(r"\W+", "_", slot.name.lower()).strip("_") or "text"
        name = kind if kind and len(name) <= 4 else name
        used[name] += 1
        names.append(f"{name}_{used[name]}" if used[name] > 1 else name)
    return names
