"""The marks by which two versions of a page are compared, made of what differs alone.

Most pages whose bytes differ have the tags they had: a time, a token, some words are others. Then links, images, looks
and structure need no marks, for they are equal; words are marked only if they differ, with one reading of what is main
content. Where a tag seems to differ, the trees are compared, and what can see it is marked. Comparing two such small
marks gives what comparing two full ones would. Where that takes more, a full mark of each version is made; that of the
new one is kept for the next time.
"""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from sanderling.pages import assets, behaviour
from sanderling.pages.branches import compare_trees
from sanderling.pages.markup import Aside, Found, Markup, asides, bare, is_sure, scripts, set_aside
from sanderling.pages.parse import Document, Namespace, parse
from sanderling.pages.reworded import Pair, Version, compare_words
from sanderling.pages.signatures import NOTHING, sign, write
from sanderling.pages.spots import Sight, look
from sanderling.pages.stretch import apart, widened
from sanderling.pages.tags import unlike

RAW = ("title", "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext")  # tags inside them are words


class Before(Struct, frozen=True):
    """The last version of a page."""

    body: bytes  # empty if it is not at hand
    charset: str = ""
    is_marked: bool = False  # its full mark is at hand elsewhere


def marks_between(tree: Document, body: bytes, before: Before) -> dict[str, bytes]:
    """Make the marks of a page that changed: `signature` is to be kept, `before` and `after` are to be compared."""
    if not before.body:
        return {"signature": write(sign(tree))}
    pair, last = compare(tree, body, before), None
    if pair is None:
        last = parse(before.body, before.charset)
        pair = compare_trees(last, tree, max(len(body), len(before.body)))
    if pair is not None:
        found = {"before": write(pair.old), "after": write(pair.new)}
        return found | {"signature": b""} if before.is_marked and pair.old != pair.new else found
    found = {"signature": write(sign(tree))}
    return found if before.is_marked or last is None else found | {"before": write(sign(last))}


def compare(tree: Document, body: bytes, before: Before) -> Pair | None:
    """Compare a page with its last version by what differs; None if that takes full marks."""
    if (tree.encoding or "").lower() != before.charset:
        return None
    sight = look(tree, before.body, body)
    if sight is not Sight.WORDS:
        return Pair(NOTHING, NOTHING) if sight is Sight.NOTHING else None
    mine, yours = _with_plain_ends(before.body), _with_plain_ends(body)
    found = asides(yours)
    if found is None or not _is_as_said(tree, found):
        return None
    page, stretch = Found(yours, found), apart(mine, yours, found)
    there = stretch.found(page)
    last = asides(stretch.of(mine), like=there)
    if last is None or len(last) != len(there.asides):
        return None
    old, new = set_aside(Found(stretch.of(mine), last)), set_aside(there)
    if (differing := unlike(old, new)) is None or not is_sure(bare(page)):
        return None
    pair: Pair | None = Pair(NOTHING, NOTHING)
    if differing.words:
        wide = widened(yours, stretch, found)
        pair = compare_words(tree, Version(before.body, before.charset, wide.of(mine)), wide.of(yours))
    if pair and differing.styles:
        pair = Pair(
            replace(pair.old, looks=(1, 1)), replace(pair.new, looks=(2, 2))
        )  # that they differ is all that counts
    return _with_scripts(pair, old, new, scripts(page), before.charset) if pair and differing.scripts else pair


def _with_plain_ends(body: bytes) -> bytes:
    return body.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in body else body


def _is_as_said(tree: Document, found: list[Aside]) -> bool:
    """Say whether a tree has the scripts and style sheets that its markup says, and no tags that are words."""
    said = Counter(one.mark for one in found)
    for tag, mark in (("script", b"<script"), ("style", b"<style")):
        there = tree.find_all(tag)
        if len(there) != said[mark] or any(one.namespace is not Namespace.HTML for one in there):
            return False
    return not any("<" in element.text for tag in RAW for element in tree.find_all(tag))


def _with_scripts(pair: Pair, old: Markup, new: Markup, all_new: list[bytes], charset: str) -> Pair:
    """Add the scripts of both versions, unless those that differ come to the same."""
    gone, came = (Counter(one.scripts) - Counter(other.scripts) for one, other in ((old, new), (new, old)))
    mine, yours = (behaviour.scripts(_only(some.elements(), charset)) for some in (gone, came))
    if mine == yours:
        return pair
    stay = behaviour.scripts(_only((Counter(all_new) - came).elements(), charset))
    return Pair(
        replace(pair.old, scripts=assets.pack(mine | stay)), replace(pair.new, scripts=assets.pack(yours | stay))
    )


def _only(scripts: Iterable[bytes], charset: str) -> Document:
    return parse(b"".join(script + b"</script>" for script in scripts), charset)
