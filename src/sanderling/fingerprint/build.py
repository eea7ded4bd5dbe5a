"""The marks of one version of a page, from which a later version is told apart.

`text_mark` (text.py) is the cheap test, made for every page: a hash of the visible text. `sign` is the full mark, a few
times the work of parsing, so it is made only where the bytes of a page differ from those of the last visit; stored, it
spares the next comparison the old body (`mark.py`).
"""

import re
from array import array
from collections.abc import Iterable, Sequence, Set
from itertools import compress
from re import Pattern

from msgspec import Struct
from msgspec.structs import replace
from xxhash import xxh3_64_intdigest

from sanderling.content.extract import (
    MAX_MAIN_ELEMENTS,
    PageLandmarks,
    TextBlocks,
    extract_blocks,
    find_landmarks,
    is_site_header,
)
from sanderling.content.main_region import find_region_element
from sanderling.content.prices import flag_price_lines
from sanderling.content.user_rules import NO_USER_RULES, UserRules
from sanderling.content.volatile.counters import is_counter_label
from sanderling.content.volatile.relative_time import find_relative_time_lines
from sanderling.content.volatile.strip import flag_volatile_lines, strip_volatile_text
from sanderling.fingerprint import assets, tag_outline
from sanderling.fingerprint import scripts as behaviour
from sanderling.fingerprint.model import FINGERPRINT_VERSION, HIDDEN_ROLE, MAX_BLOCK_SIZE, Fingerprint, hash_block
from sanderling.html.parser import Document, Element
from sanderling.html.text import compact_text, get_element_text, normalize_text

MAX_LINES = 80_000  # half of them empty; all that follow are one
NON_DIGITS = bytes(set(range(256)) - set(b"0123456789\n"))
MIN_TIMETABLE_TIMES = 4  # bare times of day that make a timetable; fewer are clocks
MAX_CLOCK_SIZE = 8
MIN_CALENDAR_DAYS = 3  # bare days of the week with their dates that make a list of them; fewer are today's
MAX_DAY_LENGTH = 40
MAX_COUNT_SIZE = 11
MAX_LABEL_DISTANCE = 3  # lines above a bare time or number, empty ones too, in which its label stands
MAX_UNFILTERED_LINES = 3  # lines, each of which is looked at for stamps by itself
MATCH_CLOCK_TIME = re.compile(rb"\d{1,2}[:.h]\d\d(?:[ap]m|uhr)?", re.IGNORECASE).fullmatch
MATCH_COUNT = re.compile(  # no year
    rb"(?!(?:19|20)\d\d$)(?:\d{1,3}(?:[.,]\d{3})+|\d+(?:[.,]\d)?[km]|\d+)", re.IGNORECASE
).fullmatch
BOILERPLATE_TAGS = ("nav", "footer", "aside", "noscript", "dialog")
NON_CONTENT_TAGS = ("nav", "footer")  # of what is declared to be the main part
MAX_SEARCHED_SIZE = 20_000  # letters of furniture among which those of each link are looked for
PROSE_LINK_SELECTOR, PROSE_IMAGE_SELECTOR = "p a[href]", "p img, figure img"
SECTION_TAGS = frozenset(("div", "section", "article", "aside", "form", "p", "ul", "ol", "li", "td", "dl", "dd"))
"""Tags whose words stand on lines of their own."""


class AssetHashes(Struct, frozen=True):
    """What a page brings along beside its text, packed as in a mark."""

    outline: bytes
    cosmetic_hash: int
    links: bytes
    images: bytes
    scripts: bytes
    handlers: bytes
    forms: bytes
    frames: bytes
    title: bytes = b""


def pack_page_outline(tree: Document) -> tuple[bytes, int]:
    """Read the skeleton of a page, packed, and hash what only changes looks in it."""
    outline, cosmetic = tag_outline.build_pruned_outline(tree)
    dress = "\n".join(assets.list_presentational_attributes(tree)).encode("utf-8", "replace")
    return tag_outline.pack_outline(outline), xxh3_64_intdigest(array("I", cosmetic).tobytes() + dress)


