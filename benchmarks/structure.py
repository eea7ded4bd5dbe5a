"""More like this, measured: finding page types, signatures, look-ups, tree matching, driven crawls.

    python -m benchmarks.structure [--data DIR] [--only NAME] [--samples N] [--write]

The pages are those of the labelled Debian packages (structure-debian in SANDERLING_SUITES), unpacked below DIR/sites.
Every number is measured here; `--write` puts them into docs/structure.md.
"""

import argparse
import heapq
import json
import os
import random
import re
import statistics
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

from msgspec import Struct

from sanderling.database import connect, migrate
from sanderling.frontier.order import Finding
from sanderling.index.structure import STRAY_LIKENESS, Stored, Structures
from sanderling.index.structure_drive import Arrival, Driven
from sanderling.index.structure_recognise import Recogniser
from sanderling.index.structure_schema import MIGRATIONS
from sanderling.index.structure_templates import learn
from sanderling.index.structure_views import Look
from sanderling.organise.navigation import LinkSeen, Navigator
from sanderling.pages.links import extract
from sanderling.pages.matching import RIVALS
from sanderling.pages.parse import Document, Element, parse
from sanderling.pages.structure import features, likeness, structure
from sanderling.pages.tree import Node, clean, place_of
from sanderling.records import Url

ROOT = "http://site"
DOCUMENT = Path("docs/structure.md")
BEGIN, END = "<!-- measures: written by python -m benchmarks.structure --write -->", "<!-- end of measures -->"
F1_TARGET, SIGNATURE_TARGET, LOOKUP_TARGET, PAIRS_TARGET = 0.97, 0.15, 0.020, 200
FOUND_TARGET, HARVEST_TARGET, RARE = 0.9, 3.0, 0.2
BATCH = 1  # pages between two looks at what was learned: a polite crawl asks once a second and looks twice


class Site(Struct, frozen=True):
    """A labelled site: its files and the type of every page."""

    name: str
    root: Path
    types: Mapping[str, str]

    def read(self, path: str) -> bytes:
        """The bytes of a page."""
        return (self.root / path).read_bytes()

    def of_type(self) -> dict[str, list[str]]:
        """Pages by type."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for path, kind in sorted(self.types.items()):
            found[kind].append(path)
        return dict(found)


def labelled(data: Path) -> list[Site]:
    """The labelled sites that are unpacked."""
    suites = os.environ.get("SANDERLING_SUITES")
    if not suites:
        raise SystemExit("SANDERLING_SUITES names no folder: the labels are not at hand")
    sites = []
    for file in sorted(Path(suites, "structure-debian", "labels").glob("*.json")):
        label = json.loads(file.read_text())
        root = data / "sites" / label["package"] / label["site_dir"]
        if root.is_dir():
            sites.append(Site(label["package"], root, label["pages"]))
    return sites


def title_of(tree: Document) -> str:
    """The words of a page's title."""
    title = tree.find("title")
    return " ".join(title.text.split()) if title is not None else ""


def looks(site: Site) -> dict[str, Look]:
    """Every page of a site as the index sees it."""
    found = {}
    for number, path in enumerate(site.types, 1):
        tree = parse(site.read(path))
        found[path] = Look(number, f"{ROOT}/{path}", title_of(tree), features(structure(tree)))
    return found


# Page types


def f1(found: set[str], wanted: set[str]) -> float:
    """Harmonic mean of precision and recall."""
    return 2 * len(found & wanted) / (len(found) + len(wanted)) if found else 0.0


def find_types(site: Site, samples: int) -> dict[str, tuple[int, float]]:
    """One sample of a type, all pages of that type to be found; the mean over several samples, for every type."""
    seen = looks(site)
    model = learn(list(seen.values()))
    placed: defaultdict[int, set[str]] = defaultdict(set)
    numbers = {path: model.place(look) for path, look in seen.items()}
    for path, number in numbers.items():
        placed[number].add(path)

    def ask(sample: str) -> set[str]:
        found = placed[numbers[sample]]
        if numbers[sample] < model.count:
            return found
        return {path for path in found if likeness(seen[path].features, seen[sample].features) >= STRAY_LIKENESS}

    chooser = random.Random(8)
    results = {}
    for kind, members in site.of_type().items():
        chosen = chooser.sample(members, min(samples, len(members)))
        results[kind] = (len(members), statistics.mean(f1(ask(sample), set(members)) for sample in chosen))
    return results


