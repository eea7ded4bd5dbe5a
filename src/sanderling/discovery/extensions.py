"""Build image, video and article records of sitemap extensions."""

import re

from sanderling.discovery.dates import parse_date
from sanderling.discovery.entry_types import SitemapArticle, SitemapImage, SitemapVideo, VideoPrice
from sanderling.discovery.xml_scanner import parse_attributes

PartFields = dict[str, list[tuple[str, str]]]
"""Values of an image, video or news element by local name, each with the attributes of its tag."""

_WHITESPACE = re.compile(r"\s+")


def build_image(fields: PartFields) -> SitemapImage | None:
    loc = _get_text(fields, "loc")
    if not loc:
        return None
    optional = (_get_text(fields, name) for name in ("caption", "title", "geo_location", "license"))
    return SitemapImage(loc, *optional)


def build_article(fields: PartFields) -> SitemapArticle:
    """Build a record of the Google News extension."""
    return SitemapArticle(
        publication_name=_get_text(fields, "name"),
        language=_get_text(fields, "language"),
        published_at=_parse_timestamp(fields, "publication_date"),
        title=_get_text(fields, "title"),
        keywords=_parse_list(fields, "keywords"),
        genres=_parse_list(fields, "genres"),
        stock_tickers=_parse_list(fields, "stock_tickers"),
        access=_get_text(fields, "access"),
    )


def build_video(fields: PartFields) -> SitemapVideo:
    duration, views = parse_number(_get_text(fields, "duration")), parse_number(_get_text(fields, "view_count"))
    return SitemapVideo(
        thumbnail=_get_text(fields, "thumbnail_loc"),
        title=_get_text(fields, "title"),
        description=_get_text(fields, "description"),
        content_loc=_get_text(fields, "content_loc"),
        player_loc=_get_text(fields, "player_loc"),
        duration=None if duration is None else int(duration),
        expiration=_parse_timestamp(fields, "expiration_date"),
        publication=_parse_timestamp(fields, "publication_date"),
        rating=parse_number(_get_text(fields, "rating")),
        view_count=None if views is None else int(views),
        family_friendly=_parse_boolean(fields, "family_friendly"),
        requires_subscription=_parse_boolean(fields, "requires_subscription"),
        live=_parse_boolean(fields, "live"),
        tags=tuple(value for value, _ in fields.get("tag", [])),
        category=_get_text(fields, "category"),
        allowed_countries=_parse_countries(fields, "allow"),
        denied_countries=_parse_countries(fields, "deny"),
        gallery=_get_text(fields, "gallery_loc"),
        uploader=_get_text(fields, "uploader"),
        prices=tuple(_parse_price(value, attributes_text) for value, attributes_text in fields.get("price", [])),
    )


def _get_text(fields: PartFields, name: str) -> str:
    values = fields.get(name)
    return _WHITESPACE.sub(" ", values[0][0]) if values else ""


def _parse_list(fields: PartFields, name: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in _get_text(fields, name).split(",") if word.strip())


def _parse_timestamp(fields: PartFields, name: str) -> float | None:
    date = parse_date(_get_text(fields, name))
    return date.timestamp if date else None


def _parse_boolean(fields: PartFields, name: str) -> bool | None:
    return {"yes": True, "true": True, "no": False, "false": False}.get(_get_text(fields, name).lower())


def parse_number(text: str) -> float | None:
    """Parse a number with decimal point or comma."""
    try:
        value = float(text[:32].replace(",", "."))
    except ValueError:
        return None
    return value if abs(value) < 1e15 else None


def _parse_price(value: str, attributes_text: str) -> VideoPrice:
    attributes = parse_attributes(attributes_text)
    return VideoPrice(attributes.get("currency", ""), parse_number(value), attributes.get("type", "own").lower())


def _parse_countries(fields: PartFields, relationship: str) -> tuple[str, ...]:
    for value, attributes_text in fields.get("restriction", []):
        if parse_attributes(attributes_text).get("relationship", "").lower() == relationship:
            return tuple(value.upper().split())
    return ()
