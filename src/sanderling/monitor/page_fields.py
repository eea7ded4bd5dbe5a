"""Fields of pages: named values selected by CSS, XPath, JSON path, or regular expression, with a type.

Fields are computed from stored versions, so that a field defined today has its whole history.
"""

import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from urllib.parse import urljoin

from msgspec import Struct

from sanderling.discovery.dates import DatePrecision, parse_date
from sanderling.errors import UsageError
from sanderling.html.parser import Document, Element, is_html, parse_html
from sanderling.html.plain_text import decode_plain_text, is_text
from sanderling.html.reading import MAX_READABLE_BYTES, collect_structured_data
from sanderling.http.content_type import parse_charset, parse_mime_type
from sanderling.monitor.page_values import parse_number, parse_text_values
from sanderling.monitor.part_selector import (
    MAX_MATCHES,
    MAX_PART_LENGTH,
    PartSelector,
    find_elements,
    get_item_text,
    parse_json,
    parse_part_selector,
    select_elements,
    select_json,
    select_text,
)
from sanderling.plugins.plugin_registry import PluginGroup, load_plugin
from sanderling.warc.warc_reader import StoredRecord

PLUGIN_PREFIX = "plugin:"
_log = logging.getLogger(__name__)
URL_ATTRIBUTES = ("href", "src", "content", "data-src", "action")
match_definition = re.compile(r"\s*+(\w[\w.-]*+)\s*+(?::\s*+(\w*+)\s*+)?=(.*)", re.DOTALL).fullmatch
EXAMPLES = "price='css:.price', price:price='css:.price', title='json:$..headline' or sku='re:SKU: (.+)'"


class FieldDefinition(Struct, frozen=True):
    """A field: its name, the selector of its value, and the type of the value."""

    name: str
    selector: PartSelector
    type: str = "text"


def parse_field_definitions(texts: Iterable[str]) -> tuple[FieldDefinition, ...]:
    """Parse `NAME[:TYPE]=SELECTOR` of each field. A later definition replaces an earlier one; `NAME=` removes it."""
    fields: dict[str, FieldDefinition] = {}
    for text in texts:
        match = match_definition(text)
        if match is None:
            raise UsageError(f"--fields: {text!r} is no field; write for example {EXAMPLES}")
        name, type_name, expression = match[1], match[2] or "text", match[3].strip()
        if type_name not in FIELD_TYPES:
            raise UsageError(f"--fields {name}: there is no type {type_name!r}; choose from {', '.join(FIELD_TYPES)}")
        fields.pop(name, None)
        if expression:
            try:
                fields[name] = FieldDefinition(name, _parse_selector(expression), type_name)
            except UsageError as error:
                raise UsageError(f"--fields {name}: {error}") from None
    return tuple(fields.values())


def _parse_selector(text: str) -> PartSelector:
    """Parse a selector of a field; `plugin:NAME` is an extractor. Raises UsageError."""
    if not text.startswith(PLUGIN_PREFIX):
        return parse_part_selector(text)
    name = text.removeprefix(PLUGIN_PREFIX).strip()
    load_plugin(PluginGroup.EXTRACTORS, name)
    return PartSelector("plugin", name)


def list_field_texts(fields: Mapping[str, str] | Iterable[str]) -> list[str]:
    """Return definitions of the form `NAME=SELECTOR`, also of a mapping."""
    return [f"{name}={text}" for name, text in fields.items()] if isinstance(fields, Mapping) else list(fields)


def merge_field_texts(stored: Sequence[str], given: Sequence[str]) -> list[str]:
    """Return the definitions of a collection with others added; one of the same name is replaced."""
    names = {text.partition("=")[0].partition(":")[0].strip() for text in given}
    kept = [text for text in stored if text.partition("=")[0].partition(":")[0].strip() not in names]
    return kept + [text for text in given if text.partition("=")[2].strip()]


class FieldSource:
    """A stored response, parsed at most once per language of selectors."""

    def __init__(self, body: bytes, content_type: str, url: str) -> None:
        self.body, self.url = body, url
        self.mime, self.charset = parse_mime_type(content_type), parse_charset(content_type)
        self.is_html = is_html(self.mime, body)

    @cached_property
    def tree(self) -> Document | None:
        """The HTML tree; None for other documents."""
        return parse_html(self.body[:MAX_READABLE_BYTES], self.charset) if self.is_html else None

    @cached_property
    def data(self) -> object:
        """The JSON document, or the structured data of an HTML page by format."""
        tree = self.tree
        return collect_structured_data(tree, self.url) if tree is not None else parse_json(self.text)

    @cached_property
    def text(self) -> str:
        """The visible text of a page, or a textual document as it is."""
        tree = self.tree
        if tree is not None:
            return tree.to_text()
        return decode_plain_text(self.body, self.charset) if is_text(self.body, self.charset) else ""

    def resolve(self, target: str) -> str:
        """Return an absolute URL; one that cannot be resolved is returned as it is."""
        tree = self.tree
        base = tree.find("base") if tree is not None else None
        try:
            return urljoin(urljoin(self.url, (base.attr("href") if base else "") or ""), target.strip())
        except ValueError:
            return target.strip()