def hash_assets(tree: Document, ignore_pattern: Pattern[str] | None = None) -> AssetHashes:
    """Read what a page brings along; before its blocks, for the parser finds tags at once until a tree is touched."""
    return AssetHashes(
        *pack_page_outline(tree),
        assets.pack_hashes(assets.hash_link_targets(tree)),
        assets.pack_hashes(assets.hash_media(tree)),
        assets.pack_hashes(behaviour.hash_scripts(tree)),
        assets.pack_hashes(behaviour.hash_handlers(tree)),
        assets.pack_hashes(behaviour.hash_forms(tree)),
        assets.pack_hashes(behaviour.hash_frames(tree)),
        assets.pack_hashes(assets.hash_title_words(tree, ignore_pattern)),
    )


EMPTY_FINGERPRINT = Fingerprint(
    FINGERPRINT_VERSION,
    0,
    0,
    b"",
    b"",
    b"",
    0,
    tag_outline.pack_outline(tag_outline.TagOutline([], b"")),
    0,
    (0, 0),
    *(b"",) * 8,
)
"""The mark of a page in which nothing counts."""


def fingerprint_page(tree: Document, user_rules: UserRules = NO_USER_RULES) -> Fingerprint:
    """Compute the full mark of a page from its tree."""
    return fingerprint_page_lines(tree, user_rules)[0]


def fingerprint_page_lines(tree: Document, user_rules: UserRules = NO_USER_RULES) -> tuple[Fingerprint, dict[int, str]]:
    """Compute the full mark of a page; and give the line of text that each of its blocks was, by number.

    For one who watches some parts of all else, be it markup or links, nothing counts.
    """
    there = None if user_rules.is_watch_only else hash_assets(tree, user_rules.ignore_pattern)
    body = extract_blocks(tree, user_rules)
    words = assign_price_roles(normalize_lines(body, user_rules.ignore_pattern), body.lines)
    mark = build_text_fingerprint(words, get_main_content_size(words, body), user_rules.rules_hash)
    lines = {place: body.lines[place] for place in compress(range(len(words.stripped_lines)), words.visible_lines)}
    if there is None:
        return mark, lines
    parts = body.landmarks or find_landmarks(tree)
    main_links, main_images = hash_main_assets(tree, parts, body)
    whole = replace(
        mark,
        outline=there.outline,
        cosmetic_hash=there.cosmetic_hash,
        style_hashes=assets.hash_styles(tree, parts.class_values),
        links=there.links,
        main_links=assets.pack_hashes(main_links),
        images=there.images,
        main_images=assets.pack_hashes(main_images),
        scripts=there.scripts,
        handlers=there.handlers,
        forms=there.forms,
        frames=there.frames,
        title=there.title,
    )
    return whole, lines


class NormalizedLines(Struct, frozen=True):
    """What a page reads, as a mark has it."""

    text_hash: int
    stripped_lines: list[bytes]  # of each line: without blanks and stamps; may be empty
    line_roles: bytes  # of each line
    main_mask: bytes
    visible_lines: Sequence[str]  # the lines as they stand on the page: one that is empty is no block
    line_sizes: Sequence[int] = ()  # of each line: letters, stamps too
    bare_values: Set[int] = (
        frozenset()
    )  # lines that are a bare time, day or number: all around them decide what each is


