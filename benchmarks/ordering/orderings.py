"""Compare orderings on real sites, served on loopback and crawled completely.

For each crawl: what share of the PageRank and of the in-links was collected after so many pages; for crawls with a
topic, the harvest rate: the share of pages fetched that are relevant (they have all its words, and are among the best
5 % by BM25). And what an ordering costs: CPU time of the coordinator, replayed without a network, and of workers that
look for a topic, against that of a whole crawl; and crawls with each ordering in turn, by CPU and by the clock.

The crawls of `sitemap` alone are given sitemaps, with priorities by how often made-up readers come.

python -m benchmarks.ordering.orderings [--graphs a,b:c] [--orders x,y] [--rounds N] [--races N] [--data DIR] [--kept
FILE] ...
"""

import argparse
import random
import shutil
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from benchmarks.crawl.crawlers_compared import PYTHON
from benchmarks.lib.link_graphs import LinkGraph, Page, graph_of
from benchmarks.lib.linked_sites import Served, served
from benchmarks.lib.measure import measure
from benchmarks.lib.offline_crawl import Look, plain, replay
from benchmarks.ordering import ordering_report
from benchmarks.ordering.collection_value import Graph, bm25, curve, in_links, pagerank, relevant
from benchmarks.ordering.ordering_speed import Speed, Timed, race, sitemaps
from msgspec import Struct, structs

from sanderling.config.settings import OrderingSettings
from sanderling.fetch.link_resolution import resolve_links
from sanderling.fetch.topic_score import build_link_scorer, score_page_relevance
from sanderling.frontier.ordering.ordering_registry import LOGS_REQUIREMENT, ORDERINGS, TOPIC_REQUIREMENT
from sanderling.frontier.ordering.topic import TopicScorer, build_topic_from_query, pack_relevance
from sanderling.html.links import extract_metadata
from sanderling.html.parser import parse_html
from sanderling.html.text import extract_raw_text, render_text
from sanderling.models import Link
from sanderling.storage.link_graph import unpack_links
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import read_record

ALL = ("postgresql-doc-15", "python-django-doc", "sqlite3-doc", "libstdc++-12-doc", "junit4-doc")
GRAPHS = (*ALL, ":".join(ALL))
BASELINE = "breadth"
BUDGET = 25  # per cent of the pages: what a focused crawl is given
COST_SITE = "libstdc++-12-doc"  # for what an ordering costs
RACE_SITE = "libstdc++-12-doc"  # for its speed: crawled whole, as part of a site would be other pages for each
SCORED = 500  # pages of it that are scored for a topic
RELEVANT = 0.05  # of all pages, at most
QUERIES = {
    "postgresql-doc-15": (
        "vacuum dead tuples",
        "logical replication",
        "regular expression pattern",
        "trigger function",
    ),
    "python-django-doc": ("form validation", "template filter", "database migration", "user authentication"),
    "sqlite3-doc": ("virtual table", "write ahead log", "query planner index", "memory allocation"),
    "libstdc++-12-doc": ("hash bucket", "regex matching", "allocator memory", "thread mutex"),
    "junit4-doc": ("test rule", "categories filter", "matcher assertion", "runner exception"),
}
READERS = 2_000  # made-up readers, for an access log
STAY = 0.85  # a reader follows another link


class Run(Struct, frozen=True):
    """A crawl: pages in the order stored, and its cost."""

    order: str
    pages: tuple[str, ...]
    cpu_seconds: float
    wall_seconds: float = 0.0


class Result(Struct, frozen=True):
    """An ordering on a graph; curves have 101 points."""

    graph: str
    order: str
    size: int
    rank_mass: list[float]
    link_mass: list[float]


class Harvest(Struct, frozen=True):
    """A topic on a graph: share of relevant pages after each hundredth of the pages."""

    graph: str
    order: str
    query: str
    size: int
    relevant: int
    found: list[float]  # of all relevant pages


class Costs(Struct, frozen=True):
    """CPU milliseconds for a page: of a whole crawl, and by ordering of the coordinator and of the topic."""

    whole: float
    coordinator: dict[str, float]
    topic: dict[str, float]


class OrderingResults(Struct, frozen=True):
    """Stored measurements, so that parts can be repeated."""

    results: list[Result] = []
    harvests: list[Harvest] = []
    costs: Costs | None = None
    speeds: list[Speed] = []


