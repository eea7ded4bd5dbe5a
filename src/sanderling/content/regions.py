"""Which lines of a page's text the areas of each kind cover, and what that makes of them: main content or furniture."""

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate, compress, repeat
from operator import and_, itemgetter, mul

from sanderling.content.line_features import LONG, PROSE, Page, sizes_of
from sanderling.content.main_region import Core, are_together, find_core
from sanderling.content.rules.breadcrumbs import imprint
from sanderling.content.rules.inline import Trimmings
from sanderling.content.side_content import Signs, below_title, content_beside, is_bare, title_of, worthy
from sanderling.content.uncertain_region import (
    articles_outside,
    cover_sidebars,
    is_beside_text,
    is_unscripted_content,
    keep_telling_lines,
)
from sanderling.html.text import dense

BELIEVED = 0.6  # share of the prose, or of all letters, outside furniture that makes a declared main part believable
MOST = 0.4  # a landmark or banner with more of the prose than this is not furniture
RUN = 4  # bare links in a row that make a menu
HUB = 0.5  # a page with more of its text than this in menus is a list of links, and those are its content
TOLD = 0.1  # unless more of its text than this is prose
INTRODUCED = 4  # times the prose are the links of a list, wherever its title stands
LARGE = 0.2  # share of the text in menus that makes one of them large
MAX_RUNS = 1_000  # of links, among which lists amid the prose are looked for
TEXT = 600  # letters of prose between a title and comments that make a text which these are about
ABOUT = 0.1  # share of the letters of comments that it has at least: else they are what the page is for
PRICED = re.compile(r"\d")  # a currency alone is chosen
MAIN, HIDDEN, OUTSIDE, CHOICE, LANDMARK, HINTED = "main", "hidden", "outside", "choice", "landmark", "hinted"
LINK, WATCHED, VERBATIM, VEILED, BOX = "link", "watched", "verbatim", "veiled", "box"
TITLE, HEADING, BUTTON, ASKING, ARTICLE, VALUE = "title", "heading", "button", "asking", "article", "value"
TRIMMED, SHARER, COMMENT, BESIDE = "trimmed", "sharer", "comment", "beside"
SIDEBAR, UNSCRIPTED = "sidebar", "unscripted"
COVERING = frozenset(
    (HIDDEN, OUTSIDE, CHOICE, LANDMARK, HINTED, VEILED, UNSCRIPTED)
)  # labels of what is furniture with its lines
OPPOSITE = b"\1" + bytes(255)
AND_ITS_END = (1).__add__


