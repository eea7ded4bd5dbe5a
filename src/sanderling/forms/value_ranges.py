"""Values of date and number fields: ranges of two fields that are divided, and lists of a single field."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime

from sanderling.html.form_fields import TEXT, FormField
from sanderling.urls.unsafe_actions import join_words

LOW = re.compile(r"min|from|low|start|after|since|von|ab|desde|gte?$", re.IGNORECASE)
HIGH = re.compile(r"max|to|high|end|before|until|bis|hasta|lte?$", re.IGNORECASE)
BOUND_WORDS = re.compile(
    r"min(imum)?|max(imum)?|from|to|low|high|start|end|after|before|since|until|von|bis|ab|gte?|lte?"
)
DATE_MASK = re.compile(r"\b([^\W\d_]{2}|[^\W\d_]{4})([./-])([^\W\d_]{2})\2([^\W\d_]{4}|[^\W\d_]{2})\b")  # DD.MM.YYYY
RANGE_KINDS = ("number", "date", "month")
FIRST_YEAR = 1990
DEFAULT_NUMBERS = ("0", "100000")
MAX_LISTED = 200  # values of a single field


def find_date_format(field: FormField) -> str:
    """Return the format of the dates of a text field, as its label or placeholder shows it, or ""."""
    if field.kind != TEXT or (match := DATE_MASK.search(field.label)) is None:
        return ""
    parts = [match[1].lower(), match[3].lower(), match[4].lower()]
    codes = ["%Y" if len(part) == 4 else "%m" if part[0] in "mм" else "%d" for part in parts]
    return match[2].join(codes) if len(set(codes)) == len(codes) else ""


def format_field_value(field: FormField, value: str) -> str:
    """Return a value as the field expects it: dates of text fields in their format."""
    if mask := find_date_format(field):
        try:
            return date.fromisoformat(value).strftime(mask)
        except ValueError:
            return value
    return value


def get_value_kind(field: FormField) -> str:
    return "date" if find_date_format(field) else field.kind


def find_ranges(fields: Sequence[FormField]) -> Iterator[tuple[int, int, tuple[str, str]]]:
    """Yield pairs of fields that are the ends of a range, with the bounds to start from."""
    numbered = [(n, field) for n, field in enumerate(fields) if field.kind in (*RANGE_KINDS, TEXT)]
    for low, first in numbered:
        if not LOW.search(first.name):
            continue
        for high, last in numbered:
            if high != low and HIGH.search(last.name) and _strip_bound(first.name) == _strip_bound(last.name):
                kinds = get_value_kind(first), get_value_kind(last)
                if kinds[0] == kinds[1] and (kinds[0] in RANGE_KINDS or _is_number_name(first)):
                    yield low, high, _find_bounds(first, last)
                break


def _strip_bound(name: str) -> str:
    return join_words(BOUND_WORDS.sub("", name.lower()))


def _is_number_name(field: FormField) -> bool:
    return bool(re.search(r"price|year|preis|jahr|prix|amount|size|number|area|km|rooms", field.name, re.IGNORECASE))


def _find_bounds(first: FormField, last: FormField) -> tuple[str, str]:
    if get_value_kind(first) in ("date", "month"):
        today = datetime.now(UTC).date()
        bounds = first.minimum or f"{FIRST_YEAR}-01-01", last.maximum or today.isoformat()
        return (bounds[0][:7], bounds[1][:7]) if first.kind == "month" else bounds
    is_year = re.search(r"year|jahr|annee|anno", first.name, re.IGNORECASE)
    default = (str(FIRST_YEAR - 90), str(datetime.now(UTC).year)) if is_year else DEFAULT_NUMBERS
    return first.minimum or default[0], last.maximum or default[1]


def split_range(kind: str, low: str, high: str, parts: int = 2, is_open: bool = False) -> list[tuple[str, str]]:
    """Return the parts of a range; empty: it has a single value.

    `is_open`: the upper end is a guess, and small values are the most frequent: each part is twice as wide as the last.
    """
    try:
        first, last = _parse_value(kind, low), _parse_value(kind, high)
    except ValueError:
        return []
    count = min(parts, last - first + 1)
    if count < 2:
        return []
    size = last - first + 1
    shares = [(2**number - 1) / (2**count - 1) if is_open else number / count for number in range(count)]
    starts = sorted({first + int(size * share) for share in shares})
    ends = [start - 1 for start in starts[1:]] + [last]
    return [(_format_value(kind, start), _format_value(kind, end)) for start, end in zip(starts, ends, strict=True)]


def _parse_value(kind: str, text: str) -> int:
    if kind == "date":
        return date.fromisoformat(text).toordinal()
    return int(text[:4]) * 12 + int(text[5:7]) - 1 if kind == "month" else int(float(text))


def _format_value(kind: str, number: int) -> str:
    if kind == "date":
        return date.fromordinal(number).isoformat()
    return f"{number // 12:04d}-{number % 12 + 1:02d}" if kind == "month" else str(number)


def list_typed_values(field: FormField) -> list[str]:
    """Return suggestions of a field, or the numbers, days or months between its bounds if they are few."""
    if field.values or field.kind not in RANGE_KINDS or not (field.minimum and field.maximum):
        return list(field.values)
    if LOW.search(field.name) or HIGH.search(field.name):
        return []
    values, parts = list[str](), [(field.minimum, field.maximum)]
    while parts and len(values) + len(parts) <= MAX_LISTED:
        low, high = parts.pop(0)
        halves = split_range(field.kind, low, high)
        parts += halves
        values += [] if halves else [low]
    return sorted(values) if not parts else []
