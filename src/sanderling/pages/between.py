"""The marks by which two versions of a page are compared, made of what differs alone.

Most pages whose bytes differ have the tags they had: a time, a token, some words are others. Then links, images, looks
and structure need no marks, for they are equal; words are marked only if they differ, with one reading of what is main
content. Comparing these two small marks gives what comparing two full ones would. Where tags differ, a full mark of
each version is made; that of the new one is kept for the next time.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import compress, count
from operator import ne

from msgspec import Struct
from msgspec.structs import replace

from sanderling.pages import assets, behaviour
from sanderling.pages.blocks import PROSE, Blocks, blocks
from sanderling.pages.markup import Aside, apart, asides, is_sure, set_aside, unlike
from sanderling.pages.parse import Document, parse
from sanderling.pages.signatures import NOTHING, Signature, read_words, sign, worded, write
from sanderling.pages.text import text

RAW = ("title", "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext")  # tags inside them are words


class Before(Struct, frozen=True):
    """The last version of a page."""

    body: bytes  # empty if it is not at hand
    charset: str = ""
    is_marked: bool = False  # its full mark is at hand elsewhere


class Pair(Struct, frozen=True):
    """Two marks that differ as two full ones would."""

    old: Signature
    new: Signature


def marks_between(tree: Document, body: bytes, before: Before) -> dict[str, bytes]:
    """Make the marks of a page that changed: `signature` is to be kept, `before` and `after` are to be compared."""
    if not before.body:
        return {"signature": write(sign(tree))}
    pair = compare(tree, body, before)
    if pair is not None:
        found = {"before": write(pair.old), "after": write(pair.new)}
        return found | {"signature": b""} if before.is_marked and pair.old != pair.new else found
    found = {"signature": write(sign(tree))}
    return found if before.is_marked else found | {"before": write(sign(parse(before.body, before.charset)))}


def compare(tree: Document, body: bytes, before: Before) -> Pair | None:
    """Compare a page with its last version by what differs; None if that takes full marks."""
    if (tree.encoding or "").lower() != before.charset:
        return None
    mine, yours = _with_plain_ends(before.body), _with_plain_ends(body)
    found = asides(yours)
    if found is None or not _is_as_said(tree, found):
        return None
    whole, stretches = set_aside(yours, found), apart(mine, yours, found)
    old, new = (set_aside(part, there) if (there := asides(part)) is not None else None for part in stretches)
    if old is None or new is None or (differing := unlike(old, new)) is None or not is_sure(whole.bare):
        return None
    pair = _words(tree, before) if differing.words else Pair(NOTHING, NOTHING)
    return _with_scripts(pair, old.scripts, new.scripts, whole.scripts) if pair and differing.scripts else pair


def _with_plain_ends(body: bytes) -> bytes:
    return body.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in body else body


def _is_as_said(tree: Document, found: list[Aside]) -> bool:
    """Say whether a tree has the scripts and style sheets that its markup says, and no tags that are words."""
    said = Counter(one.mark for one in found)
    if any(len(tree.find_all(tag)) != said[mark] for tag, mark in (("script", b"<script"), ("style", b"<style"))):
        return False
    return not any("<" in element.text for tag in RAW for element in tree.find_all(tag))


def _with_scripts(pair: Pair, old: list[bytes], new: list[bytes], all_new: list[bytes]) -> Pair:
    """Add the scripts of both versions, unless those that differ come to the same."""
    gone, came = (
        [script for script, differs in zip(each, map(ne, old, new), strict=True) if differs] for each in (old, new)
    )
    mine, yours = behaviour.scripts(_only(gone)), behaviour.scripts(_only(came))
    if mine == yours:
        return pair
    stay = behaviour.scripts(_only((Counter(all_new) - Counter(came)).elements()))
    return Pair(
        replace(pair.old, scripts=assets.pack(mine | stay)), replace(pair.new, scripts=assets.pack(yours | stay))
    )


def _only(scripts: Iterable[bytes]) -> Document:
    return parse(b"".join(script + b"</script>" for script in scripts), "utf-8")


def _words(tree: Document, before: Before) -> Pair | None:
    """Mark the words of both versions; None if other lines could be main content in one than in the other."""
    last = parse(before.body, before.charset)
    lines, page = text(last).split("\n"), blocks(tree)
    if not _is_steady(page, lines):
        return None
    old, new = (worded(read_words(one)) for one in (replace(page, lines=lines), page))
    mine, yours = ((assets.pack(behaviour.forms(one)), assets.pack(assets.titled(one))) for one in (last, tree))
    return Pair(replace(old, forms=mine[0], title=mine[1]), replace(new, forms=yours[0], title=yours[1]))


def _is_steady(page: Blocks, lines: list[str]) -> bool:
    """Say whether lines of other lengths leave main content what it is."""
    if len(lines) != len(page.lines):
        return False
    drift = 0
    for place in compress(count(), map(ne, lines, page.lines)):
        old, new = len(lines[place]), len(page.lines[place])
        if place in page.linked or (old >= PROSE) != (new >= PROSE):
            return False
        drift += abs(old - new)
    return 2 * drift < page.margin or not drift