def normalize_lines(page_blocks: TextBlocks, ignore_pattern: Pattern[str] | None = None) -> NormalizedLines:
    """Read the words of a page, or of some lines of it, whose blocks are known."""
    raw = normalize_text("\n".join(page_blocks.lines))
    lines = raw.split(b"\n", MAX_LINES)
    numbered = _extract_digits(raw) if ignore_pattern is None else lines
    places = sorted(
        {*compress(range(min(len(lines), MAX_LINES)), numbered), *find_relative_time_lines(lines[:MAX_LINES], raw)}
    )
    sizes = list(map(len, lines))
    clocks = {place for place in places if sizes[place] <= MAX_CLOCK_SIZE and MATCH_CLOCK_TIME(lines[place])}
    told = {place for place in clocks if len(clocks) >= MIN_TIMETABLE_TIMES or _has_label(page_blocks.lines, place)}
    for place in _select_volatile_lines(page_blocks.lines, places) if ignore_pattern is None else places:
        lines[place] = _strip_line(page_blocks, place, lines[place], ignore_pattern, place in told)
    days = {place for place in places if not lines[place] and _is_bare_day(page_blocks.lines[place])}
    for place in (
        days if len(days) >= MIN_CALENDAR_DAYS else [day for day in days if _has_label(page_blocks.lines, day)]
    ):
        lines[place] = _strip_line(page_blocks, place, normalize_text(page_blocks.lines[place]), ignore_pattern, True)
    counts = _classify_counts(
        page_blocks, {place for place in places if 0 < sizes[place] <= MAX_COUNT_SIZE and MATCH_COUNT(lines[place])}
    )
    for place, is_counter in counts.items():
        lines[place] = b"" if is_counter else lines[place]
    some = slice(len(lines))
    rows = compute_line_roles(page_blocks)[some], page_blocks.main_mask[some], page_blocks.lines[some]
    return NormalizedLines(_hash_text(raw, numbered), lines, *rows, sizes, clocks.union(days, counts))


def _select_volatile_lines(lines: list[str], line_numbers: list[int]) -> Iterable[int]:
    """Leave out the lines that are sure to have no stamp."""
    return (
        compress(line_numbers, flag_volatile_lines([lines[place] for place in line_numbers]))
        if len(line_numbers) > MAX_UNFILTERED_LINES
        else line_numbers
    )


def _has_label(lines: list[str], line_number: int) -> bool:
    """Say whether a bare time has a label right above it that says what it is for."""
    from sanderling.content.volatile.timestamps import (
        is_time_label,  # its patterns take long to make, and a first crawl asks none
    )

    return is_time_label(_find_line_above(lines, line_number))


def _find_line_above(lines: list[str], line_number: int) -> str:
    return next((line for line in reversed(lines[max(0, line_number - MAX_LABEL_DISTANCE) : line_number]) if line), "")


def _classify_counts(page_blocks: TextBlocks, bare_numbers: set[int]) -> dict[int, bool]:
    """Say of bare numbers whether a label makes them counters; of those that have nothing above them too, lest it does.

    In a table the number below a heading has another one behind it, for another column.
    """
    found = {}
    for place in bare_numbers:
        above = _find_line_above(page_blocks.lines, place)
        if not above or (is_counter_label(above) and not page_blocks.verbatim_mask[place]):
            below = next(
                (
                    n
                    for n in range(place + 1, min(place + 1 + MAX_LABEL_DISTANCE, len(page_blocks.lines)))
                    if page_blocks.lines[n]
                ),
                None,
            )
            found[place] = bool(above) and below not in bare_numbers
    return found


def _is_bare_day(line: str) -> bool:
    from sanderling.content.volatile.timestamps import is_weekday_date

    return len(line) <= MAX_DAY_LENGTH and is_weekday_date(line)


def normalize_line(page_blocks: TextBlocks, line_number: int) -> bytes:
    """Read one line as it is read if no bare times stand around it."""
    block = normalize_text(page_blocks.lines[line_number])
    is_stamped = block.translate(None, NON_DIGITS) or find_relative_time_lines([block], block)
    return _strip_line(page_blocks, line_number, block, None, False) if is_stamped else block


