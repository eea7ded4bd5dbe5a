"""Images, videos and news inside a sitemap entry: fields as they were tagged in, records out."""

import re

from sanderling.discovery.dates import read_date
from sanderling.discovery.entry_types import Image, News, Price, Video
from sanderling.discovery.xml_scanner import attributes

Fields = dict[str, list[tuple[str, str]]]
"""Values of one part by local name, each with the attributes of its tag, in order."""

_BLANKS = re.compile(r"\s+")


def image(fields: Fields) -> Image | None:
    """Make an image; None without an address."""
    loc = _text(fields, "loc")
    if not loc:
        return None
    rest = (_text(fields, name) for name in ("caption", "title", "geo_location", "license"))
    return Image(loc, *rest)


def news(fields: Fields) -> News:
    """Make a news article."""
    return News(
        name=_text(fields, "name"),
        language=_text(fields, "language"),
        date=_date(fields, "publication_date"),
        title=_text(fields, "title"),
        keywords=_list(fields, "keywords"),
        genres=_list(fields, "genres"),
        stock_tickers=_list(fields, "stock_tickers"),
        access=_text(fields, "access"),
    )


def video(fields: Fields) -> Video:
    """Make a video."""
    duration, views = number(_text(fields, "duration")), number(_text(fields, "view_count"))
    return Video(
        thumbnail=_text(fields, "thumbnail_loc"),
        title=_text(fields, "title"),
        description=_text(fields, "description"),
        content_loc=_text(fields, "content_loc"),
        player_loc=_text(fields, "player_loc"),
        duration=None if duration is None else int(duration),
        expiration=_date(fields, "expiration_date"),
        publication=_date(fields, "publication_date"),
        rating=number(_text(fields, "rating")),
        view_count=None if views is None else int(views),
        family_friendly=_yes(fields, "family_friendly"),
        requires_subscription=_yes(fields, "requires_subscription"),
        live=_yes(fields, "live"),
        tags=tuple(value for value, _ in fields.get("tag", [])),
        category=_text(fields, "category"),
        allowed_countries=_countries(fields, "allow"),
        denied_countries=_countries(fields, "deny"),
        gallery=_text(fields, "gallery_loc"),
        uploader=_text(fields, "uploader"),
        prices=tuple(_price(value, rest) for value, rest in fields.get("price", [])),
    )


def _text(fields: Fields, name: str) -> str:
    values = fields.get(name)
    return _BLANKS.sub(" ", values[0][0]) if values else ""


def _list(fields: Fields, name: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in _text(fields, name).split(",") if word.strip())


def _date(fields: Fields, name: str) -> float | None:
    moment = read_date(_text(fields, name))
    return moment.at if moment else None


def _yes(fields: Fields, name: str) -> bool | None:
    return {"yes": True, "true": True, "no": False, "false": False}.get(_text(fields, name).lower())


def number(text: str) -> float | None:
    """Read a number, with a comma where some countries write one; nothing endless."""
    try:
        value = float(text[:32].replace(",", "."))
    except ValueError:
        return None
    return value if abs(value) < 1e15 else None


def _price(value: str, rest: str) -> Price:
    words = attributes(rest)
    return Price(words.get("currency", ""), number(value), words.get("type", "own").lower())


def _countries(fields: Fields, relationship: str) -> tuple[str, ...]:
    for value, rest in fields.get("restriction", []):
        if attributes(rest).get("relationship", "").lower() == relationship:
            return tuple(value.upper().split())
    return ()
