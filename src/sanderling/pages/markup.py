"""The markup of a page, without its comments and with the content of its scripts and style sheets set aside.

Nothing is said where a tokenizer could see other tags than a search for angle brackets: in values with brackets, for
instance.
"""

import re

from msgspec import Struct

OPENING = re.compile(rb"<(?:!--|script|style)").search
ENDS = {b"<script": b"</script>", b"<style": b"</style>"}
CLOSING = {
    b"<script": re.compile(rb"<(?:/(?i:script)|!--)").search,
    b"<style": re.compile(rb"</(?i:style)").search,
}
HIDING = re.compile(rb"</?(?i:script)").search
NO_BONES = bytes(set(range(256)) - set(b'<>"'))
VALUE = rb"(?>\"[^\"]*+\"|'[^']*+'|[^\s\"'>]++)"
TAG = re.compile(
    rb"/?[a-zA-Z][^\s/>\"'=]*+(?>[\s/]++[^\s\"'=>/]++(?>\s*+=\s*+" + VALUE + rb")?)*+[\s/]*+"
).fullmatch  # in one go, whatever stands there


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

    pieces: list[bytes]  # tags, each with the words behind it; the first is words alone
    scripts: list[bytes]  # each with its tag, without its end
    styles: list[bytes]


def set_aside(page: Found) -> Markup:
    """Take comments, scripts and style sheets out of a page; the tags of these stay."""
    styles = [page.body[one.first : one.last] for one in page.asides if one.mark == b"<style"]
    return Markup(bare(page).split(b"<"), scripts(page), styles)


def bare(page: Found) -> bytes:
    """The tags and words of a page."""
    starts, ends = [0, *[one.last for one in page.asides]], [*[one.first for one in page.asides], len(page.body)]
    return b"".join([page.body[start:end] for start, end in zip(starts, ends, strict=True)])


def scripts(page: Found) -> list[bytes]:
    """The scripts of a page, each with its tag, without its end."""
    return [page.body[one.start : one.last] for one in page.asides if one.mark == b"<script"]


def is_sure(bare: bytes) -> bool:
    """Say whether each angle that opens is closed before the next one opens, and no quote is left open in a tag."""
    bones = bare.translate(None, NO_BONES).replace(b'""', b"")
    return b"<<" not in bones and b'<"' not in bones