def types_table(sites: Sequence[Site], samples: int) -> Iterator[str]:
    """The table of page types."""
    yield "### Page types found from one sample"
    yield ""
    yield f"Mean over up to {samples} random samples of each type; target: macro F1 at least {F1_TARGET}."
    yield ""
    yield "| site | pages | types | macro F1, all types | macro F1, types of 10 pages and more | below 0.97 |"
    yield "|---|---:|---:|---:|---:|---|"
    for site in sites:
        results = find_types(site, samples)
        every = statistics.mean(value for _, value in results.values())
        large = statistics.mean(value for count, value in results.values() if count >= 10)
        low = ", ".join(f"{kind} ({count}): {v:.2f}" for kind, (count, v) in results.items() if v < F1_TARGET)
        yield f"| {site.name} | {len(site.types):,} | {len(results)} | {every:.3f} | {large:.3f} | {low or '-'} |"


# Methods


def methods_table(sites: Sequence[Site]) -> Iterator[str]:
    """Whole-tree similarities with one threshold for all sites, the best there is, on some pages of every type."""
    yield "### Similarity with one threshold, for comparison"
    yield ""
    yield "Up to 12 pages of every type; the threshold that is best over all sites, chosen with the labels at hand."
    yield ""
    yield "| method | best threshold | " + " | ".join(site.name for site in sites) + " | pairs/s |"
    yield "|---|---:|" + "---:|" * (len(sites) + 1)
    trees = {site.name: _some_trees(site) for site in sites}
    for name, method in RIVALS.items():
        start, pairs, scores = time.perf_counter(), 0, {}
        for site, kinds in trees.items():
            scores[site] = {a: {b: method(kinds[a][1], kinds[b][1]) for b in kinds} for a in kinds}
            pairs += len(kinds) ** 2
        speed = pairs / (time.perf_counter() - start)
        best, values = max(
            (statistics.mean(row := [_at(scores[site], kinds, t / 50) for site, kinds in trees.items()]), (t / 50, row))
            for t in range(5, 50)
        )[1]
        cells = " | ".join(f"{value:.2f}" for value in values)
        yield f"| {name} | {best:.2f} | {cells} | {speed:,.0f} |"


def _some_trees(site: Site) -> dict[str, tuple[str, Node]]:
    chooser = random.Random(5)
    found = {}
    for kind, members in site.of_type().items():
        for path in chooser.sample(members, min(12, len(members))):
            found[path] = (kind, clean(parse(site.read(path))))
    return found


def _at(scores: Mapping[str, Mapping[str, float]], kinds: Mapping[str, tuple[str, Node]], threshold: float) -> float:
    """Macro F1 where everything over a threshold is taken."""
    per_type: defaultdict[str, list[float]] = defaultdict(list)
    for sample, row in scores.items():
        found = {path for path, value in row.items() if value >= threshold}
        wanted = {path for path, (kind, _) in kinds.items() if kind == kinds[sample][0]}
        per_type[kinds[sample][0]].append(f1(found, wanted))
    return statistics.mean(statistics.mean(values) for values in per_type.values())


# Speed