def main() -> int:
    """Crawl, measure, print, write."""
    options = _options()
    folder = options.data / "ordering"
    shutil.rmtree(folder, ignore_errors=True)
    file = options.kept or options.data / "ordering.json"
    results = (
        msgspec.json.decode(file.read_bytes(), type=OrderingResults)
        if options.kept and file.exists()
        else OrderingResults()
    )
    for graph in options.graphs.split(",") if options.graphs else ():
        names = tuple(graph.split(":"))
        with served(options.data, names, folder) as web:
            one, topics = crawl_all(graph, names, web, folder, options)
        results = OrderingResults(
            list({(r.graph, r.order): r for r in (*results.results, *one)}.values()),
            list({(h.graph, h.order, h.query): h for h in (*results.harvests, *topics)}.values()),
            results.costs,
            results.speeds,
        )
        file.write_bytes(msgspec.json.encode(results))
    if options.rounds:
        results = structs.replace(results, costs=weigh(folder, options))
        file.write_bytes(msgspec.json.encode(results))
    if options.races:
        results = structs.replace(results, speeds=run_races(folder, options))
        file.write_bytes(msgspec.json.encode(results))
    shutil.rmtree(folder, ignore_errors=True)
    print(ordering_report.tables(results))
    if options.write:
        ordering_report.write(results)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="sites, comma-separated; a:b links several")
    parser.add_argument("--orders", default="", help="only these (default: all)")
    parser.add_argument("--queries", type=int, default=2, help="topics for each site")
    parser.add_argument("--rounds", type=int, default=3, help="replays for the cost of each; the cheapest counts")
    parser.add_argument("--races", type=int, default=3, help="whole crawls with each, for its speed")
    parser.add_argument("--data", type=lambda path: Path(path).absolute(), default=Path("bench-data").absolute())
    parser.add_argument("--kept", type=Path, help="file of what was measured before, to be added to")
    parser.add_argument("--write", action="store_true", help="write docs/measurements/benchmarks.md and its charts")
    return parser.parse_args()


