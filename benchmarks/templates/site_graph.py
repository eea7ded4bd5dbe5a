"""Link graphs of labelled sites, and simulated crawls over them: breadth-first and driven."""

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urldefrag, urljoin

from benchmarks.templates.labelled_sites import ROOT, Site, get_title
from msgspec import Struct

from sanderling.fingerprint.structure import fingerprint_structure
from sanderling.frontier.ordering.protocol import FoundUrl
from sanderling.html.parser import Document, parse_html
from sanderling.html.tag_tree import get_tag_path
from sanderling.models import Url
from sanderling.templates.driven_ordering import Arrival, DrivenOrdering
from sanderling.templates.link_model import LinkEvidence
from sanderling.templates.page_features import PageView

START = "index.html"


class SiteGraph(Struct, frozen=True):
    """Pages of a site with their links, by path."""

    pages: Mapping[str, Arrival]
    paths: Mapping[int, str]


def build_graph(site: Site) -> SiteGraph:
    ids = {path: number for number, path in enumerate(sorted(site.types), 1)}
    pages = {}
    for path, number in ids.items():
        tree = parse_html(site.read(path))
        links = [(ids[target], link) for target, link in _find_links(tree, path, ids).items()]
        pages[path] = Arrival(PageView(number, f"{ROOT}/{path}", get_title(tree), fingerprint_structure(tree)), links)
    return SiteGraph(pages, {number: path for path, number in ids.items()})


def _find_links(tree: Document, path: str, known: Mapping[str, int]) -> dict[str, LinkEvidence]:
    found: dict[str, LinkEvidence] = {}
    base = f"{ROOT}/{path}"
    for element in tree.iter_elements(("a", "frame", "iframe", "area")):
        href = element.attr("href") or element.attr("src") or ""
        try:
            url = unquote(urldefrag(urljoin(base, href))[0])
        except ValueError:
            continue
        target = url.removeprefix(f"{ROOT}/") or START
        target += START if target.endswith("/") else ""
        if target in known and target != path and target not in found:
            text = " ".join(element.text.split())[:200]
            found[target] = LinkEvidence(f"{ROOT}/{target}", text, base, get_tag_path(element))
    return found


def crawl_breadth_first(graph: SiteGraph, start: Sequence[str], budget: int) -> list[str]:
    seen, queue, done = dict.fromkeys(start), deque(dict.fromkeys(start)), list[str]()
    while queue and len(done) < budget:
        path = queue.popleft()
        done.append(path)
        for number, _ in graph.pages[path].links:
            target = graph.paths[number]
            if target not in seen:
                seen[target] = None
                queue.append(target)
    return done


def crawl_driven(
    graph: SiteGraph,
    start: Sequence[str],
    samples: Sequence[str],
    budget: int,
    ordering: DrivenOrdering | None = None,
) -> list[str]:
    """Return the pages in the order of a crawl with the ordering of the product."""
    ordering = ordering or DrivenOrdering([graph.pages[path].view for path in samples])
    ranks = {graph.pages[path].view.id: -100.0 + n for n, path in enumerate(dict.fromkeys(start))}
    heap = [(rank, number) for number, rank in ranks.items()]
    heapq.heapify(heap)
    done: dict[int, str] = {}
    while heap and len(done) < budget:
        rank, number = heapq.heappop(heap)
        if number in done or rank != ranks[number]:
            continue
        done[number] = graph.paths[number]
        page = graph.pages[done[number]]
        new = [(target, link) for target, link in page.links if target not in ranks]
        found = [FoundUrl(Url(link.url), 1, number) for _, link in new]
        ranks |= {target: rank for (target, _), rank in zip(new, ordering.rank(found), strict=True)}
        ordering.note(page)
        gains = {id_: gain for id_, gain in ordering.pop_rank_gains().items() if id_ in ranks and id_ not in done}
        ranks |= {id_: ranks[id_] - gain for id_, gain in gains.items()}
        for target in dict.fromkeys([*(target for target, _ in new), *gains]):
            heapq.heappush(heap, (ranks[target], target))
    return list(done.values())
