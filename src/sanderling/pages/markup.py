"""The markup of two versions of a page, laid side by side: do they have the same tags but for what no mark sees?

Comments are left out, the content of scripts and style sheets is set aside. What both begin and end with is passed over
in one comparison; what is left is read tag by tag. Equal tags in one order make equal trees but for the words. Nothing
is said where a tokenizer could see other tags than a search for angle brackets: in values with brackets, for instance.
"""

import re
from html import unescape
from itertools import compress, count
from operator import ne

from msgspec import Struct

from sanderling.pages.assets import picture, target
from sanderling.pages.blocks import sounds_like_furniture
from sanderling.pages.stamps import steady

OPENING = re.compile(rb"<(?:!--|script|style)").search
ENDS = {b"<script": b"</script>", b"<style": b"</style>"}
CLOSING = {
    b"<script": re.compile(rb"<(?:/(?i:script)|!--)").search,
    b"<style": re.compile(rb"</(?i:style)").search,
}
HIDING = re.compile(rb"</?(?i:script)").search
AROUND = 400  # bytes on either side of what differs, that say to which line of text it belongs
STEP = 256  # bytes compared at once, at first
NOT_ANGLES = bytes(set(range(256)) - set(b"<>"))
DRESS = (b"class", b"style", b"role", b"hidden")
SEEN = frozenset(
    (
        *(b"id", b"class", b"style", b"role", b"hidden", b"href", b"src", b"srcset", b"alt", b"width", b"height"),
        *(b"poster", b"rel", b"method", b"action", b"name", b"type", b"value", b"placeholder", b"checked", b"selected"),
        *(b"bgcolor", b"background", b"color", b"face", b"size", b"border", b"code", b"data", b"data-src"),
        *(b"data-original", b"data-lazy-src", b"data-srcset", b"d", b"xlink:href"),
    )
)  # attributes that a mark may see, of whichever tag; and all that begin with "on"
UNSEEN = ([b"meta"], [b"link"], [b"script"], [b"/script"])  # tags that may come and go; scripts are compared apart
VALUE = rb"(?>\"[^\"]*+\"|'[^']*+'|[^\s\"'>]++)"
ATTRIBUTE = re.compile(rb"([^\s=>\"'/]++)(?:\s*+=\s*+(" + VALUE + rb"))?")
TAG = re.compile(
    rb"/?[a-zA-Z][^\s/>\"'=]*+(?>[\s/]++[^\s\"'=>/]++(?>\s*+=\s*+" + VALUE + rb")?)*+[\s/]*+"
).fullmatch  # in one go, whatever stands there
BLIND = re.compile(
    rb"\s(?:title|content|nonce|integrity|data-(?!src|original|lazy)[\w-]*|aria-[\w-]*)=\"[^\"]*\""
).sub  # what no mark sees


class Aside(Struct, frozen=True, gc=False):
    """A stretch of a page that is no markup: a comment, or what is inside a script or a style sheet."""

    mark: bytes
    start: int  # of the comment or of the tag
    first: int  # of its content; of a comment all is content
    last: int


def asides(body: bytes, like: "Found | None" = None) -> list[Aside] | None:
    """Find comments, scripts and style sheets; None if it cannot be said for sure where one ends.

    What is as in another version, whose asides are known, is not searched.
    """
    found: list[Aside] = []
    at = 0
    while one := (like and _as_there(body, at, len(found), like)) or _next(body, at):
        if one.last < 0:
            return None
        found.append(one)
        at = one.last
    return found


class Found(Struct, frozen=True):
    """A page or a stretch of one, and its asides."""

    body: bytes
    asides: list[Aside]


def _as_there(body: bytes, at: int, number: int, like: Found) -> Aside | None:
    """The next aside, if it and all before it is as in another version."""
    if number >= len(like.asides):
        return None
    one, before = like.asides[number], like.asides[number - 1].last if number else 0
    end = one.last + len(ENDS.get(one.mark, b""))
    if body[at : at + end - before] != like.body[before:end]:
        return None
    return Aside(one.mark, one.start - before + at, one.first - before + at, one.last - before + at)


