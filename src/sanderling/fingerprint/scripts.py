"""Hashes of scripts, event handlers, forms, and frames, each as a set."""

import re
from collections.abc import Iterable

from xxhash import xxh3_64_intdigest, xxh32_intdigest

from sanderling.content.volatile.strip import HEX_OR_NUMBER, strip_build_id, strip_volatile_text
from sanderling.fingerprint.assets import HEX_DIGEST, MAX_CACHED_NAMES, MAX_LINKS, MAX_TITLE_LENGTH, hash_string
from sanderling.html.native_tables import (
    CODE_PUNCTUATION,
    DATA_SCRIPT_TYPES,
    MAX_IDENTIFIER_CODE_SIZE,
    MAX_SCRIPT_LENGTH,
    NUMBER_CHARACTERS,
)
from sanderling.html.parser import Document, Element

MAX_OPTIONS = 1_000  # <option> elements hashed per page
VISIBLE_VALUE_TYPES = ("submit", "button", "reset", "radio", "checkbox", "text", "search")  # other values are tokens
NON_PUNCTUATION = bytes(set(range(256)) - set(CODE_PUNCTUATION))
COMMON_EVENTS = (
    "click",
    "load",
    "submit",
    "change",
    "mouseover",
    "keydown",
)  # few: each is one more selector tested on every element
HANDLER_ATTRIBUTES = tuple(f"on{event}" for event in COMMON_EVENTS)
HANDLER_SELECTOR = ",".join(f"[{name}]" for name in HANDLER_ATTRIBUTES)
INPUT_HANDLERS = ("onfocus", "onblur", "oninput", "onkeyup", "onkeypress", "oninvalid")
POINTER_HANDLERS = ("onmouseout", "onmousedown", "ondblclick", "ontouchstart")
HANDLERS_BY_TAG = {  # events searched on these tags only: finding elements by tag is cheap
    **dict.fromkeys(("input", "textarea", "select"), INPUT_HANDLERS),
    **dict.fromkeys(("button", "area"), POINTER_HANDLERS),
    "img": ("onerror", *POINTER_HANDLERS),
    "form": ("onreset",),
    "body": ("onunload", "onbeforeunload", "onresize", "onscroll"),
}
FRAME_SOURCE_ATTRIBUTES = {"iframe": "src", "frame": "src", "embed": "src", "object": "data", "applet": "code"}
# Strings in code. An escaped quote starts no match: searching the end of each of thousands would be quadratic.
STRING_LITERAL = re.compile(rb"(?<!\\)(?:\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"|'[^'\\]*+(?:\\.[^'\\]*+)*+')", re.DOTALL)


def hash_scripts(tree: Document) -> set[int]:
    return hash_script_elements(tree.find_all("script"))


def hash_script_elements(elements: Iterable[Element]) -> set[int]:
    """Hash external scripts by URL, inline scripts by code without data, which may change."""
    found = set()
    for element in elements:
        source = element.attr("src")
        if source:
            found.add(hash_string(strip_build_id(source)))
        elif (element.attr("type") or "").lower() not in DATA_SCRIPT_TYPES:
            found.add(_hash_code_skeleton(element.text[:MAX_SCRIPT_LENGTH].encode("utf-8", "replace")))
    return found - {0}


def _hash_code_skeleton(code: bytes) -> int:
    """Hash punctuation and, in short code, identifiers; 0 without punctuation."""
    digest = xxh3_64_intdigest(code)
    if digest not in _code_hashes:
        if len(_code_hashes) >= MAX_CACHED_NAMES:
            _code_hashes.clear()
        punctuation = code.translate(None, NON_PUNCTUATION)
        identifiers = (
            STRING_LITERAL.sub(b"", code).translate(None, NUMBER_CHARACTERS)
            if punctuation and len(code) <= MAX_IDENTIFIER_CODE_SIZE
            else b""
        )
        _code_hashes[digest] = xxh32_intdigest(identifiers or punctuation) if punctuation else 0
    return _code_hashes[digest]


_code_hashes: dict[int, int] = {}


def hash_handlers(tree: Document) -> set[int]:
    found = {
        _hash_handler(name, value)
        for element in tree.select(HANDLER_SELECTOR)
        for name in HANDLER_ATTRIBUTES
        if (value := element.attr(name))
    }
    for tag, names in HANDLERS_BY_TAG.items():
        for element in tree.find_all(tag)[:MAX_LINKS]:
            found.update(_hash_handler(name, value) for name in names if (value := element.attr(name)))
    return found


def _hash_handler(name: str, value: str) -> int:
    return hash_string(f"{name} {''.join(filter(str.isalpha, value))}")


def hash_forms(tree: Document) -> set[int]:
    """Hash forms by method, action, and fields; hidden values and digests in names are tokens."""
    found = {_hash_field(element) for element in tree.find_all("input")[:MAX_LINKS]} - {0}
    found.update(
        hash_string(f"option {_normalize_field_text(option.text)}") for option in tree.find_all("option")[:MAX_OPTIONS]
    )
    for element in tree.find_all("form"):
        names = (field.attr("name") or "" for field in element.find_all(["input", "select", "textarea"]))
        fields = sorted({HEX_DIGEST.sub("", name) for name in names})
        found.add(
            hash_string(
                " ".join((element.attr("method") or "get", strip_build_id(element.attr("action") or ""), *fields))
            )
        )
    return found


def _hash_field(element: Element) -> int:
    """Hash the visible value and placeholder; 0 without both."""
    field_type = (element.attr("type") or "text").lower()
    hint, value = element.attr("placeholder"), element.attr("value") if field_type in VISIBLE_VALUE_TYPES else None
    return (
        hash_string(f"{field_type} {_normalize_field_text(hint or '')} {_normalize_field_text(value or '')}")
        if hint or value
        else 0
    )


def _normalize_field_text(text: str) -> str:
    return HEX_OR_NUMBER.sub("", strip_volatile_text(" ".join(text[:MAX_TITLE_LENGTH].split())))


def hash_frames(tree: Document) -> set[int]:
    return {
        hash_string(strip_build_id(source))
        for tag, name in FRAME_SOURCE_ATTRIBUTES.items()
        for element in tree.find_all(tag)
        if (source := element.attr(name))
    }