class Areas:
    """Which lines each kind of area covers."""

    def __init__(self, lines: list[str], spans: list[tuple[int, int, str]]) -> None:
        self.lines, self.letters, self.lengths = lines, list(map(len, lines)), sizes_of(lines)
        self.weighed = set[int]()  # lines whose words were read
        self.margin = float(sum(self.lengths))
        self.ends = ends = list(accumulate(map(AND_ITS_END, self.letters)))
        self.spans: dict[str, list[tuple[int, int]]] = {}
        self.pieces: dict[tuple[str, int], tuple[int, int]] = {}  # of lines: how far a label covers how many letters
        self.linked: dict[int, int] = {}  # letters of a line inside links and buttons
        self.pressed: dict[int, int] = {}  # inside buttons
        self.boxes = [(start, end) for start, end, name in spans if name == BOX]
        known = [span for span in spans if span[2] != BOX] if self.boxes else spans
        firsts = map(bisect_right, repeat(ends), map(itemgetter(0), known))
        linked = self.linked
        for first, (start, end, name) in zip(firsts, known, strict=True):
            if name == LINK:
                if end <= ends[first]:
                    linked[first] = linked.get(first, 0) + end - start
                else:
                    self._count(linked, first, start, end)
                continue
            if name == BUTTON:
                self._count(self.pressed, first, start, end)
            last = bisect_left(ends, end, first) + 1
            if name in COVERING and last == first + 1 and end - start < self.letters[first]:
                self._note_piece(name, first, start, end)
            else:
                self.spans.setdefault(name, []).append((first, last))
        self._cover_by_pieces()
        self.is_hub, self.menus, self.runs = False, list[int](), list[list[int]]()
        self.trimmed, self.comments = frozenset[bytes](), set[bytes]()
        self.core: Core | None = None
        self.hidden = self.cover(HIDDEN)
        self.prose = [length if length >= PROSE else 0 for length in self.lengths]
        self._leave_out_of_prose(self.hidden)
        unscripted = self.cover(UNSCRIPTED)
        if UNSCRIPTED in self.spans and not is_unscripted_content(self, unscripted, MOST):
            paint(self.hidden, unscripted)
            self._leave_out_of_prose(unscripted)

    def _leave_out_of_prose(self, hidden: bytearray) -> None:
        for place in compress(range(len(hidden)), hidden) if 1 in hidden else ():
            self.prose[place] = 0

    def _note_piece(self, name: str, line: int, start: int, end: int) -> None:
        """Note that a label covers a piece of a line; no letter counts twice."""
        done, size = self.pieces.get((name, line), (0, 0))
        self.pieces[name, line] = max(done, end), size + max(0, end - max(start, done))

    def _cover_by_pieces(self) -> None:
        """Take a line for covered if half of it is: a word with a tip, or a hidden one, does not hide the rest."""
        for (name, line), (_, size) in self.pieces.items():
            self.weighed.add(line)
            if 2 * size >= self.letters[line]:
                self.spans.setdefault(name, []).append((line, line + 1))

    def _count(self, letters: dict[int, int], line: int, start: int, end: int) -> None:
        """Count the letters of a span to the lines it covers, of which the first is known."""
        while end > self.ends[line]:
            if start < self.ends[line] - 1:
                letters[line] = letters.get(line, 0) + self.ends[line] - 1 - start
            start, line = self.ends[line], line + 1
        letters[line] = letters.get(line, 0) + end - start

    def main(self) -> tuple[bytes, bool]:
        """Say for each line whether it is main content, and whether the page declared it."""
        main, is_declared = self._main()
        keep_telling_lines(self, main, (self.hidden, self.cover(CHOICE), self.cover(COMMENT)))
        return bytes(main), is_declared

    def _main(self) -> tuple[bytearray, bool]:
        prose = sum(self.prose)
        declared = self.cover(MAIN)
        furniture = self.cover(LANDMARK, MOST * prose)
        paint(furniture, self.cover(HINTED, MOST * prose))
        outside = self.cover(OUTSIDE)
        paint(furniture, outside)
        paint(furniture, self.cover(CHOICE))
        paint(furniture, self.hidden)
        paint(furniture, cover_sidebars(self, furniture, MOST * prose))
        self._leave_imprint(furniture)
        comments = self._comments(furniture)
        paint(furniture, comments)
        if MAIN in self.spans:
            rest = furniture.translate(OPPOSITE)
            if self._is_mostly(self.prose, declared, rest) or (prose and self._is_mostly(self.lengths, declared, rest)):
                paint(declared, self.hidden, 0)
                paint(declared, comments, 0)
                self.weighed |= {n for n in self.linked if n < len(declared) and declared[n] and self.lengths[n] < LONG}
                return self._trimmed(self._without(outside, declared)), True
            return furniture.translate(OPPOSITE), False
        menus = self._menus(furniture)
        paint(furniture, menus)
        main = furniture.translate(OPPOSITE)
        main = main if self.is_hub else self._in_core(main)
        main = main if self.is_hub else self._trimmed(main)
        self.menus = [place for place in compress(range(len(menus)), menus) if not main[place]]
        return main, False

    def _comments(self, furniture: bytearray) -> bytearray:
        """Paint the comments below a text; where there is hardly any, they are what the page is for."""
        area, spans, rest = bytearray(len(furniture)), self.spans.get(COMMENT, []), self.cover(COMMENT)
        if not spans:
            return area
        paint(rest, furniture)
        told, said = ([0, *accumulate(sizes)] for sizes in (map(mul, self.prose, rest.translate(OPPOSITE)), self.prose))
        title = min((line for line, _ in self.spans.get(TITLE, ())), default=0)
        for first, end in sorted(spans, key=lambda span: (span[0], -span[1])):  # outer ones before inner ones
            last = min(end, len(area))
            least = max(TEXT, ABOUT * (said[last] - said[first]))
            if not area[first] and self.is_at_most(least, told[first] - told[min(title, first)]):
                area[first:last] = b"\1" * (last - first)
                self.comments.add(dense("".join(self.lines[first:last])))
        self.weighed.update(compress(range(len(area)), area))
        return area

    def _leave_imprint(self, furniture: bytearray) -> None:
        """Take the last lines of a page that say whose it is for furniture, as a footer is."""
        above, *found = imprint(self.lines, self.bare) or [0]
        self.weighed.update((above, *found))
        for place in found:
            furniture[place] = 1

    def _trimmed(self, main: bytearray) -> bytearray:
        """Leave furniture inside the text out of it, unless it is most of it."""
        names = (HEADING, TITLE, BUTTON, ASKING, SHARER, TRIMMED, BESIDE)
        spans = (self.spans.get(name, []) for name in names)
        page = Page(self.lines, self.lengths, self.ends, main, self.linked, self.bare, self.boxes, *spans)
        found = Trimmings(page)
        self.weighed |= found.weighed
        if not found.lines or not self.is_at_most(
            sum(self.lengths[place] for place in found.lines), HUB * sum(compress(self.lengths, main))
        ):
            return main
        self.trimmed = found.letters()
        for place in found.lines:
            main[place] = 0
        return main

    def _without(self, outside: bytearray, declared: bytearray) -> bytearray:
        """Leave menus and footers out of a declared main part, unless they are most of it."""
        shown = sum(compress(self.lengths, declared))
        if OUTSIDE in self.spans and self.is_at_most(
            sum(compress(self.lengths, _both(declared, outside))), HUB * shown
        ):
            paint(declared, outside, 0)
        return declared

    def _in_core(self, main: bytearray) -> bytearray:
        """Leave out what stands outside of the core of a page."""
        self.core, margin = find_core(self.lengths, self.ends, main, self.boxes)
        self.margin = min(self.margin, margin)
        if self.core is not None and is_beside_text(self, self.core, main):
            self.core = None
        if self.core is not None:
            signs = self._signs()
            parts = list(self.core.beside(title_of(self.core, signs, main)))
            below, beside = below_title(self.core, signs, main, parts), bytearray(len(main))
            content = content_beside(self.lines, main, below, signs)
            for article in articles_outside(self, self.core):
                content[article] = main[article]
            for part in parts:
                main[part] = content[part]
                beside[part] = b"\1" * (part.stop - part.start)
            self.weighed.update(compress(range(len(main)), beside))
            self._with_lists(main)
            for place in self.bare:
                main[place] &= self.core.first <= place < self.core.last or beside[place]  # free ones lead elsewhere
        return main

    def _with_lists(self, main: bytearray) -> None:
        """Take lists of links amid the prose of the core for what they are: part of the text."""
        prose = bytearray(map(PROSE.__le__, map(mul, self.lengths, main)))
        for run in self.runs if len(self.runs) <= MAX_RUNS else ():
            if self.core is not None and self.core.is_amid(run[0], run[-1], prose):
                for place in run:
                    main[place] = 1

    def _signs(self) -> Signs:
        links = {line: size - self.pressed.get(line, 0) for line, size in self.linked.items()}
        headings, titles, buttons, asking, articles, values = (
            self.spans.get(label, []) for label in (HEADING, TITLE, BUTTON, ASKING, ARTICLE, VALUE)
        )
        return Signs(links, headings, titles, buttons + asking, articles, values)

    def cover(self, label: str, most: float = 0.0) -> bytearray:
        """Paint the lines inside spans of a label; spans with more than `most` prose are left out."""
        area = bytearray(len(self.lengths))
        for first, last in self.spans.get(label, ()):
            if not most or self.is_at_most(sum(self.prose[first:last]), most):
                area[first:last] = b"\1" * (min(last, len(area)) - first)
        return area

    def _menus(self, furniture: bytearray) -> bytearray:
        """Paint runs of bare links: what has no prose between them is a menu, whatever it is called."""
        area, bare = bytearray(len(furniture)), self.bare
        if len(bare) < RUN:
            return area
        run: list[int] = []
        menus: list[list[int]] = []
        left = furniture.translate(OPPOSITE)
        titles = {line for line, _ in self.spans.get(TITLE, ())} - bare
        for place in compress(compress(range(len(left)), left), compress(self.lengths, left)):
            if (self.lengths[place] < PROSE or place in bare) and place not in titles:
                run.append(place)
            elif run:
                menus += _menu(run, bare)
                run = []
        self.runs = self._small(menus + _menu(run, bare), furniture)
        found = [place for menu in self.runs for place in menu]
        for place in found:
            area[place] = 1
        for place in worthy(self.lines, found):
            area[place] = not PRICED.search(self.lines[place])  # what a thing costs is told
        self.weighed.update(found)
        return area

    @cached_property
    def bare(self) -> set[int]:
        """Find the lines that are nothing but links."""
        shown = len(self.lengths)
        return {
            place for place, inside in self.linked.items() if place < shown and is_bare(self.letters[place], inside)
        }

    def _small(self, menus: list[list[int]], furniture: bytearray) -> list[list[int]]:
        """Leave out the large menus of a page that consists of links: those are its content."""
        sizes = [sum(map(self.lengths.__getitem__, menu)) for menu in menus]
        inside, outside = sum(sizes), sum(self.lengths) - sum(compress(self.lengths, furniture))
        told = sum(compress(self.prose, furniture.translate(OPPOSITE))) - sum(
            self.prose[n] for menu in menus for n in menu
        )
        if not self.is_at_most(HUB * outside, inside):
            return menus
        self.is_hub = self.is_at_most(told, TOLD * outside)
        if self.is_hub:
            return [menu for menu, size in zip(menus, sizes, strict=True) if not self.is_at_most(LARGE * inside, size)]
        place = sizes.index(max(sizes))
        self.is_hub = self._is_listed(menus[place], sizes[place], told)
        return [menu for menu in menus if not self.is_hub or menu is not menus[place]]

    def _is_listed(self, menu: list[int], size: int, told: int) -> bool:
        """Say whether links are what a page lists below its title, after an introduction of so many letters."""
        headings = self.spans.get(TITLE) or self.spans.get(HEADING) or []
        above = max((line for line, _ in headings if line < menu[0]), default=None)
        if above is None or not self.is_at_most(told, size):
            return False
        return are_together(self.boxes, self.ends, above, menu[0]) or self.is_at_most(INTRODUCED * told, size)

    def _is_mostly(self, sizes: list[int], declared: bytearray, rest: bytearray) -> bool:
        """Say whether most letters of the rest of a page are in the part that it declares to be its main one."""
        return not self.is_at_most(sum(compress(sizes, declared)), BELIEVED * sum(compress(sizes, rest)))

    def is_at_most(self, one: float, other: float) -> bool:
        """Compare two numbers of letters, and remember how little was between them."""
        self.margin = min(self.margin, abs(one - other))
        return one <= other


def _menu(run: list[int], bare: set[int]) -> list[list[int]]:
    """Read a run of short lines: if most are bare links, it is a menu from the first of them to the last."""
    links = [place for place in run if place in bare] if len(run) >= RUN else []
    if len(links) >= RUN and len(links) * 2 > len(run):
        return [run[run.index(links[0]) : run.index(links[-1]) + 1]]
    return []


def _both(one: bytearray, other: bytearray) -> bytes:
    """Paint the lines that two areas share."""
    return bytes(map(and_, one, other))


def paint(area: bytearray, other: bytearray, value: int = 1) -> None:
    """Paint the lines of another area over this one."""
    if 1 not in other:
        return
    mine, yours = int.from_bytes(area, "little"), int.from_bytes(other, "little")
    area[:] = (mine | yours if value else mine & ~yours).to_bytes(len(area), "little")
