"""Convert a page for reading: Markdown of its main content or the whole page, tables, embedded structured data."""

from collections.abc import Mapping

import msgspec
from turbohtml import Markdown

from sanderling.html.parser import Document, Element, parse_html

BOILERPLATE_SELECTOR = "script,style,template,noscript,nav,footer,aside,form,dialog,[hidden],[aria-hidden=true]"
MIN_MAIN_CONTENT_CHARS = 140  # a shorter main content is doubtful: the whole body is converted instead
MAX_READABLE_BYTES = 4_000_000  # the rest of a page is not converted
STRUCTURED_DATA_FORMATS = ("json_ld", "microdata", "opengraph", "rdfa", "dublin_core")


def render_markdown(body: bytes, charset: str = "", url: str = "", *, main_only: bool = True) -> str:
    """Convert an HTML page to Markdown, with absolute links if `url` is given."""
    tree = parse_html(body[:MAX_READABLE_BYTES], charset)
    if url:
        tree.resolve_links(url)
    element = _find_main_element(tree) if main_only else (tree.find("body") or tree)
    return element.to_markdown(Markdown()).strip()


def _find_main_element(tree: Document) -> Document | Element:
    """Return the main content, or the body without navigation if no part stands out."""
    found = tree.main_content()
    if found is not None and len(found.text.strip()) >= MIN_MAIN_CONTENT_CHARS:
        return found
    tree.remove(BOILERPLATE_SELECTOR)
    return tree.find("body") or tree


def extract_structured_data(body: bytes, charset: str = "", url: str = "") -> dict[str, object]:
    """Return the JSON-LD, microdata, OpenGraph, RDFa, and Dublin Core of a page; formats without data are left out."""
    found = parse_html(body[:MAX_READABLE_BYTES], charset).structured_data(url or None)
    return {name: _to_builtins(value) for name in STRUCTURED_DATA_FORMATS if (value := getattr(found, name))}


def extract_tables(body: bytes, charset: str = "") -> list[list[list[str]]]:
    """Return the cells of each table, row by row."""
    return parse_html(body[:MAX_READABLE_BYTES], charset).tables()


def _to_builtins(value: object) -> object:
    """Convert the records of the parser to dictionaries and lists."""
    if isinstance(value, Mapping):
        return {str(key): _to_builtins(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_builtins(item) for item in value]
    if hasattr(value, "as_dict"):
        return value.as_dict()
    return value if isinstance(value, str | int | float | bool | None) else msgspec.to_builtins(value, str_keys=True)
