"""Which lines of a page's text the areas of each kind cover, and what that makes of them: main content or furniture."""

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate, compress, repeat
from operator import and_, itemgetter, mul

from sanderling.content.line_features import LONG_LINE_LENGTH, MIN_PROSE_LENGTH, PageLines, compute_weighted_lengths
from sanderling.content.main_region import MainRegion, find_main_region, has_common_container
from sanderling.content.rules.breadcrumbs import find_footer_lines
from sanderling.content.rules.inline import InlineBoilerplate
from sanderling.content.side_content import (
    ElementLines,
    find_price_lines,
    find_title_line,
    is_link_only,
    mask_side_content,
    select_below_title,
)
from sanderling.content.uncertain_region import (
    add_notices_and_addresses,
    find_outside_articles,
    is_noscript_content,
    is_side_region,
    mask_sidebars,
)
from sanderling.html.text import compact_text

MIN_DECLARED_SHARE = (
    0.6  # share of the prose, or of all letters, outside furniture that makes a declared main part believable
)
MAX_BOILERPLATE_SHARE = 0.4  # a landmark or banner with more of the prose than this is not furniture
MIN_MENU_LINKS = 4  # bare links in a row that make a menu
HUB_LINK_SHARE = 0.5  # a page with more of its text than this in menus is a list of links, and those are its content
HUB_MAX_PROSE_SHARE = 0.1  # unless more of its text than this is prose
LISTING_LINK_RATIO = 4  # times the prose are the links of a list, wherever its title stands
LARGE_MENU_SHARE = 0.2  # share of the text in menus that makes one of them large
MAX_LINK_LISTS = 1_000  # of links, among which lists amid the prose are looked for
MIN_COMMENTED_TEXT = 600  # letters of prose between a title and comments that make a text which these are about
MIN_COMMENTED_SHARE = 0.1  # share of the letters of comments that it has at least: else they are what the page is for
DIGIT = re.compile(r"\d")  # a currency alone is chosen
MAIN, EXCLUDED, NAV_OR_FOOTER, SELECT, LANDMARK, NAMED_BOILERPLATE = (
    "main",
    "hidden",
    "outside",
    "choice",
    "landmark",
    "hinted",
)
LINK, WATCHED, VERBATIM, HIDDEN, CONTAINER = "link", "watched", "verbatim", "veiled", "box"
TITLE, HEADING, BUTTON, FORM_PART, ARTICLE, VALUE = "title", "heading", "button", "asking", "article", "value"
INLINE_CANDIDATE, SHARE_LINK, COMMENT, ASIDE = "trimmed", "sharer", "comment", "beside"
SIDEBAR, NOSCRIPT = "sidebar", "unscripted"
BOILERPLATE_LABELS = frozenset(
    (EXCLUDED, NAV_OR_FOOTER, SELECT, LANDMARK, NAMED_BOILERPLATE, HIDDEN, NOSCRIPT)
)  # labels of what is furniture with its lines
INVERTED_MASK_TABLE = b"\1" + bytes(255)
add_line_feed = (1).__add__


