"""Lines of a page as they are fingerprinted: without white space, volatile text, and ignored text.

Whether a bare time, day, or number is volatile depends on other lines: a timetable, calendar, or label makes it
content.
"""

import re
from collections.abc import Iterable, Sequence, Set
from itertools import compress
from re import Pattern

from msgspec import Struct
from msgspec.structs import replace
from xxhash import xxh3_64_intdigest

from sanderling.content.extract import TextBlocks
from sanderling.content.plugin_rules import apply_content_rules, load_content_rules
from sanderling.content.prices import flag_price_lines
from sanderling.content.volatile.counters import is_counter_label
from sanderling.content.volatile.relative_time import find_relative_time_lines
from sanderling.content.volatile.strip import flag_volatile_lines, strip_volatile_text
from sanderling.content.volatile.timestamps import is_time_label, is_weekday_date
from sanderling.fingerprint.model import HIDDEN_ROLE
from sanderling.html.text import normalize_text

MAX_LINES = 80_000  # half of them empty; the rest is a single line
NON_DIGITS = bytes(set(range(256)) - set(b"0123456789\n"))
MIN_TIMETABLE_TIMES = 4  # bare times of day; fewer are clocks
MAX_CLOCK_SIZE = 8
MIN_CALENDAR_DAYS = 3  # bare weekdays with dates; fewer are today's date
MAX_DAY_LENGTH = 40
MAX_COUNT_SIZE = 11
MAX_LABEL_DISTANCE = 3  # lines above a bare time or number that may hold its label, with empty lines
MAX_UNFILTERED_LINES = 3  # more lines are prefiltered together
MATCH_CLOCK_TIME = re.compile(rb"\d{1,2}[:.h]\d\d(?:[ap]m|uhr)?", re.IGNORECASE).fullmatch
MATCH_COUNT = re.compile(  # excludes years
    rb"(?!(?:19|20)\d\d$)(?:\d{1,3}(?:[.,]\d{3})+|\d+(?:[.,]\d)?[km]|\d+)", re.IGNORECASE
).fullmatch


class NormalizedLines(Struct, frozen=True):
    text_hash: int
    stripped_lines: list[bytes]  # without white space and volatile text; may be empty
    line_roles: bytes
    main_mask: bytes
    visible_lines: Sequence[str]  # as shown on the page; an empty line is not a block
    line_sizes: Sequence[int] = ()  # bytes without white space, with volatile text
    bare_values: Set[int] = frozenset()  # lines with only a time, day, or number: their meaning depends on other lines


def normalize_lines(page_blocks: TextBlocks, ignore_pattern: Pattern[str] | None = None) -> NormalizedLines:
    visible_lines = page_blocks.lines
    text, lines, digit_lines = _split_lines(visible_lines, ignore_pattern)
    text_hash, sizes = _hash_text(text, digit_lines), list(map(len, lines))
    if load_content_rules():
        page_blocks = replace(page_blocks, lines=apply_content_rules(visible_lines))
        text, lines, digit_lines = _split_lines(page_blocks.lines, ignore_pattern)
    candidates = sorted(
        {*compress(range(min(len(lines), MAX_LINES)), digit_lines), *find_relative_time_lines(lines[:MAX_LINES], text)}
    )
    clocks = {number for number in candidates if sizes[number] <= MAX_CLOCK_SIZE and MATCH_CLOCK_TIME(lines[number])}
    timetable_lines = {
        number for number in clocks if len(clocks) >= MIN_TIMETABLE_TIMES or _has_label(page_blocks.lines, number)
    }
    for number in _select_volatile_lines(page_blocks.lines, candidates) if ignore_pattern is None else candidates:
        lines[number] = _strip_line(page_blocks, number, lines[number], ignore_pattern, number in timetable_lines)
    days = {number for number in candidates if not lines[number] and _is_bare_day(page_blocks.lines[number])}
    for number in (
        days if len(days) >= MIN_CALENDAR_DAYS else [day for day in days if _has_label(page_blocks.lines, day)]
    ):
        lines[number] = _strip_line(
            page_blocks, number, normalize_text(page_blocks.lines[number]), ignore_pattern, True
        )
    counts = _classify_counts(
        page_blocks,
        {number for number in candidates if 0 < sizes[number] <= MAX_COUNT_SIZE and MATCH_COUNT(lines[number])},
    )
    for number, is_counter in counts.items():
        lines[number] = b"" if is_counter else lines[number]
    complete_lines = slice(len(lines))
    line_data = (
        compute_line_roles(page_blocks)[complete_lines],
        page_blocks.main_mask[complete_lines],
        visible_lines[complete_lines],
    )
    return NormalizedLines(text_hash, lines, *line_data, sizes, clocks.union(days, counts))


