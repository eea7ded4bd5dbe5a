"""JSON objects of search hits, as the commands print them with --json."""

from typing import TYPE_CHECKING

from sanderling.config.time_format import format_iso

if TYPE_CHECKING:  # the index is an optional part
    from sanderling.search.search_types import SearchHit, TextRun


def build_hit_object(hit: "SearchHit") -> dict[str, object]:
    """Return the JSON object of a hit."""
    parts = hit.score_parts
    return {
        "position": hit.position,
        "url": hit.url,
        "title": format_pieces(hit.title),
        "snippet": format_pieces(hit.snippet),
        "site": hit.site,
        "type": hit.type,
        "language": hit.language,
        "changed_at": format_iso(hit.changed_at) if hit.changed_at > hit.first_seen_at else None,
        "first_seen_at": format_iso(hit.first_seen_at),
        "score": parts.score,
        "parts": {name: getattr(parts, name) for name in ("text", "link", "freshness", "behavior")},
        "fields": [{"word": word, "field": field, "score": score} for word, field, score in parts.field_scores],
    }


def format_pieces(pieces: "tuple[TextRun, ...]", highlight: tuple[str, str] = ("", "")) -> str:
    """Format text with highlighted matches, without control characters."""
    clean = [("".join(c if c.isprintable() else " " for c in piece.text), piece.is_match) for piece in pieces]
    return "".join(f"{highlight[0]}{text}{highlight[1]}" if hit else text for text, hit in clean)