class PageRegions:
    """Which lines each kind of area covers."""

    def __init__(self, lines: list[str], spans: list[tuple[int, int, str]]) -> None:
        self.lines, self.char_counts, self.weighted_lengths = (
            lines,
            list(map(len, lines)),
            compute_weighted_lengths(lines),
        )
        self.decisive_lines = set[int]()  # lines whose words were read
        self.margin = float(sum(self.weighted_lengths))
        self.line_ends = ends = list(accumulate(map(add_line_feed, self.char_counts)))
        self.spans: dict[str, list[tuple[int, int]]] = {}
        self.partial_covers: dict[
            tuple[str, int], tuple[int, int]
        ] = {}  # of lines: how far a label covers how many letters
        self.link_chars: dict[int, int] = {}  # letters of a line inside links and buttons
        self.button_chars: dict[int, int] = {}  # inside buttons
        self.containers = [(start, end) for start, end, name in spans if name == CONTAINER]
        known = [span for span in spans if span[2] != CONTAINER] if self.containers else spans
        firsts = map(bisect_right, repeat(ends), map(itemgetter(0), known))
        linked = self.link_chars
        for first, (start, end, name) in zip(firsts, known, strict=True):
            if name == LINK:
                if end <= ends[first]:
                    linked[first] = linked.get(first, 0) + end - start
                else:
                    self._add_char_counts(linked, first, start, end)
                continue
            if name == BUTTON:
                self._add_char_counts(self.button_chars, first, start, end)
            last = bisect_left(ends, end, first) + 1
            if name in BOILERPLATE_LABELS and last == first + 1 and end - start < self.char_counts[first]:
                self._add_partial_cover(name, first, start, end)
            else:
                self.spans.setdefault(name, []).append((first, last))
        self._add_mostly_covered_lines()
        self.is_hub, self.menu_lines, self.link_lists = False, list[int](), list[list[int]]()
        self.inline_boilerplate, self.comment_texts = frozenset[bytes](), set[bytes]()
        self.main_region: MainRegion | None = None
        self.excluded_mask = self.build_mask(EXCLUDED)
        self.prose_lengths = [length if length >= MIN_PROSE_LENGTH else 0 for length in self.weighted_lengths]
        self._exclude_from_prose(self.excluded_mask)
        unscripted = self.build_mask(NOSCRIPT)
        if NOSCRIPT in self.spans and not is_noscript_content(self, unscripted, MAX_BOILERPLATE_SHARE):
            mark_lines(self.excluded_mask, unscripted)
            self._exclude_from_prose(unscripted)

    def _exclude_from_prose(self, mask: bytearray) -> None:
        for place in compress(range(len(mask)), mask) if 1 in mask else ():
            self.prose_lengths[place] = 0

    def _add_partial_cover(self, label: str, line_index: int, start: int, end: int) -> None:
        """Note that a label covers a piece of a line; no letter counts twice."""
        done, size = self.partial_covers.get((label, line_index), (0, 0))
        self.partial_covers[label, line_index] = max(done, end), size + max(0, end - max(start, done))

    def _add_mostly_covered_lines(self) -> None:
        """Take a line for covered if half of it is: a word with a tip, or a hidden one, does not hide the rest."""
        for (name, line), (_, size) in self.partial_covers.items():
            self.decisive_lines.add(line)
            if 2 * size >= self.char_counts[line]:
                self.spans.setdefault(name, []).append((line, line + 1))

    def _add_char_counts(self, counts: dict[int, int], line_index: int, start: int, end: int) -> None:
        """Count the letters of a span to the lines it covers, of which the first is known."""
        while end > self.line_ends[line_index]:
            if start < self.line_ends[line_index] - 1:
                counts[line_index] = counts.get(line_index, 0) + self.line_ends[line_index] - 1 - start
            start, line_index = self.line_ends[line_index], line_index + 1
        counts[line_index] = counts.get(line_index, 0) + end - start

    def classify_lines(self) -> tuple[bytes, bool]:
        """Say for each line whether it is main content, and whether the page declared it."""
        main, is_declared = self._compute_main_mask()
        add_notices_and_addresses(self, main, (self.excluded_mask, self.build_mask(SELECT), self.build_mask(COMMENT)))
        return bytes(main), is_declared

    def _compute_main_mask(self) -> tuple[bytearray, bool]:
        prose = sum(self.prose_lengths)
        declared = self.build_mask(MAIN)
        furniture = self.build_mask(LANDMARK, MAX_BOILERPLATE_SHARE * prose)
        mark_lines(furniture, self.build_mask(NAMED_BOILERPLATE, MAX_BOILERPLATE_SHARE * prose))
        outside = self.build_mask(NAV_OR_FOOTER)
        mark_lines(furniture, outside)
        mark_lines(furniture, self.build_mask(SELECT))
        mark_lines(furniture, self.excluded_mask)
        mark_lines(furniture, mask_sidebars(self, furniture, MAX_BOILERPLATE_SHARE * prose))
        self._mark_footer(furniture)
        comments = self._mask_comments(furniture)
        mark_lines(furniture, comments)
        if MAIN in self.spans:
            rest = furniture.translate(INVERTED_MASK_TABLE)
            if self._has_most_text(self.prose_lengths, declared, rest) or (
                prose and self._has_most_text(self.weighted_lengths, declared, rest)
            ):
                mark_lines(declared, self.excluded_mask, 0)
                mark_lines(declared, comments, 0)
                self.decisive_lines |= {
                    n
                    for n in self.link_chars
                    if n < len(declared) and declared[n] and self.weighted_lengths[n] < LONG_LINE_LENGTH
                }
                return self._remove_inline_boilerplate(self._remove_nav_and_footers(outside, declared)), True
            return furniture.translate(INVERTED_MASK_TABLE), False
        menus = self._mask_link_lists(furniture)
        mark_lines(furniture, menus)
        main = furniture.translate(INVERTED_MASK_TABLE)
        main = main if self.is_hub else self._limit_to_main_region(main)
        main = main if self.is_hub else self._remove_inline_boilerplate(main)
        self.menu_lines = [place for place in compress(range(len(menus)), menus) if not main[place]]
        return main, False

    def _mask_comments(self, boilerplate: bytearray) -> bytearray:
        """Paint the comments below a text; where there is hardly any, they are what the page is for."""
        area, spans, rest = bytearray(len(boilerplate)), self.spans.get(COMMENT, []), self.build_mask(COMMENT)
        if not spans:
            return area
        mark_lines(rest, boilerplate)
        told, said = (
            [0, *accumulate(sizes)]
            for sizes in (map(mul, self.prose_lengths, rest.translate(INVERTED_MASK_TABLE)), self.prose_lengths)
        )
        title = min((line for line, _ in self.spans.get(TITLE, ())), default=0)
        for first, end in sorted(spans, key=lambda span: (span[0], -span[1])):  # outer ones before inner ones
            last = min(end, len(area))
            least = max(MIN_COMMENTED_TEXT, MIN_COMMENTED_SHARE * (said[last] - said[first]))
            if not area[first] and self.is_at_most(least, told[first] - told[min(title, first)]):
                area[first:last] = b"\1" * (last - first)
                self.comment_texts.add(compact_text("".join(self.lines[first:last])))
        self.decisive_lines.update(compress(range(len(area)), area))
        return area

    def _mark_footer(self, boilerplate: bytearray) -> None:
        """Take the last lines of a page that say whose it is for furniture, as a footer is."""
        above, *found = find_footer_lines(self.lines, self.link_only_lines) or [0]
        self.decisive_lines.update((above, *found))
        for place in found:
            boilerplate[place] = 1

    def _remove_inline_boilerplate(self, main_mask: bytearray) -> bytearray:
        """Leave furniture inside the text out of it, unless it is most of it."""
        names = (HEADING, TITLE, BUTTON, FORM_PART, SHARE_LINK, INLINE_CANDIDATE, ASIDE)
        spans = (self.spans.get(name, []) for name in names)
        page = PageLines(
            self.lines,
            self.weighted_lengths,
            self.line_ends,
            main_mask,
            self.link_chars,
            self.link_only_lines,
            self.containers,
            *spans,
        )
        found = InlineBoilerplate(page)
        self.decisive_lines |= found.decisive_lines
        if not found.lines or not self.is_at_most(
            sum(self.weighted_lengths[place] for place in found.lines),
            HUB_LINK_SHARE * sum(compress(self.weighted_lengths, main_mask)),
        ):
            return main_mask
        self.inline_boilerplate = found.collect_texts()
        for place in found.lines:
            main_mask[place] = 0
        return main_mask

    def _remove_nav_and_footers(self, nav_mask: bytearray, declared_mask: bytearray) -> bytearray:
        """Leave menus and footers out of a declared main part, unless they are most of it."""
        shown = sum(compress(self.weighted_lengths, declared_mask))
        if NAV_OR_FOOTER in self.spans and self.is_at_most(
            sum(compress(self.weighted_lengths, _intersect_masks(declared_mask, nav_mask))), HUB_LINK_SHARE * shown
        ):
            mark_lines(declared_mask, nav_mask, 0)
        return declared_mask

    def _limit_to_main_region(self, main_mask: bytearray) -> bytearray:
        """Leave out what stands outside of the core of a page."""
        self.main_region, margin = find_main_region(self.weighted_lengths, self.line_ends, main_mask, self.containers)
        self.margin = min(self.margin, margin)
        if self.main_region is not None and is_side_region(self, self.main_region, main_mask):
            self.main_region = None
        if self.main_region is not None:
            signs = self._build_element_lines()
            parts = list(self.main_region.list_outside_parts(find_title_line(self.main_region, signs, main_mask)))
            below, beside = select_below_title(self.main_region, signs, main_mask, parts), bytearray(len(main_mask))
            content = mask_side_content(self.lines, main_mask, below, signs)
            for article in find_outside_articles(self, self.main_region):
                content[article] = main_mask[article]
            for part in parts:
                main_mask[part] = content[part]
                beside[part] = b"\1" * (part.stop - part.start)
            self.decisive_lines.update(compress(range(len(main_mask)), beside))
            self._restore_link_lists(main_mask)
            for place in self.link_only_lines:
                main_mask[place] &= (
                    self.main_region.first_line <= place < self.main_region.end_line or beside[place]
                )  # free ones lead elsewhere
        return main_mask

    def _restore_link_lists(self, main_mask: bytearray) -> None:
        """Take lists of links amid the prose of the core for what they are: part of the text."""
        prose = bytearray(map(MIN_PROSE_LENGTH.__le__, map(mul, self.weighted_lengths, main_mask)))
        for run in self.link_lists if len(self.link_lists) <= MAX_LINK_LISTS else ():
            if self.main_region is not None and self.main_region.is_amid_prose(run[0], run[-1], prose):
                for place in run:
                    main_mask[place] = 1

    def _build_element_lines(self) -> ElementLines:
        links = {line: size - self.button_chars.get(line, 0) for line, size in self.link_chars.items()}
        headings, titles, buttons, asking, articles, values = (
            self.spans.get(label, []) for label in (HEADING, TITLE, BUTTON, FORM_PART, ARTICLE, VALUE)
        )
        return ElementLines(links, headings, titles, buttons + asking, articles, values)

    def build_mask(self, label: str, max_prose: float = 0.0) -> bytearray:
        """Paint the lines inside spans of a label; spans with more than `most` prose are left out."""
        area = bytearray(len(self.weighted_lengths))
        for first, last in self.spans.get(label, ()):
            if not max_prose or self.is_at_most(sum(self.prose_lengths[first:last]), max_prose):
                area[first:last] = b"\1" * (min(last, len(area)) - first)
        return area

    def _mask_link_lists(self, boilerplate: bytearray) -> bytearray:
        """Paint runs of bare links: what has no prose between them is a menu, whatever it is called."""
        area, bare = bytearray(len(boilerplate)), self.link_only_lines
        if len(bare) < MIN_MENU_LINKS:
            return area
        run: list[int] = []
        menus: list[list[int]] = []
        left = boilerplate.translate(INVERTED_MASK_TABLE)
        titles = {line for line, _ in self.spans.get(TITLE, ())} - bare
        for place in compress(compress(range(len(left)), left), compress(self.weighted_lengths, left)):
            if (self.weighted_lengths[place] < MIN_PROSE_LENGTH or place in bare) and place not in titles:
                run.append(place)
            elif run:
                menus += _find_menu(run, bare)
                run = []
        self.link_lists = self._select_menus(menus + _find_menu(run, bare), boilerplate)
        found = [place for menu in self.link_lists for place in menu]
        for place in found:
            area[place] = 1
        for place in find_price_lines(self.lines, found):
            area[place] = not DIGIT.search(self.lines[place])  # what a thing costs is told
        self.decisive_lines.update(found)
        return area

    @cached_property
    def link_only_lines(self) -> set[int]:
        """Find the lines that are nothing but links."""
        shown = len(self.weighted_lengths)
        return {
            place
            for place, inside in self.link_chars.items()
            if place < shown and is_link_only(self.char_counts[place], inside)
        }

    def _select_menus(self, menus: list[list[int]], boilerplate: bytearray) -> list[list[int]]:
        """Leave out the large menus of a page that consists of links: those are its content."""
        sizes = [sum(map(self.weighted_lengths.__getitem__, menu)) for menu in menus]
        inside, outside = sum(sizes), sum(self.weighted_lengths) - sum(compress(self.weighted_lengths, boilerplate))
        told = sum(compress(self.prose_lengths, boilerplate.translate(INVERTED_MASK_TABLE))) - sum(
            self.prose_lengths[n] for menu in menus for n in menu
        )
        if not self.is_at_most(HUB_LINK_SHARE * outside, inside):
            return menus
        self.is_hub = self.is_at_most(told, HUB_MAX_PROSE_SHARE * outside)
        if self.is_hub:
            return [
                menu
                for menu, size in zip(menus, sizes, strict=True)
                if not self.is_at_most(LARGE_MENU_SHARE * inside, size)
            ]
        place = sizes.index(max(sizes))
        self.is_hub = self._is_listing(menus[place], sizes[place], told)
        return [menu for menu in menus if not self.is_hub or menu is not menus[place]]

    def _is_listing(self, menu: list[int], menu_length: int, prose_length: int) -> bool:
        """Say whether links are what a page lists below its title, after an introduction of so many letters."""
        headings = self.spans.get(TITLE) or self.spans.get(HEADING) or []
        above = max((line for line, _ in headings if line < menu[0]), default=None)
        if above is None or not self.is_at_most(prose_length, menu_length):
            return False
        return has_common_container(self.containers, self.line_ends, above, menu[0]) or self.is_at_most(
            LISTING_LINK_RATIO * prose_length, menu_length
        )

    def _has_most_text(self, lengths: list[int], declared_mask: bytearray, rest_mask: bytearray) -> bool:
        """Say whether most letters of the rest of a page are in the part that it declares to be its main one."""
        return not self.is_at_most(
            sum(compress(lengths, declared_mask)), MIN_DECLARED_SHARE * sum(compress(lengths, rest_mask))
        )

    def is_at_most(self, one: float, other: float) -> bool:
        """Compare two numbers of letters, and remember how little was between them."""
        self.margin = min(self.margin, abs(one - other))
        return one <= other


def _find_menu(run: list[int], link_only_lines: set[int]) -> list[list[int]]:
    """Read a run of short lines: if most are bare links, it is a menu from the first of them to the last."""
    links = [place for place in run if place in link_only_lines] if len(run) >= MIN_MENU_LINKS else []
    if len(links) >= MIN_MENU_LINKS and len(links) * 2 > len(run):
        return [run[run.index(links[0]) : run.index(links[-1]) + 1]]
    return []


def _intersect_masks(one: bytearray, other: bytearray) -> bytes:
    """Paint the lines that two areas share."""
    return bytes(map(and_, one, other))


def mark_lines(mask: bytearray, other_mask: bytearray, value: int = 1) -> None:
    """Paint the lines of another area over this one."""
    if 1 not in other_mask:
        return
    mine, yours = int.from_bytes(mask, "little"), int.from_bytes(other_mask, "little")
    mask[:] = (mine | yours if value else mine & ~yours).to_bytes(len(mask), "little")
