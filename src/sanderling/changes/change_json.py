"""The JSON object of a change, as printed by `sanderling changes --json` and sent to webhooks."""

from msgspec import to_builtins

from sanderling.changes.feed import ReportedChange
from sanderling.config.time_format import format_iso
from sanderling.page_rendering import VisualChange


def build_change_object(item: ReportedChange) -> dict[str, object]:
    change = item.change
    return {
        "url": item.url,
        "seen_at": format_iso(item.seen_at),
        "previous_at": format_iso(item.previous_at),
        "kinds": list(change.kinds),
        "significance": change.significance,
        "amount": change.amount,
        "paragraphs": to_builtins(change.paragraphs),
        "counts": dict(change.counts),
        "structure": to_builtins(change.structure),
        "links": to_builtins(change.links),
        "media": to_builtins(change.media),
        "title": to_builtins(change.title),
        "behavior": to_builtins(change.behavior),
        "resources": to_builtins(change.resources),
        **({"visual": _build_visual_object(change.visual)} if change.visual is not None else {}),
        "noise": list(change.noise),
        "text": to_builtins(item.texts),
        **({"urls": list(item.shared_urls)} if item.shared_urls else {}),
    }


def _build_visual_object(visual: VisualChange) -> dict[str, object]:
    return {"share": visual.share, "box": visual.box, "old_box": visual.old_box, "blocks": visual.blocks}
