"""Single pages that have a template of their own: the one `package-summary.html` among the classes of a package.

Nothing divides a site by a single page. But where its file is called after another fashion than nearly all others of
its template, and much of what is on nearly all of them is not on it, two views agree that it is none of them.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from sanderling.index.structure_bits import members, union
from sanderling.index.structure_recurring import NAME, stem
from sanderling.index.structure_sets import Sets, profile
from sanderling.index.structure_views import Look
from sanderling.organise.tokens import path_of

ENOUGH = 12  # pages of a template that is looked into
UNUSUAL = 0.2  # share of a template's pages whose files are called after an odd fashion
CORE = 0.8  # share of a template's pages that have what nearly all have
FRAME, LACKING = 0.2, 0.7  # an odd page has the frame of the site, which is of that, and not much more
SEPARATORS = re.compile(r"[^0-9A-Za-z]")


def set_apart(groups: Sequence[int], sets: Sets, looks: Sequence[Look]) -> dict[str, int]:
    """Names of files that are odd wherever they are, and the pages of each."""
    if sets.believed:  # what titles do not name are the other pages of such a site
        return {}
    named = union(sets.kinds.values())
    odd = {page for group in groups if not group & named for page in odd_pages(group, sets, looks)}
    called: defaultdict[str, set[int]] = defaultdict(set)
    for page, look in enumerate(looks if odd else ()):
        called[stem(look.url)].add(page)
    return {NAME + name: sum(1 << page for page in pages) for name, pages in called.items() if pages <= odd}


def odd_pages(group: int, sets: Sets, looks: Sequence[Look]) -> list[int]:
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
    name = stem(url)
    return len(path_of(url)[0]), "".join(sorted(set(SEPARATORS.findall(name)))), name[:1].isupper()
