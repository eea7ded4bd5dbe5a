"""What a page can do: scripts, event handlers, forms and frames; each as a set of short hashes."""

import re
from collections.abc import Iterable

from xxhash import xxh3_64_intdigest, xxh32_intdigest

from sanderling.content.volatile.strip import HEX, reduce, steady
from sanderling.fingerprint.assets import DIGEST, MAX_LINKS, MAX_NAMES, MAX_TITLE, key
from sanderling.html.parser import Document, Element

MAX_SCRIPT = 200_000  # characters of one inline script that are looked at
MAX_OPTIONS = 1_000  # that fields of a page offer
OFFERED = ("submit", "button", "reset", "radio", "checkbox", "text", "search")  # fields whose values are seen and fixed
CODE = bytes(set(range(33, 127)) - set(b"+/=-_%") - set(range(48, 58)) - set(range(65, 91)) - set(range(97, 123)))
NOT_CODE = bytes(set(range(256)) - set(CODE))
DATA_TYPES = ("application/json", "application/ld+json", "text/json", "importmap", "speculationrules")
EVENTS = ("click", "load", "submit", "change", "mouseover", "keydown")  # each costs a look at every element
HANDLERS = tuple(f"on{event}" for event in EVENTS)
HANDLED = ",".join(f"[{name}]" for name in HANDLERS)
TYPED = ("onfocus", "onblur", "oninput", "onkeyup", "onkeypress", "oninvalid")
POINTED = ("onmouseout", "onmousedown", "ondblclick", "ontouchstart")
OWN = {  # events of some tags alone: these are found at once
    **dict.fromkeys(("input", "textarea", "select"), TYPED),
    **dict.fromkeys(("button", "area"), POINTED),
    "img": ("onerror", *POINTED),
    "form": ("onreset",),
    "body": ("onunload", "onbeforeunload", "onresize", "onscroll"),
}
FRAMES = {"iframe": "src", "frame": "src", "embed": "src", "object": "data", "applet": "code"}
SMALL = 4_000  # bytes of inline code whose names count too, not only its bones
# Strings in code. An escaped quote starts none: each of thousands of them would be looked for its end.
TEXTS = re.compile(rb"(?<!\\)(?:\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"|'[^'\\]*+(?:\\.[^'\\]*+)*+')", re.DOTALL)
VALUES = b"0123456789. \t\r\n\f"  # in code: numbers and blanks


def scripts(tree: Document) -> set[int]:
    """Hash the scripts of a page."""
    return keys(tree.find_all("script"))


def keys(scripts: Iterable[Element]) -> set[int]:
    """Hash external scripts by their name, inline ones by the bones of their code: data in them may change."""
    found = set()
    for element in scripts:
        source = element.attr("src")
        if source:
            found.add(key(steady(source)))
        elif (element.attr("type") or "").lower() not in DATA_TYPES:
            found.add(_bones(element.text[:MAX_SCRIPT].encode("utf-8", "replace")))
    return found - {0}


def _bones(code: bytes) -> int:
    """Hash the bones of some code, 0 if it has none; remembered, for the pages of a site share most of theirs."""
    number = xxh3_64_intdigest(code)
    if number not in _codes:
        if len(_codes) >= MAX_NAMES:
            _codes.clear()
        bones = code.translate(None, NOT_CODE)
        names = TEXTS.sub(b"", code).translate(None, VALUES) if bones and len(code) <= SMALL else b""
        _codes[number] = xxh32_intdigest(names or bones) if bones else 0
    return _codes[number]


_codes: dict[int, int] = {}


def handlers(tree: Document) -> set[int]:
    """Hash the event handlers written into tags."""
    found = {
        _handler(name, value) for element in tree.select(HANDLED) for name in HANDLERS if (value := element.attr(name))
    }
    for tag, names in OWN.items():
        for element in tree.find_all(tag)[:MAX_LINKS]:
            found.update(_handler(name, value) for name in names if (value := element.attr(name)))
    return found


def _handler(name: str, value: str) -> int:
    return key(f"{name} {''.join(filter(str.isalpha, value))}")


def forms(tree: Document) -> set[int]:
    """Hash the forms by where they send what, and what their fields offer; hidden values, so tokens, do not count.

    Some write the token into the name of a field.
    """
    found = {_field(element) for element in tree.find_all("input")[:MAX_LINKS]} - {0}
    found.update(key(f"option {_offer(option.text)}") for option in tree.find_all("option")[:MAX_OPTIONS])
    for element in tree.find_all("form"):
        names = (field.attr("name") or "" for field in element.find_all(["input", "select", "textarea"]))
        fields = sorted({DIGEST.sub("", name) for name in names})
        found.add(key(" ".join((element.attr("method") or "get", steady(element.attr("action") or ""), *fields))))
    return found


def _field(element: Element) -> int:
    """Hash what a field shows before anybody writes into it; 0 for nothing."""
    sort = (element.attr("type") or "text").lower()
    hint, value = element.attr("placeholder"), element.attr("value") if sort in OFFERED else None
    return key(f"{sort} {_offer(hint or '')} {_offer(value or '')}") if hint or value else 0


def _offer(text: str) -> str:
    """Spell what a field offers without stamps and tokens."""
    return HEX.sub("", reduce(" ".join(text[:MAX_TITLE].split())))


def frames(tree: Document) -> set[int]:
    """Hash the frames, and what else runs by itself inside a page, by what they show."""
    return {
        key(steady(source))
        for tag, name in FRAMES.items()
        for element in tree.find_all(tag)
        if (source := element.attr(name))
    }
