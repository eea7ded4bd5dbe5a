"""The verdict on two versions of a page: which kinds of change, how significant, where; noise left out.

The cheap test comes first: two equal marks cost one comparison, equal parts one each. Only what is left is aligned,
weighed and judged, with what was learned of the site.
"""

from collections import Counter
from enum import StrEnum
from itertools import zip_longest
from math import sqrt

from msgspec import Struct, msgpack

from sanderling.changes.fingerprint_diff import AssetDelta, BlockAction, BlockChange, FingerprintDiff, diff_fingerprints
from sanderling.changes.noise_model import ASSET_PLACES, NoiseModel, count_boilerplate_keys, get_place
from sanderling.changes.resource_changes import ResourceChange, ResourceType
from sanderling.changes.tag_tree_diff import StructureDiff, StructureSeverity
from sanderling.fingerprint.model import decode_fingerprint

MAX_LISTED_PARAGRAPHS = 200  # listed in one report; all are counted


class ChangeKind(StrEnum):
    """What sort of change it is (IPC section 4, and its future work)."""

    CONTENT = "content"  # the words of the main content, where its links lead, the pictures it shows
    STRUCTURE = "structure"  # nodes of the document tree
    PRESENTATION = "presentation"  # other markup, classes, styles
    BEHAVIOR = "behaviour"  # scripts, handlers, forms, frames
    MEDIA = "media"  # images
    LINKS = "links"  # links anywhere on the page
    NEW = "new"  # the page itself was not there before
    GONE = "gone"  # it was there and is no more
    MOVED = "moved"  # it leads elsewhere now


LIFECYCLE_KINDS = (
    ChangeKind.NEW,
    ChangeKind.GONE,
    ChangeKind.MOVED,
)  # told of only where asked for: they compare no versions


BASE_SIGNIFICANCE = {
    ChangeKind.CONTENT: 0.4,
    ChangeKind.BEHAVIOR: 0.2,
    ChangeKind.MEDIA: 0.2,
    ChangeKind.STRUCTURE: 0.1,
    ChangeKind.LINKS: 0.1,
    ChangeKind.PRESENTATION: 0.05,
}
MAJOR_STRUCTURE_SIGNIFICANCE = 0.2  # a major change of structure
PRICE_SIGNIFICANCE = 0.6  # another price, however long the page is
TITLE_SIGNIFICANCE = 0.3  # another title over the same words
BEHAVIOR_ASSETS = ("scripts", "handlers", "forms", "frames")
MAIN_CONTENT_ASSET_PLACES = (
    ASSET_PLACES["main_links"],
    ASSET_PLACES["main_images"],
)  # what of a text may be restless beside its words


class ParagraphChange(Struct, frozen=True, omit_defaults=True):
    """A block of text in the report: what happened to it, and its number in each version."""

    action: BlockAction
    size: int
    main: bool
    old: int | None = None
    new: int | None = None
    amount: float = 0.0  # what it adds to the amount of the page


class ChangeCounts(Struct, frozen=True):
    """How many were added and removed."""

    added: int = 0
    removed: int = 0


class PageChange(Struct, frozen=True, omit_defaults=True):
    """One report on two versions of a page."""

    kinds: tuple[ChangeKind, ...] = ()
    significance: float = 0.0  # 0 for noise, up to 1
    amount: float = 0.0  # share of the main content that differs
    counts: dict[str, int] = {}  # blocks of main content by what happened to them
    paragraphs: tuple[ParagraphChange, ...] = ()
    structure: StructureDiff = StructureDiff()
    links: ChangeCounts = ChangeCounts()
    media: ChangeCounts = ChangeCounts()
    title: ChangeCounts = ChangeCounts()  # words of the title
    behavior: dict[str, ChangeCounts] = {}
    resources: tuple[ResourceChange, ...] = ()  # images, scripts and style sheets replaced under their URLs
    noise: tuple[str, ...] = ()  # what differed and does not count: stamps, furniture, template, restless, markup
    suppressed_count: int = (
        0  # blocks of main content, its links and its pictures, left out as they differ at every visit
    )
    comparable: bool = True

    @property
    def is_significant(self) -> bool:
        """Say whether anything but noise differs."""
        return bool(self.kinds)


