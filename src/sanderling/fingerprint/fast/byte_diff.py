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
from sanderling.fingerprint.fast.common_affix import common_start
from sanderling.fingerprint.fast.tag_compare import ATTRIBUTE, Part, seen
from sanderling.fingerprint.fast.text_swaps import Spoken, Swap, spoken, swaps
from sanderling.html.parser import Document, Element, Namespace, parse

MAX_SPOTS = 10  # where more differ, laying both versions side by side costs no more
AROUND = 24  # bytes on either side of where a value begins to differ
FEW = 8  # bytes of a value that may well stand elsewhere, written in references (`&#50;`)
SHORT = 1_000  # bytes of a spot that is remembered
ENDS = {b"<script": b"</script>", b"<style": b"</style>"}
CODE = (b"script", b"style")
REPEATED = ("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
"""Tags that a parser may open anew where they were left open."""
LONGEST_END = 9  # bytes of an end tag of these
Spot = tuple[bytes, bytes, bytes]
"""A tag and what stands behind it as it was, as it is, and how the next tag begins."""
ODD = re.compile(rb"<(?:!--|/script)", re.IGNORECASE).search  # in a script: it may end elsewhere
COMMENT = re.compile(rb"<!--(?!-?>)([^-]*(?:-[^-]+)*)-->([^<]*)").fullmatch


class Told(Struct, frozen=True):
    """In what two versions differ: texts, and scripts by their keys; `stay` are those of the others."""

    texts: list[Swap] = []
    gone: frozenset[int] = frozenset()
    came: frozenset[int] = frozenset()
    stay: frozenset[int] = frozenset()


def told(tree: Document, old: bytes, new: bytes) -> Told | None:
    """Find the texts and scripts in which two versions differ, if nothing else does that a mark sees.

    None if that is not sure. The tree is that of the new version.
    """
    tokens: list[Spot] = []
    words: list[Spoken] = []
    for before, after, behind in _spots(old, new):
        if len(tokens) + len(words) == MAX_SPOTS:
            return None
        if _may_be_unseen(before, after):
            tokens.append((before, after, behind))
        elif (piece := spoken(before, after)) is not None:
            words.append(piece)
        else:
            return None
    claims = _believed(tokens, tree, old) if tokens else []
    texts = None if claims is None else swaps(tree, words, old) if words else []
    return None if claims is None or texts is None else _told(tree, texts, [one for one in claims if one.is_seen])


def _told(tree: Document, texts: list[Swap], scripts: "list[_Claim]") -> Told:
    """Tell of texts, and of scripts that come to others than they did."""
    if not scripts:
        return Told(texts)
    new = {node for claim in scripts for node in _like(tree, claim)}
    stay = behaviour.keys(element for element in tree.find_all("script") if element not in new)
    gone, came = (
        frozenset[int]().union(*keys) for keys in zip(*((one.gone, one.came) for one in scripts), strict=True)
    )
    return Told(texts, gone, came, frozenset(stay))


def _may_be_unseen(before: bytes, after: bytes) -> bool:
    """Say whether only a tag differs, or what is behind it is no words; the cheap test first."""
    if after.startswith((b"<!--", *ENDS)):
        return before[:4] == after[:4]
    return before.partition(b">")[2] == after.partition(b">")[2]


def _believed(spots: list[Spot], tree: Document, old: bytes) -> "list[_Claim] | None":
    """Read spots; None if a mark may see of one what is not told, or if one is not what it looks like."""
    charset = tree.encoding or "utf-8"
    claims = list(_claims(spots, charset)) if _can_read(charset) else [None]
    sure = [claim for claim in claims if claim is not None and not _may_be_in(claim.fresh, old)]
    times = Counter(claim.is_there for claim in sure)
    if len(sure) < len(claims) or any(claim.may_be_repeated and times[claim.is_there] > 1 for claim in sure):
        return None
    return sure if all(len(_like(tree, claim)) == times[claim.is_there] for claim in set(sure)) else None


def _may_be_in(fresh: bytes, old: bytes) -> bool:
    """Say whether a value may stand in the last version, as it is or, if it is short, in references."""
    return fresh in old or (len(fresh) < FEW and b"&#" in old)


def _can_read(charset: str) -> bool:
    """Say whether a charset is known here; the parser knows some more."""
    try:
        codecs.lookup(charset)
    except LookupError:
        return False
    return True


def _claims(spots: list[Spot], charset: str) -> "Iterator[_Claim | None]":
    """Read spots, up to the first that may be seen."""
    for before, after, behind in spots:
        claim = (_remembered if len(before) + len(after) <= SHORT else _claim)(before, after, charset, behind)
        yield claim
        if claim is None:
            return


def _spots(old: bytes, new: bytes) -> Iterator[Spot]:
    """Find the tags at which two versions differ, each with what stands behind it."""
    mine = yours = 0
    while mine < len(old) and yours < len(new):
        same = common_start(old, new, mine, yours)
        mine, yours = mine + same, yours + same
        if mine == len(old) and yours == len(new):
            return
        start = max(new.rfind(b"<", 0, yours), 0)
        first, end = mine - (yours - start), next((ENDS[tag] for tag in ENDS if new.startswith(tag, start)), b"<")
        mine, yours = _find(old, end, mine), _find(new, end, yours)
        yield old[first:mine], new[start:yours], new[yours : yours + LONGEST_END]
    if mine < len(old) or yours < len(new):
        yield old[mine:], new[yours:], b""


def _find(body: bytes, what: bytes, start: int) -> int:
    """Where something stands; the end if it does not."""
    at = body.find(what, start)
    return at if at >= 0 else len(body)


class _Claim(Struct, frozen=True):
    """What a spot says it is."""

    name: str  # of a tag; empty for a comment
    values: frozenset[tuple[str, str]]  # its attributes, or what the comment says
    longest: tuple[str, str]  # one of them, with a name if there is one
    fresh: bytes  # what it was not in the last version
    may_be_repeated: bool = False  # by the parser
    gone: frozenset[int] = frozenset()  # what a script came to
    came: frozenset[int] = frozenset()  # and comes to

    @property
    def is_there(self) -> tuple[str, frozenset[tuple[str, str]]]:
        """What the tree is asked for; other spellings of it ask for the same."""
        return self.name, self.values

    @property
    def is_seen(self) -> bool:
        """Say whether it is a script that comes to another than it did."""
        return self.gone != self.came


def _claim(before: bytes, after: bytes, charset: str, behind: bytes) -> _Claim | None:
    """Read a spot; None if a mark may see how it differs from what it was."""
    if after.startswith(b"<!--"):
        old, new = COMMENT(before), COMMENT(after)
        if old is None or new is None or old[2] != new[2]:
            return None
        text = ("", new[1].decode(charset, "replace"))
        return _Claim("", frozenset((text,)), text, _fresh(old[1], new[1]))
    one, other = Part(before[1:]), Part(after[1:])
    if before[:1] != b"<" or after[:1] != b"<":
        return None
    if after.startswith(tuple(ENDS)):
        codes = _codes(one, other, charset)
        claim = None if codes is None else _claimed(one, other, charset)
        return claim if claim is None or codes is None else replace(claim, gone=codes[0], came=codes[1])
    if one.words != other.words or not one.looks_like(other):
        return None
    claim = _claimed(one, other, charset)
    is_left_open = claim is not None and claim.name in REPEATED and not behind.startswith(f"</{claim.name}>".encode())
    return replace(claim, may_be_repeated=True) if claim and is_left_open else claim


_remembered = lru_cache(maxsize=2_048)(_claim)  # a template changes alike on all its pages


def _codes(old: Part, new: Part, charset: str) -> tuple[frozenset[int], frozenset[int]] | None:
    """Say what two scripts or style sheets come to; nothing if that is the same, None if it is not sure, or seen."""
    if not old.has_sure_tag or not new.has_sure_tag or ODD(old.words) or ODD(new.words):
        return None
    if old.words == new.words and old.hardly_differs_from(new):
        return frozenset(), frozenset()
    if seen(old.tag) != seen(new.tag) or new.tag.startswith(b"style"):
        return None
    mine, yours = (behaviour.scripts(parse(b"<" + some.whole + b"</script>", charset)) for some in (old, new))
    return frozenset(mine), frozenset(yours)


def _claimed(old: Part, new: Part, charset: str) -> _Claim | None:
    """Read a tag; None if it has nothing new to be known by."""
    before, after = _attributes(old), _attributes(new)
    fresh = [_fresh(before.get(key, b""), value) for key, value in after.items() if before.get(key) != value]
    if not any(fresh):
        return None
    read = {key.decode(charset, "replace"): value.decode(charset, "replace") for key, value in after.items()}
    values = {key: unescape(value) if key else value for key, value in read.items()}
    name = new.tag.split(None, 1)[0].decode(charset, "replace").lower()
    return _Claim(name, frozenset(values.items()), max(values.items(), key=_length), max(fresh, key=len))


def _fresh(old: bytes, new: bytes) -> bytes:
    """What a value has that it had not, with a little of what it had."""
    at = common_start(old, new)
    return new[max(at - AROUND, 0) : at + AROUND]


def _length(item: tuple[str, str]) -> int:
    return len(item[1]) if item[0] else 0


def _attributes(part: Part) -> dict[bytes, bytes]:
    """The attributes of a tag, and the code of a script without a name; of two of one name the first counts."""
    found = ATTRIBUTE.findall(b"".join(part.tag.split(None, 1)[1:]))
    read = {key.lower(): value[1:-1] if value[:1] in (b'"', b"'") else value for key, value in reversed(found)}
    return read | {b"": part.words} if part.tag.startswith(CODE) else read


def _like(tree: Document, claim: _Claim) -> list[Node]:
    """Find the elements or comments that are what a spot says."""
    key, value = claim.longest
    if not claim.name:
        found = tree.xpath("//comment()")
        return (
            [one for one in found if isinstance(one, Comment) and one.data == value] if isinstance(found, list) else []
        )
    elements = tree.find_all(claim.name)
    if key:
        elements = list(compress(elements, map(eq, map(Element.attr, elements, repeat(key)), repeat(value))))
    return [one for one in elements if one.namespace is Namespace.HTML and _values(one) == claim.values]


def _values(element: Element) -> set[tuple[str, str]]:
    """What a claim has of an element."""
    found = {(key, element.attr(key) or "") for key in element.attrs}
    return found | {("", element.text)} if element.tag in ("script", "style") else found