def compute_line_roles(page_blocks: TextBlocks) -> bytes:
    """Say of each line whether it is main content, or not shown."""
    if 1 not in page_blocks.hidden_mask:
        return page_blocks.main_mask
    main, veiled = (int.from_bytes(rows, "little") for rows in (page_blocks.main_mask, page_blocks.hidden_mask))
    return (main | (veiled & ~main) * HIDDEN_ROLE).to_bytes(len(page_blocks.main_mask), "little")


def assign_price_roles(normalized: NormalizedLines, lines: list[str]) -> NormalizedLines:
    """Mark what tells a price and the like, given the lines as they stand on the page."""
    places = flag_price_lines(lines[: len(normalized.main_mask)], normalized.main_mask)
    if HIDDEN_ROLE in normalized.line_roles:
        places = bytes(place or veil for place, veil in zip(places, normalized.line_roles, strict=True))
    return replace(normalized, line_roles=places)


def build_text_fingerprint(
    normalized: NormalizedLines, main_content_size: int, user_rules_hash: int = 0
) -> Fingerprint:
    """Write the mark of a page of which only the words count."""
    blocks = list(compress(normalized.stripped_lines, normalized.visible_lines))
    sizes = list(map(len, blocks))
    if max(sizes, default=0) > MAX_BLOCK_SIZE:
        sizes = [min(size, MAX_BLOCK_SIZE) for size in sizes]
    return replace(
        EMPTY_FINGERPRINT,
        user_rules_hash=user_rules_hash,
        text_hash=normalized.text_hash,
        block_hashes=array("I", map(hash_block, blocks)).tobytes(),
        block_sizes=array("H", sizes).tobytes(),
        block_roles=bytes(compress(normalized.line_roles, normalized.visible_lines)),
        main_content_size=main_content_size,
    )


def get_main_content_size(normalized: NormalizedLines, page_blocks: TextBlocks) -> int:
    """Measure the main content of a page whose words were read."""
    return (
        sum(compress(normalized.line_sizes, page_blocks.main_mask))
        if len(normalized.line_sizes) == len(page_blocks.lines)
        else measure_main_content(page_blocks)
    )


def measure_main_content(page_blocks: TextBlocks) -> int:
    """Measure the main content."""
    return len(normalize_text("\n".join(compress(page_blocks.lines, page_blocks.main_mask))).translate(None, b"\n"))


def _extract_digits(raw: bytes) -> list[bytes]:
    return raw.translate(None, NON_DIGITS).split(b"\n", MAX_LINES)


def hash_lines(lines: list[str]) -> int:
    """Hash some lines, however they are cut."""
    raw = normalize_text("\n".join(lines))
    return _hash_text(raw, _extract_digits(raw))


def _hash_text(raw: bytes, digit_lines: list[bytes]) -> int:
    return xxh3_64_intdigest(raw.translate(None, b"\n") + b"\n".join(filter(None, digit_lines)))


def _strip_line(
    page_blocks: TextBlocks, line_number: int, block: bytes, ignore_pattern: Pattern[str] | None, keep_times: bool
) -> bytes:
    """Take stamps and what a user ignores out of a block; the times of a timetable are told, not stamped."""
    line = page_blocks.lines[line_number]
    seen = line if ignore_pattern is None else ignore_pattern.sub("", line)
    seen = seen if keep_times or page_blocks.verbatim_mask[line_number] else strip_volatile_text(seen)
    return block if seen is line else normalize_text(seen)


