"""Known changes made to real pages, each with its expected classification."""

import random
from collections.abc import Callable

from msgspec import Struct
from turbohtml import Document, Element, Text

from sanderling.changes.classify import ChangeKind, PageChange
from sanderling.html.parser import parse_html

WORDS = ("tide", "sand", "crab", "worm", "wave", "shell", "gull", "pier", "rope", "boat", "moon", "storm", "island")
BOILERPLATE_TAGS = frozenset(("nav", "header", "footer", "aside", "form", "noscript", "dialog", "table", "pre"))
BLOCKS = ("p", "li", "dd", "div", "blockquote")
INLINE = frozenset(("a", "abbr", "b", "code", "em", "i", "q", "small", "span", "strong", "sub", "sup", "tt", "var"))
LONG = 60  # characters outside of links of a paragraph worth changing
Dice = random.Random
Pair = tuple[str, str]


class Mutation(Struct, frozen=True):
    """A way to change a page, and the expected classification."""

    name: str
    change: Callable[[Document, Dice], bool]  # False if the page has nothing to change
    needed: frozenset[ChangeKind] = frozenset()
    allowed: frozenset[ChangeKind] = frozenset()
    action: str = ""
    plant: Callable[[Document, Dice], bool] | None = None  # put into both versions first

    def apply(self, body: bytes, dice: Dice) -> Pair | None:
        """Make both versions; None if the page has nothing to change."""
        tree = parse_html(body)
        if self.plant is not None and not self.plant(tree, dice):
            return None
        old = tree.html
        return (old, tree.html) if self.change(tree, dice) and tree.html != old else None

    def is_right(self, change: PageChange) -> bool:
        """Return whether a classification names this change and nothing else."""
        kinds = frozenset(change.kinds)
        counted = not self.action or (change.counts.get(self.action) == 1 and sum(change.counts.values()) == 1)
        return self.needed <= kinds <= self.needed | self.allowed and counted


def paragraphs(tree: Document) -> list[Element]:
    """Return distinct blocks of prose outside of boilerplate, with enough text outside of links."""
    found: dict[str, Element] = {}
    for element in tree.iter_elements(BLOCKS):
        words = _words(element)
        own_words = len(words) - sum(len(_words(link)) for link in element.find_all("a"))
        plain = all(child.tag in INLINE for child in element.iter_elements())
        if own_words >= LONG and plain and not any(_is_aside(up) for up in element.ancestors):
            found.setdefault(words, element)
    return list(found.values())


def _words(element: Element) -> str:
    return " ".join(element.text.split())


def _is_aside(node: object) -> bool:
    """Return whether a paragraph is boilerplate or hidden."""
    if not isinstance(node, Element):
        return False
    unseen = node.attr("hidden") is not None or "display:none" in (node.attr("style") or "").replace(" ", "")
    return unseen or node.tag in BOILERPLATE_TAGS or node.attr("role") in ("dialog", "navigation")


def sentence(dice: Dice) -> str:
    """Return random words."""
    return " ".join(dice.choices(WORDS, k=14)).capitalize() + "."


def _insert(tree: Document, dice: Dice) -> bool:
    if found := paragraphs(tree):
        dice.choice(found).insert_after(Element("p", {}, [Text(sentence(dice))]))
    return bool(found)


def _delete(tree: Document, dice: Dice) -> bool:
    if found := paragraphs(tree):
        dice.choice(found).decompose()
    return bool(found)


def _replace(tree: Document, dice: Dice) -> bool:
    found = [element for element in paragraphs(tree) if not list(element.iter_elements())]
    if found:
        dice.choice(found).set_text(sentence(dice))
    return bool(found)


def _move(tree: Document, dice: Dice) -> bool:
    """Move a paragraph past at least two others."""
    rows: dict[object, list[Element]] = {}
    for element in paragraphs(tree):
        rows.setdefault((element.parent, element.tag), []).append(element)
    long = [row for row in rows.values() if len(row) >= 4]
    if not long:
        return False
    row = dice.choice(long)
    one = dice.randrange(len(row) - 2)
    row[dice.randrange(one + 2, len(row))].insert_after(row[one].extract())
    return True


def _restyle(tree: Document, dice: Dice) -> bool:
    for element in dice.sample(tree.find_all("p"), min(3, len(tree.find_all("p")))):
        element.attrs["class"] = f"{element.attr('class') or ''} restyled".strip()
    return bool(tree.find_all("p"))


def _inline_style(tree: Document, dice: Dice) -> bool:
    found = tree.find_all("p")
    if found:
        dice.choice(found).attrs["style"] = "color: #123456"
    return bool(found)


def _bold(tree: Document, dice: Dice) -> bool:
    found = [element for element in paragraphs(tree) if not list(element.iter_elements())]
    if found:
        element = dice.choice(found)
        element.set_inner_html(f"<b>{element.inner_html}</b>")
    return bool(found)


def _plant_script(tree: Document, _: Dice) -> bool:
    return _put(tree, '<script src="/js/library.js"></script><script>start({a: 1});</script>')


def _swap_script(tree: Document, _: Dice) -> bool:
    script = next(one for one in tree.find_all("script") if one.attr("src") == "/js/library.js")
    script.attrs["src"] = "/js/another.js"
    return True


