"""The templates of a site, learned from its pages, and the template of a page that comes later.

`structure_split` divides and `structure_join` joins parts that look alike again; here pages that have nothing of what
marks their template are moved to the template they do match or set aside as strays.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sanderling.fingerprint.structure import is_block_feature
from sanderling.templates.merge import merge_parts
from sanderling.templates.outliers import set_apart
from sanderling.templates.page_sets import PageSets, build_page_sets, profile
from sanderling.templates.split import DecisionNode, divide
from sanderling.templates.subsites import get_top_folder, partition
from sanderling.templates.template_views import PageView
from sanderling.templates.titles import Titles
from sanderling.urls.tokens import count_common_folders, tokenize_page

LEARN_FROM = 20_000  # pages; more teach nothing new
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


class SiteTemplates(Struct, frozen=True):
    """How to tell the templates of one site apart."""

    skip: int
    tree: DecisionNode | int
    leaves: tuple[int, ...]  # template of each leaf
    templates: tuple[Template, ...]
    titles: Titles = Titles()
    named: int = 0  # so many leaves, the first, are kinds that titles name: what is called so is no stray

    def place(self, look: PageView) -> tuple[int, bool]:
        """Number of a page's template, and whether it is a stray of it."""
        said = {*tokenize_page(look.url, look.title, self.skip), self.titles.kind(look.title)}
        node = self.tree
        while isinstance(node, DecisionNode):
            node = node.yes if node.token in said else node.no
        number = self.leaves[node]
        template = self.templates[number]
        if node < self.named or not template.strict or template.core & look.features:
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
    sites: tuple[SiteTemplates, ...]

    @property
    def count(self) -> int:
        """How many templates there are."""
        return sum(len(rules.templates) for rules in self.sites)

    def place(self, look: PageView) -> int:
        """Number of a page's template; the strays of template n are number n plus the count of templates."""
        site = self.folders.get(get_top_folder(look.url, self.skip), 0)
        number, stray = self.sites[site].place(look)
        number += sum(len(rules.templates) for rules in self.sites[:site])
        return number + self.count if stray else number


def is_less(features: frozenset[int], usual: frozenset[int]) -> bool:
    """A page has only less on it: where a section is missing, its two neighbours become neighbours of each other."""
    unusual = features - usual
    return len(unusual) <= GAPS and not any(map(is_block_feature, unusual))


def adopt(features: frozenset[int], templates: Sequence[Template]) -> int | None:
    """Find the template whose core this page has; None if there is none."""
    best, home = ADOPT, None
    for number, template in enumerate(templates):
        if len(template.core) >= 2 and any(is_block_feature(feature) for feature in template.core):
            share = len(template.core & features) / len(template.core)
            if share > best:
                best, home = share, number
    return home


def learn_host_templates(looks: Sequence[PageView]) -> Model:
    """Learn the templates of one host."""
    step = -(-len(looks) // LEARN_FROM)
    taught = sorted(looks, key=lambda look: look.url)[:: step or 1]
    skip = count_common_folders(look.url for look in taught)
    folders = partition(taught, skip)
    parts: list[list[PageView]] = [[] for _ in range(1 + max(folders.values(), default=0))]
    for look in taught:
        parts[folders[get_top_folder(look.url, skip)]].append(look)
    return Model(len(looks), skip, folders, tuple(learn_site_templates(part) for part in parts))


def learn_site_templates(looks: Sequence[PageView]) -> SiteTemplates:
    """Learn the templates of one site."""
    sets = build_page_sets(looks)
    tree, parts = divide(sets)
    groups = merge_parts(parts, sets)
    leaves = [next((n for n, group in enumerate(groups) if part & group), 0) for part in parts]
    for apart in set_apart(groups, sets, looks):
        for name in apart.names:
            tree = DecisionNode(name, len(leaves), tree)
        leaves.append(len(groups))
        groups = [*(group & ~apart.pages for group in groups), apart.pages]
    profiles = [profile(sets, group) for group in groups]
    templates = tuple(
        _template(sets, group, profiles[number], [p for other, p in enumerate(profiles) if other != number])
        for number, group in enumerate(groups)
    )
    templates = templates or (Template(frozenset(), frozenset(), False),)
    return SiteTemplates(sets.skip, tree, tuple(leaves), templates, sets.titles, sets.believed)


def _template(
    sets: PageSets, pages: int, shares: Mapping[int, float], others: Sequence[Mapping[int, float]]
) -> Template:
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