def compare_fingerprints(old: bytes, new: bytes, noise_model: NoiseModel | None = None, page_id: int = 0) -> PageChange:
    """Compare two full marks; `noise` is what was learned of the site, `page` names the page in it."""
    if old == new:
        return PageChange()
    return classify_diff(diff_fingerprints(decode_fingerprint(old), decode_fingerprint(new)), noise_model, page_id)


def classify_diff(diff: FingerprintDiff, noise_model: NoiseModel | None = None, page_id: int = 0) -> PageChange:
    """Say what of a difference matters."""
    if not diff.comparable:
        return PageChange(comparable=False)
    quiet, restless = noise_model or NoiseModel(), 0
    if quiet.is_empty:
        news, deltas = [block for block in diff.blocks if block.is_price or block.keys], diff.assets
    else:
        noisy = quiet.find_noisy_places(page_id, diff)
        news, restless = _select_significant_blocks(diff, quiet, page_id, noisy)
        deltas = {kind: quiet.select_significant_assets(kind, diff, page_id, noisy) for kind in diff.assets}
        restless += len(noisy.intersection(MAIN_CONTENT_ASSET_PLACES))
    main = [block for block in news if block.main]
    kinds = tuple(kind for kind, there in _find_kinds(diff, main, deltas).items() if there)
    amount = _compute_amount(main, diff.main_content_size)
    return PageChange(
        kinds=kinds,
        significance=round(
            max([_compute_significance(kind, diff, main, amount, deltas) for kind in kinds], default=0.0), 3
        ),
        amount=round(amount, 4),
        counts=dict(Counter(block.action for block in main)),
        paragraphs=tuple(
            _build_paragraph_change(block, diff.main_content_size)
            for block in sorted(news, key=_get_sort_key)[:MAX_LISTED_PARAGRAPHS]
        ),
        structure=diff.structure,
        links=_count_delta(deltas.get("links")),
        media=_count_delta(deltas.get("images")),
        title=_count_delta(deltas.get("title")),
        behavior={kind: _count_delta(deltas[kind]) for kind in BEHAVIOR_ASSETS if deltas.get(kind)},
        resources=diff.resources,
        noise=tuple(
            dict.fromkeys([*_list_suppressed_reasons(diff, news, main, quiet), *["restless"] * (restless > 0)])
        ),
        suppressed_count=restless,
    )


def _select_significant_blocks(
    diff: FingerprintDiff, noise_model: NoiseModel, page_id: int, noisy_places: set[int]
) -> tuple[list[BlockChange], int]:
    """Leave out blocks that are all template, in a restless place or shown in turn; count those of the main content.

    A price is never noise.
    """
    around, news, restless = count_boilerplate_keys(diff), list[BlockChange](), 0
    for block in diff.blocks:
        if not block.is_price and noise_model.is_template_block(block, around):
            continue
        if block.is_price or not (get_place(block) in noisy_places or noise_model.is_alternating(page_id, block)):
            news.append(block)
        else:
            restless += block.main
    return news, restless


def _find_kinds(
    diff: FingerprintDiff, main_blocks: list[BlockChange], deltas: dict[str, AssetDelta]
) -> dict[ChangeKind, bool]:
    swapped = {swap.resource_type for swap in diff.resources}
    return {
        ChangeKind.CONTENT: _has_content_change(main_blocks, deltas) or bool(deltas.get("title")),
        ChangeKind.STRUCTURE: diff.structure.severity is not StructureSeverity.NONE,
        ChangeKind.PRESENTATION: diff.has_style_change or diff.structure.cosmetic or ResourceType.STYLE in swapped,
        ChangeKind.BEHAVIOR: any(deltas.get(kind) for kind in BEHAVIOR_ASSETS) or ResourceType.SCRIPT in swapped,
        ChangeKind.MEDIA: bool(deltas.get("images")) or ResourceType.IMAGE in swapped,
        ChangeKind.LINKS: bool(deltas.get("links")),
    }


