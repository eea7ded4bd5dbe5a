"""What a page can do: scripts, event handlers, forms and frames; each as a set of short hashes."""

import re
from collections.abc import Iterable

from xxhash import xxh3_64_intdigest, xxh32_intdigest

from sanderling.content.volatile.strip import HEX_OR_NUMBER, strip_build_id, strip_volatile_text
from sanderling.fingerprint.assets import HEX_DIGEST, MAX_CACHED_NAMES, MAX_LINKS, MAX_TITLE_LENGTH, hash_string
from sanderling.html.parser import Document, Element

MAX_SCRIPT_LENGTH = 200_000  # characters of one inline script that are looked at
MAX_OPTIONS = 1_000  # that fields of a page offer
VISIBLE_VALUE_TYPES = (
    "submit",
    "button",
    "reset",
    "radio",
    "checkbox",
    "text",
    "search",
)  # fields whose values are seen and fixed
CODE_PUNCTUATION = bytes(
    set(range(33, 127)) - set(b"+/=-_%") - set(range(48, 58)) - set(range(65, 91)) - set(range(97, 123))
)
NON_PUNCTUATION = bytes(set(range(256)) - set(CODE_PUNCTUATION))
DATA_SCRIPT_TYPES = ("application/json", "application/ld+json", "text/json", "importmap", "speculationrules")
COMMON_EVENTS = ("click", "load", "submit", "change", "mouseover", "keydown")  # each costs a look at every element
HANDLER_ATTRIBUTES = tuple(f"on{event}" for event in COMMON_EVENTS)
HANDLER_SELECTOR = ",".join(f"[{name}]" for name in HANDLER_ATTRIBUTES)
INPUT_HANDLERS = ("onfocus", "onblur", "oninput", "onkeyup", "onkeypress", "oninvalid")
POINTER_HANDLERS = ("onmouseout", "onmousedown", "ondblclick", "ontouchstart")
HANDLERS_BY_TAG = {  # events of some tags alone: these are found at once
    **dict.fromkeys(("input", "textarea", "select"), INPUT_HANDLERS),
    **dict.fromkeys(("button", "area"), POINTER_HANDLERS),
    "img": ("onerror", *POINTER_HANDLERS),
    "form": ("onreset",),
    "body": ("onunload", "onbeforeunload", "onresize", "onscroll"),
}
FRAME_SOURCE_ATTRIBUTES = {"iframe": "src", "frame": "src", "embed": "src", "object": "data", "applet": "code"}
MAX_IDENTIFIER_CODE_SIZE = 4_000  # bytes of inline code whose names count too, not only its bones
# Strings in code. An escaped quote starts none: each of thousands of them would be looked for its end.
STRING_LITERAL = re.compile(rb"(?<!\\)(?:\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"|'[^'\\]*+(?:\\.[^'\\]*+)*+')", re.DOTALL)
NUMBER_CHARACTERS = b"0123456789. \t\r\n\f"  # in code: numbers and blanks


def hash_scripts(tree: Document) -> set[int]:
    """Hash the scripts of a page."""
    return hash_script_elements(tree.find_all("script"))


def hash_script_elements(elements: Iterable[Element]) -> set[int]:
    """Hash external scripts by their name, inline ones by the bones of their code: data in them may change."""
    found = set()
    for element in elements:
        source = element.attr("src")
        if source:
            found.add(hash_string(strip_build_id(source)))
        elif (element.attr("type") or "").lower() not in DATA_SCRIPT_TYPES:
            found.add(_hash_code_skeleton(element.text[:MAX_SCRIPT_LENGTH].encode("utf-8", "replace")))
    return found - {0}


def _hash_code_skeleton(code: bytes) -> int:
    """Hash the bones of some code, 0 if it has none; remembered, for the pages of a site share most of theirs."""
    number = xxh3_64_intdigest(code)
    if number not in _code_hashes:
        if len(_code_hashes) >= MAX_CACHED_NAMES:
            _code_hashes.clear()
        bones = code.translate(None, NON_PUNCTUATION)
        names = (
            STRING_LITERAL.sub(b"", code).translate(None, NUMBER_CHARACTERS)
            if bones and len(code) <= MAX_IDENTIFIER_CODE_SIZE
            else b""
        )
        _code_hashes[number] = xxh32_intdigest(names or bones) if bones else 0
    return _code_hashes[number]


_code_hashes: dict[int, int] = {}


def hash_handlers(tree: Document) -> set[int]:
    """Hash the event handlers written into tags."""
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
    """Hash the forms by where they send what, and what their fields offer; hidden values, so tokens, do not count.

    Some write the token into the name of a field.
    """
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
    """Hash what a field shows before anybody writes into it; 0 for nothing."""
    sort = (element.attr("type") or "text").lower()
    hint, value = element.attr("placeholder"), element.attr("value") if sort in VISIBLE_VALUE_TYPES else None
    return (
        hash_string(f"{sort} {_normalize_field_text(hint or '')} {_normalize_field_text(value or '')}")
        if hint or value
        else 0
    )


def _normalize_field_text(text: str) -> str:
    """Spell what a field offers without stamps and tokens."""
    return HEX_OR_NUMBER.sub("", strip_volatile_text(" ".join(text[:MAX_TITLE_LENGTH].split())))


def hash_frames(tree: Document) -> set[int]:
    """Hash the frames, and what else runs by itself inside a page, by what they show."""
    return {
        hash_string(strip_build_id(source))
        for tag, name in FRAME_SOURCE_ATTRIBUTES.items()
        for element in tree.find_all(tag)
        if (source := element.attr(name))
    }
