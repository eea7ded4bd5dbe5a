"""A tag of two versions of a page, laid side by side: is it the same but for what no mark sees?"""

import re
from html import unescape

from sanderling.content.class_names import classify_name
from sanderling.content.volatile.strip import strip_build_id
from sanderling.fingerprint.assets import normalize_href, normalize_image_source

ATTRIBUTE_VALUE = rb"(?>\"[^\"]*+\"|'[^']*+'|[^\s\"'>]++)"
MATCH_TAG = re.compile(
    rb"/?[a-zA-Z][^\s/>\"'=]*+(?>[\s/]++[^\s\"'=>/]++(?>\s*+=\s*+" + ATTRIBUTE_VALUE + rb")?)*+[\s/]*+"
).fullmatch  # in one go, whatever stands there
DISPLAY_ATTRIBUTES = (b"class", b"style", b"role", b"hidden")
FINGERPRINTED_ATTRIBUTES = frozenset(
    (
        *(b"id", b"class", b"style", b"role", b"hidden", b"href", b"src", b"srcset", b"alt", b"width", b"height"),
        *(b"poster", b"rel", b"method", b"action", b"name", b"type", b"value", b"placeholder", b"checked", b"selected"),
        *(b"bgcolor", b"background", b"color", b"face", b"size", b"border", b"code", b"data", b"data-src"),
        *(b"data-original", b"data-lazy-src", b"data-srcset", b"d", b"xlink:href", b"aria-controls", b"aria-expanded"),
    )
)  # attributes that a mark may see, of whichever tag; and all that begin with "on"
ATTRIBUTE_PATTERN = re.compile(rb"([^\s=>\"'/]++)(?:\s*+=\s*+(" + ATTRIBUTE_VALUE + rb"))?")
REMOVE_IGNORED_ATTRIBUTES = re.compile(
    rb"\s(?:title|content|nonce|integrity|data-(?!src|original|lazy)[\w-]*|aria-(?!controls|expanded)[\w-]*)=\"[^\"]*\""
).sub  # what no mark sees
FIND_AMBIGUOUS_QUOTE = re.compile(rb"=\"(?:[\s/]|$)").search  # it may be the end of a value that has a name in it


class TagWithText:
    """A tag and the words after it."""

    __slots__ = ("source", "tag", "text")

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.tag, _, self.text = source.partition(b">")

    def is_equivalent_to(self, other: "TagWithText") -> bool:
        """Say whether a mark sees the same of two tags; that is sure if they differ in what it never sees."""
        if not self.is_single_tag or not other.is_single_tag:
            return False
        return self.is_equal_without_ignored(other) or normalize_tag(self.tag) == normalize_tag(other.tag)

    def is_equal_without_ignored(self, other: "TagWithText") -> bool:
        """Say whether two tags differ, if at all, in what is never seen of any tag."""
        return self.tag == other.tag or (
            self.has_simple_quotes and other.has_simple_quotes and self.cleaned_tag == other.cleaned_tag
        )

    @property
    def has_simple_quotes(self) -> bool:
        """Do its quotes stand where they seem to?"""
        return b"'" not in self.tag and FIND_AMBIGUOUS_QUOTE(self.tag) is None

    @property
    def cleaned_tag(self) -> bytes:
        """The tag without what no mark sees."""
        return REMOVE_IGNORED_ATTRIBUTES(b"", self.tag)

    @property
    def is_single_tag(self) -> bool:
        """Do the first angles around the tag belong to it, and to nothing else?"""
        return self.source.count(b">") == 1 and self.has_valid_tag

    @property
    def has_valid_tag(self) -> bool:
        """Does it read like one tag?"""
        return MATCH_TAG(self.tag) is not None


def normalize_tag(tag: bytes) -> bytes:
    """Leave out of a tag what a mark never sees: tokens, what is written for scripts alone."""
    name, *rest = tag.split(None, 1)
    found = [(key.lower(), value) for key, value in ATTRIBUTE_PATTERN.findall(rest[0] if rest else b"")]
    small = name.lower()
    kept = [small, *(key + b"=" + value for key, value in _select_attributes(small, found))]
    return b" ".join(kept)


def _select_attributes(tag_name: bytes, attributes: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Choose what tells of the attributes of a tag."""
    seen = [(key, value) for key, value in attributes if key in FINGERPRINTED_ATTRIBUTES or key.startswith(b"on")]
    match tag_name:
        case b"meta" | b"script":  # scripts are compared by themselves
            return [(key, value) for key, value in seen if key in DISPLAY_ATTRIBUTES or key.startswith(b"on")]
        case b"link" if not _can_contain_word(seen, b"rel", b"stylesheet"):
            return [(key, value) for key, value in seen if key in DISPLAY_ATTRIBUTES or key.startswith(b"on")]
        case b"input" if _get_attribute(seen, b"type").strip(b"\"' ").lower() == b"hidden":
            return [(key, _normalize_value(tag_name, key, value)) for key, value in seen if key != b"value"]
        case _:
            return [(key, _normalize_value(tag_name, key, value)) for key, value in seen]


def _get_attribute(attributes: list[tuple[bytes, bytes]], name: bytes) -> bytes:
    """The value of an attribute; one that is given again counts for nothing."""
    return next((value for key, value in attributes if key == name), b"")


def _can_contain_word(attributes: list[tuple[bytes, bytes]], name: bytes, word: bytes) -> bool:
    value = _get_attribute(attributes, name).lower()
    return word in value or b"&" in value


def _normalize_value(tag_name: bytes, attribute: bytes, value: bytes) -> bytes:
    """Spell a value as marks see it: without what changes by itself; as it is where that is not sure."""
    if not value.isascii() or value.lstrip(b"\"' ")[:5].lower() == b"data:":
        return value
    match tag_name, attribute:
        case _, b"aria-controls" | b"aria-expanded":  # marks only ask whether there is one
            return b"" if value.strip(b"\"'") else value
        case _, b"id":  # marks only ask what it sounds like
            return b"%d" % classify_name(_unquote_value(value))
        case b"img", b"src" | b"srcset":
            return normalize_image_source(_unquote_value(value)).encode()
        case b"a", b"href":
            return normalize_href(_unquote_value(value)).encode()
        case (b"link", b"href") | (b"iframe" | b"frame" | b"embed", b"src"):
            return strip_build_id(_unquote_value(value)).encode()
        case _:
            return value


def _unquote_value(value: bytes) -> str:
    """A value without its quotes; latin-1 keeps bytes of every charset apart."""
    inner = value[1:-1] if value.startswith((b'"', b"'")) else value  # what quotes are inside is part of it
    return unescape(inner.decode("latin-1"))
