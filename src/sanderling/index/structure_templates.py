"""The templates of a site, learned from its pages, and the template of a page that comes later.

`structure_split` divides; here parts that look alike are joined again, pages that have nothing of what marks their
template are moved to the template they do match or set aside as strays, and each template is given a name.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import log

from msgspec import Struct

from sanderling.index.structure_kinds import ends_in, join_named
from sanderling.index.structure_parts import folder_of, partition
from sanderling.index.structure_split import Fork, Sets, containment, divide, gather, profile
from sanderling.index.structure_views import Look
from sanderling.organise.tokens import common_depth, path_of, tokens
from sanderling.pages.structure import is_block

LEARN_FROM = 20_000  # pages; more teach nothing new
ALIKE = 0.55  # parts whose profiles share this much are one template ...
TOLD = 0.9  # ... unless some feature tells them apart this surely ...
SAME = 0.8  # ... and they do not hold this much of each other's blocks
MUTUAL = 0.6  # parts that share less but hold this much of each other's blocks are one template too ...
APART = 0.97  # ... unless some feature tells them apart this surely ...
WITHIN = 0.97  # ... and that is not just one part having less
CORE = 0.9  # share of a template's pages that have a feature of its core
ELSEWHERE = 0.5  # share of another template's pages that may have it too
UNUSUAL = 0.05
STRAYS = 0.1  # more of them, and they are no strays
ENOUGH = 20  # pages before anything is called a stray
GAPS = 1  # sections left out of a page that is still no stray
ADOPT = 0.6  # share of a core that makes a stray a member


class Template(Struct, frozen=True):
    """What marks a template: its core, the features that are usual on it, and the part set aside from it, if any."""

    core: frozenset[int]
    usual: frozenset[int]
    strict: bool  # pages without anything of the core are strays


class Rules(Struct, frozen=True):
    """How to tell the templates of one site apart."""

    skip: int
    tree: Fork | int
    leaves: tuple[int, ...]  # template of each leaf
    templates: tuple[Template, ...]
    ending: tuple[str, ...] = ()  # words that all titles end in

    def place(self, look: Look) -> tuple[int, bool]:
        """Number of a page's template, and whether it is a stray of it."""
        said = {*tokens(look.url, look.title, self.skip), *ends_in(look.title, self.ending)}
        node = self.tree
        while isinstance(node, Fork):
            node = node.yes if node.token in said else node.no
        number = self.leaves[node]
        template = self.templates[number]
        if not template.strict or template.core & look.features:
            return number, False
        home = adopt(look.features, self.templates)
        if home is not None:
            return home, False
        return number, not is_less(look.features, template.usual)


class Model(Struct, frozen=True):
    """Everything needed to say which template of a host a page is built on."""

    pages: int  # known when it was learned
    skip: int
    folders: dict[str, int]  # which site each top directory belongs to
    sites: tuple[Rules, ...]

    @property
    def count(self) -> int:
        """How many templates there are."""
        return sum(len(rules.templates) for rules in self.sites)

    def place(self, look: Look) -> int:
        """Number of a page's template; the strays of template n are number n plus the count of templates."""
        site = self.folders.get(folder_of(look.url, self.skip), 0)
        number, stray = self.sites[site].place(look)
        number += sum(len(rules.templates) for rules in self.sites[:site])
        return number + self.count if stray else number


def is_less(features: frozenset[int], usual: frozenset[int]) -> bool:
    """A page has only less on it: where a section is missing, its two neighbours become neighbours of each other."""
    unusual = features - usual
    return len(unusual) <= GAPS and not any(map(is_block, unusual))


def adopt(features: frozenset[int], templates: Sequence[Template]) -> int | None:
    """Find the template whose core this page has; None if there is none."""
    best, home = ADOPT, None
    for number, template in enumerate(templates):
        if len(template.core) >= 2 and any(is_block(feature) for feature in template.core):
            share = len(template.core & features) / len(template.core)
            if share > best:
                best, home = share, number
    return home