def extract_fields(record: StoredRecord | None, url: str, fields: Sequence[FieldDefinition]) -> dict[str, object]:
    """Return the values of the fields; None for a field that is not found, and for all without a record."""
    if record is None or not fields:
        return dict.fromkeys((field.name for field in fields), None)
    source = FieldSource(record.body, record.get_header("Content-Type"), url)
    return {field.name: _read_field(field, source) for field in fields}


def _read_field(field: FieldDefinition, source: FieldSource) -> object:
    try:
        return FIELD_TYPES[field.type](field.selector, source)
    except Exception as error:  # noqa: BLE001 expressions of users on pages of strangers: what fails is missing
        if field.selector.language == "plugin":
            _report_error(field.name, field.selector.expression, f"{type(error).__name__}: {error}"[:200])
        return None


@lru_cache
def _report_error(field: str, plugin: str, error: str) -> None:
    """Warn once of each error of a plugin."""
    _log.warning("the field %s could not be read by plugin:%s: %s", field, plugin, error)


def _select_texts(selector: PartSelector, source: FieldSource) -> list[str]:
    if selector.language == "json":
        return [value if isinstance(value, str) else _encode(value) for value in _select_data(selector, source)]
    if selector.language == "regex":
        return select_text(source.text, selector)
    if selector.language == "plugin":
        value = _run_extractor(selector, source)
        values = value if isinstance(value, list) else [] if value is None else [value]
        return [(one if isinstance(one, str) else _encode(one))[:MAX_PART_LENGTH] for one in values[:MAX_MATCHES]]
    tree = source.tree
    return select_elements(tree, selector) if tree is not None else []


def _select_data(selector: PartSelector, source: FieldSource) -> list[object]:
    return [value for value in select_json(source.data, selector) if value is not None]


def _run_extractor(selector: PartSelector, source: FieldSource) -> object:
    return load_plugin(PluginGroup.EXTRACTORS, selector.expression)(source)


def _encode(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _select_first(selector: PartSelector, source: FieldSource) -> str | None:
    return next(iter(_select_texts(selector, source)), None)


def _read_list(selector: PartSelector, source: FieldSource) -> list[str]:
    return _select_texts(selector, source)


def _read_number(selector: PartSelector, source: FieldSource) -> float | None:
    return next(
        (number for text in _select_texts(selector, source) if (number := parse_number(text)) is not None), None
    )


def _read_price(selector: PartSelector, source: FieldSource) -> dict[str, object] | None:
    """Return amount and currency (ISO 4217; empty: unknown) of the first match that has a number."""
    for text in _select_texts(selector, source):
        found = parse_text_values(text)
        if found.number is not None:
            return {"amount": found.number, "currency": found.unit}
    return None


def _read_date(selector: PartSelector, source: FieldSource) -> str | None:
    """Return the first date as ISO 8601: a day, or a time in UTC."""
    candidates = _select_texts(selector, source)
    tree = source.tree
    if tree is not None and selector.language in ("css", "xpath") and not selector.attribute:
        elements = [item for item in find_elements(tree, selector) if isinstance(item, Element)]
        candidates = [value for item in elements if (value := item.attr("datetime"))] + candidates
    found = next((date for text in candidates if (date := parse_date(text))), None)
    if found is None:
        return None
    at = datetime.fromtimestamp(found.timestamp, UTC)
    return at.date().isoformat() if found.precision is DatePrecision.DAY else at.isoformat()


def _read_url(selector: PartSelector, source: FieldSource) -> str | None:
    """Return the first address as an absolute URL: of a link, an image, or in the text."""
    tree = source.tree
    if tree is None or selector.language not in ("css", "xpath") or selector.attribute:
        found = _select_first(selector, source)
        return source.resolve(found) if found else None
    for item in find_elements(tree, selector):
        values = map(item.attr, URL_ATTRIBUTES) if isinstance(item, Element) else ()
        if value := next(filter(None, values), "") or get_item_text(item):
            return source.resolve(str(value))
    return None


def _read_json(selector: PartSelector, source: FieldSource) -> object:
    """Return the first value of a JSON path as it is; of other selectors, the first match parsed as JSON."""
    if selector.language == "json":
        return next(iter(_select_data(selector, source)), None)
    if selector.language == "plugin":
        text = _encode(_run_extractor(selector, source))
        return parse_json(text) if len(text) <= MAX_PART_LENGTH else None
    found = _select_first(selector, source)
    return parse_json(found) if found else None


FIELD_TYPES: Mapping[str, Callable[[PartSelector, FieldSource], object]] = {
    "text": _select_first,
    "number": _read_number,
    "price": _read_price,
    "date": _read_date,
    "url": _read_url,
    "list": _read_list,
    "json": _read_json,
}