def _next(body: bytes, at: int) -> Aside | None:
    """The next aside; its end is negative if that is not sure."""
    there = OPENING(body, at)
    if there is None:
        return None
    mark, start = there[0], there.start()
    if mark == b"<!--":
        first, last = start, body.find(b"-->", start + 2) + 3
        is_sure = last > 2 and body.find(b"--!>", start, last) < 0
    else:
        first = body.find(b">", start) + 1
        is_sure = first > 0 and TAG(body, start + 1, first - 1) is not None
        last = _end(body, mark, first) if is_sure else -1
    is_sure = is_sure and body.rfind(b"<", at, start) <= body.rfind(b">", at, start)  # not inside a tag
    return Aside(mark, start, first, last if is_sure else -1)


def _end(body: bytes, mark: bytes, first: int) -> int:
    """Where the content of a script or style sheet ends; negative if a comment or its spelling may hide that."""
    there = CLOSING[mark](body, first)
    if there is not None and there[0] == b"<!--":
        there = HIDING(body, there.end())
    return there.start() if there is not None and body.startswith(ENDS[mark], there.start()) else -1


class Markup(Struct, frozen=True):
    """A stretch of a page without what is no markup."""

    bare: bytes  # tags and words
    scripts: list[bytes]  # each with its tag, without its end
    styles: list[bytes]


def set_aside(page: Found) -> Markup:
    """Take comments, scripts and style sheets out of a page; the tags of these stay."""
    body, found = page.body, page.asides
    starts, ends = [0, *[one.last for one in found]], [*[one.first for one in found], len(body)]
    bare = b"".join([body[start:end] for start, end in zip(starts, ends, strict=True)])
    scripts = [body[one.start : one.last] for one in found if one.mark == b"<script"]
    return Markup(bare, scripts, [body[one.first : one.last] for one in found if one.mark == b"<style"])


def is_sure(bare: bytes) -> bool:
    """Say whether each angle that opens is closed before the next one opens."""
    return b"<<" not in bare.translate(None, NOT_ANGLES)


class Stretch(Struct, frozen=True):
    """A part of two versions of a page, between what they begin and what they end with alike."""

    start: int
    tail: int  # bytes behind it

    def of(self, body: bytes) -> bytes:
        """The part of one version."""
        return body[self.start : len(body) - self.tail]

    def found(self, whole: Found) -> Found:
        """The part of the version whose asides are known."""
        end, start = len(whole.body) - self.tail, self.start
        inside = [one for one in whole.asides if start <= one.start and one.last <= end]
        return Found(
            self.of(whole.body),
            [Aside(one.mark, one.start - start, one.first - start, one.last - start) for one in inside],
        )


def apart(old: bytes, new: bytes, found: list[Aside]) -> Stretch:
    """Cut off what two versions begin and end with alike, at tags; `found` are the asides of the new one."""
    same = _common_start(old, new)
    return _whole(new, same, len(new) - _common_end(old, new, min(len(old), len(new)) - same), found)


def widened(new: bytes, stretch: Stretch, found: list[Aside]) -> Stretch:
    """Take some of what stands around a stretch into it."""
    return _whole(new, stretch.start - AROUND, len(new) - stretch.tail + AROUND, found)


def _whole(new: bytes, start: int, end: int, found: list[Aside]) -> Stretch:
    """Begin a stretch with the last tag before some place, and end it before the first one behind another."""
    start, end = new.rfind(b"<", 0, max(start, 0)), new.find(b"<", end)
    for one in found:
        if one.start < start < one.last:
            start = one.start
        if one.start < end <= one.last:
            end = new.find(b"<", one.last + 1)
    return Stretch(max(start, 0), len(new) - end if end >= 0 else 0)