def learn(looks: Sequence[Look]) -> Model:
    """Learn the templates of one host."""
    step = -(-len(looks) // LEARN_FROM)
    taught = sorted(looks, key=lambda look: look.url)[:: step or 1]
    skip = common_depth(look.url for look in taught)
    folders = partition(taught, skip)
    parts: list[list[Look]] = [[] for _ in range(1 + max(folders.values(), default=0))]
    for look in taught:
        parts[folders[folder_of(look.url, skip)]].append(look)
    return Model(len(looks), skip, folders, tuple(learn_site(part) for part in parts))


def learn_site(looks: Sequence[Look]) -> Rules:
    """Learn the templates of one site."""
    sets = gather(looks)
    tree, parts = divide(sets)
    groups = join_named(join(parts, sets), sets.kinds)
    profiles = [profile(sets, group) for group in groups]
    templates = tuple(
        _template(sets, group, profiles[number], [p for other, p in enumerate(profiles) if other != number])
        for number, group in enumerate(groups)
    )
    leaves = tuple(next((n for n, group in enumerate(groups) if part & group), 0) for part in parts)
    templates = templates or (Template(frozenset(), frozenset(), False),)
    return Rules(sets.skip, tree, leaves, templates, sets.ending)


def join(parts: Sequence[int], sets: Sets) -> list[int]:
    """Join parts that look alike, the most alike first."""
    groups = {number: part for number, part in enumerate(parts) if part}
    profiles = {number: profile(sets, part) for number, part in groups.items()}
    pairs = {(a, b): alike(profiles[a], profiles[b], sets.weight) for a in groups for b in groups if a < b}
    while pairs and (closest := max(pairs, key=pairs.__getitem__)) and pairs[closest] > 0:
        kept, gone = closest
        groups[kept] |= groups.pop(gone)
        profiles[kept] = profile(sets, groups[kept])
        pairs = {pair: likeness for pair, likeness in pairs.items() if gone not in pair}
        for pair in pairs:
            if kept in pair:
                pairs[pair] = alike(profiles[pair[0]], profiles[pair[1]], sets.weight)
    return list(groups.values())


def alike(one: Mapping[int, float], other: Mapping[int, float], weight: Mapping[int, float]) -> float:
    """How much two parts share, if it is enough to be one template; 0 if it is not.

    Optional sections make pages of one template share less than half, but each part still holds most of what is usual
    on the other, and no section tells the parts apart for certain, unless one part has only less on it.
    """
    shared, told = overlap(one, other, weight), distance(one, other)
    first, second = containment(one, other, weight), containment(other, one, weight)
    least, most = min(first, second), max(first, second)
    near = least >= SAME or told <= TOLD if shared >= ALIKE else least >= MUTUAL and (most >= WITHIN or told <= APART)
    return shared if near else 0.0


def distance(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """How surely a single feature tells two parts apart."""
    return max((abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in one.keys() | other.keys()), default=0.0)


def overlap(one: Mapping[int, float], other: Mapping[int, float], weight: Mapping[int, float]) -> float:
    """What two profiles share, of what either has."""
    shared = whole = 0.0
    for feature in one.keys() | other.keys():
        a, b = one.get(feature, 0.0), other.get(feature, 0.0)
        shared += weight[feature] * min(a, b)
        whole += weight[feature] * max(a, b)
    return shared / whole if whole else 1.0


def _template(sets: Sets, pages: int, shares: Mapping[int, float], others: Sequence[Mapping[int, float]]) -> Template:
    core = frozenset(
        feature
        for feature, share in shares.items()
        if share >= CORE and all(other.get(feature, 0.0) <= ELSEWHERE for other in others)
    )
    usual = frozenset(feature for feature, share in shares.items() if share > UNUSUAL)
    marked = unusual = 0
    for feature in core:
        marked |= sets.features[feature] & pages
    for feature in shares.keys() - usual:
        unusual |= sets.features[feature] & pages
    count, strays = pages.bit_count(), (pages & ~marked & unusual).bit_count()
    return Template(core, usual, bool(core) and count >= ENOUGH and strays <= STRAYS * count)


class Named(Struct, frozen=True):
    """A template as people see it."""

    number: int
    pattern: str
    pages: int
    rarity: float  # ln(N / n), the IDF of SPEC section 9
    example: str


def name(number: int, looks: Sequence[Look], known: int) -> Named:
    """Describe a template by what its pages share."""
    ordered = sorted(looks, key=lambda look: (len(look.url), look.url))
    return Named(
        number=number,
        pattern=pattern(look.url for look in ordered),
        pages=len(ordered),
        rarity=log(known / len(ordered)) if ordered else 0.0,
        example=ordered[len(ordered) // 2].url,
    )


def pattern(urls: Iterable[str]) -> str:
    """Write the paths of these URLs as one: `*` where a name varies, `**` where the depth does."""
    paths = [path_of(url) for url in urls]
    if not paths:
        return ""
    names = [name for _, name, _ in paths]
    front, back = _shared([folders for folders, _, _ in paths])
    deepest = {len(folders) for folders, _, _ in paths}
    varied = min(deepest) - len(front) - len(back)
    middle = ["**"] if len(deepest) > 1 else ["*"] * varied
    return "/" + "/".join([*front, *middle, *back, _name_pattern(names)])


def _shared(folders: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """Directories all paths begin with, and those all end with."""
    least = min(len(path) for path in folders)
    front = []
    for level in range(least):
        if len({path[level] for path in folders}) > 1:
            break
        front.append(folders[0][level])
    back: list[str] = []
    for level in range(1, least - len(front) + 1):
        if len({path[-level] for path in folders}) > 1:
            break
        back.insert(0, folders[0][-level])
    return front, back


def _name_pattern(names: Sequence[str]) -> str:
    """What file names share at either end."""
    if len(set(names)) == 1:
        return names[0]
    least = min(map(len, names))
    front = next((n for n in range(least) if len({name[n] for name in names}) > 1), least)
    back = next((n for n in range(least - front) if len({name[-1 - n] for name in names}) > 1), least - front)
    return f"{names[0][:front]}*{names[0][len(names[0]) - back :]}"