def hash_main_assets(tree: Document, landmarks: PageLandmarks, page_blocks: TextBlocks) -> tuple[set[int], set[int]]:
    """Hash links and images of the main content; undeclared, those of the core that are not of its furniture."""
    comments = [
        one
        for one in landmarks.comments[:MAX_MAIN_ELEMENTS]
        if page_blocks.comment_texts and compact_text(get_element_text(one)) in page_blocks.comment_texts
    ]
    if page_blocks.is_main_declared:
        areas = (
            [area for tag in NON_CONTENT_TAGS for area in _find_within(landmarks.main_elements, tag)]
            + landmarks.non_content
            + comments
        )
        links, images = (
            _drop_inline_boilerplate(_find_within(landmarks.main_elements, tag), page_blocks) for tag in ("a", "img")
        )
        return assets.hash_main_links(_drop_inside(links, areas, "a")), assets.hash_images(
            _drop_inside(images, areas, "img")
        )
    core = (
        None
        if page_blocks.main_region is None
        else find_region_element(page_blocks.main_region, tree, page_blocks.lines)
    )
    links = tree.select(PROSE_LINK_SELECTOR) if core is None else core.find_all("a")
    shown = tree.select(PROSE_IMAGE_SELECTOR) if core is None else core.find_all("img")
    images = [image for image in shown if image.closest("a") is None]
    links, images = _drop_inline_boilerplate(links, page_blocks), _drop_inline_boilerplate(images, page_blocks)
    if not links and not images:
        return set(), set()
    areas = [area for tag in BOILERPLATE_TAGS for area in tree.find_all(tag)]
    areas += [
        *landmarks.non_content,
        *landmarks.boilerplate,
        *comments,
        *filter(is_site_header, tree.find_all("header")),
    ]
    if core is not None:  # what is called a banner and has the core in it is none
        around = {core, *core.ancestors}
        areas = [area for area in areas if area not in around]
    return assets.hash_main_links(_select_text_links(links, areas, page_blocks)), assets.hash_images(
        _drop_inside(images, areas, "img")
    )


def _find_within(parts: list[Element], tag: str) -> list[Element]:
    """Find the elements of some parts, each once: parts may be inside others, and those are named after them."""
    return list(dict.fromkeys(one for part in parts[:MAX_MAIN_ELEMENTS] for one in part.find_all(tag)))


def _drop_inline_boilerplate(elements: list[Element], page_blocks: TextBlocks) -> list[Element]:
    """Leave out what is inside furniture that stands in the text."""
    if not page_blocks.inline_boilerplate:
        return elements
    whole, around = b"\n".join(page_blocks.inline_boilerplate), _InlineBoilerplateCache(page_blocks.inline_boilerplate)
    is_short = len(whole) <= MAX_SEARCHED_SIZE
    few = elements[: assets.MAX_LINKS]
    return [one for one in few if (is_short and compact_text(get_element_text(one)) not in whole) or not around[one]]


class _InlineBoilerplateCache(dict[Element, bool]):
    """Whether an element is in a part whose letters are those of some furniture, remembered."""

    def __init__(self, boilerplate_texts: Set[bytes]) -> None:
        self.boilerplate_texts, self.max_size = boilerplate_texts, max(map(len, boilerplate_texts))

    def __missing__(self, element: Element) -> bool:
        climbed, is_inside = list[Element](), False
        for above in (element, *element.ancestors):
            if not isinstance(above, Element) or is_inside:
                break
            if above in self:
                is_inside = self[above]
                break
            climbed.append(above)
            letters = compact_text(get_element_text(above))
            if len(letters) > self.max_size:  # and so is all that is around it
                break
            is_inside = above.tag in SECTION_TAGS and letters in self.boilerplate_texts
        self.update(dict.fromkeys(climbed, is_inside))
        return is_inside


def _select_text_links(links: list[Element], areas: list[Element], page_blocks: TextBlocks) -> list[Element]:
    """Leave out the links of furniture and of menus."""
    left = _drop_inside(links, areas, "a")
    return (
        [link for link in left if get_element_text(link) not in page_blocks.menu_lines]
        if page_blocks.menu_lines
        else left
    )


def _drop_inside(elements: list[Element], areas: list[Element], tag: str) -> list[Element]:
    """Leave out what is inside some areas."""
    inside = {element for area in areas for element in area.find_all(tag)} if elements else set()
    return [element for element in elements if element not in inside]
