"""What signatures, tree matching and look-ups cost."""

import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.templates.labelled_sites import ROOT, Site

from sanderling.db.connection import apply_migrations, connect_sqlite
from sanderling.db.schema.templates import MIGRATIONS
from sanderling.fingerprint.structure import fingerprint_structure
from sanderling.html.links import extract_metadata
from sanderling.html.parser import Document, Element, parse_html
from sanderling.html.tag_tree import TagNode, build_tag_tree
from sanderling.html.tree_match import SIMILARITY_MEASURES
from sanderling.templates.template_index import IndexedPage, Structures

SIGNATURE_TARGET, LOOKUP_TARGET, PAIRS_TARGET = 0.15, 0.020, 200


def speed_table(sites: Sequence[Site], pages: int) -> Iterator[str]:
    """The table of speeds."""
    yield from signature_cost(sites)
    yield from matching_speed(sites)
    yield from lookup_speed(sites, pages)


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
            tree = parse_html(body)
            t1 = time.perf_counter()
            extract_metadata(tree, ROOT)
            t2 = time.perf_counter()
            fingerprint_structure(tree)
            t3 = time.perf_counter()
            once["parse"] += t1 - t0
            once["links"] += t2 - t1
            once["signature"] += t3 - t2
        spent = {name: min(value, once[name] / len(bodies)) for name, value in spent.items()}
    whole, alone = spent["signature"] / (spent["parse"] + spent["links"]), spent["signature"] / spent["parse"]
    size = statistics.mean(len(fingerprint_structure(parse_html(body))) for body in bodies)
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
        documents = [parse_html(site.read(path)) for path in chooser.sample(sorted(site.types), 40)]
        start = time.perf_counter()
        trees = [build_tag_tree(document) for document in documents]
        cleaned += time.perf_counter() - start
        pairs += [(a, b) for a in trees[:20] for b in trees[20:]]
    method = SIMILARITY_MEASURES["simple tree matching"]
    seconds = timed(lambda: [method(a, b) for a, b in pairs], 3)
    raw = _raw_pair(sites)
    yield f"| Simple Tree Matching, pairs of cleaned pages per second | {len(pairs) / seconds:,.0f} | {PAIRS_TARGET} |"
    yield f"| cleaning trees, pages per second | {40 * len(sites) / cleaned:,.0f} | |"
    yield f"| one pair of uncleaned trees of {raw[0].size:,} and {raw[1].size:,} nodes | {_seconds(raw):.0f} ms | |"


def _raw_pair(sites: Sequence[Site]) -> tuple[TagNode, TagNode]:
    """The two pages nearest to 2,000 elements, as they are."""
    site = max(sites, key=lambda site: len(site.types))
    chooser = random.Random(6)
    trees = [_raw(parse_html(site.read(path))) for path in chooser.sample(sorted(site.types), 400)]
    first, second = sorted(trees, key=lambda tree: abs(tree.size - 2_000))[:2]
    return first, second


def _raw(tree: Document) -> TagNode:
    def node(element: Element, depth: int) -> TagNode:
        children = [child for child in element.children if isinstance(child, Element)] if depth < 100 else []
        return TagNode(element.tag, tuple(node(child, depth + 1) for child in children))

    body = tree.find("body")
    return node(body, 0) if body is not None else TagNode("body")


def _seconds(pair: tuple[TagNode, TagNode]) -> float:
    return 1000 * timed(lambda: SIMILARITY_MEASURES["simple tree matching"](*pair), 3)


def lookup_speed(sites: Sequence[Site], pages: int) -> Iterator[str]:
    """Look-ups among a million stored pages: real signatures, varied, on many hosts."""
    with tempfile.TemporaryDirectory() as folder:
        db = connect_sqlite(Path(folder, "structure.db"))
        apply_migrations(db, {"structure": MIGRATIONS})
        structures = Structures(db)
        signatures = _varied(sites, 40_000)
        chooser = random.Random(2)
        db.execute("BEGIN")
        for start in range(0, pages, 10_000):
            structures.add(
                IndexedPage(n, 1000 + n % 500, f"{ROOT}/{n}", "", chooser.choice(signatures))
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
    real = [
        fingerprint_structure(parse_html(site.read(path)))
        for site in sites
        for path in chooser.sample(sorted(site.types), 200)
    ]
    found = set(real)
    while len(found) < count:
        signature = bytearray(chooser.choice(real))
        for _ in range(chooser.randrange(1, 6)):
            at = 2 * chooser.randrange(max(1, len(signature) // 2))
            signature[at : at + 2] = b"" if chooser.random() < 0.5 else signature[at : at + 2] * 2
        found.add(bytes(signature))
    return sorted(found)
