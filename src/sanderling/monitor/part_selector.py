"""Select a part of a page or document: CSS, XPath, JSON path, or regular expression."""

import json
import re
from typing import TYPE_CHECKING, Any

import turbohtml
from msgspec import Struct

from sanderling.errors import MissingExtra, UsageError
from sanderling.html.parser import Document, Element

if TYPE_CHECKING:
    from jsonpath import JSONPath

MAX_MATCHES = 1_000
MAX_PART_LENGTH = 1_000_000  # characters
PREFIXES = {"css:": "css", "xpath:": "xpath", "json:": "json", "re:": "regex"}
VALUE_ATTRIBUTES = ("content", "value", "datetime", "href", "src")  # of elements without text


class PartSelector(Struct, frozen=True):
    """An expression and its language: css, xpath, json, or regex."""

    language: str
    expression: str


def parse_part_selector(text: str) -> PartSelector:
    r"""Parse `#price`, `//td[2]`, `$.items[0].price`, or `re:Price: (\d+)`. Raises UsageError if it is invalid."""
    text = text.strip()
    prefix = next((prefix for prefix in PREFIXES if text.startswith(prefix)), "")
    expression = text.removeprefix(prefix).strip()
    language = PREFIXES.get(prefix) or ("xpath" if text.startswith("/") else "json" if text.startswith("$") else "css")
    if not expression:
        raise UsageError("the selector is empty; write for example '#price', '//td[2]', '$.price' or 're:Price: (.+)'")
    name = {"css": "CSS selector", "xpath": "XPath", "json": "JSON path", "regex": "regular expression"}[language]
    try:
        match language:
            case "css":
                turbohtml.parse("").select(expression)
            case "xpath":
                turbohtml.parse("").xpath(expression)
            case "json":
                compile_json_path(expression)
            case _:
                re.compile(expression)
    except (ValueError, re.error) as error:
        raise UsageError(f"{expression!r} is not a valid {name}: {str(error).splitlines()[0]}") from None
    return PartSelector(language, expression)


def compile_json_path(expression: str) -> "JSONPath":
    """Compile a JSON path (RFC 9535). Raises ValueError if it is invalid."""
    try:
        import jsonpath
    except ImportError:
        raise MissingExtra("watching a JSON path", "alerts") from None
    try:
        return jsonpath.compile(expression)  # type: ignore[return-value]
    except jsonpath.JSONPathError as error:
        raise ValueError(str(error)) from None


def select_json(value: object, selector: PartSelector) -> list[object]:
    """Return the values at a JSON path."""
    return list(compile_json_path(selector.expression).findall(value))[:MAX_MATCHES]  # type: ignore[arg-type]


def remove_json(value: Any, selector: PartSelector) -> None:
    """Remove the values at a JSON path in place."""
    for match in reversed(list(compile_json_path(selector.expression).finditer(value))[:MAX_MATCHES]):
        *parents, last = match.parts
        holder: Any = value
        for part in parents:
            holder = holder[part]
        if match.parts:
            del holder[last]


def select_elements(tree: Document, selector: PartSelector) -> list[str]:
    """Return the text of the elements that match, a line each."""
    found = (
        tree.select(selector.expression) if selector.language == "css" else _evaluate_xpath(tree, selector.expression)
    )
    return [text for item in found[:MAX_MATCHES] if (text := _get_text(item))]


def _evaluate_xpath(tree: Document, expression: str) -> list[Any]:
    found = tree.xpath(expression)
    return found if isinstance(found, list) else [found]


def _get_text(item: object) -> str:
    if not isinstance(item, Element):
        text = getattr(item, "text", item)
        return " ".join(str(text).split())[:MAX_PART_LENGTH]
    text = "\n".join(filter(None, (" ".join(line.split()) for line in item.to_text().splitlines())))
    return (text or next(filter(None, map(item.attr, VALUE_ATTRIBUTES)), "") or "")[:MAX_PART_LENGTH]


def select_text(text: str, selector: PartSelector) -> list[str]:
    """Return the matches of a regular expression: its first group, or the whole match."""
    matches = re.finditer(selector.expression, text[:MAX_PART_LENGTH], re.MULTILINE)
    found = [match[1] if match.re.groups else match[0] for match, _ in zip(matches, range(MAX_MATCHES), strict=False)]
    return [part for part in found if part]


def parse_json(text: str) -> Any:
    """Parse JSON; None if it is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
