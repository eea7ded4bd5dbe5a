"""Classify the lines of a page as main content or boilerplate.

Flow of `PageRegions.classify_lines`:

1. Landmarks, named boilerplate, menus, footers, and reader comments are masked, unless they hold most of the prose.
2. A declared main element is used if it holds most of the text. Otherwise lists of links are masked, and the main
   region is located (`main_region`).
3. Boilerplate inside the main content is removed (`rules.inline`).
4. Policy notices and addresses are added back.
"""

import re
from itertools import accumulate, compress
from operator import and_, mul

from sanderling.content.line_coverage import (
    ARTICLE,
    ASIDE,
    BUTTON,
    COMMENT,
    FORM_PART,
    HEADING,
    INLINE_CANDIDATE,
    LANDMARK,
    MAIN,
    MAX_BOILERPLATE_SHARE,
    NAMED_BOILERPLATE,
    NAV_OR_FOOTER,
    NOSCRIPT,
    SELECT,
    SHARE_LINK,
    TITLE,
    VALUE,
    LineCoverage,
    mark_lines,
)
from sanderling.content.line_features import LONG_LINE_LENGTH, MIN_PROSE_LENGTH, PageLines
from sanderling.content.main_region import MainRegion, find_main_region, has_common_container
from sanderling.content.rules.breadcrumbs import find_footer_lines
from sanderling.content.rules.inline import InlineBoilerplate
from sanderling.content.side_content import (
    ElementLines,
    find_price_lines,
    find_title_line,
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

MIN_DECLARED_SHARE = 0.6  # of the prose, or of all text, outside boilerplate: less, and <main> is ignored
MIN_MENU_LINKS = 4  # consecutive link-only lines that make a menu
HUB_LINK_SHARE = 0.5  # a page with a larger share of its text in menus is a hub: the links are its content
HUB_MAX_PROSE_SHARE = 0.1  # with more prose, only a listing below the title makes it a hub
LISTING_LINK_RATIO = 4  # link text over prose that makes a listing, wherever its title is
LARGE_MENU_SHARE = 0.2  # of the text in menus
MAX_LINK_LISTS = 1_000  # with more, lists inside the prose are not restored
MIN_COMMENTED_TEXT = 600  # characters of prose between the title and the comments; with less, comments are the content
MIN_COMMENTED_SHARE = 0.1  # the same, relative to the prose of the comments
DIGIT = re.compile(r"\d")  # a line with a currency but no number is a currency selector
INVERTED_MASK_TABLE = b"\1" + bytes(255)


class PageRegions(LineCoverage):
    """Classifies the lines of a page, and keeps the intermediate results."""

    def __init__(self, lines: list[str], spans: list[tuple[int, int, str]]) -> None:
        super().__init__(lines, spans)
        self.is_hub, self.menu_lines, self.link_lists = False, list[int](), list[list[int]]()
        self.inline_boilerplate, self.comment_texts = frozenset[bytes](), set[bytes]()
        self.main_region: MainRegion | None = None
        noscript = self.build_mask(NOSCRIPT)
        if NOSCRIPT in self.spans and not is_noscript_content(self, noscript, MAX_BOILERPLATE_SHARE):
            mark_lines(self.excluded_mask, noscript)
            self.exclude_from_prose(noscript)

    def classify_lines(self) -> tuple[bytes, bool]:
        """Return the mask of main content lines, and whether the page declared its main element."""
        main, is_declared = self._compute_main_mask()
        add_notices_and_addresses(self, main, (self.excluded_mask, self.build_mask(SELECT), self.build_mask(COMMENT)))
        return bytes(main), is_declared

    def _compute_main_mask(self) -> tuple[bytearray, bool]:
        prose = sum(self.prose_lengths)
        declared = self.build_mask(MAIN)
        boilerplate = self.build_mask(LANDMARK, MAX_BOILERPLATE_SHARE * prose)
        mark_lines(boilerplate, self.build_mask(NAMED_BOILERPLATE, MAX_BOILERPLATE_SHARE * prose))
        nav = self.build_mask(NAV_OR_FOOTER)
        mark_lines(boilerplate, nav)
        mark_lines(boilerplate, self.build_mask(SELECT))
        mark_lines(boilerplate, self.excluded_mask)
        mark_lines(boilerplate, mask_sidebars(self, boilerplate, MAX_BOILERPLATE_SHARE * prose))
        self._mark_footer(boilerplate)
        comments = self._mask_comments(boilerplate)
        mark_lines(boilerplate, comments)
        if MAIN in self.spans:
            rest = boilerplate.translate(INVERTED_MASK_TABLE)
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
                return self._remove_inline_boilerplate(self._remove_nav_and_footers(nav, declared)), True
            return boilerplate.translate(INVERTED_MASK_TABLE), False
        menus = self._mask_link_lists(boilerplate)
        mark_lines(boilerplate, menus)
        main = boilerplate.translate(INVERTED_MASK_TABLE)
        main = main if self.is_hub else self._limit_to_main_region(main)
        main = main if self.is_hub else self._remove_inline_boilerplate(main)
        self.menu_lines = [n for n in compress(range(len(menus)), menus) if not main[n]]
        return main, False

    def _mask_comments(self, boilerplate: bytearray) -> bytearray:
        """Mask reader comments below a text. Without such a text, the comments are the content."""
        mask, spans, excluded = bytearray(len(boilerplate)), self.spans.get(COMMENT, []), self.build_mask(COMMENT)
        if not spans:
            return mask
        mark_lines(excluded, boilerplate)
        text_sums = [0, *accumulate(map(mul, self.prose_lengths, excluded.translate(INVERTED_MASK_TABLE)))]
        prose_sums = [0, *accumulate(self.prose_lengths)]
        title = min((line for line, _ in self.spans.get(TITLE, ())), default=0)
        for first, end in sorted(spans, key=lambda span: (span[0], -span[1])):  # outer before inner
            last = min(end, len(mask))
            min_text = max(MIN_COMMENTED_TEXT, MIN_COMMENTED_SHARE * (prose_sums[last] - prose_sums[first]))
            if not mask[first] and self.is_at_most(min_text, text_sums[first] - text_sums[min(title, first)]):
                mask[first:last] = b"\1" * (last - first)
                self.comment_texts.add(compact_text("".join(self.lines[first:last])))
        self.decisive_lines.update(compress(range(len(mask)), mask))
        return mask

    def _mark_footer(self, boilerplate: bytearray) -> None:
        """Mark the copyright and generator lines at the end of a page as boilerplate."""
        line_above, *footer = find_footer_lines(self.lines, self.link_only_lines) or [0]
        self.decisive_lines.update((line_above, *footer))
        for n in footer:
            boilerplate[n] = 1

    def _remove_inline_boilerplate(self, main_mask: bytearray) -> bytearray:
        """Remove boilerplate inside the main content, unless it is most of it."""
        labels = (HEADING, TITLE, BUTTON, FORM_PART, SHARE_LINK, INLINE_CANDIDATE, ASIDE)
        page = PageLines(
            self.lines,
            self.weighted_lengths,
            self.line_ends,
            main_mask,
            self.link_chars,
            self.link_only_lines,
            self.containers,
            *(self.spans.get(label, []) for label in labels),
        )
        found = InlineBoilerplate(page)
        self.decisive_lines |= found.decisive_lines
        if not found.lines or not self.is_at_most(
            sum(self.weighted_lengths[n] for n in found.lines),
            HUB_LINK_SHARE * sum(compress(self.weighted_lengths, main_mask)),
        ):
            return main_mask
        self.inline_boilerplate = found.collect_texts()
        for n in found.lines:
            main_mask[n] = 0
        return main_mask

    def _remove_nav_and_footers(self, nav_mask: bytearray, declared_mask: bytearray) -> bytearray:
        """Remove menus and footers from a declared main element, unless they are most of it."""
        length = sum(compress(self.weighted_lengths, declared_mask))
        if NAV_OR_FOOTER in self.spans and self.is_at_most(
            sum(compress(self.weighted_lengths, map(and_, declared_mask, nav_mask))), HUB_LINK_SHARE * length
        ):
            mark_lines(declared_mask, nav_mask, 0)
        return declared_mask

    def _limit_to_main_region(self, main_mask: bytearray) -> bytearray:
        """Remove text outside the main region, except articles and side content such as prices and facts."""
        region, margin = find_main_region(self.weighted_lengths, self.line_ends, main_mask, self.containers)
        self.margin = min(self.margin, margin)
        if region is None or is_side_region(self, region, main_mask):
            return main_mask
        self.main_region = region
        elements = self._build_element_lines()
        parts = list(region.list_outside_parts(find_title_line(region, elements, main_mask)))
        below, outside = select_below_title(region, elements, main_mask, parts), bytearray(len(main_mask))
        content = mask_side_content(self.lines, main_mask, below, elements)
        for article in find_outside_articles(self, region):
            content[article] = main_mask[article]
        for part in parts:
            main_mask[part] = content[part]
            outside[part] = b"\1" * (part.stop - part.start)
        self.decisive_lines.update(compress(range(len(main_mask)), outside))
        self._restore_link_lists(main_mask, region)
        for n in self.link_only_lines:  # links in no container lead to other pages
            main_mask[n] &= region.first_line <= n < region.end_line or outside[n]
        return main_mask

    def _restore_link_lists(self, main_mask: bytearray, region: MainRegion) -> None:
        """Add lists of links between prose of the main region: they are part of the text."""
        prose = bytearray(map(MIN_PROSE_LENGTH.__le__, map(mul, self.weighted_lengths, main_mask)))
        for run in self.link_lists if len(self.link_lists) <= MAX_LINK_LISTS else ():
            if region.is_amid_prose(run[0], run[-1], prose):
                for n in run:
                    main_mask[n] = 1

    def _build_element_lines(self) -> ElementLines:
        links = {line: size - self.button_chars.get(line, 0) for line, size in self.link_chars.items()}
        headings, titles, buttons, form_parts, articles, values = (
            self.spans.get(label, []) for label in (HEADING, TITLE, BUTTON, FORM_PART, ARTICLE, VALUE)
        )
        return ElementLines(links, headings, titles, buttons + form_parts, articles, values)

    def _mask_link_lists(self, boilerplate: bytearray) -> bytearray:
        """Mask runs of link-only lines without prose between them: menus."""
        mask, links = bytearray(len(boilerplate)), self.link_only_lines
        if len(links) < MIN_MENU_LINKS:
            return mask
        run: list[int] = []
        menus: list[list[int]] = []
        rest = boilerplate.translate(INVERTED_MASK_TABLE)
        titles = {line for line, _ in self.spans.get(TITLE, ())} - links
        for n in compress(compress(range(len(rest)), rest), compress(self.weighted_lengths, rest)):
            if (self.weighted_lengths[n] < MIN_PROSE_LENGTH or n in links) and n not in titles:
                run.append(n)
            elif run:
                menus += _find_menu(run, links)
                run = []
        self.link_lists = self._select_menus(menus + _find_menu(run, links), boilerplate)
        menu_lines = [n for menu in self.link_lists for n in menu]
        for n in menu_lines:
            mask[n] = 1
        for n in find_price_lines(self.lines, menu_lines):
            mask[n] = not DIGIT.search(self.lines[n])  # a price is content
        self.decisive_lines.update(menu_lines)
        return mask

    def _select_menus(self, menus: list[list[int]], boilerplate: bytearray) -> list[list[int]]:
        """Return the menus that are boilerplate. On a hub, the large menus are the content."""
        sizes = [sum(map(self.weighted_lengths.__getitem__, menu)) for menu in menus]
        inside, outside = sum(sizes), sum(self.weighted_lengths) - sum(compress(self.weighted_lengths, boilerplate))
        prose = sum(compress(self.prose_lengths, boilerplate.translate(INVERTED_MASK_TABLE))) - sum(
            self.prose_lengths[n] for menu in menus for n in menu
        )
        if not self.is_at_most(HUB_LINK_SHARE * outside, inside):
            return menus
        self.is_hub = self.is_at_most(prose, HUB_MAX_PROSE_SHARE * outside)
        if self.is_hub:
            return [
                menu
                for menu, size in zip(menus, sizes, strict=True)
                if not self.is_at_most(LARGE_MENU_SHARE * inside, size)
            ]
        largest = sizes.index(max(sizes))
        self.is_hub = self._is_listing(menus[largest], sizes[largest], prose)
        return [menu for menu in menus if not self.is_hub or menu is not menus[largest]]

    def _is_listing(self, menu: list[int], menu_length: int, prose_length: int) -> bool:
        """Return whether a menu is the listing of a page: below its title, and longer than the prose."""
        headings = self.spans.get(TITLE) or self.spans.get(HEADING) or []
        title = max((line for line, _ in headings if line < menu[0]), default=None)
        if title is None or not self.is_at_most(prose_length, menu_length):
            return False
        return has_common_container(self.containers, self.line_ends, title, menu[0]) or self.is_at_most(
            LISTING_LINK_RATIO * prose_length, menu_length
        )

    def _has_most_text(self, lengths: list[int], declared_mask: bytearray, rest_mask: bytearray) -> bool:
        return not self.is_at_most(
            sum(compress(lengths, declared_mask)), MIN_DECLARED_SHARE * sum(compress(lengths, rest_mask))
        )


def _find_menu(run: list[int], link_only_lines: set[int]) -> list[list[int]]:
    """Return the lines from the first to the last link of a run, if most of its lines are links."""
    links = [n for n in run if n in link_only_lines] if len(run) >= MIN_MENU_LINKS else []
    if len(links) >= MIN_MENU_LINKS and len(links) * 2 > len(run):
        return [run[run.index(links[0]) : run.index(links[-1]) + 1]]
    return []