def crawl_all(
    graph: str, names: Sequence[str], web: Served, folder: Path, options: argparse.Namespace
) -> tuple[list[Result], list[Harvest]]:
    """Crawl a graph with every ordering; the first, breadth-first, gives the graph itself."""
    selected = chosen(options)
    first = crawl(web, BASELINE, folder / "first", [])
    known, texts = read_graph(folder / "first")
    log = access_log(known, folder / "access.log")
    masses = [dict(zip(known.urls, values, strict=True)) for values in (pagerank(known), in_links(known))]
    results = [_result(graph, first, masses)]
    sitemaps(Path(web.maps), web.homes, hits_of(log, known))
    for name in selected[1:]:
        if ORDERINGS[name].requirement != TOPIC_REQUIREMENT:
            extra = ["--access-log", str(log)] if ORDERINGS[name].requirement == LOGS_REQUIREMENT else []
            extra += ["--sitemaps"] if name == "sitemap" else []
            results.append(_result(graph, crawl(web, name, folder / "run", extra), masses))
    harvests = []
    budget = ["--limit", str(len(known.urls) * BUDGET // 100)]
    for query in [query for name in names for query in QUERIES[name][: options.queries]]:
        good = relevant(bm25(query, texts), int(RELEVANT * len(texts)))
        harvests.append(_harvest(graph, first, query, good, known))
        for name in selected:
            if ORDERINGS[name].requirement == TOPIC_REQUIREMENT:
                run = crawl(web, name, folder / "run", ["--query", query, *budget])
                harvests.append(_harvest(graph, run, query, good, known))
    return results, harvests


def chosen(options: argparse.Namespace) -> list[str]:
    selected = [name for name in (options.orders.split(",") if options.orders else ORDERINGS) if name in ORDERINGS]
    return [BASELINE, *(name for name in selected if name != BASELINE)]


def weigh(folder: Path, options: argparse.Namespace) -> Costs:
    """Measure the CPU cost of each ordering per page."""
    graph = graph_of(options.data, (COST_SITE,))
    query = QUERIES[COST_SITE][2]  # one that fish search follows to the end
    known = Graph(tuple(graph.pages), tuple(() for _ in graph.pages))
    folder.mkdir(parents=True, exist_ok=True)
    log = access_log(known, folder / "access.log")
    wishes = {
        "": OrderingSettings(),
        TOPIC_REQUIREMENT: OrderingSettings(query=query),
        LOGS_REQUIREMENT: OrderingSettings(access_log=(str(log),)),
    }
    single = LinkGraph("", graph.seed, {graph.seed: structs.replace(graph.pages[graph.seed], links=())})
    start = min(replay(single, OrderingSettings(), folder / "replay").seconds for _ in range(3))  # to begin and to end
    spent: dict[str, list[float]] = {}
    for turn in range(options.rounds):
        for name in chosen(options):
            needs = ORDERINGS[name].requirement
            wish = structs.replace(wishes[needs], ordering=name)
            run = replay(graph, wish, folder / "replay", listening(query) if needs == TOPIC_REQUIREMENT else plain)
            spent.setdefault(name, []).append(1000 * (run.seconds - start) / len(run.order))
            print(f"  round {turn + 1}, {name}: {spent[name][-1]:.3f} ms for a page", file=sys.stderr)
    topics = {name for name in spent if ORDERINGS[name].requirement == TOPIC_REQUIREMENT}
    scored = min(_time_scoring(graph, query) for _ in range(options.rounds))
    return Costs(_whole(folder, options), {name: min(times) for name, times in spent.items()},
                 {name: scored if name in topics else 0.0 for name in spent})  # fmt: skip


def _whole(folder: Path, options: argparse.Namespace) -> float:
    """CPU milliseconds for a page of a real crawl, all processes, without beginning and end."""
    with served(options.data, (COST_SITE,), folder) as web:
        start = min(crawl(web, BASELINE, folder / "run", ["--limit", "1"]).cpu_seconds for _ in range(2))
        run = crawl(web, BASELINE, folder / "run", [])
    return 1000 * (run.cpu_seconds - start) / len(run.pages)


def run_races(folder: Path, options: argparse.Namespace) -> list[Speed]:
    """Run complete crawls of a site with every ordering, in turn."""
    with served(options.data, (RACE_SITE,), folder) as web:
        crawl(web, BASELINE, folder / "first", [])
        known, _ = read_graph(folder / "first")
        log = access_log(known, folder / "access.log")
        sitemaps(Path(web.maps), web.homes, hits_of(log, known))
        extra = {
            "": [],
            TOPIC_REQUIREMENT: ["--query", QUERIES[RACE_SITE][2]],
            LOGS_REQUIREMENT: ["--access-log", str(log)],
        }

        start = min(crawl(web, BASELINE, folder / "run", ["--limit", "1"]).cpu_seconds for _ in range(2))

        def race_once(name: str) -> Timed:
            run = crawl(web, name, folder / "run", extra[ORDERINGS[name].requirement])
            return Timed(len(run.pages), run.cpu_seconds - start, run.wall_seconds)

        return race(chosen(options), options.races, race_once)


def listening(query: str) -> Look:
    """Return what a worker with a topic extracts from a page."""
    topic = TopicScorer(build_topic_from_query(query))

    def look(page: Page) -> tuple[Mapping[str, bytes], tuple[Link, ...]]:
        tree = parse_html(Path(page.file).read_bytes(), "") if page.file.endswith("html") else parse_html(b"", "")
        marks = {"relevance": pack_relevance(topic.score_page(tree.text))}
        return marks, tuple(structs.replace(link, topic_score=topic.score_link(link.anchor, "")) for link in page.links)

    return look


def _time_scoring(graph: LinkGraph, query: str) -> float:
    """CPU milliseconds for a page that a migrant spends on the topic."""
    pages = [page for page in graph.pages.values() if page.file.endswith("html")][:: max(1, len(graph.pages) // SCORED)]
    topic, spent = TopicScorer(build_topic_from_query(query)), 0.0
    for page in pages:
        tree = parse_html(Path(page.file).read_bytes(), "")
        found = extract_metadata(tree, page.url)
        extract_raw_text(tree)
        resolve_links(found, False)  # what is remembered of URLs is there for both
        begin = time.process_time()
        score_page_relevance(topic, tree, found.title)
        resolve_links(found, False, build_link_scorer(topic, tree, found))
        middle = time.process_time()
        resolve_links(found, False)
        spent += 2 * middle - begin - time.process_time()
    return 1000 * spent / len(pages)


def _result(graph: str, run: Run, masses: Sequence[Mapping[str, float]]) -> Result:
    ranks, links = (curve(run.pages, mass) for mass in masses)
    at = " ".join(f"{100 * ranks[share]:.1f}" for share in (10, 25, 50))
    print(f"  {graph} {run.order}: {len(run.pages)} pages, PageRank mass at 10, 25, 50 %: {at}", file=sys.stderr)
    return Result(graph, run.order, len(masses[0]), ranks, links)


def _harvest(graph: str, run: Run, query: str, good: set[str], known: Graph) -> Harvest:
    mass = dict.fromkeys(known.urls, 0.0) | dict.fromkeys(good, 1 / len(good))
    found = curve(run.pages, mass)
    print(f"  {graph} {run.order} {query!r}: {100 * found[10]:.1f} % of the relevant after 10 %", file=sys.stderr)
    return Harvest(graph, run.order, query, len(known.urls), len(good), found)


def crawl(web: Served, order: str, folder: Path, extra: Sequence[str]) -> Run:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [
        sys.executable, "-m", "sanderling", "crawl", web.seed, "-C", str(folder / "c"), "--scope", "any", "--include",
        web.include, "--allow-private", "--delay", "0", "--no-index", "--quiet", "--order", order,
        *(() if "--sitemaps" in extra else ("--no-sitemaps",)), *extra,
    ]  # fmt: skip
    cost = measure(command, folder, PYTHON)
    if cost.exit_code != 0:
        raise RuntimeError(f"{order} ended with {cost.exit_code}: {(folder / 'output.txt').read_text()[-400:]}")
    db = sqlite3.connect(folder / "c" / "sanderling.db")
    rows = db.execute(
        "SELECT h.name || u.path FROM visits AS v JOIN urls AS u ON u.id = v.url JOIN hosts AS h ON h.id = u.host"
        " WHERE v.outcome = 'fetched' AND u.role = 'page' ORDER BY v.id"
    ).fetchall()
    (wall,) = db.execute("SELECT ended - started FROM runs ORDER BY id DESC LIMIT 1").fetchone()
    db.close()
    return Run(order, tuple(url for (url,) in rows), cost.cpu_seconds, wall)


def read_graph(folder: Path) -> tuple[Graph, dict[str, str]]:
    """The graph that a complete crawl found, and the text of every page."""
    db = sqlite3.connect(folder / "c" / "sanderling.db")
    rows = db.execute(
        "SELECT p.url, h.name || u.path, p.links, f.name, v.start, v.length, p.mime, p.charset FROM pages AS p"
        " JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host JOIN visits AS v ON v.id = p.visit"
        " JOIN files AS f ON f.id = v.file WHERE p.status = 200 AND u.role = 'page' ORDER BY p.url"
    ).fetchall()
    db.close()
    places = {row[0]: place for place, row in enumerate(rows)}
    links = tuple(tuple(places[t] for t in unpack_links(row[2]).target_ids if t in places) for row in rows)
    texts = {}
    for _, url, _, file, start, length, mime, charset in rows:
        if mime == "text/html":
            texts[url] = render_text(
                parse_html(read_record(folder / "c" / "archive", RecordLocation(file, start, length)).body, charset)
            )
    return Graph(tuple(row[1] for row in rows), links), texts


def access_log(graph: Graph, file: Path) -> Path:
    """Simulate the access log of readers who follow links."""
    draw = random.Random(7)
    with file.open("w") as out:
        for reader in range(READERS):
            at = draw.randrange(len(graph.urls))
            while True:
                path = "/" + graph.urls[at].split("/", 3)[3]
                host = f"8.{reader // 250}.{reader % 250}.9" if reader % 5 else "10.0.0.1"
                out.write(f'{host} - - [10/Oct/2026:13:55:36 +0000] "GET {path} HTTP/1.1" 200 1\n')
                if draw.random() > STAY or not graph.links[at]:
                    break
                at = draw.choice(graph.links[at])
    return file


def hits_of(log: Path, graph: Graph) -> Counter[str]:
    """Return the requests per page."""
    paths = Counter(line.split('"')[1].split()[1] for line in log.read_text().splitlines())
    return Counter({url: paths["/" + url.split("/", 3)[3]] for url in graph.urls if url.count("/") >= 3})


if __name__ == "__main__":
    sys.exit(main())