def _split_lines(lines: list[str], ignore_pattern: Pattern[str] | None) -> tuple[bytes, list[bytes], list[bytes]]:
    """Return the text without white space, its lines, and the digits of each line, or all of it if text is ignored."""
    text = normalize_text("\n".join(lines))
    split_lines = text.split(b"\n", MAX_LINES)
    return text, split_lines, _extract_digits(text) if ignore_pattern is None else split_lines


def _select_volatile_lines(lines: list[str], line_numbers: list[int]) -> Iterable[int]:
    return (
        compress(line_numbers, flag_volatile_lines([lines[number] for number in line_numbers]))
        if len(line_numbers) > MAX_UNFILTERED_LINES
        else line_numbers
    )


def _has_label(lines: list[str], line_number: int) -> bool:
    return is_time_label(_find_line_above(lines, line_number))


def _find_line_above(lines: list[str], line_number: int) -> str:
    return next((line for line in reversed(lines[max(0, line_number - MAX_LABEL_DISTANCE) : line_number]) if line), "")


def _classify_counts(page_blocks: TextBlocks, bare_numbers: set[int]) -> dict[int, bool]:
    """Return whether bare numbers with a counter label, or with nothing above, are counters.

    A number followed by another is a table row.
    """
    is_counter = {}
    for line_number in bare_numbers:
        above = _find_line_above(page_blocks.lines, line_number)
        if not above or (is_counter_label(above) and not page_blocks.verbatim_mask[line_number]):
            below = next(
                (
                    number
                    for number in range(
                        line_number + 1, min(line_number + 1 + MAX_LABEL_DISTANCE, len(page_blocks.lines))
                    )
                    if page_blocks.lines[number]
                ),
                None,
            )
            is_counter[line_number] = bool(above) and below not in bare_numbers
    return is_counter


def _is_bare_day(line: str) -> bool:
    return len(line) <= MAX_DAY_LENGTH and is_weekday_date(line)


def normalize_line(page_blocks: TextBlocks, line_number: int) -> bytes:
    """Normalize a line as if there were no bare times around it."""
    if load_content_rules():
        lines = page_blocks.lines
        stripped = apply_content_rules([lines[line_number]])
        page_blocks = replace(page_blocks, lines=[*lines[:line_number], *stripped, *lines[line_number + 1 :]])
    block = normalize_text(page_blocks.lines[line_number])
    is_candidate = block.translate(None, NON_DIGITS) or find_relative_time_lines([block], block)
    return _strip_line(page_blocks, line_number, block, None, False) if is_candidate else block


def compute_line_roles(page_blocks: TextBlocks) -> bytes:
    if 1 not in page_blocks.hidden_mask:
        return page_blocks.main_mask
    main, hidden = (int.from_bytes(mask, "little") for mask in (page_blocks.main_mask, page_blocks.hidden_mask))
    return (main | (hidden & ~main) * HIDDEN_ROLE).to_bytes(len(page_blocks.main_mask), "little")


def assign_price_roles(normalized: NormalizedLines, lines: list[str]) -> NormalizedLines:
    roles = flag_price_lines(lines[: len(normalized.main_mask)], normalized.main_mask)
    if HIDDEN_ROLE in normalized.line_roles:
        roles = bytes(role or old_role for role, old_role in zip(roles, normalized.line_roles, strict=True))
    return replace(normalized, line_roles=roles)


def get_main_content_size(normalized: NormalizedLines, page_blocks: TextBlocks) -> int:
    return (
        sum(compress(normalized.line_sizes, page_blocks.main_mask))
        if len(normalized.line_sizes) == len(page_blocks.lines)
        else measure_main_content(page_blocks)
    )


def measure_main_content(page_blocks: TextBlocks) -> int:
    return len(normalize_text("\n".join(compress(page_blocks.lines, page_blocks.main_mask))).translate(None, b"\n"))


def _extract_digits(raw: bytes) -> list[bytes]:
    return raw.translate(None, NON_DIGITS).split(b"\n", MAX_LINES)


def _hash_text(raw: bytes, digit_lines: list[bytes]) -> int:
    return xxh3_64_intdigest(raw.translate(None, b"\n") + b"\n".join(filter(None, digit_lines)))


def _strip_line(
    page_blocks: TextBlocks, line_number: int, block: bytes, ignore_pattern: Pattern[str] | None, keep_times: bool
) -> bytes:
    """Strip volatile and ignored text; `keep_times`: it belongs to a timetable."""
    line = page_blocks.lines[line_number]
    stripped = line if ignore_pattern is None else ignore_pattern.sub("", line)
    stripped = stripped if keep_times or page_blocks.verbatim_mask[line_number] else strip_volatile_text(stripped)
    return block if stripped is line else normalize_text(stripped)
