"""The link graph of a site as a crawler sees it, and three crawlers that walk it."""

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urldefrag, urljoin

from benchmarks.templates.labelled_sites import ROOT, Site, title_of
from msgspec import Struct

from sanderling.fingerprint.structure import decode_features, fingerprint_structure
from sanderling.frontier.ordering.protocol import FoundUrl
from sanderling.html.parser import Document, parse_html
from sanderling.html.tag_tree import get_tag_path
from sanderling.models import Url
from sanderling.templates.classifier import Recogniser
from sanderling.templates.driven_ordering import RANKS, Driven
from sanderling.templates.link_model import LinkSeen, Navigator, parents_of
from sanderling.templates.link_outcomes import Arrival
from sanderling.templates.template_views import PageView


class Web(Struct, frozen=True):
    """The link graph of a site, as a crawler would see it."""

    pages: Mapping[str, Arrival]
    names: Mapping[int, str]
    start: str


def web_of(site: Site) -> Web:
    """Read all pages and their links."""
    ids = {path: number for number, path in enumerate(site.types, 1)}
    pages = {}
    for path, number in ids.items():
        tree = parse_html(site.read(path))
        links = [(ids[target], link) for target, link in _links(tree, path, ids).items()]
        pages[path] = Arrival(number, f"{ROOT}/{path}", title_of(tree), fingerprint_structure(tree), links)
    return Web(pages, {number: path for path, number in ids.items()}, "index.html")


def _links(tree: Document, path: str, known: Mapping[str, int]) -> dict[str, LinkSeen]:
    found: dict[str, LinkSeen] = {}
    base = f"{ROOT}/{path}"
    for element in tree.iter_elements(("a", "frame", "iframe", "area")):
        href = element.attr("href") or element.attr("src") or ""
        try:
            url = unquote(urldefrag(urljoin(base, href))[0])
        except ValueError:
            continue
        target = url.removeprefix(f"{ROOT}/") or "index.html"
        target += "index.html" if target.endswith("/") else ""
        if target in known and target != path and target not in found:
            found[target] = LinkSeen(
                f"{ROOT}/{target}", " ".join(element.text.split())[:200], base, get_tag_path(element)
            )
    return found


def breadth(web: Web, budget: int) -> list[str]:
    """Pages in the order of a breadth-first crawl."""
    seen, queue = {web.start}, deque([web.start])
    done: list[str] = []
    while queue and len(done) < budget:
        path = queue.popleft()
        done.append(path)
        for number, _ in web.pages[path].links:
            target = web.names[number]
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return done


def drive(web: Web, sample: str, budget: int) -> list[str]:
    """Pages in the order of a crawl driven by one sample, through the ordering that real crawls use."""
    page = web.pages[sample]
    look = PageView(page.id, page.url, page.title, decode_features(page.signature))
    order = Driven(Recogniser([look]), Navigator([page.url]))
    ranks: dict[int, float] = {page.id: -2.0, web.pages[web.start].id: -1.0}
    above = _above(web, page.url)
    ranks = {number: order.place(parent.url, number) for number, parent in above.items()} | ranks
    order.let_wait = lambda urls: _let_wait(web, urls, ranks, above)
    heap = [(rank, number) for number, rank in ranks.items()]
    heapq.heapify(heap)
    done: dict[int, str] = {}
    depths = dict.fromkeys(ranks, 0)
    while heap and len(done) < budget:
        rank, number = heapq.heappop(heap)
        if number in done or rank != ranks[number]:
            continue
        done[number] = web.names.get(number, "")
        arrival = above[number] if number in above else web.pages[done[number]]
        new = [(target, link) for target, link in arrival.links if target not in ranks]
        depth = depths.setdefault(number, 1) + 1
        depths |= {target: depth for target, _ in new}
        findings = [FoundUrl(Url(link.url), depth, number) for _, link in new]
        ranks |= {target: place for (target, _), place in zip(new, order.rank(findings), strict=True)}
        order.note(arrival)
        gains = {
            target: gain for target, gain in order.pop_rank_gains().items() if target in ranks and target not in done
        }
        ranks |= {target: ranks[target] - gain for target, gain in gains.items()}
        for target in dict.fromkeys([*(target for target, _ in new), *gains]):
            heapq.heappush(heap, (ranks[target], target))
    return list(done.values())


def _let_wait(web: Web, urls: Sequence[str], ranks: dict[int, float], above: dict[int, Arrival]) -> dict[Url, int]:
    """Give ids to pages whose URLs were guessed; asking for one that is not there costs a fetch too."""
    found = {}
    for url in urls:
        page = web.pages.get(url.removeprefix(f"{ROOT}/"))
        if page is None:
            page = Arrival(-len(above) - 1_000, url, "", b"")
            above[page.id] = page
        if page.id not in ranks:
            ranks[page.id] = RANKS
            found[Url(url)] = page.id
    return found


def _above(web: Web, url: str) -> dict[int, Arrival]:
    """The directories above a page, those that are not there too: asking for one costs a fetch."""
    found = {}
    for number, parent in enumerate(parents_of(url), 1):
        path = parent.removeprefix(f"{ROOT}/") + "index.html"
        page = web.pages.get(path, Arrival(-number, parent, "", b""))
        if path != web.start:
            found[page.id] = page
    return found


def oracle(web: Web, wanted: set[str], sample: str, budget: int) -> list[str]:
    """Pages in the order of a greedy crawler that knows the whole site: nearly the best there is."""
    links = {path: [web.names[number] for number, _ in page.links] for path, page in web.pages.items()}
    leads = {path: wanted.intersection(targets) for path, targets in links.items()}
    done: list[str] = []
    seen = {sample, web.start}
    waiting = [sample, web.start]
    while waiting and len(done) < budget:
        path = max(waiting, key=lambda path: (path in wanted, len(leads[path] - seen)))
        if path not in wanted and not leads[path] - seen:
            path = _towards(links, leads, waiting, seen)
        waiting.remove(path)
        done.append(path)
        new = [target for target in links[path] if target not in seen]
        seen.update(new)
        waiting += new
    return done


def _towards(
    links: Mapping[str, Sequence[str]], leads: Mapping[str, set[str]], waiting: Sequence[str], seen: set[str]
) -> str:
    """The waiting page that is nearest to a page with links to wanted ones."""
    first = {path: path for path in waiting}
    queue = deque(waiting)
    while queue:
        path = queue.popleft()
        if leads[path] - seen:
            return first[path]
        for target in links[path]:
            if target not in first and target not in seen:
                first[target] = first[path]
                queue.append(target)
    return waiting[0]
