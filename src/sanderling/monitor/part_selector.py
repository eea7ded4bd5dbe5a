"""Select a part of a page or document: CSS, XPath, JSON path, or regular expression."""

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import turbohtml
from msgspec import Struct

from sanderling.errors import MissingExtra, UsageError
from sanderling.html.parser import Document, Element
from sanderling.monitor.expression_process import expressions, is_expression_fast

if TYPE_CHECKING:
    from jsonpath import JSONPath

MAX_MATCHES = 1_000
MAX_PART_LENGTH = 1_000_000  # characters
PREFIXES = {"css:": "css", "xpath:": "xpath", "json:": "json", "re:": "regex"}
VALUE_ATTRIBUTES = ("content", "value", "datetime", "href", "src")  # of elements without text
match_css_suffix = re.compile(r"(.+?)::(?:attr\(\s*([\w:.-]+)\s*\)|text)").fullmatch  # as in Scrapy


class PartSelector(Struct, frozen=True):
    """An expression and its language: css, xpath, json, or regex. `attribute`: instead of the text of an element."""

    language: str
    expression: str
    attribute: str = ""


def parse_part_selector(text: str) -> PartSelector:
    r"""Parse `#price`, `a::attr(href)`, `//td[2]`, `$.items[0].price`, or `re:Price: (\d+)`. Raises UsageError."""
    text = text.strip()
    prefix = next((prefix for prefix in PREFIXES if text.startswith(prefix)), "")
    expression = text.removeprefix(prefix).strip()
    language = PREFIXES.get(prefix) or ("xpath" if text.startswith("/") else "json" if text.startswith("$") else "css")
    if not expression:
        raise UsageError("the selector is empty; write for example '#price', '//td[2]', '$.price' or 're:Price: (.+)'")
    attribute = ""
    if language == "css" and (suffix := match_css_suffix(expression)):
        expression, attribute = suffix[1], suffix[2] or ""
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
    if language == "regex" and not is_expression_fast(expression):
        raise UsageError(f"{expression!r} can take too long; avoid repetitions within repetitions such as (a+)+")
    return PartSelector(language, expression, attribute)


@lru_cache(maxsize=256)
def compile_json_path(expression: str) -> "JSONPath":
    """Compile a JSON path (RFC 9535). Raises ValueError if it is invalid."""
    try:
        import jsonpath
    except ImportError:
        raise MissingExtra("a JSON path", "fields") from None
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
    """Return the text of the elements that match, or their attribute."""
    found = find_elements(tree, selector)
    if selector.attribute:
        return [value for item in found if (value := item.attr(selector.attribute))]
    return list(filter(None, map(get_item_text, found)))


def find_elements(tree: Document, selector: PartSelector) -> list[Any]:
    """Return the elements, or values of an XPath, that match a CSS selector or XPath."""
    is_css = selector.language == "css"
    found = tree.select(selector.expression) if is_css else _evaluate_xpath(tree, selector.expression)
    return found[:MAX_MATCHES]


def _evaluate_xpath(tree: Document, expression: str) -> list[Any]:
    found = tree.xpath(expression)
    return found if isinstance(found, list) else [found]


def get_item_text(item: object) -> str:
    """Return the text of an element, else the attribute that has its value; or a value of an XPath as text."""
    if not isinstance(item, Element):
        text = getattr(item, "text", item)
        return " ".join(str(text).split())[:MAX_PART_LENGTH]
    text = "\n".join(filter(None, (" ".join(line.split()) for line in item.to_text().splitlines())))
    return (text or next(filter(None, map(item.attr, VALUE_ATTRIBUTES)), "") or "")[:MAX_PART_LENGTH]


def select_text(text: str, selector: PartSelector) -> list[str]:
    """Return the matches of a regular expression: its first group, or the whole match. Raises ExpressionTimeout."""
    return expressions.find_matches(selector.expression, text[:MAX_PART_LENGTH], MAX_MATCHES)


def parse_json(text: str) -> Any:
    """Parse JSON; None if it is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
