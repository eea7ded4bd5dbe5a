"""Classify a diff: kinds of change, significance, and the noise that was left out."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from itertools import zip_longest
from math import sqrt

from msgspec import Struct, msgpack
from msgspec.structs import replace

from sanderling.changes.fingerprint_diff import AssetDelta, BlockAction, BlockChange, FingerprintDiff, diff_fingerprints
from sanderling.changes.noise_fragments import ASSET_PLACES, count_boilerplate_keys, get_place
from sanderling.changes.noise_model import NoiseModel
from sanderling.changes.resource_changes import ResourceChange, ResourceType
from sanderling.changes.tag_tree_diff import StructureDiff, StructureSeverity
from sanderling.errors import UsageError
from sanderling.fingerprint.model import decode_fingerprint
from sanderling.page_rendering import VisualChange

MAX_LISTED_PARAGRAPHS = 200  # all are counted


class ChangeKind(StrEnum):
    """Kind of change (IPC section 4, and its future work)."""

    CONTENT = "content"  # text, link targets, and images of the main content
    STRUCTURE = "structure"  # nodes of the document tree
    PRESENTATION = "presentation"  # cosmetic markup, classes, styles
    BEHAVIOR = "behavior"  # scripts, handlers, forms, frames
    MEDIA = "media"  # images
    LINKS = "links"  # anywhere on the page
    VISUAL = "visual"  # pixels of a block whose text is the same; needs screenshots
    NEW = "new"  # the page did not exist before
    GONE = "gone"  # the page no longer exists
    MOVED = "moved"  # the page redirects elsewhere
    RETURNED = "returned"  # the page was gone and exists again


LIFECYCLE_KINDS = (ChangeKind.NEW, ChangeKind.GONE, ChangeKind.MOVED, ChangeKind.RETURNED)  # only reported on request
BASE_SIGNIFICANCE = {
    ChangeKind.CONTENT: 0.4,
    ChangeKind.BEHAVIOR: 0.2,
    ChangeKind.MEDIA: 0.2,
    ChangeKind.STRUCTURE: 0.1,
    ChangeKind.LINKS: 0.1,
    ChangeKind.PRESENTATION: 0.05,
    ChangeKind.VISUAL: 0.1,
}
MAJOR_STRUCTURE_SIGNIFICANCE = 0.2
PRICE_SIGNIFICANCE = 0.6  # at least, however long the page is
TITLE_SIGNIFICANCE = 0.3  # only the title changed
ALWAYS_CHANGING = "always changing"  # a kind of noise
BEHAVIOR_ASSETS = ("scripts", "handlers", "forms", "frames")
MAIN_CONTENT_ASSET_PLACES = (ASSET_PLACES["main_links"], ASSET_PLACES["main_images"])


def validate_kinds(kinds: Iterable[str]) -> None:
    """Raise UsageError for the first unknown kind of change."""
    for kind in kinds:
        if kind not in set(ChangeKind):
            raise UsageError(f"unknown kind of change {kind!r}; choose from {', '.join(ChangeKind)}")


class ParagraphChange(Struct, frozen=True, omit_defaults=True):
    """A changed text block, and its number in each version."""

    action: BlockAction
    size: int
    main: bool
    old: int | None = None
    new: int | None = None
    amount: float = 0.0  # its share of the amount of the page


class ChangeCounts(Struct, frozen=True):
    added: int = 0
    removed: int = 0


class PageChange(Struct, frozen=True, omit_defaults=True):
    """The classified change of a page."""

    kinds: tuple[ChangeKind, ...] = ()
    significance: float = 0.0  # 0 (noise) to 1
    amount: float = 0.0  # share of the main content that differs
    counts: dict[str, int] = {}  # blocks of main content by action
    paragraphs: tuple[ParagraphChange, ...] = ()
    structure: StructureDiff = StructureDiff()
    links: ChangeCounts = ChangeCounts()
    media: ChangeCounts = ChangeCounts()
    title: ChangeCounts = ChangeCounts()  # words of the title
    behavior: dict[str, ChangeCounts] = {}
    resources: tuple[ResourceChange, ...] = ()  # replaced under the same URL
    visual: VisualChange | None = None  # between screenshots
    noise: tuple[str, ...] = ()  # volatile text, boilerplate, template, always changing
    suppressed_count: int = 0  # blocks, links, and images of main content left out because they always change
    comparable: bool = True

    @property
    def is_significant(self) -> bool:
        return bool(self.kinds)


def compare_fingerprints(old: bytes, new: bytes, noise_model: NoiseModel | None = None, page_id: int = 0) -> PageChange:
    """Compare two encoded fingerprints, with the noise model of the site and the id of the page in it."""
    if old == new:
        return PageChange()
    return classify_diff(diff_fingerprints(decode_fingerprint(old), decode_fingerprint(new)), noise_model, page_id)


def classify_diff(diff: FingerprintDiff, noise_model: NoiseModel | None = None, page_id: int = 0) -> PageChange:
    """Classify a diff, leaving out noise."""
    if not diff.comparable:
        return PageChange(comparable=False)
    noise_model, suppressed = noise_model or NoiseModel(), 0
    if noise_model.is_empty:
        blocks, deltas = [block for block in diff.blocks if block.is_price or block.keys], diff.assets
    else:
        noisy = noise_model.find_noisy_places(page_id, diff)
        blocks, suppressed = _select_significant_blocks(diff, noise_model, page_id, noisy)
        deltas = {kind: noise_model.select_significant_assets(kind, diff, page_id, noisy) for kind in diff.assets}
        suppressed += len(noisy.intersection(MAIN_CONTENT_ASSET_PLACES))
    main = [block for block in blocks if block.main]
    kinds = tuple(kind for kind, is_present in _find_kinds(diff, main, deltas).items() if is_present)
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
            for block in sorted(blocks, key=_get_sort_key)[:MAX_LISTED_PARAGRAPHS]
        ),
        structure=diff.structure,
        links=_count_delta(deltas.get("links")),
        media=_count_delta(deltas.get("images")),
        title=_count_delta(deltas.get("title")),
        behavior={kind: _count_delta(deltas[kind]) for kind in BEHAVIOR_ASSETS if deltas.get(kind)},
        resources=diff.resources,
        visual=diff.visual,
        noise=tuple(
            dict.fromkeys(
                [*_list_suppressed_reasons(diff, blocks, main, noise_model), *[ALWAYS_CHANGING] * (suppressed > 0)]
            )
        ),
        suppressed_count=suppressed,
    )


def add_visual_change(change: PageChange, visual: VisualChange | None) -> PageChange:
    """Add the difference between two screenshots to the change of a document."""
    if visual is None:
        return change
    significance = max(change.significance, BASE_SIGNIFICANCE[ChangeKind.VISUAL])
    return replace(change, kinds=(*change.kinds, ChangeKind.VISUAL), significance=significance, visual=visual)


def _select_significant_blocks(
    diff: FingerprintDiff, noise_model: NoiseModel, page_id: int, noisy_places: set[int]
) -> tuple[list[BlockChange], int]:
    """Return the blocks that are not noise, and the number of always changing blocks of main content."""
    boilerplate_keys, significant, suppressed = count_boilerplate_keys(diff), list[BlockChange](), 0
    for block in diff.blocks:
        if noise_model.is_rotating(block):
            suppressed += block.main
            continue
        # A price is never noise, unless it is in an advertisement that pages show in turn.
        if not block.is_price and noise_model.is_template_block(block, boilerplate_keys):
            continue
        if block.is_price or not (get_place(block) in noisy_places or noise_model.is_alternating(page_id, block)):
            significant.append(block)
        else:
            suppressed += block.main
    return significant, suppressed


def _find_kinds(
    diff: FingerprintDiff, main_blocks: list[BlockChange], deltas: dict[str, AssetDelta]
) -> dict[ChangeKind, bool]:
    resource_types = {resource.resource_type for resource in diff.resources}
    return {
        ChangeKind.CONTENT: _has_content_change(main_blocks, deltas) or bool(deltas.get("title")),
        ChangeKind.STRUCTURE: diff.structure.severity is not StructureSeverity.NONE,
        ChangeKind.PRESENTATION: diff.has_style_change
        or diff.structure.cosmetic
        or ResourceType.STYLE in resource_types,
        ChangeKind.BEHAVIOR: any(deltas.get(kind) for kind in BEHAVIOR_ASSETS) or ResourceType.SCRIPT in resource_types,
        ChangeKind.MEDIA: bool(deltas.get("images")) or ResourceType.IMAGE in resource_types,
        ChangeKind.LINKS: bool(deltas.get("links")),
        ChangeKind.VISUAL: diff.visual is not None,
    }


def _has_content_change(main_blocks: list[BlockChange], deltas: dict[str, AssetDelta]) -> bool:
    return bool(main_blocks) or _has_image_change(deltas) or _has_link_change(deltas.get("main_links"))


def _has_image_change(deltas: dict[str, AssetDelta]) -> bool:
    """Return whether an image of the main content was added to or removed from the page, not only moved."""
    main, page = (deltas.get(kind, AssetDelta()) for kind in ("main_images", "images"))
    return not {*main.added, *main.removed}.isdisjoint((*page.added, *page.removed))


def _has_link_change(delta: AssetDelta | None) -> bool:
    """Return whether targets were replaced; only more or fewer links on the same text are no content change."""
    return delta is not None and delta.is_replacement


def _compute_amount(main_blocks: list[BlockChange], main_content_size: int) -> float:
    """Return the share of both versions that differs; a changed block counts twice."""
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
        return BASE_SIGNIFICANCE[kind] * (1 + max(resource.amount or 0.0 for resource in diff.resources))
    return BASE_SIGNIFICANCE[kind]


def _list_suppressed_reasons(
    diff: FingerprintDiff,
    significant_blocks: list[BlockChange],
    main_blocks: list[BlockChange],
    noise_model: NoiseModel,
) -> list[str]:
    """Explain why a page that differs did not change significantly."""
    reasons = []
    if diff.has_text_change and not diff.blocks:
        reasons.append("volatile text")
    if len(significant_blocks) > len(main_blocks):
        reasons.append("boilerplate")
    if len(significant_blocks) < len(diff.blocks):
        dropped = next(block for block, kept in zip_longest(diff.blocks, significant_blocks) if block is not kept)
        is_template = noise_model.is_template_block(dropped, count_boilerplate_keys(diff))
        reasons.append("template" if is_template else ALWAYS_CHANGING)
    return reasons


def _get_sort_key(block: BlockChange) -> tuple[bool, int, int]:
    return not block.main, block.new if block.new >= 0 else block.old, block.old


def _build_paragraph_change(block: BlockChange, main_content_size: int) -> ParagraphChange:
    old, new = (None if number < 0 else number for number in (block.old, block.new))
    amount = (
        round(min(1.0, _count_differing_bytes(block) / main_content_size), 4)
        if block.main and main_content_size
        else 0.0
    )
    return ParagraphChange(block.action, block.size, block.main, old, new, amount)


def _count_delta(delta: AssetDelta | None) -> ChangeCounts:
    return ChangeCounts(len(delta.added), len(delta.removed)) if delta is not None else ChangeCounts()


def to_json(change: PageChange) -> dict[str, object]:
    """Convert a change to JSON types."""
    built: dict[str, object] = msgpack.decode(msgpack.encode(change))
    return built
