"""Two trees of a page, compared: only the parts of a mark that can see how they differ are made, of both versions.

Most changed pages have a few other words, or another script, and all else as it was.
"""

from collections.abc import Callable, Set

from msgspec.structs import replace
from turbohtml import Node

from sanderling.content.extract import Blocks, blocks, said
from sanderling.fingerprint import assets
from sanderling.fingerprint import scripts as behaviour
from sanderling.fingerprint.build import NOTHING, main_assets, skeleton
from sanderling.fingerprint.fast.boilerplate_edit import furniture_before
from sanderling.fingerprint.fast.byte_diff import Told
from sanderling.fingerprint.fast.line_diff import Pair, compare_blocks, compare_lines, compare_whole, page_before
from sanderling.fingerprint.fast.text_swaps import Swap, as_it_was
from sanderling.fingerprint.fast.tree_diff import ALL, Found, Part
from sanderling.html.parser import Document

SEEN: dict[Part, tuple[str, ...]] = {
    Part.IMAGES: ("img", "video", "audio", "source", "path", "use"),
    Part.SCRIPTS: ("script",),
    Part.FORMS: ("form", "input", "option"),
    Part.FRAMES: tuple(behaviour.FRAMES),
    Part.TITLE: ("title",),
}  # the tags of which alone some parts are made
SHOWN = frozenset((Part.LINKS, Part.IMAGES))


def compare_trees(old: Document, new: Document, found: Found) -> Pair:
    """Mark what differs between two trees, given where they do; if tags do, the new mark is a full one, to be kept."""
    parts = {part for part in found.parts if not _has_the_same(part, old, new)}
    if Part.STRUCTURE in parts:
        return _in_full(old, new, parts)
    left, right = _marked(old, parts), _marked(new, parts)
    if Part.SCRIPTS not in found.parts and found.gone + found.come:
        left["scripts"], right["scripts"] = _scripts(new, found)
    if not found.parts & (SHOWN | {Part.WORDS}):
        return Pair(replace(NOTHING, **left), replace(NOTHING, **right))
    page = blocks(new)
    last = page_before(old, page, found.texts) if Part.WORDS in parts else replace(page, said=None)
    words = compare_blocks(last, page)
    if found.parts & SHOWN or _is_elsewhere(last, page):
        left |= _main(old, last)
        right |= _main(new, page)
    return Pair(replace(words.old, **left), replace(words.new, **right))


def _in_full(old: Document, new: Document, parts: Set[Part]) -> Pair:
    """Mark a version in full, and the last one as it with what differs."""
    right = _marked(new, ALL - {Part.LOOKS})
    scripts = frozenset() if _has_the_same(Part.SCRIPTS, old, new) else frozenset((Part.SCRIPTS,))
    left = right | _marked(old, (parts | scripts) - {Part.LOOKS})
    last, page = blocks(old), blocks(new)
    left["looks"] = right["looks"] = _looks(new, page)
    if Part.LOOKS in parts:
        left["looks"] = _looks(old, last)
    right |= _main(new, page)
    left |= _main(old, last)
    words = compare_whole(last, page)
    return Pair(replace(words.old, **left), replace(words.new, **right))


def _has_the_same(part: Part, old: Document, new: Document) -> bool:
    """Say whether two trees have the same elements of all tags that a part of a mark sees; the parser tells at once."""
    rows = [(old.find_all(tag), new.find_all(tag)) for tag in SEEN.get(part, ())]
    return bool(rows) and all(len(mine) == len(yours) and all(map(Node.equals, mine, yours)) for mine, yours in rows)


def compare_spots(tree: Document, told: Told) -> Pair:
    """Mark what differs between a tree and what it was when some of its texts and scripts were others."""
    words = _swapped(tree, told.texts) if told.texts else Pair(NOTHING, NOTHING)
    if told.gone == told.came:
        return words
    gone, came = (assets.pack(keys | told.stay) for keys in (told.gone, told.came))
    return Pair(replace(words.old, scripts=gone), replace(words.new, scripts=came))


def _swapped(tree: Document, texts: list[Swap]) -> Pair:
    """Mark the words of a tree, and those it had."""
    aside = furniture_before(tree, texts)
    found = None if aside is None else compare_lines(*aside)
    if found is not None:
        return found
    page, pieces = blocks(tree), [(swap.before, swap.node.data) for swap in texts]
    with as_it_was(texts):
        last = page_before(tree, page, pieces)
        left = _main(tree, last) if _is_elsewhere(last, page) else {}
    right = _main(tree, page) if left else {}
    words = compare_blocks(last, page)
    return Pair(replace(words.old, **left), replace(words.new, **right))


def _is_elsewhere(last: Blocks, page: Blocks) -> bool:
    """Say whether the main content of a page may be another part of it than that of the last version."""
    if last.said is None:  # it is as this one is
        return False
    return (
        last.is_believed != page.is_believed
        or last.core is not page.core
        or bool(last.menus or page.menus or last.trimmed or page.trimmed or last.comments or page.comments)
    )


def _marked(tree: Document, parts: Set[Part]) -> dict[str, object]:
    """Make some parts of a mark, but for the words."""
    found: dict[str, object] = {part: assets.pack(MADE[part](tree)) for part in parts if part in MADE}
    if Part.LOOKS in parts:
        found["looks"] = assets.looks(tree)
    if Part.STRUCTURE in parts or Part.DRESS in parts:
        found["outline"], found["cosmetic"] = skeleton(tree)
    return found


MADE: dict[Part, Callable[[Document], set[int]]] = {
    Part.LINKS: assets.targets,
    Part.IMAGES: assets.shown,
    Part.SCRIPTS: behaviour.scripts,
    Part.HANDLERS: behaviour.handlers,
    Part.FORMS: behaviour.forms,
    Part.FRAMES: behaviour.frames,
    Part.TITLE: assets.titled,
}


def _scripts(tree: Document, found: Found) -> tuple[bytes, bytes]:
    """Mark the scripts of two versions of which some came or went; nothing, if these come to the same."""
    gone, came = behaviour.keys(found.gone), behaviour.keys(found.come)
    if gone == came:
        return b"", b""
    new = set(found.come)
    stay = behaviour.keys([element for element in tree.find_all("script") if element not in new])
    return assets.pack(gone | stay), assets.pack(came | stay)


def _looks(tree: Document, page: Blocks) -> tuple[int, int]:
    return assets.looks(tree, page.said.classes if page.said is not None else None)


def _main(tree: Document, page: Blocks) -> dict[str, object]:
    """Make the parts of a mark that see links and images of the main content."""
    links, images = main_assets(tree, page.said or said(tree), page)
    return {"main_links": assets.pack(links), "main_images": assets.pack(images)}
