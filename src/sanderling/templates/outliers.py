"""Single pages that have a template of their own: the one `package-summary.html` among the classes of a package.

Nothing divides a site by a single page. But where its file is called after another fashion than nearly all others of
its template, and much of what is on nearly all of them is not on it, two views agree that it is none of them. Odd pages
that are built alike are one template, whatever they are called.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from sanderling.fingerprint.structure import compute_feature_similarity
from sanderling.templates.bitsets import members, union
from sanderling.templates.file_names import MOST, NAME, get_file_stem
from sanderling.templates.page_sets import PageSets, profile
from sanderling.templates.template_views import PageView
from sanderling.urls.tokens import split_path

ENOUGH = 12  # pages of a template that is looked into
UNUSUAL = 0.2  # share of a template's pages whose files are called after an odd fashion
CORE = 0.8  # share of a template's pages that have what nearly all have
FRAME, LACKING = 0.2, 0.7  # an odd page has the frame of the site, which is of that, and not much more
ALIKE = 0.85  # of what odd pages are built of is common to those of one template
HALF = 0.5  # share of the pages of a name that have what these are built of
SEPARATORS = re.compile(r"[^0-9A-Za-z]")


class Apart(Struct, frozen=True):
    """A template of odd pages: what their files are called, and the pages as a set."""

    names: tuple[str, ...]
    pages: int


def set_apart(groups: Sequence[int], sets: PageSets, looks: Sequence[PageView]) -> list[Apart]:
    """The templates of pages that are odd wherever a file is called like them; none where too many are to be odd."""
    if sets.believed:  # what titles do not name are the other pages of such a site
        return []
    called = odd_names(groups, sets, looks)
    if len(called) > MOST:
        return []
    built = {name: _built(pages, looks) for name, pages in called.items()}
    return [
        Apart(tuple(NAME + name for name in names), union(1 << page for name in names for page in called[name]))
        for names in together(built)
    ]


def odd_names(groups: Sequence[int], sets: PageSets, looks: Sequence[PageView]) -> dict[str, set[int]]:
    """Names of files that are odd wherever they are, and the pages of each."""
    named = union(sets.kinds.values())
    odd = {page for group in groups if not group & named for page in odd_pages(group, sets, looks)}
    called: defaultdict[str, set[int]] = defaultdict(set)
    for page, look in enumerate(looks if odd else ()):
        called[get_file_stem(look.url)].add(page)
    return {name: pages for name, pages in called.items() if pages <= odd}


def together(built: Mapping[str, frozenset[int]]) -> list[list[str]]:
    """Names whose pages are built alike; each is compared with the first of those before it."""
    found: list[list[str]] = []
    for name, features in built.items():
        home = next((names for names in found if compute_feature_similarity(features, built[names[0]]) >= ALIKE), None)
        if home is None:
            found.append([name])
        else:
            home.append(name)
    return found


def odd_pages(group: int, sets: PageSets, looks: Sequence[PageView]) -> list[int]:
    """Pages of a template that are none of it, by two views."""
    if group.bit_count() < ENOUGH:
        return []
    fashions = {page: fashion(looks[page].url) for page in members(group)}
    counted = Counter(fashions.values())
    core = {feature for feature, share in profile(sets, group).items() if share >= CORE}
    unusual = [page for page, called in fashions.items() if counted[called] <= UNUSUAL * len(fashions)]
    least, most = FRAME * len(core), LACKING * len(core)
    return [page for page in unusual if least <= len(core & looks[page].features) < most]


def fashion(url: str) -> tuple[int, str, bool]:
    """After what fashion a file is called: how deep it lies, what parts its words, whether it begins with a capital."""
    name = get_file_stem(url)
    return len(split_path(url)[0]), "".join(sorted(set(SEPARATORS.findall(name)))), name[:1].isupper()


def _built(pages: Collection[int], looks: Sequence[PageView]) -> frozenset[int]:
    """What pages are built of: the features that half of them have."""
    counted = Counter(feature for page in pages for feature in looks[page].features)
    return frozenset(feature for feature, count in counted.items() if count >= HALF * len(pages))
