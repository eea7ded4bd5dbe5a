"""The blocks of a page's text, each told main content from furniture: navigation, footers, banners, what is hidden.

A page that declares its main part (`main`, role=main) is believed, and all of that part is main content but for its
menus and footers. Elsewhere landmarks, telling class names and runs of bare links are furniture, unless most of the
page's prose is inside them. No rule knows a site.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cache
from itertools import accumulate, compress, islice, repeat
from operator import and_, itemgetter, mul

from msgspec import Struct
from turbohtml import PlainText

from sanderling.pages.attention import EVERYTHING, Attention
from sanderling.pages.beside import Signs, below_title, content_beside, is_bare, title_of, worthy
from sanderling.pages.core import BOXES, Core, are_together, find_core
from sanderling.pages.folds import is_folded
from sanderling.pages.parse import Document, Element, values
from sanderling.pages.text import MAX_TEXT, has_words, loosen, tighten

LAYOUT = PlainText(layout="strict", bullet="")
PROSE = 40  # characters from which a line counts as prose
BELIEVED = 0.6  # share of the prose outside furniture that makes a declared main part believable
MOST = 0.4  # a landmark or banner with more of the prose than this is not furniture
RUN = 4  # bare links in a row that make a menu
HUB = 0.5  # a page with more of its text than this in menus is a list of links, and those are its content
TOLD = 0.1  # unless more of its text than this is prose
INTRODUCED = 4  # times the prose are the links of a list, wherever its title stands
LARGE = 0.2  # share of the text in menus that makes one of them large

COMMON = frozenset(("a", "div"))  # tags that nearly all pages have
MARK = "sanderling"  # attribute set on elements while the text is rendered
MAIN, HIDDEN, OUTSIDE, CHOICE, LANDMARK, HINTED = "main", "hidden", "outside", "choice", "landmark", "hinted"
LINK, WATCHED, VERBATIM, VEILED, BOX = "link", "watched", "verbatim", "veiled", "box"
TITLE, HEADING, BUTTON, ASKING, ARTICLE, VALUE = "title", "heading", "button", "asking", "article", "value"
ROLES = {
    MAIN: ("main",),
    HIDDEN: ("dialog", "alertdialog", "alert", "tooltip"),
    OUTSIDE: ("navigation", "contentinfo", "menu", "menubar"),
    LANDMARK: ("banner", "complementary", "search", "toolbar"),
}
TAGS = {
    MAIN: ("main",),
    HIDDEN: ("noscript", "iframe", "object", "dialog"),
    OUTSIDE: ("nav", "footer", "menu"),
    CHOICE: ("select",),
    LANDMARK: ("header", "aside", "form"),
    VERBATIM: ("pre", "textarea"),
}
LANDMARKS = {tag: [label] for label, tags in TAGS.items() for tag in tags}
LINKS = {"a": [LINK], "button": [LINK, BUTTON]}
HEADINGS = {"h1": [TITLE, HEADING]} | {f"h{level}": [HEADING] for level in range(2, 7)}
PARTS = HEADINGS | {tag: [BOX] for tag in BOXES} | {"article": [BOX, ARTICLE], "dd": [VALUE]}
VALUES = "tr > :first-child + td:last-child"
LABELS = {role: label for label, roles in ROLES.items() for role in roles}
MARKED = '[role],[hidden],[style*="display:none"],[style*="display: none"]'
APART = ("navigation", "dialog")  # roles whose links are not of the text
TELLING = ("cookie", "consent", "onetrust", "newsletter", "advert", "breadcrumb")  # wherever in a name
ENDINGS = ("banner", "popup", "modal", "promo", "sidebar", "footer", "navbar", "menu", "menubar")  # of a word of a name
SIGNS = tuple(map(str.encode, (*TELLING, *ENDINGS)))
NO_LETTERS = bytes(set(range(256)) - set(b"abcdefghijklmnopqrstuvwxyz\n"))
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
WORD = re.compile(r"[a-z]+")
PRICED = re.compile(r"\d")  # a currency alone is chosen
NEVER = frozenset(("html", "body", "main", "h1", "h2", "h3", "h4", "h5", "h6", "th", "td"))
MAX_NAMED = 10_000  # elements of one label that are told from others; no page for people has so many
MAX_FIELDS = 100  # to fill in; a page with more is a form
MAX_RUNS = 1_000  # of links, among which lists amid the prose are looked for
MAX_ABOVE = 4  # elements around a field that may have its words
MAX_KNOWN = 20_000  # class names remembered; a site uses the same ones on every page


class Blocks(Struct, frozen=True):
    """The lines of text of a page, empty ones too, and for each whether it is main content."""

    lines: list[str]
    main: bytes  # one byte for each line: 1 for main content, 0 for furniture
    verbatim: bytes  # the same: 1 for program text and the like, in which a time is no stamp
    veiled: bytes  # the same: 1 for what is there and not shown
    said: "Said | None"  # None if nobody asked the page itself
    is_believed: bool = False  # in which part is the main one
    linked: frozenset[int] = frozenset()  # lines with links and others whose words decide about main content
    menus: frozenset[str] = frozenset()  # lines of bare links beside the text
    core: Core | None = None  # the part with nearly all of the text, if the page declares none
    margin: int = 0  # letters that may come and go before another line could be main content


class Said(Struct, frozen=True):
    """What a page says of its parts."""

    main: list[Element]
    furniture: list[Element]  # known by their class names not to be content; unread where there is a main part
    roles: list[tuple[str, Element]]
    veiled: list[Element]  # there and not shown

    @property
    def apart(self) -> list[Element]:
        """The elements that say themselves that they are not of the text."""
        return [element for role, element in self.roles if role in APART]


def said(tree: Document) -> Said:
    """Find the parts of a page that it names."""
    marked = tree.select(MARKED)  # one look at all elements
    roles = [(role, element) for element in marked if (role := element.attr("role"))][:MAX_NAMED]
    veiled = [element for element in marked if is_veiled(element)]
    main = [*tree.find_all("main"), *(element for role, element in roles if role == "main")]
    return Said(main, [] if main else _hinted(tree), roles, veiled)


def is_veiled(element: Element) -> bool:
    """Say whether an element is there and not shown, nor folded for readers to unfold."""
    style = element.attr("style") or ""
    is_unseen = "display:none" in style or "display: none" in style or element.attr("hidden") is not None
    return is_unseen and not is_folded(element)


def blocks(tree: Document, attention: Attention = EVERYTHING) -> Blocks:
    """Cut a page into blocks of text; the tree is left as it was."""
    parts = said(tree)
    named = [(LABELS[role], [element]) for role, element in parts.roles if role in LABELS]
    named += [(HINTED, parts.furniture), (HIDDEN, parts.veiled), (VEILED, parts.veiled)]
    named += [(HIDDEN, tree.select(selector)) for selector in attention.ignore]
    named += [(WATCHED, tree.select(selector)) for selector in attention.watch]
    if not parts.main:
        named.append((VALUE, tree.select(VALUES)))
        named.append((ASKING, _asking(tree)))
    named = [(label, elements[:MAX_NAMED]) for label, elements in named if elements]
    lines, spans = render(tree, named, LANDMARKS if parts.main else LANDMARKS | LINKS | PARTS)
    areas = _Areas(lines, spans)
    verbatim, unseen = bytes(areas.cover(VERBATIM)), bytes(areas.cover(VEILED))
    if attention.is_narrow:
        return Blocks(lines, _watched(areas, lines, attention), verbatim, unseen, parts)
    main, is_believed = areas.main()
    linked, menus = frozenset((*areas.linked, *areas.weighed)), frozenset(lines[place] for place in areas.menus)
    return Blocks(
        lines, main, verbatim, unseen, parts, is_believed, linked, menus, core=areas.core, margin=int(areas.margin)
    )


def _asking(tree: Document) -> list[Element]:
    """Find what asks: the nearest elements around fields to fill in that have words."""
    has = cache(has_words)  # fields have elements around them in common
    around = (islice(field.ancestors, MAX_ABOVE) for field in tree.find_all("input")[:MAX_FIELDS])
    found = (next((one for one in above if isinstance(one, Element) and has(one)), None) for above in around)
    return [element for element in dict.fromkeys(found) if element is not None]


def render(
    tree: Document, named: list[tuple[str, list[Element]]], tags: dict[str, list[str]]
) -> tuple[list[str], list[tuple[int, int, str]]]:
    """Render the text, and say which of it each landmark and each named element covers."""
    rules = {tag: labels for tag, labels in tags.items() if tag in COMMON or tree.find_all(tag)}  # each costs a little
    cells = loosen(tree)
    try:
        for label, elements in named:
            rules[f"#{MARK}={label}"] = [label]
            for element in elements:
                element.attrs[MARK] = f"{element.attr(MARK) or ''} {label}"
        text, spans = tree.to_annotated_text(rules, LAYOUT)
    finally:
        tighten(cells)
        for _, elements in named:
            for element in elements:
                element.attrs.pop(MARK, None)
    return text[:MAX_TEXT].split("\n"), spans


def _watched(areas: "_Areas", lines: list[str], attention: Attention) -> bytes:
    """Say which lines a user wants watched, and not ignored."""
    area = areas.cover(WATCHED)
    if attention.watched is not None:
        for place, line in enumerate(lines):
            area[place] |= attention.watched.search(line) is not None
    _paint(area, areas.hidden, 0)
    return bytes(area)


class _Known(dict[str, bool]):
    """Whether a class name or id sounds like furniture, remembered."""

    def __missing__(self, name: str) -> bool:
        if len(self) >= MAX_KNOWN:
            self.clear()
        value = self[name] = _is_telling(name)
        return value


def _is_telling(name: str) -> bool:
    """Say whether a class name or id is one of menus, banners and the like."""
    words = WORD.findall(CAMEL.sub(" ", name).lower())
    whole = "".join(words)
    return any(word.endswith(ENDINGS) for word in words) or any(part in whole for part in TELLING)


_known = _Known({"": False})


def sounds_like_furniture(name: str) -> bool:
    """Say whether a class name or id is one of menus, banners and the like."""
    return _known[name]


def _hinted(tree: Document) -> list[Element]:
    """Find the elements whose class or id sounds like furniture."""
    found = [element for name in ("class", "id") for element in _telling(tree.select(f"[{name}]"), name)]
    return [element for element in dict.fromkeys(found) if element.tag not in NEVER]


def _telling(elements: list[Element], name: str) -> Iterable[Element]:
    """Choose the elements whose attribute of this name sounds like furniture; classes are few, most ids are new."""
    names = values(elements, name)
    if name == "id" and not _may_tell(names):
        return ()
    telling = set(filter(_known.__getitem__, set(names)))
    return compress(elements, map(telling.__contains__, names)) if telling else ()


def _may_tell(names: list[str]) -> bool:
    """Say whether one of many names may sound like furniture: the letters of such a name are there."""
    letters = "\n".join(names).lower().encode("utf-8", "replace").translate(None, NO_LETTERS)
    return any(map(letters.__contains__, SIGNS))


class _Areas:
    """Which lines each kind of area covers."""

    def __init__(self, lines: list[str], spans: list[tuple[int, int, str]]) -> None:
        self.lines, self.lengths = lines, list(map(len, lines))
        self.weighed = set[int]()  # lines whose words were read
        self.margin = float(sum(self.lengths))
        self.ends = ends = list(accumulate(map(AND_ITS_END, self.lengths)))
        self.spans: dict[str, list[tuple[int, int]]] = {}
        self.linked: dict[int, int] = {}  # letters of a line inside links and buttons
        self.pressed: dict[int, int] = {}  # inside buttons
        self.boxes = [(start, end) for start, end, name in spans if name == BOX]
        known = [span for span in spans if span[2] != BOX] if self.boxes else spans
        firsts = map(bisect_right, repeat(ends), map(itemgetter(0), known))
        for first, (start, end, name) in zip(firsts, known, strict=True):
            if name == LINK:
                self.linked[first] = self.linked.get(first, 0) + end - start
                continue
            if name == BUTTON:
                self.pressed[first] = self.pressed.get(first, 0) + end - start
            self.spans.setdefault(name, []).append((first, bisect_left(ends, end, first) + 1))
        self.is_hub, self.menus, self.runs = False, list[int](), list[list[int]]()
        self.core: Core | None = None
        self.hidden = self.cover(HIDDEN)
        self.prose = [length if length >= PROSE else 0 for length in self.lengths]
        if HIDDEN in self.spans:
            for place in compress(range(len(lines)), self.hidden):
                self.prose[place] = 0

    def main(self) -> tuple[bytes, bool]:
        """Say for each line whether it is main content, and whether the page declared it."""
        prose = sum(self.prose)
        declared = self.cover(MAIN)
        furniture = self.cover(LANDMARK, MOST * prose)
        _paint(furniture, self.cover(HINTED, MOST * prose))
        outside = self.cover(OUTSIDE)
        _paint(furniture, outside)
        _paint(furniture, self.cover(CHOICE))
        _paint(furniture, self.hidden)
        if MAIN in self.spans:
            rest = prose - sum(compress(self.prose, furniture))
            if not self._is_at_most(sum(compress(self.prose, declared)), BELIEVED * rest):
                _paint(declared, self.hidden, 0)
                return bytes(self._without(outside, declared)), True
        menus = self._menus(furniture)
        _paint(furniture, menus)
        main = furniture.translate(OPPOSITE)
        main = main if self.is_hub else self._in_core(main)
        self.menus = [place for place in compress(range(len(menus)), menus) if not main[place]]
        return bytes(main), False

    def _without(self, outside: bytearray, declared: bytearray) -> bytearray:
        """Leave menus and footers out of a declared main part, unless they are most of it."""
        shown = sum(compress(self.lengths, declared))
        if OUTSIDE in self.spans and self._is_at_most(
            sum(compress(self.lengths, _both(declared, outside))), HUB * shown
        ):
            _paint(declared, outside, 0)
        return declared

    def _in_core(self, main: bytearray) -> bytearray:
        """Leave out what stands outside of the core of a page."""
        self.core, margin = find_core(self.lengths, self.ends, main, self.boxes)
        self.margin = min(self.margin, margin)
        if self.core is not None:
            signs = self._signs()
            parts = list(self.core.beside(title_of(self.core, signs, main)))
            below, beside = below_title(self.core, signs, main, parts), bytearray(len(main))
            content = content_beside(self.lines, main, below, signs)
            for part in parts:
                main[part] = content[part]
                beside[part] = b"\1" * (part.stop - part.start)
            self.weighed.update(compress(range(len(main)), beside))
            self._with_lists(main)
            for place in self._bare():
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
            if not most or self._is_at_most(sum(self.prose[first:last]), most):
                area[first:last] = b"\1" * (min(last, len(area)) - first)
        return area

    def _menus(self, furniture: bytearray) -> bytearray:
        """Paint runs of bare links: what has no prose between them is a menu, whatever it is called."""
        area, bare = bytearray(len(furniture)), self._bare()
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
        for menu in self.runs:
            for place in menu:
                area[place] = 1
            for place in worthy(self.lines, menu):
                area[place] = not PRICED.search(self.lines[place])  # what a thing costs is told
            self.weighed.update(menu)
        return area

    def _bare(self) -> set[int]:
        """Find the lines that are nothing but links."""
        shown = len(self.lengths)
        return {
            place for place, inside in self.linked.items() if place < shown and is_bare(self.lengths[place], inside)
        }

    def _small(self, menus: list[list[int]], furniture: bytearray) -> list[list[int]]:
        """Leave out the large menus of a page that consists of links: those are its content."""
        sizes = [sum(map(self.lengths.__getitem__, menu)) for menu in menus]
        inside, outside = sum(sizes), sum(self.lengths) - sum(compress(self.lengths, furniture))
        told = sum(compress(self.prose, furniture.translate(OPPOSITE))) - sum(
            self.prose[n] for menu in menus for n in menu
        )
        if not self._is_at_most(HUB * outside, inside):
            return menus
        self.is_hub = self._is_at_most(told, TOLD * outside)
        if self.is_hub:
            return [menu for menu, size in zip(menus, sizes, strict=True) if not self._is_at_most(LARGE * inside, size)]
        place = sizes.index(max(sizes))
        self.is_hub = self._is_listed(menus[place], sizes[place], told)
        return [menu for menu in menus if not self.is_hub or menu is not menus[place]]

    def _is_listed(self, menu: list[int], size: int, told: int) -> bool:
        """Say whether links are what a page lists below its title, after an introduction of so many letters."""
        headings = self.spans.get(TITLE) or self.spans.get(HEADING) or []
        above = max((line for line, _ in headings if line < menu[0]), default=None)
        if above is None or not self._is_at_most(told, size):
            return False
        return are_together(self.boxes, self.ends, above, menu[0]) or self._is_at_most(INTRODUCED * told, size)

    def _is_at_most(self, one: float, other: float) -> bool:
        """Compare two numbers of letters, and remember how little was between them."""
        self.margin = min(self.margin, abs(one - other))
        return one <= other


OPPOSITE = b"\1" + bytes(255)
AND_ITS_END = (1).__add__


def _menu(run: list[int], bare: set[int]) -> list[list[int]]:
    """Read a run of short lines: if most are bare links, it is a menu from the first of them to the last."""
    links = [place for place in run if place in bare] if len(run) >= RUN else []
    if len(links) >= RUN and len(links) * 2 > len(run):
        return [run[run.index(links[0]) : run.index(links[-1]) + 1]]
    return []


def _both(one: bytearray, other: bytearray) -> bytes:
    """Paint the lines that two areas share."""
    return bytes(map(and_, one, other))


def _paint(area: bytearray, other: bytearray, value: int = 1) -> None:
    """Paint the lines of another area over this one."""
    if 1 not in other:
        return
    mine, yours = int.from_bytes(area, "little"), int.from_bytes(other, "little")
    area[:] = (mine | yours if value else mine & ~yours).to_bytes(len(area), "little")
