"""Locate the few differences between two page bodies: texts, scripts, and markup that fingerprints ignore.

Bytes are compared in strides; the tag around each difference is parsed. That it is a tag, not part of a script,
comment, or value, is verified with the tree: it must contain as many such elements as there are such differences, with
values that the old body does not contain.
"""

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from itertools import compress, repeat
from operator import eq

from msgspec import Struct
from msgspec.structs import replace
from turbohtml import Comment, Node

from sanderling.fingerprint import scripts
from sanderling.fingerprint.fast.common_affix import measure_common_prefix
from sanderling.fingerprint.fast.tag_compare import ATTRIBUTE_PATTERN, TagWithText, normalize_tag
from sanderling.fingerprint.fast.text_edits import RawTextEdit, TextEdit, locate_text_edits, parse_text_edit
from sanderling.html.parser import Document, Element, Namespace, parse_html

MAX_DIFFERENCES = 10  # with more, comparing the trees is not slower
CONTEXT_SIZE = 24  # bytes on each side of the first difference of a value
MIN_UNIQUE_SIZE = 8  # a shorter value may occur elsewhere as character references (`&#50;`)
MAX_CACHED_SIZE = 1_000  # bytes of markup
END_TAGS = {b"<script": b"</script>", b"<style": b"</style>"}
CODE_TAGS = (b"script", b"style")
REOPENED_TAGS = ("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
"""Tags that a parser may reopen if they were not closed."""
MAX_END_TAG_SIZE = 9  # bytes, of `REOPENED_TAGS`
ByteDifference = tuple[bytes, bytes, bytes]
"""Old and new bytes of a tag with the text after it, and the beginning of the next tag."""
FIND_UNSAFE_CODE = re.compile(rb"<(?:!--|/script)", re.IGNORECASE).search  # a script with one may end elsewhere
MATCH_COMMENT = re.compile(rb"<!--(?!-?>)([^-]*(?:-[^-]+)*)-->([^<]*)").fullmatch


class PageEdits(Struct, frozen=True):
    """Edited texts, and hashes of changed and unchanged scripts."""

    text_edits: list[TextEdit] = []
    removed_scripts: frozenset[int] = frozenset()
    added_scripts: frozenset[int] = frozenset()
    unchanged_scripts: frozenset[int] = frozenset()


def find_page_edits(tree: Document, old_body: bytes, new_body: bytes) -> PageEdits | None:
    """Find edited texts and scripts in a new version.

    None: anything else may affect a fingerprint.
    """
    markup_differences: list[ByteDifference] = []
    raw_text_edits: list[RawTextEdit] = []
    for old_markup, new_markup, next_markup in _find_differences(old_body, new_body):
        if len(markup_differences) + len(raw_text_edits) == MAX_DIFFERENCES:
            return None
        if _is_markup_only(old_markup, new_markup):
            markup_differences.append((old_markup, new_markup, next_markup))
        elif (raw_edit := parse_text_edit(old_markup, new_markup)) is not None:
            raw_text_edits.append(raw_edit)
        else:
            return None
    claims = _verify_claims(markup_differences, tree, old_body) if markup_differences else []
    text_edits = None if claims is None else locate_text_edits(tree, raw_text_edits, old_body) if raw_text_edits else []
    return (
        None
        if claims is None or text_edits is None
        else _build_page_edits(tree, text_edits, [claim for claim in claims if claim.is_script_change])
    )


def _build_page_edits(tree: Document, text_edits: list[TextEdit], script_claims: "list[_MarkupClaim]") -> PageEdits:
    if not script_claims:
        return PageEdits(text_edits)
    new_elements = {node for claim in script_claims for node in _find_matches(tree, claim)}
    unchanged = scripts.hash_script_elements(
        element for element in tree.find_all("script") if element not in new_elements
    )
    removed, added = (
        frozenset[int]().union(*hashes)
        for hashes in zip(*((claim.old_script_hashes, claim.new_script_hashes) for claim in script_claims), strict=True)
    )
    return PageEdits(text_edits, removed, added, frozenset(unchanged))


def _is_markup_only(old_markup: bytes, new_markup: bytes) -> bool:
    if new_markup.startswith((b"<!--", *END_TAGS)):
        return old_markup[:4] == new_markup[:4]
    return old_markup.partition(b">")[2] == new_markup.partition(b">")[2]


def _verify_claims(differences: list[ByteDifference], tree: Document, old_body: bytes) -> "list[_MarkupClaim] | None":
    """Parse markup differences and confirm them with the tree.

    None: not confirmed, or a fingerprint may be affected.
    """
    charset = tree.encoding or "utf-8"
    claims = list(_parse_claims(differences, charset)) if _can_decode(charset) else [None]
    valid_claims = [claim for claim in claims if claim is not None and not _can_occur_in(claim.new_bytes, old_body)]
    counts = Counter(claim.identity for claim in valid_claims)
    if len(valid_claims) < len(claims) or any(
        claim.can_be_repeated and counts[claim.identity] > 1 for claim in valid_claims
    ):
        return None
    return (
        valid_claims
        if all(len(_find_matches(tree, claim)) == counts[claim.identity] for claim in set(valid_claims))
        else None
    )


def _can_occur_in(value: bytes, old_body: bytes) -> bool:
    """Return whether a body may contain a value, also as character references."""
    return value in old_body or (len(value) < MIN_UNIQUE_SIZE and b"&#" in old_body)


def _can_decode(charset: str) -> bool:
    try:
        codecs.lookup(charset)
    except LookupError:
        return False
    return True


def _parse_claims(differences: list[ByteDifference], charset: str) -> "Iterator[_MarkupClaim | None]":
    for old_markup, new_markup, next_markup in differences:
        claim = (_parse_claim_cached if len(old_markup) + len(new_markup) <= MAX_CACHED_SIZE else _parse_claim)(
            old_markup, new_markup, charset, next_markup
        )
        yield claim
        if claim is None:
            return


def _find_differences(old_body: bytes, new_body: bytes) -> Iterator[ByteDifference]:
    old_at = new_at = 0
    while old_at < len(old_body) and new_at < len(new_body):
        common_size = measure_common_prefix(old_body, new_body, old_at, new_at)
        old_at, new_at = old_at + common_size, new_at + common_size
        if old_at == len(old_body) and new_at == len(new_body):
            return
        new_start = max(new_body.rfind(b"<", 0, new_at), 0)
        old_start, end_marker = (
            old_at - (new_at - new_start),
            next((END_TAGS[tag] for tag in END_TAGS if new_body.startswith(tag, new_start)), b"<"),
        )
        old_at, new_at = _find_or_end(old_body, end_marker, old_at), _find_or_end(new_body, end_marker, new_at)
        yield old_body[old_start:old_at], new_body[new_start:new_at], new_body[new_at : new_at + MAX_END_TAG_SIZE]
    if old_at < len(old_body) or new_at < len(new_body):
        yield old_body[old_at:], new_body[new_at:], b""


def _find_or_end(body: bytes, needle: bytes, start: int) -> int:
    at = body.find(needle, start)
    return at if at >= 0 else len(body)


class _MarkupClaim(Struct, frozen=True):
    """An assumed difference in the markup, to be verified with the tree."""

    tag_name: str  # empty: a comment
    attributes: frozenset[tuple[str, str]]  # or the text of the comment
    longest_attribute: tuple[str, str]  # used to search the tree
    new_bytes: bytes  # must not occur in the old body
    can_be_repeated: bool = False  # the parser may reopen the tag
    old_script_hashes: frozenset[int] = frozenset()
    new_script_hashes: frozenset[int] = frozenset()

    @property
    def identity(self) -> tuple[str, frozenset[tuple[str, str]]]:
        """Search key; equal for different notations of the same markup."""
        return self.tag_name, self.attributes

    @property
    def is_script_change(self) -> bool:
        return self.old_script_hashes != self.new_script_hashes


def _parse_claim(old_markup: bytes, new_markup: bytes, charset: str, next_markup: bytes) -> _MarkupClaim | None:
    """Parse a difference.

    None: it may affect a fingerprint.
    """
    if new_markup.startswith(b"<!--"):
        old, new = MATCH_COMMENT(old_markup), MATCH_COMMENT(new_markup)
        if old is None or new is None or old[2] != new[2]:
            return None
        text = ("", new[1].decode(charset, "replace"))
        return _MarkupClaim("", frozenset((text,)), text, _extract_new_bytes(old[1], new[1]))
    old_tag, new_tag = TagWithText(old_markup[1:]), TagWithText(new_markup[1:])
    if old_markup[:1] != b"<" or new_markup[:1] != b"<":
        return None
    if new_markup.startswith(tuple(END_TAGS)):
        codes = _compare_code(old_tag, new_tag, charset)
        claim = None if codes is None else _build_claim(old_tag, new_tag, charset)
        return (
            claim
            if claim is None or codes is None
            else replace(claim, old_script_hashes=codes[0], new_script_hashes=codes[1])
        )
    if old_tag.text != new_tag.text or not old_tag.is_equivalent_to(new_tag):
        return None
    claim = _build_claim(old_tag, new_tag, charset)
    is_left_open = (
        claim is not None
        and claim.tag_name in REOPENED_TAGS
        and not next_markup.startswith(f"</{claim.tag_name}>".encode())
    )
    return replace(claim, can_be_repeated=True) if claim and is_left_open else claim


_parse_claim_cached = lru_cache(maxsize=2_048)(_parse_claim)  # a template changes in the same way on all its pages


def _compare_code(old: TagWithText, new: TagWithText, charset: str) -> tuple[frozenset[int], frozenset[int]] | None:
    """Return the hashes of two scripts, empty if equal.

    None: the difference may be visible.
    """
    if not old.has_valid_tag or not new.has_valid_tag or FIND_UNSAFE_CODE(old.text) or FIND_UNSAFE_CODE(new.text):
        return None
    if old.text == new.text and old.is_equal_without_ignored(new):
        return frozenset(), frozenset()
    if normalize_tag(old.tag) != normalize_tag(new.tag) or new.tag.startswith(b"style"):
        return None
    old_hashes, new_hashes = (
        scripts.hash_scripts(parse_html(b"<" + tag.source + b"</script>", charset)) for tag in (old, new)
    )
    return frozenset(old_hashes), frozenset(new_hashes)


def _build_claim(old: TagWithText, new: TagWithText, charset: str) -> _MarkupClaim | None:
    """Build the claim of a tag.

    None: it has no new value to search for.
    """
    old_attributes, new_attributes = _parse_attributes(old), _parse_attributes(new)
    new_values = [
        _extract_new_bytes(old_attributes.get(key, b""), value)
        for key, value in new_attributes.items()
        if old_attributes.get(key) != value
    ]
    if not any(new_values):
        return None
    decoded = {
        key.decode(charset, "replace"): value.decode(charset, "replace") for key, value in new_attributes.items()
    }
    values = {key: unescape(value) if key else value for key, value in decoded.items()}
    name = new.tag.split(None, 1)[0].decode(charset, "replace").lower()
    return _MarkupClaim(
        name, frozenset(values.items()), max(values.items(), key=_get_value_length), max(new_values, key=len)
    )


def _extract_new_bytes(old: bytes, new: bytes) -> bytes:
    """Return the first changed bytes, with `CONTEXT_SIZE` bytes on each side."""
    at = measure_common_prefix(old, new)
    return new[max(at - CONTEXT_SIZE, 0) : at + CONTEXT_SIZE]


def _get_value_length(attribute: tuple[str, str]) -> int:
    return len(attribute[1]) if attribute[0] else 0


def _parse_attributes(tag_text: TagWithText) -> dict[bytes, bytes]:
    """Return attributes (the first of duplicates) and, under an empty name, the code of a script."""
    pairs = ATTRIBUTE_PATTERN.findall(b"".join(tag_text.tag.split(None, 1)[1:]))
    attributes = {key.lower(): value[1:-1] if value[:1] in (b'"', b"'") else value for key, value in reversed(pairs)}
    return attributes | {b"": tag_text.text} if tag_text.tag.startswith(CODE_TAGS) else attributes


def _find_matches(tree: Document, claim: _MarkupClaim) -> list[Node]:
    key, value = claim.longest_attribute
    if not claim.tag_name:
        comments = tree.xpath("//comment()")
        return (
            [node for node in comments if isinstance(node, Comment) and node.data == value]
            if isinstance(comments, list)
            else []
        )
    elements = tree.find_all(claim.tag_name)
    if key:
        elements = list(compress(elements, map(eq, map(Element.attr, elements, repeat(key)), repeat(value))))
    return [node for node in elements if node.namespace is Namespace.HTML and _get_attributes(node) == claim.attributes]


def _get_attributes(element: Element) -> set[tuple[str, str]]:
    attributes = {(key, element.attr(key) or "") for key in element.attrs}
    return attributes | {("", element.text)} if element.tag in ("script", "style") else attributes
