"""Read the forms of a page: where each leads, and which values its fields offer."""

import re
from collections.abc import Iterator
from itertools import islice

import ada_url
import msgspec
from msgspec import Struct

from sanderling.html.parser import Document, Element
from sanderling.html.text import get_single_line_text, render_text

MAX_FORMS = 20  # per page
MAX_FIELDS = 40  # a form with more is no search form, and is left out
MAX_VALUES = 1_000  # of a field
MAX_TEXT = 200  # of a label, a value, or a line
MAX_LINES = 1_000  # of the text of a page
CONTROLS = "input, select, textarea, button"
TEXT_TYPES = frozenset(("text", "search", "tel", "url", ""))
RANGE_TYPES = {"number": "number", "range": "number", "date": "date", "month": "month", "datetime-local": "date"}
CHOICE, FLAG, HIDDEN, SUBMIT, TEXT = "choice", "flag", "hidden", "submit", "text"
is_invisible = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE).search


class FormField(Struct, array_like=True, gc=False):
    """A named control, or all radio buttons of a name. Kinds that are never filled in keep their type as kind."""

    name: str
    kind: str  # choice, flag, text, number, date, month, hidden, submit, password ...
    values: list[str] = []  # that may be sent; of a text field: suggestions
    default: str | None = None  # None: the field is not sent
    label: str = ""
    minimum: str = ""
    maximum: str = ""


class PageForm(Struct, array_like=True, gc=False):
    """A form as a browser would send it."""

    action: str
    method: str
    fields: list[FormField]
    hints: str = ""  # id, class, role, heading and button texts: what the form is for
    encoding: str = "utf-8"


class FormPage(Struct, array_like=True):
    """Forms and lines of text of a page, sent from the worker to the coordinator."""

    forms: list[PageForm] = []
    lines: list[str] = []
    records: list[str] = []  # of a JSON document
    next_url: str = ""  # of a JSON document: its next page
    total: int = 0  # of a JSON document: records of the query


def pack_form_page(tree: Document, url: str, base_url: str) -> bytes:
    """Return the encoded forms and lines of a page."""
    forms = list(extract_forms(tree, url, base_url))
    lines = dict.fromkeys(" ".join(line.split())[:MAX_TEXT] for line in render_text(tree).splitlines())
    return msgspec.msgpack.encode(FormPage(forms, [line for line in islice(lines, MAX_LINES) if line]))


def unpack_form_page(packed: bytes) -> FormPage:
    return msgspec.msgpack.decode(packed, type=FormPage) if packed else FormPage()


def extract_forms(tree: Document, url: str, base_url: str) -> Iterator[PageForm]:
    """Yield the forms of a page whose action is an HTTP URL."""
    for form in tree.find_all("form")[:MAX_FORMS]:
        action = form.attr("action") or ""
        try:
            target = ada_url.join_url(base_url, action) if action.strip() else url
        except (ValueError, UnicodeEncodeError):
            continue
        if not target.startswith(("http://", "https://")):
            continue
        controls = _find_controls(tree, form)
        fields = _merge_controls(controls)
        if len(fields) <= MAX_FIELDS:
            method = (form.attr("method") or "get").strip().lower()
            encoding = (form.attr("accept-charset") or tree.encoding or "utf-8").split()[0]
            yield PageForm(target.partition("#")[0], method, fields, _describe(form, controls), encoding)


def _find_controls(tree: Document, form: Element) -> list[Element]:
    """Return the controls of a form. In a table, they may stand behind it: the parser moves them out."""
    controls: list[Element] = list(form.select(CONTROLS))
    name, table = form.attr("id"), form.closest("table")
    if not controls and table is not None:
        controls = [element for element in table.select(CONTROLS) if element.closest("form") is None]
    if name:
        controls += [element for element in tree.select(CONTROLS) if element.attr("form") == name]
    return [
        element
        for element in controls
        if element.attr("form") in (None, name)
        and element.attr("disabled") is None
        and element.closest("fieldset[disabled]") is None
    ]


