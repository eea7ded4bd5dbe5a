"""The verdict on two versions of a page: which kinds of change, how significant, where; noise left out.

The cheap test comes first: two equal marks cost one comparison, equal parts one each. Only what is left is aligned,
weighed and judged, with what was learned of the site.
"""

from collections import Counter
from enum import StrEnum
from itertools import zip_longest
from math import sqrt

from msgspec import Struct, msgpack

from sanderling.changes.diff import Action, Block, Delta, Difference, difference
from sanderling.changes.noise_model import SWAPPED, Noise, beside, place_of
from sanderling.changes.resource_changes import Sort, Swap
from sanderling.changes.tag_tree_diff import Structure, Verdict
from sanderling.fingerprint.model import read

MAX_BLOCKS = 200  # listed in one report; all are counted


class Kind(StrEnum):
    """What sort of change it is (IPC section 4, and its future work)."""

    CONTENT = "content"  # the words of the main content, where its links lead, the pictures it shows
    STRUCTURE = "structure"  # nodes of the document tree
    PRESENTATION = "presentation"  # other markup, classes, styles
    BEHAVIOUR = "behaviour"  # scripts, handlers, forms, frames
    MEDIA = "media"  # images
    LINKS = "links"  # links anywhere on the page
    NEW = "new"  # the page itself was not there before
    GONE = "gone"  # it was there and is no more
    MOVED = "moved"  # it leads elsewhere now


FATES = (Kind.NEW, Kind.GONE, Kind.MOVED)  # told of only where asked for: they compare no versions


BASE = {
    Kind.CONTENT: 0.4,
    Kind.BEHAVIOUR: 0.2,
    Kind.MEDIA: 0.2,
    Kind.STRUCTURE: 0.1,
    Kind.LINKS: 0.1,
    Kind.PRESENTATION: 0.05,
}
MAJOR = 0.2  # a major change of structure
PRICED = 0.6  # another price, however long the page is
TITLED = 0.3  # another title over the same words
BEHAVIOURS = ("scripts", "handlers", "forms", "frames")
OF_TEXT = (SWAPPED["main_links"], SWAPPED["main_images"])  # what of a text may be restless beside its words


class Paragraph(Struct, frozen=True, omit_defaults=True):
    """A block of text in the report: what happened to it, and its number in each version."""

    action: Action
    size: int
    main: bool
    old: int | None = None
    new: int | None = None
    amount: float = 0.0  # what it adds to the amount of the page


class Tally(Struct, frozen=True):
    """How many were added and removed."""

    added: int = 0
    removed: int = 0


class Change(Struct, frozen=True, omit_defaults=True):
    """One report on two versions of a page."""

    kinds: tuple[Kind, ...] = ()
    significance: float = 0.0  # 0 for noise, up to 1
    amount: float = 0.0  # share of the main content that differs
    counts: dict[str, int] = {}  # blocks of main content by what happened to them
    paragraphs: tuple[Paragraph, ...] = ()
    structure: Structure = Structure()
    links: Tally = Tally()
    media: Tally = Tally()
    title: Tally = Tally()  # words of the title
    behaviour: dict[str, Tally] = {}
    resources: tuple[Swap, ...] = ()  # images, scripts and style sheets replaced under their URLs
    noise: tuple[str, ...] = ()  # what differed and does not count: stamps, furniture, template, restless, markup
    restless: int = 0  # blocks of main content, its links and its pictures, left out as they differ at every visit
    comparable: bool = True

    @property
    def matters(self) -> bool:
        """Say whether anything but noise differs."""
        return bool(self.kinds)


def detect(old: bytes, new: bytes, noise: Noise | None = None, page: int = 0) -> Change:
    """Compare two full marks; `noise` is what was learned of the site, `page` names the page in it."""
    if old == new:
        return Change()
    return judge(difference(read(old), read(new)), noise, page)


def judge(found: Difference, noise: Noise | None = None, page: int = 0) -> Change:
    """Say what of a difference matters."""
    if not found.comparable:
        return Change(comparable=False)
    quiet, restless = noise or Noise(), 0
    if quiet.is_new:
        news, deltas = [block for block in found.blocks if block.worth or block.keys], found.assets
    else:
        noisy = quiet.noisy(page, found)
        news, restless = _news(found, quiet, page, noisy)
        deltas = {kind: quiet.news(kind, found, page, noisy) for kind in found.assets}
        restless += len(noisy.intersection(OF_TEXT))
    main = [block for block in news if block.main]
    kinds = tuple(kind for kind, there in _kinds(found, main, deltas).items() if there)
    amount = _amount(main, found.weight)
    return Change(
        kinds=kinds,
        significance=round(max([_significance(kind, found, main, amount, deltas) for kind in kinds], default=0.0), 3),
        amount=round(amount, 4),
        counts=dict(Counter(block.action for block in main)),
        paragraphs=tuple(_paragraph(block, found.weight) for block in sorted(news, key=_place)[:MAX_BLOCKS]),
        structure=found.structure,
        links=_tally(deltas.get("links")),
        media=_tally(deltas.get("images")),
        title=_tally(deltas.get("title")),
        behaviour={kind: _tally(deltas[kind]) for kind in BEHAVIOURS if deltas.get(kind)},
        resources=found.resources,
        noise=tuple(dict.fromkeys([*_heard(found, news, main, quiet), *["restless"] * (restless > 0)])),
        restless=restless,
    )


