"""Read what `--order` says: a name, or several with weights (`pagerank+sitemap`, `0.7*opic+0.3*breadth`)."""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.frontier.order import Ordering
from sanderling.frontier.orderings.backlinks import BackLinks
from sanderling.frontier.orderings.breadth import Breadth
from sanderling.frontier.orderings.coverage import Coverage
from sanderling.frontier.orderings.depth import Depth
from sanderling.frontier.orderings.hits import Hits
from sanderling.frontier.orderings.mix import Mix
from sanderling.frontier.orderings.opic import Opic
from sanderling.frontier.orderings.pagerank import PageRank
from sanderling.frontier.orderings.pvalue import Pvalue
from sanderling.frontier.orderings.sitemap import SitemapPriority
from sanderling.frontier.orderings.sites import LargerSites

DEFAULT = "pagerank"  # the best of those measured (docs/benchmarks.md)
PART = re.compile(r"\s*(?:(\d+(?:\.\d+)?)\s*\*)?\s*([a-z-]+)\s*")


class Kind(Struct, frozen=True):
    """An ordering that can be chosen."""

    make: Callable[[], Ordering]
    says: str
    mixes: bool = True  # its ranks are of a size that adds up with others


ORDERINGS: Mapping[str, Kind] = {
    "breadth": Kind(Breadth, "level by level"),
    "depth": Kind(Depth, "the links of the newest page first", mixes=False),
    "pvalue": Kind(Pvalue, "links out less links in, three lists taken 4 : 2 : 1", mixes=False),
    "coverage": Kind(Coverage, "what leads to most new links"),
    "backlinks": Kind(BackLinks, "what most stored pages link to"),
    "pagerank": Kind(PageRank, "PageRank of the graph so far"),
    "opic": Kind(Opic, "each page shares its cash among its links"),
    "hits": Kind(Hits, "what good hubs point at"),
    "larger-sites": Kind(LargerSites, "the site with most URLs waiting"),
    "sitemap": Kind(SitemapPriority, "the priority in sitemaps"),
}


def choose(text: str) -> Ordering:
    """Make the ordering that was asked for, or say what there is."""
    parts = [PART.fullmatch(part) for part in text.split("+")]
    named = [(float(found[1] or 1.0), found[2]) for found in parts if found and found[2] in ORDERINGS]
    if len(named) < len(parts):
        raise UsageError(
            f"there is no ordering {text!r}; there are {', '.join(ORDERINGS)}, and mixes such as pagerank+sitemap"
            " or 0.7*opic+0.3*breadth"
        )
    if len(named) == 1:
        return ORDERINGS[named[0][1]].make()
    unmixable = [name for _, name in named if not ORDERINGS[name].mixes]
    if unmixable:
        mixing = ", ".join(name for name, kind in ORDERINGS.items() if kind.mixes)
        raise UsageError(f"{unmixable[0]} cannot be mixed with others; these can: {mixing}")
    total = sum(weight for weight, _ in named)
    if total <= 0:
        raise UsageError(f"the weights of {text!r} add up to nothing; write for example 0.7*opic+0.3*breadth")
    return Mix([(weight / total, ORDERINGS[name].make()) for weight, name in named])