def _swap_inline(tree: Document, _: Dice) -> bool:
    script = next(one for one in tree.find_all("script") if one.text == "start({a: 1});")
    script.set_text("if (x) { go(); } else { stop([1, 2]); }")
    return True


def _plant_image(tree: Document, _: Dice) -> bool:
    return _put(tree, '<img src="/images/gull.png" alt="a bird" width="200">')


def _swap_image(tree: Document, _: Dice) -> bool:
    image = next(one for one in tree.find_all("img") if one.attr("src") == "/images/gull.png")
    image.attrs["src"] = "/images/tern.png"
    return True


def _put(tree: Document, markup: str) -> bool:
    body = tree.find("body")
    if body is None:
        return False
    body.insert_adjacent_html("beforeend", markup)
    return True


class Stamp(Struct, frozen=True):
    """A line that changes on its own; `{0}` is the variable part."""

    markup: str
    old: str
    new: str

    def plant(self, tree: Document, dice: Dice) -> bool:
        """Put the line after a paragraph, or at the end."""
        found = paragraphs(tree)
        markup = f'<div data-stamp="">{self.markup.format(self.old)}</div>'
        if not found:
            return _put(tree, markup)
        dice.choice(found).insert_adjacent_html("afterend", markup)
        return True

    def touch(self, tree: Document, _: Dice) -> bool:
        """Let it change."""
        spot = next(one for one in tree.find_all("div") if one.attr("data-stamp") is not None)
        spot.set_inner_html(self.markup.format(self.new))
        return True


STAMPS = {
    "time": Stamp("<p>Page generated on {0}</p>", "2026-05-01 10:31:07", "2026-11-30 23:02:55"),
    "modified time": Stamp("<p>This page last modified on {0} UTC</p>", "2022-01-08 05:02:57", "2024-02-13 15:31:42"),
    "relative time": Stamp("<span>posted {0} ago</span>", "3 hours", "2 days"),
    "counter": Stamp("<p>{0} views</p>", "1,204", "1,377"),
    "comments": Stamp("<p>Comments ({0})</p>", "12", "15"),
    "copyright year": Stamp("<p>Copyright © 1999-{0} The Beach</p>", "2025", "2026"),
    "request id": Stamp("<p>Request ID: {0}</p>", "8fe2a11b-77", "1c77d0aa-03"),
    "csrf field": Stamp('<form action="/go"><input type="hidden" name="csrf" value="{0}"></form>', "aa1", "bb2"),
    "view state": Stamp('<form><input type="hidden" name="__VIEWSTATE" value="{0}"></form>', "dDwtMQ==", "dDwtNw=="),
    "session link": Stamp('<a href="/next;jsessionid={0}">on</a><a href="/l?sid={0}&amp;p=2">p</a>', "A1B2", "C3D4"),
    "script token": Stamp('<script>window.token = "{0}"; start();</script>', "a1b2c3", "d4e5f6"),
    "cache buster": Stamp('<script src="/js/app.js?v={0}"></script><img src="/a.png?{0}">', "17", "18"),
    "build number": Stamp('<script src="/js/app.{0}.js"></script>', "78c92fac7aa8fdd8", "11112fac7aa8fdd9"),
}


def _blanks(tree: Document, _: Dice) -> bool:
    for element in tree.find_all("p"):
        element.insert_adjacent_html("afterend", "\n\n   ")
        element.insert_adjacent_html("afterbegin", " ")
    return bool(tree.find_all("p"))


def _reorder_attributes(tree: Document, _: Dice) -> bool:
    touched = False
    for element in tree.iter_elements():
        names = list(element.attrs)
        if len(names) > 1:
            values = {name: element.attrs[name] for name in names}
            element.attrs.clear()
            for name in reversed(names):
                element.attrs[name] = values[name]
            touched = True
    return touched


def _comment(tree: Document, dice: Dice) -> bool:
    return _put(tree, f"<!-- served by {dice.random()} -->")


CONTENT, STRUCTURE, LINKS = (
    frozenset({ChangeKind.CONTENT}),
    frozenset({ChangeKind.STRUCTURE}),
    frozenset({ChangeKind.LINKS}),
)
LOOKS = frozenset({ChangeKind.PRESENTATION})
KINDS = (
    Mutation("insert a paragraph", _insert, CONTENT | STRUCTURE, LOOKS, "added"),
    Mutation("delete a paragraph", _delete, CONTENT | STRUCTURE, LINKS | LOOKS, "removed"),
    Mutation("replace a paragraph", _replace, CONTENT, action="changed"),
    Mutation("move a paragraph", _move, CONTENT, STRUCTURE | LOOKS, "moved"),
    Mutation("restyle by class", _restyle, LOOKS),
    Mutation("restyle inline", _inline_style, LOOKS),
    Mutation("set in bold", _bold, LOOKS),
    Mutation("swap a script", _swap_script, frozenset({ChangeKind.BEHAVIOR}), plant=_plant_script),
    Mutation("swap inline code", _swap_inline, frozenset({ChangeKind.BEHAVIOR}), plant=_plant_script),
    Mutation("replace an image", _swap_image, frozenset({ChangeKind.MEDIA}), CONTENT, plant=_plant_image),
)
NOISE = (
    *(Mutation(name, stamp.touch, plant=stamp.plant) for name, stamp in STAMPS.items()),
    Mutation("blanks", _blanks),
    Mutation("attribute order", _reorder_attributes),
    Mutation("comment", _comment),
)
