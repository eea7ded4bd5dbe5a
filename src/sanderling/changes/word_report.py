"""Two bodies compared for a person: paragraphs side by side, word by word, with the numbers of the papers."""

from collections.abc import Iterable
from html import escape
from itertools import zip_longest

from msgspec import Struct

from sanderling.changes.classify import Change, Tally, judge
from sanderling.changes.diff import Action, Block, difference
from sanderling.changes.noise_model import Noise
from sanderling.changes.paper_signatures import K_PAGE, Runs, Weight, runs, weigh
from sanderling.changes.word_diff import Piece, pieces, whole
from sanderling.content.user_rules import EVERYTHING, Attention
from sanderling.content.volatile.strip import steady
from sanderling.fingerprint.assets import NOWHERE, picture, source_of, target
from sanderling.fingerprint.build import sign_lines
from sanderling.fingerprint.model import Signature
from sanderling.html.links import extract
from sanderling.html.parser import Document, parse
from sanderling.urls.normalize import resolve_all

MAX_LISTED = 500
TITLE = -1  # the place of a title, before all blocks


class Row(Struct, frozen=True, omit_defaults=True):
    """One paragraph that differs."""

    action: Action
    main: bool
    pieces: tuple[Piece, ...]
    place: int  # its number among the new blocks, or among the old if it is gone
    old: Weight | None = None
    new: Weight | None = None
    was: int | None = None  # if it moved, its number among the old blocks


class Report(Struct, frozen=True):
    """All that can be said about two versions of a page."""

    change: Change
    rows: tuple[Row, ...]
    old: Weight  # of the whole page
    new: Weight
    links_added: tuple[str, ...] = ()
    links_removed: tuple[str, ...] = ()
    assets_added: tuple[str, ...] = ()  # images, scripts, frames and style sheets, by their reference
    assets_removed: tuple[str, ...] = ()


class Version(Struct, frozen=True):
    """One version of a page, ready to be compared."""

    mark: Signature
    texts: list[str]  # of each block of the mark
    runs: list[Runs]  # the same with font sizes
    links: dict[str, str]  # by how they are compared
    assets: dict[str, str]
    title: str = ""


REFERENCES = {"script": "src", "iframe": "src", "link": "href", "video": "src", "audio": "src"}


def version(body: bytes, charset: str = "", attention: Attention = EVERYTHING, url: str = "") -> Version:
    """Read one version of the page at `url`."""
    tree = parse(body, charset)
    for selector in attention.ignore:
        tree.remove(selector)
    mark, lines = sign_lines(tree, attention)
    sized = runs(tree)
    return Version(
        mark,
        [" ".join(line.split()) for line in lines.values()],
        [sized[place] if place < len(sized) else [] for place in lines],
        _links(tree, url),
        dict(_assets(tree)),
        _title(tree),
    )


def _links(tree: Document, url: str) -> dict[str, str]:
    """Name where links lead, however they are spelled on the page: as that is compared, and as it is."""
    found = extract(tree, url)
    spellings = resolve_all(found.base, (link.href for link in found.links), found.encoding) if url else ()
    led = (one.url if one is not None else link.href for link, one in zip_longest(found.links, spellings))
    return {target(href): href for href in led if not href.startswith(NOWHERE)}


def _title(tree: Document) -> str:
    found = tree.find("title")
    return " ".join(found.text[:MAX_LISTED].split()) if found is not None else ""


def lined(words: str, attention: Attention = EVERYTHING) -> Version:
    """Read one version of a text that is no page: each line is a block, as it stands."""
    return version(f"<pre>\n{escape(words)}</pre>".encode("utf-8", "replace"), "utf-8", attention)


def _assets(tree: Document) -> Iterable[tuple[str, str]]:
    """Name what a page brings along: as it is compared, and as it stands there."""
    for image in tree.find_all("img"):
        if source := source_of(image)[:MAX_LISTED]:
            words = " ".join((image.attr("alt") or "")[:MAX_LISTED].split())
            yield f"{picture(source)} {words}", f"{source} ({words})" if words else source
    for tag, name in REFERENCES.items():
        for element in tree.find_all(tag):
            reference = (element.attr(name) or "")[:MAX_LISTED]
            if reference and (tag != "link" or "stylesheet" in (element.attr("rel") or "").lower()):
                yield steady(picture(reference)), reference


def compare(
    old: Version, new: Version, noise: Noise | None = None, page: int = 0, *, ascii_only: bool = True
) -> Report:
    """Compare two versions down to the word."""
    found = difference(old.mark, new.mark)
    rows = sorted((_row(block, old, new, ascii_only) for block in found.blocks), key=lambda row: row.place)
    change = judge(found, noise, page)
    if change.title != Tally():
        rows.insert(0, Row(Action.CHANGED, True, pieces(old.title, new.title), TITLE))
    return Report(
        change,
        tuple(rows),
        _page(old, ascii_only),
        _page(new, ascii_only),
        *_listed(old.links, new.links),
        *_listed(old.assets, new.assets),
    )


def _page(side: Version, ascii_only: bool) -> Weight:
    return weigh([run for line in side.runs for run in line], K_PAGE, ascii_only=ascii_only)


def _listed(old: dict[str, str], new: dict[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List what came and what went, as it stands on the page; another token or size is no other reference."""
    came, went = (new[key] for key in new.keys() - old), (old[key] for key in old.keys() - new)
    return tuple(sorted(came)[:MAX_LISTED]), tuple(sorted(went)[:MAX_LISTED])


def _row(block: Block, old: Version, new: Version, ascii_only: bool) -> Row:
    before = old.texts[block.old] if block.old >= 0 else ""
    after = new.texts[block.new] if block.new >= 0 else ""
    words = pieces(before, after) if block.action in (Action.CHANGED, Action.MOVED) else whole(before, after)
    return Row(
        block.action,
        block.main,
        words,
        block.new if block.new >= 0 else block.old,
        weigh(old.runs[block.old], ascii_only=ascii_only) if block.old >= 0 else None,
        weigh(new.runs[block.new], ascii_only=ascii_only) if block.new >= 0 else None,
        block.old if block.action is Action.MOVED else None,
    )