def timed(work: Callable[[], object], rounds: int = 5) -> float:
    """Seconds of the fastest round."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def signature_cost(sites: Sequence[Site]) -> Iterator[str]:
    """The signature against parsing, page by page on a tree that was just made, as in a crawl."""
    chooser = random.Random(3)
    bodies = [site.read(path) for site in sites for path in chooser.sample(sorted(site.types), 60)]
    bodies = [body for body in bodies if len(body) < 300_000]
    spent = {"parse": float("inf"), "links": float("inf"), "signature": float("inf")}
    for _ in range(6):
        once: defaultdict[str, float] = defaultdict(float)
        for body in bodies:
            t0 = time.perf_counter()
            tree = parse(body)
            t1 = time.perf_counter()
            extract(tree, ROOT)
            t2 = time.perf_counter()
            structure(tree)
            t3 = time.perf_counter()
            once["parse"] += t1 - t0
            once["links"] += t2 - t1
            once["signature"] += t3 - t2
        spent = {name: min(value, once[name] / len(bodies)) for name, value in spent.items()}
    whole, alone = spent["signature"] / (spent["parse"] + spent["links"]), spent["signature"] / spent["parse"]
    size = statistics.mean(len(structure(parse(body))) for body in bodies)
    yield "### Speed"
    yield ""
    yield "| what | measured | target |"
    yield "|---|---:|---:|"
    yield (
        f"| signature, share of reading a page (parse {1e6 * spent['parse']:.0f} µs,"
        f" links {1e6 * spent['links']:.0f} µs, signature {1e6 * spent['signature']:.0f} µs)"
        f" | {100 * whole:.0f} % | {100 * SIGNATURE_TARGET:.0f} % |"
    )
    yield f"| signature, share of the parser alone | {100 * alone:.0f} % | |"
    yield f"| signature, bytes | {size:.0f} | |"


def matching_speed(sites: Sequence[Site]) -> Iterator[str]:
    """Pairs of real pages matched per second, and pages cleaned."""
    chooser = random.Random(4)
    pairs = []
    cleaned = 0.0
    for site in sites:
        documents = [parse(site.read(path)) for path in chooser.sample(sorted(site.types), 40)]
        start = time.perf_counter()
        trees = [clean(document) for document in documents]
        cleaned += time.perf_counter() - start
        pairs += [(a, b) for a in trees[:20] for b in trees[20:]]
    method = RIVALS["simple tree matching"]
    seconds = timed(lambda: [method(a, b) for a, b in pairs], 3)
    raw = _raw_pair(sites)
    yield f"| Simple Tree Matching, pairs of cleaned pages per second | {len(pairs) / seconds:,.0f} | {PAIRS_TARGET} |"
    yield f"| cleaning trees, pages per second | {40 * len(sites) / cleaned:,.0f} | |"
    yield f"| one pair of uncleaned trees of {raw[0].size:,} and {raw[1].size:,} nodes | {_seconds(raw):.0f} ms | |"


def _raw_pair(sites: Sequence[Site]) -> tuple[Node, Node]:
    """The two pages nearest to 2,000 elements, as they are."""
    site = max(sites, key=lambda site: len(site.types))
    chooser = random.Random(6)
    trees = [_raw(parse(site.read(path))) for path in chooser.sample(sorted(site.types), 400)]
    first, second = sorted(trees, key=lambda tree: abs(tree.size - 2_000))[:2]
    return first, second


def _raw(tree: Document) -> Node:
    def node(element: Element, depth: int) -> Node:
        children = [child for child in element.children if isinstance(child, Element)] if depth < 100 else []
        return Node(element.tag, tuple(node(child, depth + 1) for child in children))

    body = tree.find("body")
    return node(body, 0) if body is not None else Node("body")


def _seconds(pair: tuple[Node, Node]) -> float:
    return 1000 * timed(lambda: RIVALS["simple tree matching"](*pair), 3)


def lookup_speed(sites: Sequence[Site], pages: int) -> Iterator[str]:
    """Look-ups among a million stored pages: real signatures, varied, on many hosts."""
    with tempfile.TemporaryDirectory() as folder:
        db = connect(Path(folder, "structure.db"))
        migrate(db, {"structure": MIGRATIONS})
        structures = Structures(db)
        signatures = _varied(sites, 40_000)
        chooser = random.Random(2)
        db.execute("BEGIN")
        for start in range(0, pages, 10_000):
            structures.add(
                Stored(n, 1000 + n % 500, f"{ROOT}/{n}", "", chooser.choice(signatures))
                for n in range(start + 1, start + 10_001)
            )
        db.execute("COMMIT")
        spans = []
        for signature in chooser.sample(signatures, 200):
            start_at = time.process_time()
            structures.like_signature(signature, 0.5, 100)
            spans.append(time.process_time() - start_at)
        (shapes,) = db.execute("SELECT count(*) FROM structure_shapes").fetchone()
        size = Path(folder, "structure.db").stat().st_size
        db.close()
    spans.sort()
    yield (
        f"| look-up among {pages:,} pages of {shapes:,} shapes, processor time, median (95 %) | {1e3 * spans[100]:.1f}"
        f" ({1e3 * spans[190]:.1f}) ms | {1e3 * LOOKUP_TARGET:.0f} ms |"
    )
    yield f"| index on disk, bytes per page | {size / pages:.0f} | |"


def _varied(sites: Sequence[Site], count: int) -> list[bytes]:
    """Real signatures, and variants of them with blocks left out or doubled."""
    chooser = random.Random(1)
    real = [structure(parse(site.read(path))) for site in sites for path in chooser.sample(sorted(site.types), 200)]
    found = set(real)
    while len(found) < count:
        signature = bytearray(chooser.choice(real))
        for _ in range(chooser.randrange(1, 6)):
            at = 2 * chooser.randrange(max(1, len(signature) // 2))
            signature[at : at + 2] = b"" if chooser.random() < 0.5 else signature[at : at + 2] * 2
        found.add(bytes(signature))
    return sorted(found)


# Driven crawls


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
        tree = parse(site.read(path))
        links = [(ids[target], link) for target, link in _links(tree, path, ids).items()]
        pages[path] = Arrival(number, f"{ROOT}/{path}", title_of(tree), structure(tree), links)
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
            found[target] = LinkSeen(f"{ROOT}/{target}", " ".join(element.text.split())[:200], base, place_of(element))
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
    look = Look(page.id, page.url, page.title, features(page.signature))
    order = Driven(Recogniser([look]), Navigator([page.url]))
    ranks: dict[int, float] = {page.id: -2.0, web.pages[web.start].id: -1.0}
    heap = [(rank, number) for number, rank in ranks.items()]
    heapq.heapify(heap)
    done: dict[int, str] = {}
    depths = dict.fromkeys(ranks, 0)
    while heap and len(done) < budget:
        rank, number = heapq.heappop(heap)
        if number in done or rank != ranks[number]:
            continue
        path = done[number] = web.names[number]
        new = [(target, link) for target, link in web.pages[path].links if target not in ranks]
        findings = [Finding(Url(link.url), depths[number] + 1, number) for _, link in new]
        for (target, _), place in zip(new, order.rank(findings), strict=True):
            ranks[target], depths[target] = place, depths[number] + 1
            heapq.heappush(heap, (place, target))
        order.note(web.pages[path])
        if len(done) % BATCH == 0 or len(done) < BATCH:
            for target, gain in order.gains().items():
                if target in ranks and target not in done:
                    ranks[target] -= gain
                    heapq.heappush(heap, (ranks[target], target))
    return list(done.values())


def oracle(web: Web, wanted: set[str], sample: str, budget: int) -> int:
    """How many wanted pages a greedy crawler finds that knows the whole site: nearly what the budget allows."""
    links = {path: [web.names[number] for number, _ in page.links] for path, page in web.pages.items()}
    leads = {path: wanted.intersection(targets) for path, targets in links.items()}
    done: set[str] = set()
    seen = {sample, web.start}
    waiting = [sample, web.start]
    while waiting and len(done) < budget:
        path = max(waiting, key=lambda path: (path in wanted, len(leads[path] - seen)))
        if path not in wanted and not leads[path] - seen:
            path = _towards(links, leads, waiting, seen)
        waiting.remove(path)
        done.add(path)
        new = [target for target in links[path] if target not in seen]
        seen.update(new)
        waiting += new
    return len(done & wanted)


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


def driven_table(sites: Sequence[Site], samples: int, largest: int) -> Iterator[str]:
    """The table of driven crawls."""
    yield "### Driven crawls"
    yield ""
    yield (
        "Simulated over the link graphs of the sites, one sample page, twice as many fetches as there are matching"
        " pages; found is what was fetched within them."
        f" Types of 8 to {largest:,} pages. Targets: {FOUND_TARGET:.0%} found, and {HARVEST_TARGET:.0f} times"
        f" the harvest of breadth-first where matching pages are under {RARE:.0%}."
    )
    yield ""
    yield "| site | type | pages | share of site | found | breadth-first | times | with full knowledge |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    reached, gained, possible = [], [], []
    for site in sites:
        web = web_of(site)
        reachable = set(breadth(web, len(web.pages)))
        for kind, members in site.of_type().items():
            wanted = set(members) & reachable
            if not 8 <= len(wanted) <= largest:
                continue
            chosen = random.Random(1).sample(sorted(wanted), min(samples, len(wanted)))
            found = statistics.mean(
                len(wanted.intersection(drive(web, sample, 2 * len(wanted)))) / len(wanted) for sample in chosen
            )
            plain = len(wanted.intersection(breadth(web, 2 * len(wanted)))) / len(wanted)
            share = len(wanted) / len(reachable)
            bound = oracle(web, wanted, chosen[0], 2 * len(wanted)) / len(wanted)
            possible.append(bound >= FOUND_TARGET)
            times = f"{found / plain:.1f}" if plain else "-"
            reached.append(found)
            if share < RARE:
                gained.append(found >= HARVEST_TARGET * plain)
            cells = (f"{len(wanted):,}", f"{share:.0%}", f"{found:.0%}", f"{plain:.0%}", times, f"{bound:.0%}")
            yield f"| {site.name} | {kind} | {' | '.join(cells)} |"
    yield ""
    yield (
        f"{sum(value >= FOUND_TARGET for value in reached)} of {len(reached)} types reach {FOUND_TARGET:.0%}"
        f" (mean {statistics.mean(reached):.0%}; a crawler that knows the whole site reaches it on"
        f" {sum(possible)}); of the {len(gained)} rare ones {sum(gained)} reach"
        f" {HARVEST_TARGET:.0f} times breadth-first."
    )


def main() -> None:
    """Measure what is asked for and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("bench-data"), help="folder with sites/PACKAGE unpacked")
    parser.add_argument("--only", action="append", default=[], help="types, methods, speed, driven")
    parser.add_argument("--site", action="append", default=[], help="only sites whose name contains this")
    parser.add_argument("--samples", type=int, default=20, help="samples of each type")
    parser.add_argument("--pages", type=int, default=1_000_000, help="stored pages in the look-up test")
    parser.add_argument("--largest", type=int, default=300, help="largest type in the driven crawls")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/structure.md")
    args = parser.parse_args()
    sites = [site for site in labelled(args.data) if not args.site or any(part in site.name for part in args.site)]
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "types": lambda: types_table(sites, args.samples),
        "methods": lambda: methods_table(sites),
        "speed": lambda: _speed(sites, args.pages),
        "driven": lambda: driven_table(sites, min(3, args.samples), args.largest),
    }
    for name, part in parts.items():
        if not args.only or name in args.only:
            lines = []
            for line in part():
                print(line, flush=True)
                lines.append(line)
            if args.write:
                write_part("\n".join(lines))


def write_part(part: str) -> None:
    """Put one part into the document, in the place of the one with the same heading."""
    text = DOCUMENT.read_text()
    before, _, rest = text.partition(BEGIN)
    old, _, after = rest.partition(END)
    parts = {found.partition("\n")[0]: found.strip() for found in re.split(r"^(?=### )", old, flags=re.MULTILINE)[1:]}
    parts[part.partition("\n")[0]] = part
    fresh = "\n\n".join(["## Measures", *parts.values()])
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n{fresh}\n\n{END}{after}")


def _speed(sites: Sequence[Site], pages: int) -> Iterator[str]:
    yield from signature_cost(sites)
    yield from matching_speed(sites)
    yield from lookup_speed(sites, pages)


if __name__ == "__main__":
    main()
