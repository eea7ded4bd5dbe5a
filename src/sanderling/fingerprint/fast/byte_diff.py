"""The few spots at which two versions of a page differ: tokens, comments, data, which no mark sees, and words.

Both versions are passed over in strides from one difference to the next, and the tags that hold these are laid side by
side. That what looks like a tag is one, and no part of a script, a comment or a value, the tree bears witness to: it
has as many such elements as there are such spots, and they hold what the last version has nowhere.
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

from sanderling.fingerprint import scripts as behaviour
from sanderling.fingerprint.fast.common_affix import measure_common_prefix
from sanderling.fingerprint.fast.tag_compare import ATTRIBUTE_PATTERN, TagWithText, normalize_tag
from sanderling.fingerprint.fast.text_edits import RawTextEdit, TextEdit, locate_text_edits, parse_text_edit
from sanderling.html.parser import Document, Element, Namespace, parse_html

MAX_DIFFERENCES = 10  # where more differ, laying both versions side by side costs no more
CONTEXT_SIZE = 24  # bytes on either side of where a value begins to differ
MIN_UNIQUE_SIZE = 8  # bytes of a value that may well stand elsewhere, written in references (`&#50;`)
MAX_CACHED_SIZE = 1_000  # bytes of a spot that is remembered
END_TAGS = {b"<script": b"</script>", b"<style": b"</style>"}
CODE_TAGS = (b"script", b"style")
REOPENED_TAGS = ("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
"""Tags that a parser may open anew where they were left open."""
MAX_END_TAG_SIZE = 9  # bytes of an end tag of these
ByteDifference = tuple[bytes, bytes, bytes]
"""A tag and what stands behind it as it was, as it is, and how the next tag begins."""
FIND_UNSAFE_CODE = re.compile(rb"<(?:!--|/script)", re.IGNORECASE).search  # in a script: it may end elsewhere
MATCH_COMMENT = re.compile(rb"<!--(?!-?>)([^-]*(?:-[^-]+)*)-->([^<]*)").fullmatch


class PageEdits(Struct, frozen=True):
    """In what two versions differ: texts, and scripts by their keys; `stay` are those of the others."""

    text_edits: list[TextEdit] = []
    removed_scripts: frozenset[int] = frozenset()
    added_scripts: frozenset[int] = frozenset()
    unchanged_scripts: frozenset[int] = frozenset()


def find_page_edits(tree: Document, old_body: bytes, new_body: bytes) -> PageEdits | None:
    """Find the texts and scripts in which two versions differ, if nothing else does that a mark sees.

    None if that is not sure. The tree is that of the new version.
    """
    tokens: list[ByteDifference] = []
    words: list[RawTextEdit] = []
    for before, after, behind in _find_differences(old_body, new_body):
        if len(tokens) + len(words) == MAX_DIFFERENCES:
            return None
        if _is_markup_only(before, after):
            tokens.append((before, after, behind))
        elif (piece := parse_text_edit(before, after)) is not None:
            words.append(piece)
        else:
            return None
    claims = _verify_claims(tokens, tree, old_body) if tokens else []
    texts = None if claims is None else locate_text_edits(tree, words, old_body) if words else []
    return (
        None
        if claims is None or texts is None
        else _build_page_edits(tree, texts, [one for one in claims if one.is_script_change])
    )


def _build_page_edits(tree: Document, text_edits: list[TextEdit], script_claims: "list[_MarkupClaim]") -> PageEdits:
    """Tell of texts, and of scripts that come to others than they did."""
    if not script_claims:
        return PageEdits(text_edits)
    new = {node for claim in script_claims for node in _find_matches(tree, claim)}
    stay = behaviour.hash_script_elements(element for element in tree.find_all("script") if element not in new)
    gone, came = (
        frozenset[int]().union(*keys)
        for keys in zip(*((one.old_script_hashes, one.new_script_hashes) for one in script_claims), strict=True)
    )
    return PageEdits(text_edits, gone, came, frozenset(stay))


def _is_markup_only(old_markup: bytes, new_markup: bytes) -> bool:
    """Say whether only a tag differs, or what is behind it is no words; the cheap test first."""
    if new_markup.startswith((b"<!--", *END_TAGS)):
        return old_markup[:4] == new_markup[:4]
    return old_markup.partition(b">")[2] == new_markup.partition(b">")[2]


def _verify_claims(differences: list[ByteDifference], tree: Document, old_body: bytes) -> "list[_MarkupClaim] | None":
    """Read spots; None if a mark may see of one what is not told, or if one is not what it looks like."""
    charset = tree.encoding or "utf-8"
    claims = list(_parse_claims(differences, charset)) if _can_decode(charset) else [None]
    sure = [claim for claim in claims if claim is not None and not _can_occur_in(claim.new_bytes, old_body)]
    times = Counter(claim.identity for claim in sure)
    if len(sure) < len(claims) or any(claim.can_be_repeated and times[claim.identity] > 1 for claim in sure):
        return None
    return sure if all(len(_find_matches(tree, claim)) == times[claim.identity] for claim in set(sure)) else None


def _can_occur_in(value: bytes, old_body: bytes) -> bool:
    """Say whether a value may stand in the last version, as it is or, if it is short, in references."""
    return value in old_body or (len(value) < MIN_UNIQUE_SIZE and b"&#" in old_body)


def _can_decode(charset: str) -> bool:
    """Say whether a charset is known here; the parser knows some more."""
    try:
        codecs.lookup(charset)
    except LookupError:
        return False
    return True


def _parse_claims(differences: list[ByteDifference], charset: str) -> "Iterator[_MarkupClaim | None]":
    """Read spots, up to the first that may be seen."""
    for before, after, behind in differences:
        claim = (_parse_claim_cached if len(before) + len(after) <= MAX_CACHED_SIZE else _parse_claim)(
            before, after, charset, behind
        )
        yield claim
        if claim is None:
            return


def _find_differences(old_body: bytes, new_body: bytes) -> Iterator[ByteDifference]:
    """Find the tags at which two versions differ, each with what stands behind it."""
    mine = yours = 0
    while mine < len(old_body) and yours < len(new_body):
        same = measure_common_prefix(old_body, new_body, mine, yours)
        mine, yours = mine + same, yours + same
        if mine == len(old_body) and yours == len(new_body):
            return
        start = max(new_body.rfind(b"<", 0, yours), 0)
        first, end = (
            mine - (yours - start),
            next((END_TAGS[tag] for tag in END_TAGS if new_body.startswith(tag, start)), b"<"),
        )
        mine, yours = _find_or_end(old_body, end, mine), _find_or_end(new_body, end, yours)
        yield old_body[first:mine], new_body[start:yours], new_body[yours : yours + MAX_END_TAG_SIZE]
    if mine < len(old_body) or yours < len(new_body):
        yield old_body[mine:], new_body[yours:], b""


def _find_or_end(body: bytes, needle: bytes, start: int) -> int:
    """Where something stands; the end if it does not."""
    at = body.find(needle, start)
    return at if at >= 0 else len(body)


class _MarkupClaim(Struct, frozen=True):
    """What a spot says it is."""

    tag_name: str  # of a tag; empty for a comment
    attributes: frozenset[tuple[str, str]]  # its attributes, or what the comment says
    longest_attribute: tuple[str, str]  # one of them, with a name if there is one
    new_bytes: bytes  # what it was not in the last version
    can_be_repeated: bool = False  # by the parser
    old_script_hashes: frozenset[int] = frozenset()  # what a script came to
    new_script_hashes: frozenset[int] = frozenset()  # and comes to

    @property
    def identity(self) -> tuple[str, frozenset[tuple[str, str]]]:
        """What the tree is asked for; other spellings of it ask for the same."""
        return self.tag_name, self.attributes

    @property
    def is_script_change(self) -> bool:
        """Say whether it is a script that comes to another than it did."""
        return self.old_script_hashes != self.new_script_hashes


def _parse_claim(old_markup: bytes, new_markup: bytes, charset: str, next_markup: bytes) -> _MarkupClaim | None:
    """Read a spot; None if a mark may see how it differs from what it was."""
    if new_markup.startswith(b"<!--"):
        old, new = MATCH_COMMENT(old_markup), MATCH_COMMENT(new_markup)
        if old is None or new is None or old[2] != new[2]:
            return None
        text = ("", new[1].decode(charset, "replace"))
        return _MarkupClaim("", frozenset((text,)), text, _extract_new_bytes(old[1], new[1]))
    one, other = TagWithText(old_markup[1:]), TagWithText(new_markup[1:])
    if old_markup[:1] != b"<" or new_markup[:1] != b"<":
        return None
    if new_markup.startswith(tuple(END_TAGS)):
        codes = _compare_code(one, other, charset)
        claim = None if codes is None else _build_claim(one, other, charset)
        return (
            claim
            if claim is None or codes is None
            else replace(claim, old_script_hashes=codes[0], new_script_hashes=codes[1])
        )
    if one.text != other.text or not one.is_equivalent_to(other):
        return None
    claim = _build_claim(one, other, charset)
    is_left_open = (
        claim is not None
        and claim.tag_name in REOPENED_TAGS
        and not next_markup.startswith(f"</{claim.tag_name}>".encode())
    )
    return replace(claim, can_be_repeated=True) if claim and is_left_open else claim


_parse_claim_cached = lru_cache(maxsize=2_048)(_parse_claim)  # a template changes alike on all its pages


def _compare_code(old: TagWithText, new: TagWithText, charset: str) -> tuple[frozenset[int], frozenset[int]] | None:
    """Say what two scripts or style sheets come to; nothing if that is the same, None if it is not sure, or seen."""
    if not old.has_valid_tag or not new.has_valid_tag or FIND_UNSAFE_CODE(old.text) or FIND_UNSAFE_CODE(new.text):
        return None
    if old.text == new.text and old.is_equal_without_ignored(new):
        return frozenset(), frozenset()
    if normalize_tag(old.tag) != normalize_tag(new.tag) or new.tag.startswith(b"style"):
        return None
    mine, yours = (
        behaviour.hash_scripts(parse_html(b"<" + some.source + b"</script>", charset)) for some in (old, new)
    )
    return frozenset(mine), frozenset(yours)


def _build_claim(old: TagWithText, new: TagWithText, charset: str) -> _MarkupClaim | None:
    """Read a tag; None if it has nothing new to be known by."""
    before, after = _parse_attributes(old), _parse_attributes(new)
    fresh = [
        _extract_new_bytes(before.get(key, b""), value) for key, value in after.items() if before.get(key) != value
    ]
    if not any(fresh):
        return None
    read = {key.decode(charset, "replace"): value.decode(charset, "replace") for key, value in after.items()}
    values = {key: unescape(value) if key else value for key, value in read.items()}
    name = new.tag.split(None, 1)[0].decode(charset, "replace").lower()
    return _MarkupClaim(
        name, frozenset(values.items()), max(values.items(), key=_get_value_length), max(fresh, key=len)
    )


def _extract_new_bytes(old: bytes, new: bytes) -> bytes:
    """What a value has that it had not, with a little of what it had."""
    at = measure_common_prefix(old, new)
    return new[max(at - CONTEXT_SIZE, 0) : at + CONTEXT_SIZE]


def _get_value_length(attribute: tuple[str, str]) -> int:
    return len(attribute[1]) if attribute[0] else 0


def _parse_attributes(tag_text: TagWithText) -> dict[bytes, bytes]:
    """The attributes of a tag, and the code of a script without a name; of two of one name the first counts."""
    found = ATTRIBUTE_PATTERN.findall(b"".join(tag_text.tag.split(None, 1)[1:]))
    read = {key.lower(): value[1:-1] if value[:1] in (b'"', b"'") else value for key, value in reversed(found)}
    return read | {b"": tag_text.text} if tag_text.tag.startswith(CODE_TAGS) else read


def _find_matches(tree: Document, claim: _MarkupClaim) -> list[Node]:
    """Find the elements or comments that are what a spot says."""
    key, value = claim.longest_attribute
    if not claim.tag_name:
        found = tree.xpath("//comment()")
        return (
            [one for one in found if isinstance(one, Comment) and one.data == value] if isinstance(found, list) else []
        )
    elements = tree.find_all(claim.tag_name)
    if key:
        elements = list(compress(elements, map(eq, map(Element.attr, elements, repeat(key)), repeat(value))))
    return [one for one in elements if one.namespace is Namespace.HTML and _get_attributes(one) == claim.attributes]


def _get_attributes(element: Element) -> set[tuple[str, str]]:
    """What a claim has of an element."""
    found = {(key, element.attr(key) or "") for key in element.attrs}
    return found | {("", element.text)} if element.tag in ("script", "style") else found