def _common_start(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with alike."""
    low, step, most = 0, STEP, min(len(one), len(other))
    while step:
        while low + step <= most and one[low : low + step] == other[low : low + step]:
            low, step = low + step, 2 * step
        step //= 2
    return low


def _common_end(one: bytes, other: bytes, most: int) -> int:
    """How many bytes two texts end with alike, up to so many."""
    low, step, mine, yours = 0, STEP, len(one), len(other)
    while step:
        while low + step <= most and one[mine - low - step : mine - low] == other[yours - low - step : yours - low]:
            low, step = low + step, 2 * step
        step //= 2
    return low


class Unlike(Struct, frozen=True):
    """What two versions with the same tags may differ in."""

    words: bool
    scripts: bool
    styles: bool = False


def unlike(old: Markup, new: Markup) -> Unlike | None:
    """Say in what two stretches of markup may differ; None if a mark could see it in their tags."""
    left, right = old.bare.split(b"<"), new.bare.split(b"<")
    scripts, styles = old.scripts != new.scripts, old.styles != new.styles
    if len(left) != len(right):
        if left[0] != right[0] or len(left) - _unseen(old.bare) != len(right) - _unseen(new.bare):
            return None
        mine = _flat(left[1:])
        return Unlike(False, scripts, styles) if mine is not None and mine == _flat(right[1:]) else None
    words = False
    for place in compress(count(), map(ne, left, right)):
        before, after = _Part(left[place]), _Part(right[place])
        if not before.looks_like(after) or before.is_blank != after.is_blank:
            return None  # or blanks stand where words may not, and these would go elsewhere
        words |= before.words != after.words
    return Unlike(words, scripts, styles)


def _unseen(markup: bytes) -> int:
    """Count the tags that may come and go unseen."""
    return markup.count(b"<meta") + markup.count(b"<link") + 2 * markup.count(b"<script")


class _Part:
    """A tag and the words after it."""

    __slots__ = ("tag", "whole", "words")

    def __init__(self, whole: bytes) -> None:
        self.whole = whole
        self.tag, _, self.words = whole.partition(b">")

    def looks_like(self, other: "_Part") -> bool:
        """Say whether a mark sees the same of two tags; that is sure if they differ in what it never sees."""
        if not self.is_sure or not other.is_sure:
            return False
        if self.tag == other.tag or (b"'" not in self.tag and BLIND(b"", self.tag) == BLIND(b"", other.tag)):
            return True
        return _seen(self.tag) == _seen(other.tag)

    @property
    def seen(self) -> bytes | None:
        """What a mark may see of the tag; None if it cannot be said."""
        return _seen(self.tag) if self.is_sure else None

    @property
    def is_sure(self) -> bool:
        return self.whole.count(b">") == 1 and TAG(self.tag) is not None

    @property
    def is_blank(self) -> bool:
        return not self.words.strip()


def _flat(parts: list[bytes]) -> list[bytes] | None:
    """All that a mark may see of some tags, and the words between them; None if it cannot be said."""
    found, words = list[bytes](), b""
    for part in map(_Part, parts):
        seen = part.seen
        if seen is None:
            return None
        if seen:
            found += (words, seen)
            words = b""
        words += part.words
    return [*found, words]


def _seen(tag: bytes) -> bytes:
    """Leave out of a tag what a mark never sees: tokens, what is written for scripts alone."""
    name, *rest = tag.split(None, 1)
    found = [(key.lower(), value) for key, value in ATTRIBUTE.findall(rest[0] if rest else b"")]
    small = name.lower()
    kept = [small, *(key + b"=" + value for key, value in _told(small, found))]
    return b"" if kept in UNSEEN else b" ".join(kept)


def _told(name: bytes, attributes: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Choose what tells of the attributes of a tag."""
    seen = [(key, value) for key, value in attributes if key in SEEN or key.startswith(b"on")]
    match name:
        case b"meta" | b"script":  # scripts are compared by themselves
            return [(key, value) for key, value in seen if key in DRESS or key.startswith(b"on")]
        case b"link" if b"stylesheet" not in dict(seen).get(b"rel", b"").lower():
            return [(key, value) for key, value in seen if key in DRESS or key.startswith(b"on")]
        case b"input" if b"hidden" in dict(seen).get(b"type", b"").lower():
            return [(key, _spelled(name, key, value)) for key, value in seen if key != b"value"]
        case _:
            return [(key, _spelled(name, key, value)) for key, value in seen]


def _spelled(name: bytes, key: bytes, value: bytes) -> bytes:
    """Spell a value as marks see it: without what changes by itself."""
    match name, key:
        case _, b"id":  # marks only ask what it sounds like
            return b"furniture" if sounds_like_furniture(_plain(value)) else b""
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
    return unescape(value.strip(b"\"'").decode("latin-1"))
