"""A tag of two versions of a page, laid side by side: is it the same but for what no mark sees?"""

import re
from html import unescape

from sanderling.content.class_names import sound
from sanderling.content.volatile.strip import steady
from sanderling.fingerprint.assets import picture, target

VALUE = rb"(?>\"[^\"]*+\"|'[^']*+'|[^\s\"'>]++)"
TAG = re.compile(
    rb"/?[a-zA-Z][^\s/>\"'=]*+(?>[\s/]++[^\s\"'=>/]++(?>\s*+=\s*+" + VALUE + rb")?)*+[\s/]*+"
).fullmatch  # in one go, whatever stands there
DRESS = (b"class", b"style", b"role", b"hidden")
SEEN = frozenset(
    (
        *(b"id", b"class", b"style", b"role", b"hidden", b"href", b"src", b"srcset", b"alt", b"width", b"height"),
        *(b"poster", b"rel", b"method", b"action", b"name", b"type", b"value", b"placeholder", b"checked", b"selected"),
        *(b"bgcolor", b"background", b"color", b"face", b"size", b"border", b"code", b"data", b"data-src"),
        *(b"data-original", b"data-lazy-src", b"data-srcset", b"d", b"xlink:href", b"aria-controls", b"aria-expanded"),
    )
)  # attributes that a mark may see, of whichever tag; and all that begin with "on"
ATTRIBUTE = re.compile(rb"([^\s=>\"'/]++)(?:\s*+=\s*+(" + VALUE + rb"))?")
BLIND = re.compile(
    rb"\s(?:title|content|nonce|integrity|data-(?!src|original|lazy)[\w-]*|aria-(?!controls|expanded)[\w-]*)=\"[^\"]*\""
).sub  # what no mark sees
ODD_QUOTE = re.compile(rb"=\"(?:[\s/]|$)").search  # it may be the end of a value that has a name in it


class Part:
    """A tag and the words after it."""

    __slots__ = ("tag", "whole", "words")

    def __init__(self, whole: bytes) -> None:
        self.whole = whole
        self.tag, _, self.words = whole.partition(b">")

    def looks_like(self, other: "Part") -> bool:
        """Say whether a mark sees the same of two tags; that is sure if they differ in what it never sees."""
        if not self.is_sure or not other.is_sure:
            return False
        return self.hardly_differs_from(other) or seen(self.tag) == seen(other.tag)

    def hardly_differs_from(self, other: "Part") -> bool:
        """Say whether two tags differ, if at all, in what is never seen of any tag."""
        return self.tag == other.tag or (self.is_simple and other.is_simple and self.unblind == other.unblind)

    @property
    def is_simple(self) -> bool:
        """Do its quotes stand where they seem to?"""
        return b"'" not in self.tag and ODD_QUOTE(self.tag) is None

    @property
    def unblind(self) -> bytes:
        """The tag without what no mark sees."""
        return BLIND(b"", self.tag)

    @property
    def is_sure(self) -> bool:
        """Do the first angles around the tag belong to it, and to nothing else?"""
        return self.whole.count(b">") == 1 and self.has_sure_tag

    @property
    def has_sure_tag(self) -> bool:
        """Does it read like one tag?"""
        return TAG(self.tag) is not None


def seen(tag: bytes) -> bytes:
    """Leave out of a tag what a mark never sees: tokens, what is written for scripts alone."""
    name, *rest = tag.split(None, 1)
    found = [(key.lower(), value) for key, value in ATTRIBUTE.findall(rest[0] if rest else b"")]
    small = name.lower()
    kept = [small, *(key + b"=" + value for key, value in _told(small, found))]
    return b" ".join(kept)


def _told(name: bytes, attributes: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Choose what tells of the attributes of a tag."""
    seen = [(key, value) for key, value in attributes if key in SEEN or key.startswith(b"on")]
    match name:
        case b"meta" | b"script":  # scripts are compared by themselves
            return [(key, value) for key, value in seen if key in DRESS or key.startswith(b"on")]
        case b"link" if not _may_say(seen, b"rel", b"stylesheet"):
            return [(key, value) for key, value in seen if key in DRESS or key.startswith(b"on")]
        case b"input" if _first(seen, b"type").strip(b"\"' ").lower() == b"hidden":
            return [(key, _spelled(name, key, value)) for key, value in seen if key != b"value"]
        case _:
            return [(key, _spelled(name, key, value)) for key, value in seen]


def _first(attributes: list[tuple[bytes, bytes]], name: bytes) -> bytes:
    """The value of an attribute; one that is given again counts for nothing."""
    return next((value for key, value in attributes if key == name), b"")


def _may_say(attributes: list[tuple[bytes, bytes]], name: bytes, word: bytes) -> bool:
    value = _first(attributes, name).lower()
    return word in value or b"&" in value


def _spelled(name: bytes, key: bytes, value: bytes) -> bytes:
    """Spell a value as marks see it: without what changes by itself; as it is where that is not sure."""
    if not value.isascii() or value.lstrip(b"\"' ")[:5].lower() == b"data:":
        return value
    match name, key:
        case _, b"aria-controls" | b"aria-expanded":  # marks only ask whether there is one
            return b"" if value.strip(b"\"'") else value
        case _, b"id":  # marks only ask what it sounds like
            return b"%d" % sound(_plain(value))
        case b"img", b"src" | b"srcset":
            return picture(_plain(value)).encode()
        case b"a", b"href":
            return target(_plain(value)).encode()
        case (b"link", b"href") | (b"iframe" | b"frame" | b"embed", b"src"):
            return steady(_plain(value)).encode()
        case _:
            return value


def _plain(value: bytes) -> str:
    """A value without its quotes; latin-1 keeps bytes of every charset apart."""
    inner = value[1:-1] if value.startswith((b'"', b"'")) else value  # what quotes are inside is part of it
    return unescape(inner.decode("latin-1"))
