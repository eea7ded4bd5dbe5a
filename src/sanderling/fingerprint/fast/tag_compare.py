"""Compare a tag of two versions without tokens and ignored attributes."""

import re
from html import unescape

from sanderling.content.class_names import classify_name
from sanderling.content.volatile.strip import strip_build_id
from sanderling.fingerprint.assets import normalize_image_source
from sanderling.fingerprint.link_targets import normalize_href
from sanderling.fingerprint.tooltip_lines import find_address
from sanderling.html.native_tables import FINGERPRINTED_ATTRIBUTES

ATTRIBUTE_VALUE = rb"(?>\"[^\"]*+\"|'[^']*+'|[^\s\"'>]++)"
MATCH_TAG = re.compile(
    rb"/?[a-zA-Z][^\s/>\"'=]*+(?>[\s/]++[^\s\"'=>/]++(?>\s*+=\s*+" + ATTRIBUTE_VALUE + rb")?)*+[\s/]*+"
).fullmatch  # possessive: linear time on any input
DISPLAY_ATTRIBUTES = (b"class", b"style", b"role", b"hidden")
FINGERPRINTED_NAMES = frozenset(map(str.encode, FINGERPRINTED_ATTRIBUTES))
ATTRIBUTE_PATTERN = re.compile(rb"([^\s=>\"'/]++)(?:\s*+=\s*+(" + ATTRIBUTE_VALUE + rb"))?")
REMOVE_IGNORED_ATTRIBUTES = re.compile(
    rb"\s(?:(?:content|nonce|integrity|data-(?!src|original|lazy)[\w-]*|aria-(?!controls|expanded)[\w-]*)=\"[^\"]*\""
    rb"|title=\"[^\"@&\d\x80-\xff]*\")"
).sub  # never affect a fingerprint
FIND_AMBIGUOUS_QUOTE = re.compile(rb"=\"(?:[\s/]|$)").search  # it may be the closing quote of an earlier value


class TagWithText:
    __slots__ = ("source", "tag", "text")

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.tag, _, self.text = source.partition(b">")

    def is_equivalent_to(self, other: "TagWithText") -> bool:
        """Return whether two tags certainly have the same fingerprint."""
        if not self.is_single_tag or not other.is_single_tag:
            return False
        return self.is_equal_without_ignored(other) or normalize_tag(self.tag) == normalize_tag(other.tag)

    def is_equal_without_ignored(self, other: "TagWithText") -> bool:
        """Return whether two tags differ at most in ignored attributes."""
        return self.tag == other.tag or (
            self.has_simple_quotes and other.has_simple_quotes and self.cleaned_tag == other.cleaned_tag
        )

    @property
    def has_simple_quotes(self) -> bool:
        return b"'" not in self.tag and FIND_AMBIGUOUS_QUOTE(self.tag) is None

    @property
    def cleaned_tag(self) -> bytes:
        return REMOVE_IGNORED_ATTRIBUTES(b"", self.tag)

    @property
    def is_single_tag(self) -> bool:
        return self.source.count(b">") == 1 and self.has_valid_tag

    @property
    def has_valid_tag(self) -> bool:
        return MATCH_TAG(self.tag) is not None


def normalize_tag(tag: bytes) -> bytes:
    """Keep only attributes and values that can affect a fingerprint."""
    name, *rest = tag.split(None, 1)
    attributes = [(key.lower(), value) for key, value in ATTRIBUTE_PATTERN.findall(rest[0] if rest else b"")]
    tag_name = name.lower()
    parts = [tag_name, *(key + b"=" + value for key, value in _select_attributes(tag_name, attributes))]
    return b" ".join(parts)


def _select_attributes(tag_name: bytes, attributes: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    known = [(key, value) for key, value in attributes if key in FINGERPRINTED_NAMES or key.startswith(b"on")]
    match tag_name:
        case b"meta" | b"script":  # scripts are compared separately
            return [(key, value) for key, value in known if key in DISPLAY_ATTRIBUTES or key.startswith(b"on")]
        case b"link" if not _can_contain_word(known, b"rel", b"stylesheet"):
            return [(key, value) for key, value in known if key in DISPLAY_ATTRIBUTES or key.startswith(b"on")]
        case b"input" if _get_attribute(known, b"type").strip(b"\"' ").lower() == b"hidden":
            return [(key, _normalize_value(tag_name, key, value)) for key, value in known if key != b"value"]
        case _:
            return [(key, _normalize_value(tag_name, key, value)) for key, value in known]


def _get_attribute(attributes: list[tuple[bytes, bytes]], name: bytes) -> bytes:
    return next((value for key, value in attributes if key == name), b"")


def _can_contain_word(attributes: list[tuple[bytes, bytes]], name: bytes, word: bytes) -> bool:
    value = _get_attribute(attributes, name).lower()
    return word in value or b"&" in value


def _normalize_value(tag_name: bytes, attribute: bytes, value: bytes) -> bytes:
    """Strip volatile parts of a value; unchanged if that is not safe."""
    if not value.isascii() or value.lstrip(b"\"' ")[:5].lower() == b"data:":
        return value
    match tag_name, attribute:
        case _, b"aria-controls" | b"aria-expanded":  # only its presence matters
            return b"" if value.strip(b"\"'") else value
        case _, b"title":
            return find_address(_unquote_value(value)).encode()
        case _, b"id":  # only its class of names matters
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
    """Strip quotes; latin-1 keeps the bytes of every charset distinct."""
    inner = value[1:-1] if value.startswith((b'"', b"'")) else value  # inner quotes belong to the value
    return unescape(inner.decode("latin-1"))
