"""Table of the fields that pages of one type fill in, learned from some of them.

A field is declared (JSON-LD, microdata, OpenGraph) or visible. A visible field is a *slot*: a path of tags and classes,
or the place next to a label (`dt`, `th`). Slots that most pages have, with texts that differ, are fields; equal texts
belong to the template. A slot that pages have several times is a list of short texts.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from sanderling.fingerprint.structure import NUMBER_SUFFIX
from sanderling.html.parser import Document, Element
from sanderling.html.reading import collect_structured_data

MAX_FIELDS = 40
MAX_ELEMENTS = 3_000  # of a page that are looked at
MIN_SHARE = 0.6  # of the pages that have a field
MIN_VARIETY = 0.3  # different values over pages
MAX_VALUE_LENGTH = 500
MAX_STEPS = 8  # of a path
MAX_LABEL_LENGTH = 60
MAX_LIST, MAX_LIST_TEXT = 20, 60  # texts of a list, and characters of each
MAX_NESTING = 4  # of declared values
SKIPPED_TAGS = frozenset(
    ("script", "style", "noscript", "template", "option", "button", "svg", "footer", "head", "dt")
)  # without text of the page, or only with the label of a value
LABEL_TAGS = {"dd": "dt", "td": "th"}
VALUE_KINDS = (
    ("price", re.compile(r"^(?:[$€£¥]\s?\d[\d.,]*|\d[\d.,]*\s?(?:[$€£¥]|EUR|USD|GBP))$")),
    ("date", re.compile(r"^(?:\d{4}-\d\d-\d\d|\d{1,2}[./ ]\w+[./ ]\d{4}|\w+ \d{1,2},? \d{4})\b.{0,20}$")),
    ("number", re.compile(r"^[\d.,]+$")),
)


class Field(Struct, frozen=True):
    """Column of the table. A declared field has no XPath; `css` is empty where a label leads to the value."""

    name: str
    xpath: str
    css: str
    share: float
    declared: str = ""  # type and path, as in `Product offers.price`
    is_list: bool = False


class Slot(Struct, frozen=True):
    """Place that holds text, as XPath and as CSS, with the name of its column."""

    xpath: str
    css: str
    name: str
    declared: str = ""


def learn_fields(documents: Sequence[Document]) -> list[Field]:
    """Learn the fields of a page type from at least two of its pages."""
    values: defaultdict[Slot, list[str]] = defaultdict(list)
    lists: set[Slot] = set()
    for document in documents:
        found: dict[Slot, list[str]] = {}
        for slot, text in iter_slots(document):
            found.setdefault(slot, []).append(text)
        for slot, texts in found.items():
            if value := _join_texts(texts):
                values[slot].append(value)
                lists.update([slot] if len(texts) > 1 else ())
    chosen = [slot for slot, texts in values.items() if _is_field(texts, len(documents))][:MAX_FIELDS]
    names = _name_columns([(slot, values[slot]) for slot in chosen])
    return [
        Field(name, slot.xpath, slot.css, len(values[slot]) / len(documents), slot.declared, slot in lists)
        for name, slot in zip(names, chosen, strict=True)
    ]


def read_fields(document: Document, fields: Sequence[Field]) -> list[str]:
    """Return one row of the table; a field that the page lacks is empty."""
    declared = collect_declared_values(document) if any(field.declared for field in fields) else {}
    return [declared.get(field.declared, "") if field.declared else _read_value(document, field) for field in fields]


def _read_value(document: Document, field: Field) -> str:
    found = document.xpath(field.xpath)
    elements = [one for one in found if isinstance(one, Element)] if isinstance(found, list) else []
    texts = [text for element in elements[: MAX_LIST if field.is_list else 1] if (text := _get_text(element))]
    return _join_texts(texts)


def _join_texts(texts: Sequence[str]) -> str:
    """Return the text of a slot, or the texts of a list; empty if they are too many or too long."""
    if len(texts) > 1 and (len(texts) > MAX_LIST or max(map(len, texts)) > MAX_LIST_TEXT):
        return ""
    return ", ".join(texts)[:MAX_VALUE_LENGTH]


def _is_field(texts: Sequence[str], page_count: int) -> bool:
    return len(texts) >= max(2, MIN_SHARE * page_count) and len(set(texts)) > max(1, MIN_VARIETY * len(texts))


def iter_slots(document: Document) -> Iterator[tuple[Slot, str]]:
    """Yield the declared values of a page, its title, and each place that holds own text."""
    for path, value in collect_declared_values(document).items():
        yield Slot("", "", path.rpartition(".")[2].rpartition(" ")[2], path), value
    title = document.find("title")
    if title is not None:
        yield Slot("//title", "title", "title"), _get_text(title)
    body = document.find("body")
    for number, element in enumerate(body.iter_elements() if body is not None else ()):
        if number >= MAX_ELEMENTS:
            return
        if element.tag not in SKIPPED_TAGS and _has_own_text(element):
            slot, text = _build_slot(element), _get_text(element)
            if slot is not None and text:
                yield slot, text


def collect_declared_values(document: Document) -> dict[str, str]:
    """Return the values that a page declares, by type and path; of several items of a type, those of the first."""
    found: dict[str, str] = {}
    for data in collect_structured_data(document).values():
        items = data if isinstance(data, list) else [data]
        nested = [one for item in items if isinstance(item, Mapping) for one in _list_graph(item)]
        seen: set[str] = set()
        for item in nested:
            kind = _get_type(item)
            if kind not in seen:
                seen.add(kind)
                for path, value in _flatten(item.get("properties", item)):
                    found.setdefault(f"{kind} {path}", value)
    return found


def _list_graph(item: Mapping[str, object]) -> list[Mapping[str, object]]:
    graph = item.get("@graph")
    return [one for one in graph if isinstance(one, Mapping)] if isinstance(graph, list) else [item]


def _get_type(item: Mapping[str, object]) -> str:
    kind = item.get("@type") or item.get("type") or ""
    kind = kind[0] if isinstance(kind, list) and kind else kind
    return str(kind).rpartition("/")[2]


def _flatten(value: object, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, Mapping) and depth < MAX_NESTING:
        for key, inner in value.get("properties", value).items():
            if not key.startswith("@"):
                yield from _flatten(inner, f"{path}.{key}" if path else key, depth + 1)
    texts = value if isinstance(value, list) else [value]
    if path and all(isinstance(text, str | int | float) and not isinstance(text, bool) for text in texts):
        joined = ", ".join(" ".join(str(text).split()) for text in texts)
        if 0 < len(joined) <= MAX_VALUE_LENGTH:
            yield path, joined


def _has_own_text(element: Element) -> bool:
    """Return whether there is text directly in an element, not only in its children."""
    return any(not isinstance(child, Element) and (child.text or "").strip() for child in element.children)


def _get_text(element: Element) -> str:
    return " ".join(element.text.split())[:MAX_VALUE_LENGTH]


def _build_slot(element: Element) -> Slot | None:
    label = _find_label(element)
    if label:
        return label
    steps, css, node, name = [], [], element, ""
    for _ in range(MAX_STEPS):
        if node.tag in SKIPPED_TAGS:
            return None
        word = _get_class(node)
        steps.append(node.tag + (f"[contains(concat(' ', normalize-space(@class), ' '), ' {word} ')]" if word else ""))
        css.append(node.tag + (f".{word}" if word else ""))
        name = name or word
        parent = node.parent
        if not isinstance(parent, Element) or parent.tag in ("body", "html"):
            break
        node = parent
    heading = element.tag if re.fullmatch(r"h[1-6]", element.tag) else ""
    return Slot("//" + "/".join(reversed(steps)), " > ".join(reversed(css)), name or heading or element.tag)


def _get_class(element: Element) -> str:
    """Return the first class of an element that is a plain name without a number."""
    for word in (element.attr("class") or "").split():
        if NUMBER_SUFFIX.sub("", word) == word and re.fullmatch(r"[A-Za-z_][\w-]*", word):
            return word
    return ""


def _find_label(element: Element) -> Slot | None:
    """Return the slot of a value next to a label (`dd` after `dt`, `td` after `th`), or None."""
    before = element.previous_sibling if element.tag in LABEL_TAGS else None
    while before is not None and not isinstance(before, Element):
        before = before.previous_sibling
    if before is None or before.tag != LABEL_TAGS[element.tag]:
        return None
    words = _get_text(before)
    if not words or len(words) > MAX_LABEL_LENGTH or '"' in words:
        return None
    xpath = f'//{before.tag}[normalize-space()="{words}"]/following-sibling::{element.tag}[1]'
    return Slot(xpath, "", words.rstrip(":").strip())


def _name_columns(chosen: Sequence[tuple[Slot, Sequence[str]]]) -> list[str]:
    """Name columns by property, label, class, or tag, or by the form of their values; names are unique."""
    used: Counter[str] = Counter()
    names = []
    for slot, texts in chosen:
        kind = next((kind for kind, form in VALUE_KINDS if all(form.match(text) for text in texts)), "")
        name = re.sub(r"\W+", "_", slot.name.lower()).strip("_") or "text"
        name = kind if kind and len(name) <= 4 and not slot.declared else name
        used[name] += 1
        names.append(f"{name}_{used[name]}" if used[name] > 1 else name)
    return names
