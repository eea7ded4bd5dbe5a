"""Kinds of pages that a site names itself, always in one place.

Many sites write what kind of page it is at the end of the title ("... Class Reference", "... Member List") or at the
beginning of the file name (`struct.Vec.html`, `fn.swap.html`). Where the few words that stand in one such place
foretell most of how the pages are built, they are believed: pages that are called the same are not divided. On a small
site nothing foretells much; there names are believed if pages of most names are built like each other more than like
any other page, and then every name that ends in a word such a name ends in is one.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import log

from sanderling.fingerprint.structure import compute_feature_similarity, is_block_feature
from sanderling.templates.bitsets import entropy, members, union
from sanderling.templates.file_names import are_same_kind
from sanderling.templates.file_series import series
from sanderling.templates.template_views import PageView
from sanderling.templates.titles import ENDS, LEAST, Titles
from sanderling.urls.tokens import MAX_TEXT_LENGTH, tokenize_url

FEWEST, MOST = 3, 64  # kinds: fewer are not worth naming, more are not kinds
SMALL = 500  # pages; more than that tell by themselves which names are kinds
KIN = 0.5  # share of names whose pages are built like each other more than like any other page
HALF = 0.5  # of what two pages of a list are built of
RELATED = 32  # names of few pages
CHANCE = 1 / log(2)  # bits a part gives of a block: twice what it is expected to where nothing is known
TITLES_COVER, FILES_COVER = 0.33, 0.6  # share of pages that are named
TITLES_EXPLAIN = 0.33  # share of the structure's information that the names give ...
FILES_EXPLAIN = 0.62  # ... more of it if they are file names, which are addresses first
RARE = 0.02  # share of pages that have, or lack, a block that counts
BEGINS = "begins:"
NUMBER = re.compile(r"[0-9]+")


def named_kinds(looks: Sequence[PageView], skip: int, said: Titles, had: Mapping[int, int]) -> dict[str, int]:
    """The names of kinds and the pages of each, as sets; none if names tell too little."""
    best, found = 0.0, dict[str, int]()
    asked = ((TITLES_COVER, TITLES_EXPLAIN), (FILES_COVER, FILES_EXPLAIN))
    for place, (cover, needed) in zip(_places(looks, skip, said), asked, strict=True):
        related = _related(place, said, [look.url for look in looks])
        many = {name: pages for name, pages in place.items() if pages.bit_count() >= LEAST}
        kinds = {name: pages for name, pages in many.items() if not _is_word(name) or name in related}
        if FEWEST <= len(kinds) <= MOST and sum(map(int.bit_count, kinds.values())) >= cover * len(looks):
            share = explained(list(kinds.values()), had, len(looks))
            if share >= max(best, needed):
                best, found = share, kinds | related
    return found


def _is_word(name: str) -> bool:
    """A title of one word may just be numbered: "Thing 17"."""
    return name.startswith(ENDS) and " " not in name


def _are_numbered(pages: int, looks: Sequence[PageView]) -> bool:
    """The titles of pages have different numbers."""
    return len({tuple(NUMBER.findall(looks[at].title[:MAX_TEXT_LENGTH])) for at in members(pages)}) > 1


def _places(looks: Sequence[PageView], skip: int, said: Titles) -> Sequence[Mapping[str, int]]:
    """What stands in each place that may name a kind, and on which pages."""
    titles: defaultdict[str, int] = defaultdict(int)
    names: defaultdict[str, int] = defaultdict(int)
    for position, look in enumerate(looks):
        if kind := said.kind(look.title):
            titles[kind] |= 1 << position
        for token in tokenize_url(look.url, skip):
            if token.startswith(BEGINS):
                names[token] |= 1 << position
    return titles, names


def _related(place: Mapping[str, int], said: Titles, urls: Sequence[str]) -> dict[str, int]:
    """Names of few pages that end in a word kinds are called by ("Union Reference" beside "Class Reference"), or that
    all pages of a series have as their title."""
    lists = _lists(place, said, urls)
    found = [
        (name, pages) for name, pages in place.items() if split_kind_name(name)[-1] in said.telling or name in lists
    ]
    return dict(sorted(found, key=lambda item: (-item[1].bit_count(), item[0]))[:RELATED])


def _lists(place: Mapping[str, int], said: Titles, urls: Sequence[str]) -> frozenset[str]:
    """Names that all pages of a series have as their title."""
    return series({name: pages for name, pages in place.items() if name.removeprefix(ENDS) in said.repeated}, urls)


def _are_alike(pages: int, looks: Sequence[PageView]) -> bool:
    """Pages have half of what they are built of in common with the first of them."""
    first, *others = (looks[at].features for at in members(pages))
    return all(compute_feature_similarity(first, other) >= HALF for other in others)


def called(looks: Sequence[PageView], said: Titles) -> dict[str, int]:
    """Names of kinds on a small site, where little foretells anything: most names must be borne by kin. Where more
    are found than are kinds, single pages name none."""
    place = _places(looks, 0, said)[0] if len(looks) <= SMALL else {}
    place = {name: pages for name, pages in place.items() if not (_is_word(name) and _are_numbered(pages, looks))}
    asked = {name: pages for name, pages in place.items() if pages.bit_count() > 1}
    if len(asked) > MOST:
        return {}
    kin = {name for name, pages in asked.items() if are_same_kind(members(pages), looks)}
    if not kin or len(kin) < KIN * len(asked):
        return {}
    last = Counter(split_kind_name(name)[-1] for name in place if " " in name)
    proven = {split_kind_name(name)[-1] for name in kin if last[split_kind_name(name)[-1]] > 1}
    lists = {name for name in _lists(place, said, [look.url for look in looks]) if _are_alike(place[name], looks)}
    found = {
        name: pages
        for name, pages in place.items()
        if name in kin or name in lists or split_kind_name(name)[-1] in proven
    }
    return found if len(found) <= MOST else {name: pages for name, pages in found.items() if name in asked}


def split_kind_name(name: str) -> list[str]:
    """The words of a kind's name."""
    return name.removeprefix(ENDS).split()


def explained(parts: Sequence[int], had: Mapping[int, int], count: int) -> float:
    """Share of the information in which page has which block that is given by its part, what chance gives left out."""
    rest = ((1 << count) - 1) & ~union(parts)
    sized = [(part, part.bit_count()) for part in [*parts, rest] if part]
    cost = CHANCE * len(parts)
    given = whole = 0.0
    for block, having in had.items():
        share = having.bit_count() / count
        if is_block_feature(block) and RARE <= share <= 1 - RARE:
            bits = count * entropy(share)
            left = sum(size * entropy((part & having).bit_count() / size) for part, size in sized)
            given += max(0.0, bits - left - cost)
            whole += bits
    return given / whole if whole else 0.0