def _has_content_change(main_blocks: list[BlockChange], deltas: dict[str, AssetDelta]) -> bool:
    """The main content has other words, pictures or targets."""
    return bool(main_blocks) or _has_image_change(deltas) or _has_link_change(deltas.get("main_links"))


def _has_image_change(deltas: dict[str, AssetDelta]) -> bool:
    """A picture of the main content came or went; one that the page has still is in another part of it, no more."""
    main, page = (deltas.get(kind, AssetDelta()) for kind in ("main_images", "images"))
    return not {*main.added, *main.removed}.isdisjoint((*page.added, *page.removed))


def _has_link_change(delta: AssetDelta | None) -> bool:
    """A link of the main content has another target; some more or some less on the same words are no other content."""
    return delta is not None and delta.is_replacement


def _compute_amount(main_blocks: list[BlockChange], main_content_size: int) -> float:
    """Weigh what differs against both versions: what changed counts twice, being in both."""
    differing = sum(map(_count_differing_bytes, main_blocks))
    return min(1.0, differing / main_content_size) if main_content_size else float(bool(main_blocks))


def _count_differing_bytes(block: BlockChange) -> int:
    return block.size * (2 if block.action in (BlockAction.CHANGED, BlockAction.MOVED) else 1)


def _compute_significance(
    kind: ChangeKind,
    diff: FingerprintDiff,
    main_blocks: list[BlockChange],
    amount: float,
    deltas: dict[str, AssetDelta],
) -> float:
    if kind is ChangeKind.CONTENT and not _has_content_change(main_blocks, deltas):
        return TITLE_SIGNIFICANCE
    if kind is ChangeKind.CONTENT:
        least = PRICE_SIGNIFICANCE if any(block.is_price for block in main_blocks) else 0.0
        return max(least, BASE_SIGNIFICANCE[kind] + (1 - BASE_SIGNIFICANCE[kind]) * sqrt(amount))
    if kind is ChangeKind.STRUCTURE and diff.structure.severity is StructureSeverity.MAJOR:
        return MAJOR_STRUCTURE_SIGNIFICANCE
    if kind is ChangeKind.MEDIA and diff.resources:
        return BASE_SIGNIFICANCE[kind] * (1 + max(swap.amount or 0.0 for swap in diff.resources))
    return BASE_SIGNIFICANCE[kind]


def _list_suppressed_reasons(
    diff: FingerprintDiff,
    significant_blocks: list[BlockChange],
    main_blocks: list[BlockChange],
    noise_model: NoiseModel,
) -> list[str]:
    """Name the noise, so that nobody wonders why a page that differs did not change."""
    heard = []
    if diff.has_text_change and not diff.blocks:
        heard.append("stamps")
    if len(significant_blocks) > len(main_blocks):
        heard.append("furniture")
    if len(significant_blocks) < len(diff.blocks):
        silent = next(block for block, told in zip_longest(diff.blocks, significant_blocks) if block is not told)
        heard += ["template"] if noise_model.is_template_block(silent, count_boilerplate_keys(diff)) else ["restless"]
    return heard


def _get_sort_key(block: BlockChange) -> tuple[bool, int, int]:
    return not block.main, block.new if block.new >= 0 else block.old, block.old


def _build_paragraph_change(block: BlockChange, main_content_size: int) -> ParagraphChange:
    old, new = (None if place < 0 else place for place in (block.old, block.new))
    amount = (
        round(min(1.0, _count_differing_bytes(block) / main_content_size), 4)
        if block.main and main_content_size
        else 0.0
    )
    return ParagraphChange(block.action, block.size, block.main, old, new, amount)


def _count_delta(delta: AssetDelta | None) -> ChangeCounts:
    return ChangeCounts(len(delta.added), len(delta.removed)) if delta is not None else ChangeCounts()


def to_json(change: PageChange) -> dict[str, object]:
    """Spell a report for JSON."""
    built: dict[str, object] = msgpack.decode(msgpack.encode(change))
    return built