def _describe(form: Element, controls: list[Element]) -> str:
    texts = [form.attr(name) or "" for name in ("id", "class", "name", "role", "aria-label")]
    texts += [get_single_line_text(element) for element in form.select("legend, h1, h2, h3, h4")[:3]]
    for element in controls:
        if _get_type(element) in (SUBMIT, "image"):
            texts += [element.attr("value") or "", element.attr("alt") or "", get_single_line_text(element)]
    return " ".join(" ".join(texts).split())[:500]


def _get_type(element: Element) -> str:
    if element.tag == "button":
        return (element.attr("type") or SUBMIT).lower()
    return (element.attr("type") or "").strip().lower() if element.tag == "input" else str(element.tag)


def _merge_controls(controls: list[Element]) -> list[FormField]:
    """Build a field per name; radio buttons and check boxes of the same name become choices."""
    fields: dict[tuple[str, str], FormField] = {}
    has_submit = False
    for element in controls:
        field = _read_control(element)
        if field.kind == SUBMIT:  # a browser sends the name of the first button
            field.default = None if has_submit else field.default
            has_submit = True
        group = CHOICE if _get_type(element) == "radio" else field.kind
        known = fields.get((field.name, group))
        if known is None:
            fields[field.name, group] = field
        elif field.kind in (CHOICE, FLAG):
            known.values += field.values[: MAX_VALUES - len(known.values)]
            known.default = known.default if known.default is not None else field.default
            known.kind = CHOICE
    return [field for field in fields.values() if field.name or field.kind not in (HIDDEN, SUBMIT, TEXT)]


def _read_control(element: Element) -> FormField:
    kind, name = _get_type(element), element.attr("name") or ""
    value = (element.attr("value") or "")[:MAX_TEXT]
    label = _find_label(element)
    if kind == "select":
        return _read_select(element, name, label)
    if kind in ("radio", "checkbox"):
        value = value if element.attr("value") is not None else "on"
        default = value if element.attr("checked") is not None else None
        return FormField(name, CHOICE if kind == "radio" else FLAG, [value], default, label)
    if kind in (SUBMIT, "image"):
        return FormField(name if kind == SUBMIT else "", SUBMIT, [], value)
    if kind in ("button", "reset"):
        return FormField("", SUBMIT)
    bounds = (element.attr("min") or "", element.attr("max") or "")
    if kind in RANGE_TYPES:
        return FormField(name, RANGE_TYPES[kind], [], value, label, *bounds)
    if kind in TEXT_TYPES:
        is_trap = is_invisible(element.attr("style") or "") or element.closest("[hidden], [aria-hidden=true]")
        return FormField(name, HIDDEN if is_trap else TEXT, _list_suggestions(element), value, label)
    return FormField(name, kind, [], value, label)


def _read_select(element: Element, name: str, label: str) -> FormField:
    options = [option for option in element.select("option") if option.attr("disabled") is None][:MAX_VALUES]
    values = [_get_option_value(option) for option in options]
    chosen = [value for value, option in zip(values, options, strict=True) if option.attr("selected") is not None]
    first = None if element.attr("multiple") is not None or not values else values[0]
    return FormField(name, CHOICE, list(dict.fromkeys(values)), chosen[0] if chosen else first, label)


def _get_option_value(option: Element) -> str:
    value = option.attr("value")
    return (get_single_line_text(option).strip() if value is None else value)[:MAX_TEXT]


def _list_suggestions(element: Element) -> list[str]:
    """Return the values of the list of a text field."""
    name, root = element.attr("list"), element
    if not name:
        return []
    while root.parent is not None and isinstance(root.parent, Element):
        root = root.parent
    lists = [found for found in root.select("datalist") if found.attr("id") == name]
    return [value for option in (lists[0].select("option")[:MAX_VALUES] if lists else ()) if
            (value := _get_option_value(option))]  # fmt: skip


def _find_label(element: Element) -> str:
    texts = [element.attr(name) or "" for name in ("aria-label", "placeholder", "title", "id")]
    if (label := element.closest("label")) is not None:
        texts.insert(0, get_single_line_text(label))
    elif (form := element.closest("form, table, body")) is not None and (name := element.attr("id")):
        texts[:0] = [get_single_line_text(found) for found in form.select("label") if found.attr("for") == name]
    return " ".join(" ".join(texts).split())[:MAX_TEXT]