def _news(found: Difference, noise: Noise, page: int, noisy: set[int]) -> tuple[list[Block], int]:
    """Leave out blocks that are all template, in a restless place or shown in turn; count those of the main content.

    A price is never noise.
    """
    around, news, restless = beside(found), list[Block](), 0
    for block in found.blocks:
        if not block.worth and noise.is_template(block, around):
            continue
        if block.worth or not (place_of(block) in noisy or noise.is_in_turn(page, block)):
            news.append(block)
        else:
            restless += block.main
    return news, restless


def _kinds(found: Difference, main: list[Block], deltas: dict[str, Delta]) -> dict[Kind, bool]:
    swapped = {swap.sort for swap in found.resources}
    return {
        Kind.CONTENT: _reads_otherwise(main, deltas) or bool(deltas.get("title")),
        Kind.STRUCTURE: found.structure.verdict is not Verdict.NONE,
        Kind.PRESENTATION: found.looks or found.structure.cosmetic or Sort.STYLE in swapped,
        Kind.BEHAVIOUR: any(deltas.get(kind) for kind in BEHAVIOURS) or Sort.SCRIPT in swapped,
        Kind.MEDIA: bool(deltas.get("images")) or Sort.IMAGE in swapped,
        Kind.LINKS: bool(deltas.get("links")),
    }


def _reads_otherwise(main: list[Block], deltas: dict[str, Delta]) -> bool:
    """The main content has other words, pictures or targets."""
    return bool(main) or _shows_otherwise(deltas) or _leads_elsewhere(deltas.get("main_links"))


def _shows_otherwise(deltas: dict[str, Delta]) -> bool:
    """A picture of the main content came or went; one that the page has still is in another part of it, no more."""
    main, page = (deltas.get(kind, Delta()) for kind in ("main_images", "images"))
    return not {*main.added, *main.removed}.isdisjoint((*page.added, *page.removed))


def _leads_elsewhere(delta: Delta | None) -> bool:
    """A link of the main content has another target; some more or some less on the same words are no other content."""
    return delta is not None and delta.is_swap


def _amount(main: list[Block], weight: int) -> float:
    """Weigh what differs against both versions: what changed counts twice, being in both."""
    differing = sum(map(_differing, main))
    return min(1.0, differing / weight) if weight else float(bool(main))


def _differing(block: Block) -> int:
    return block.size * (2 if block.action in (Action.CHANGED, Action.MOVED) else 1)


def _significance(kind: Kind, found: Difference, main: list[Block], amount: float, deltas: dict[str, Delta]) -> float:
    if kind is Kind.CONTENT and not _reads_otherwise(main, deltas):
        return TITLED
    if kind is Kind.CONTENT:
        least = PRICED if any(block.worth for block in main) else 0.0
        return max(least, BASE[kind] + (1 - BASE[kind]) * sqrt(amount))
    if kind is Kind.STRUCTURE and found.structure.verdict is Verdict.MAJOR:
        return MAJOR
    if kind is Kind.MEDIA and found.resources:
        return BASE[kind] * (1 + max(swap.amount or 0.0 for swap in found.resources))
    return BASE[kind]


def _heard(found: Difference, news: list[Block], main: list[Block], noise: Noise) -> list[str]:
    """Name the noise, so that nobody wonders why a page that differs did not change."""
    heard = []
    if found.text and not found.blocks:
        heard.append("stamps")
    if len(news) > len(main):
        heard.append("furniture")
    if len(news) < len(found.blocks):
        silent = next(block for block, told in zip_longest(found.blocks, news) if block is not told)
        heard += ["template"] if noise.is_template(silent, beside(found)) else ["restless"]
    return heard


def _place(block: Block) -> tuple[bool, int, int]:
    return not block.main, block.new if block.new >= 0 else block.old, block.old


def _paragraph(block: Block, weight: int) -> Paragraph:
    old, new = (None if place < 0 else place for place in (block.old, block.new))
    amount = round(min(1.0, _differing(block) / weight), 4) if block.main and weight else 0.0
    return Paragraph(block.action, block.size, block.main, old, new, amount)


def _tally(delta: Delta | None) -> Tally:
    return Tally(len(delta.added), len(delta.removed)) if delta is not None else Tally()


def to_json(change: Change) -> dict[str, object]:
    """Spell a report for JSON."""
    built: dict[str, object] = msgpack.decode(msgpack.encode(change))
    return built
