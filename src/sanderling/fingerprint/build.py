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

from sanderling.content.extract import MAX_PARTS, Blocks, Said, blocks, is_banner, said
from sanderling.content.main_region import element_of
from sanderling.content.prices import weighed
from sanderling.content.user_rules import EVERYTHING, Attention
from sanderling.content.volatile.counters import is_label
from sanderling.content.volatile.relative_time import aged
from sanderling.content.volatile.strip import reduce, stamped
from sanderling.fingerprint import assets, tag_outline
from sanderling.fingerprint import scripts as behaviour
from sanderling.fingerprint.model import MAX_SIZE, VEILED, VERSION, Signature, hash_of
from sanderling.html.parser import Document, Element
from sanderling.html.text import dense, spelled, words_of

MAX_LINES = 80_000  # half of them empty; all that follow are one
NO_DIGITS = bytes(set(range(256)) - set(b"0123456789\n"))
TIMETABLE = 4  # bare times of day that make a timetable; fewer are clocks
MAX_CLOCK = 8
CALENDAR = 3  # bare days of the week with their dates that make a list of them; fewer are today's
MAX_DAY = 40
MAX_COUNT = 11
ABOVE = 3  # lines above a bare time or number, empty ones too, in which its label stands
FEW = 3  # lines, each of which is looked at for stamps by itself
CLOCK = re.compile(rb"\d{1,2}[:.h]\d\d(?:[ap]m|uhr)?", re.IGNORECASE).fullmatch
COUNT = re.compile(  # no year
    rb"(?!(?:19|20)\d\d$)(?:\d{1,3}(?:[.,]\d{3})+|\d+(?:[.,]\d)?[km]|\d+)", re.IGNORECASE
).fullmatch
FURNITURE = ("nav", "footer", "aside", "noscript", "dialog")
OUTSIDE = ("nav", "footer")  # of what is declared to be the main part
SEARCHED = 20_000  # letters of furniture among which those of each link are looked for
PROSE_LINKS, PROSE_IMAGES = "p a[href]", "p img, figure img"
PARTS = frozenset(("div", "section", "article", "aside", "form", "p", "ul", "ol", "li", "td", "dl", "dd"))
"""Tags whose words stand on lines of their own."""


class Brought(Struct, frozen=True):
    """What a page brings along beside its text, packed as in a mark."""

    outline: bytes
    cosmetic: int
    links: bytes
    images: bytes
    scripts: bytes
    handlers: bytes
    forms: bytes
    frames: bytes
    title: bytes = b""


def skeleton(tree: Document) -> tuple[bytes, int]:
    """Read the skeleton of a page, packed, and hash what only changes looks in it."""
    outline, cosmetic = tag_outline.pruned(tree)
    dress = "\n".join(assets.dress(tree)).encode("utf-8", "replace")
    return tag_outline.pack(outline), xxh3_64_intdigest(array("I", cosmetic).tobytes() + dress)


def brought(tree: Document, ignored: Pattern[str] | None = None) -> Brought:
    """Read what a page brings along; before its blocks, for the parser finds tags at once until a tree is touched."""
    return Brought(
        *skeleton(tree),
        assets.pack(assets.targets(tree)),
        assets.pack(assets.shown(tree)),
        assets.pack(behaviour.scripts(tree)),
        assets.pack(behaviour.handlers(tree)),
        assets.pack(behaviour.forms(tree)),
        assets.pack(behaviour.frames(tree)),
        assets.pack(assets.titled(tree, ignored)),
    )


NOTHING = Signature(
    VERSION, 0, 0, b"", b"", b"", 0, tag_outline.pack(tag_outline.Outline([], b"")), 0, (0, 0), *(b"",) * 8
)
"""The mark of a page in which nothing counts."""


def sign(tree: Document, attention: Attention = EVERYTHING) -> Signature:
    """Compute the full mark of a page from its tree."""
    return sign_lines(tree, attention)[0]


def sign_lines(tree: Document, attention: Attention = EVERYTHING) -> tuple[Signature, dict[int, str]]:
    """Compute the full mark of a page; and give the line of text that each of its blocks was, by number.

    For one who watches some parts of all else, be it markup or links, nothing counts.
    """
    there = None if attention.is_narrow else brought(tree, attention.ignored)
    body = blocks(tree, attention)
    words = weigh(read_words(body, attention.ignored), body.lines)
    mark = worded(words, weight_in(words, body), attention.number)
    lines = {place: body.lines[place] for place in compress(range(len(words.blocks)), words.shown)}
    if there is None:
        return mark, lines
    parts = body.said or said(tree)
    main_links, main_images = main_assets(tree, parts, body)
    whole = replace(
        mark,
        outline=there.outline,
        cosmetic=there.cosmetic,
        looks=assets.looks(tree, parts.classes),
        links=there.links,
        main_links=assets.pack(main_links),
        images=there.images,
        main_images=assets.pack(main_images),
        scripts=there.scripts,
        handlers=there.handlers,
        forms=there.forms,
        frames=there.frames,
        title=there.title,
    )
    return whole, lines


