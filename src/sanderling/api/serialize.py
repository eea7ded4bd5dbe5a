"""JSON objects of pages and search hits, as the commands print them with --json."""

from typing import TYPE_CHECKING

from sanderling.config.time_format import format_iso
from sanderling.storage.queries import CatalogRow

if TYPE_CHECKING:  # the index is an optional part
    from sanderling.search.search_types import SearchHit, TextRun


def build_page_object(row: CatalogRow) -> dict[str, object]:
    """Return the JSON object of a page."""
    return {
        "url": row.url,
        "status": row.status,
        "mime": row.mime,
        "title": row.title,
        "depth": row.depth,
        "first_seen": format_iso(row.first_seen),
        "last_visit": format_iso(row.last_visit),
        "last_change": format_iso(row.last_change),
        "digest": f"sha256:{row.digest}" if row.digest else "",
        "bytes": row.body_bytes,
        "language": row.language,
        "etag": row.etag,
        "last_modified": row.last_modified,
        "canonical": row.canonical,
        "location": row.location,
        "links": row.link_count,
        "visits": row.visit_count,
        "changes": row.change_count,
        "duplicate_of": row.duplicate_of,
        "source": row.source,
        "via": row.referrer,
        "sitemap_lastmod": format_iso(row.sitemap_lastmod) or "",
        "sitemap_changefreq": row.sitemap_changefreq,
        "sitemap_priority": f"{row.sitemap_priority:g}" if row.sitemap_priority >= 0 else "",
    }


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