class Words(Struct, frozen=True):
    """What a page reads, as a mark has it."""

    text: int
    blocks: list[bytes]  # of each line: without blanks and stamps; may be empty
    places: bytes  # of each line
    main: bytes
    shown: Sequence[str]  # the lines as they stand on the page: one that is empty is no block
    sizes: Sequence[int] = ()  # of each line: letters, stamps too
    clocks: Set[int] = frozenset()  # lines that are a bare time, day or number: all around them decide what each is


def read_words(body: Blocks, ignored: Pattern[str] | None = None) -> Words:
    """Read the words of a page, or of some lines of it, whose blocks are known."""
    raw = spelled("\n".join(body.lines))
    lines = raw.split(b"\n", MAX_LINES)
    numbered = _numbers(raw) if ignored is None else lines
    places = sorted({*compress(range(min(len(lines), MAX_LINES)), numbered), *aged(lines[:MAX_LINES], raw)})
    sizes = list(map(len, lines))
    clocks = {place for place in places if sizes[place] <= MAX_CLOCK and CLOCK(lines[place])}
    told = {place for place in clocks if len(clocks) >= TIMETABLE or _is_labelled(body.lines, place)}
    for place in _stamped(body.lines, places) if ignored is None else places:
        lines[place] = _reduced(body, place, lines[place], ignored, place in told)
    days = {place for place in places if not lines[place] and _is_day(body.lines[place])}
    for place in days if len(days) >= CALENDAR else [day for day in days if _is_labelled(body.lines, day)]:
        lines[place] = _reduced(body, place, spelled(body.lines[place]), ignored, True)
    counts = _counts(body, {place for place in places if 0 < sizes[place] <= MAX_COUNT and COUNT(lines[place])})
    for place, is_counter in counts.items():
        lines[place] = b"" if is_counter else lines[place]
    some = slice(len(lines))
    rows = places_of(body)[some], body.main[some], body.lines[some]
    return Words(_whole(raw, numbered), lines, *rows, sizes, clocks.union(days, counts))


def _stamped(lines: list[str], places: list[int]) -> Iterable[int]:
    """Leave out the lines that are sure to have no stamp."""
    return compress(places, stamped([lines[place] for place in places])) if len(places) > FEW else places


def _is_labelled(lines: list[str], place: int) -> bool:
    """Say whether a bare time has a label right above it that says what it is for."""
    from sanderling.content.volatile.timestamps import (
        binds,  # its patterns take long to make, and a first crawl asks none
    )

    return binds(_above(lines, place))


def _above(lines: list[str], place: int) -> str:
    return next((line for line in reversed(lines[max(0, place - ABOVE) : place]) if line), "")


def _counts(body: Blocks, bare: set[int]) -> dict[int, bool]:
    """Say of bare numbers whether a label makes them counters; of those that have nothing above them too, lest it does.

    In a table the number below a heading has another one behind it, for another column.
    """
    found = {}
    for place in bare:
        above = _above(body.lines, place)
        if not above or (is_label(above) and not body.verbatim[place]):
            below = next((n for n in range(place + 1, min(place + 1 + ABOVE, len(body.lines))) if body.lines[n]), None)
            found[place] = bool(above) and below not in bare
    return found


def _is_day(line: str) -> bool:
    from sanderling.content.volatile.timestamps import is_day

    return len(line) <= MAX_DAY and is_day(line)


def read_line(body: Blocks, place: int) -> bytes:
    """Read one line as it is read if no bare times stand around it."""
    block = spelled(body.lines[place])
    is_stamped = block.translate(None, NO_DIGITS) or aged([block], block)
    return _reduced(body, place, block, None, False) if is_stamped else block


def places_of(body: Blocks) -> bytes:
    """Say of each line whether it is main content, or not shown."""
    if 1 not in body.veiled:
        return body.main
    main, veiled = (int.from_bytes(rows, "little") for rows in (body.main, body.veiled))
    return (main | (veiled & ~main) * VEILED).to_bytes(len(body.main), "little")


def weigh(words: Words, lines: list[str]) -> Words:
    """Mark what tells a price and the like, given the lines as they stand on the page."""
    places = weighed(lines[: len(words.main)], words.main)
    if VEILED in words.places:
        places = bytes(place or veil for place, veil in zip(places, words.places, strict=True))
    return replace(words, places=places)


def worded(words: Words, weight: int, attention: int = 0) -> Signature:
    """Write the mark of a page of which only the words count."""
    blocks = list(compress(words.blocks, words.shown))
    sizes = list(map(len, blocks))
    if max(sizes, default=0) > MAX_SIZE:
        sizes = [min(size, MAX_SIZE) for size in sizes]
    return replace(
        NOTHING,
        attention=attention,
        text=words.text,
        keys=array("I", map(hash_of, blocks)).tobytes(),
        sizes=array("H", sizes).tobytes(),
        places=bytes(compress(words.places, words.shown)),
        weight=weight,
    )


def weight_in(words: Words, body: Blocks) -> int:
    """Measure the main content of a page whose words were read."""
    return sum(compress(words.sizes, body.main)) if len(words.sizes) == len(body.lines) else weight_of(body)


def weight_of(body: Blocks) -> int:
    """Measure the main content."""
    return len(spelled("\n".join(compress(body.lines, body.main))).translate(None, b"\n"))


def _numbers(raw: bytes) -> list[bytes]:
    return raw.translate(None, NO_DIGITS).split(b"\n", MAX_LINES)


def text_of(lines: list[str]) -> int:
    """Hash some lines, however they are cut."""
    raw = spelled("\n".join(lines))
    return _whole(raw, _numbers(raw))


def _whole(raw: bytes, numbered: list[bytes]) -> int:
    return xxh3_64_intdigest(raw.translate(None, b"\n") + b"\n".join(filter(None, numbered)))


def _reduced(body: Blocks, place: int, block: bytes, ignored: Pattern[str] | None, told: bool) -> bytes:
    """Take stamps and what a user ignores out of a block; the times of a timetable are told, not stamped."""
    line = body.lines[place]
    seen = line if ignored is None else ignored.sub("", line)
    seen = seen if told or body.verbatim[place] else reduce(seen)
    return block if seen is line else spelled(seen)


def main_assets(tree: Document, parts: Said, body: Blocks) -> tuple[set[int], set[int]]:
    """Hash links and images of the main content; undeclared, those of the core that are not of its furniture."""
    comments = [one for one in parts.comments[:MAX_PARTS] if body.comments and dense(words_of(one)) in body.comments]
    if body.is_believed:
        areas = [area for tag in OUTSIDE for area in _within(parts.main, tag)] + parts.apart + comments
        links, images = (_untrimmed(_within(parts.main, tag), body) for tag in ("a", "img"))
        return assets.places(_outside(links, areas, "a")), assets.images(_outside(images, areas, "img"))
    core = None if body.core is None else element_of(body.core, tree, body.lines)
    links = tree.select(PROSE_LINKS) if core is None else core.find_all("a")
    shown = tree.select(PROSE_IMAGES) if core is None else core.find_all("img")
    images = [image for image in shown if image.closest("a") is None]
    links, images = _untrimmed(links, body), _untrimmed(images, body)
    if not links and not images:
        return set(), set()
    areas = [area for tag in FURNITURE for area in tree.find_all(tag)]
    areas += [*parts.apart, *parts.furniture, *comments, *filter(is_banner, tree.find_all("header"))]
    if core is not None:  # what is called a banner and has the core in it is none
        around = {core, *core.ancestors}
        areas = [area for area in areas if area not in around]
    return assets.places(_of_text(links, areas, body)), assets.images(_outside(images, areas, "img"))


def _within(parts: list[Element], tag: str) -> list[Element]:
    """Find the elements of some parts, each once: parts may be inside others, and those are named after them."""
    return list(dict.fromkeys(one for part in parts[:MAX_PARTS] for one in part.find_all(tag)))


def _untrimmed(elements: list[Element], body: Blocks) -> list[Element]:
    """Leave out what is inside furniture that stands in the text."""
    if not body.trimmed:
        return elements
    whole, around = b"\n".join(body.trimmed), _Around(body.trimmed)
    is_short = len(whole) <= SEARCHED
    few = elements[: assets.MAX_LINKS]
    return [one for one in few if (is_short and dense(words_of(one)) not in whole) or not around[one]]


class _Around(dict[Element, bool]):
    """Whether an element is in a part whose letters are those of some furniture, remembered."""

    def __init__(self, trimmed: Set[bytes]) -> None:
        self.trimmed, self.longest = trimmed, max(map(len, trimmed))

    def __missing__(self, element: Element) -> bool:
        climbed, is_inside = list[Element](), False
        for above in (element, *element.ancestors):
            if not isinstance(above, Element) or is_inside:
                break
            if above in self:
                is_inside = self[above]
                break
            climbed.append(above)
            letters = dense(words_of(above))
            if len(letters) > self.longest:  # and so is all that is around it
                break
            is_inside = above.tag in PARTS and letters in self.trimmed
        self.update(dict.fromkeys(climbed, is_inside))
        return is_inside


def _of_text(links: list[Element], areas: list[Element], body: Blocks) -> list[Element]:
    """Leave out the links of furniture and of menus."""
    left = _outside(links, areas, "a")
    return [link for link in left if words_of(link) not in body.menus] if body.menus else left


def _outside(elements: list[Element], areas: list[Element], tag: str) -> list[Element]:
    """Leave out what is inside some areas."""
    inside = {element for area in areas for element in area.find_all(tag)} if elements else set()
    return [element for element in elements if element not in inside]
