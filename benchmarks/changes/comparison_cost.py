"""Measure the cost of comparing two versions of real pages, relative to parsing.

python -m benchmarks.changes.comparison_cost [NAME=OLD:NEW ...]   folders with two versions of a site; the live pages of
                                                    suites/change-ota come last, if they are there; --write

CPU time. Each page is parsed afresh and looked at once, so that nothing is remembered of it, only of its site. Marks
are made of a tree whose links and structure were read before, as in a crawl. What is loaded once is loaded before.
"""

import argparse
import gzip
import hashlib
import importlib
import json
import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from functools import partial
from html.parser import HTMLParser
from itertools import islice
from operator import eq
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from benchmarks.lib.doc_tables import put
from benchmarks.revisit import histories
from benchmarks.revisit.histories import DAY, traces_in
from isal import igzip
from msgspec.structs import replace

from sanderling.changes.classify import compare_fingerprints
from sanderling.content.volatile import strip
from sanderling.fetch.link_resolution import resolve_links
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.fast.compare import UNCHANGED_FINGERPRINTS, PreviousVersion, build_comparison_fingerprints
from sanderling.fingerprint.fast.stable_hash import compute_stable_hash
from sanderling.fingerprint.model import decode_fingerprint, encode_fingerprint
from sanderling.fingerprint.structure import fingerprint_structure
from sanderling.fingerprint.text_hash import fingerprint_text
from sanderling.html.links import extract_metadata
from sanderling.html.parser import Document, parse_html
from sanderling.html.text import compact_text, extract_raw_text, hash_text

Result = TypeVar("Result")
Pairs = list[tuple[bytes, bytes]]
DOCUMENT = Path("docs/measurements/change-detection.md")
KINDS = {
    "same": "no fingerprint differs",
    "some": "words, scripts, links or looks differ",
    "tags": "structure differs",
}
AIM = 0.25  # of parsing
WARMED = 10  # of so many pages one is compared before anything is measured
FEW = 60  # pages that others compare, for they take long


def main() -> int:
    """Measure each pair of folders, then the live pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", nargs="*", help="NAME=OLD:NEW")
    parser.add_argument("--pages", type=int, default=300, help="pages looked at of each (default 300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suites", default=os.environ.get("SANDERLING_SUITES", ""))
    parser.add_argument("--traces", default=os.environ.get("SANDERLING_TRACES", ""))
    parser.add_argument("--write", action="store_true", help=f"put the table into {DOCUMENT}")
    args = parser.parse_args()
    found = {name: list(islice(pairs, args.pages)) for name, pairs in _sites(args)}
    if not any(found.values()):
        sys.exit("there are no pairs: name the folders of two versions, or set SANDERLING_SUITES")
    for old, new in [pair for pairs in found.values() for pair in pairs[::WARMED]]:
        _compare(old, new, Costs())  # patterns and modules are made when they are first wanted
    columns = {name: column(pairs, Path(args.traces or "nowhere")) for name, pairs in found.items() if pairs}
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    rows = dict.fromkeys(row for cells in columns.values() for row in cells)
    lines += [f"| {row} | {' | '.join(cells.get(row, '-') for cells in columns.values())} |" for row in rows]
    print("\n".join(lines))
    if args.write:
        put("comparing", "\n".join(lines), DOCUMENT)
    return 0


def _sites(args: argparse.Namespace) -> Iterator[tuple[str, Iterator[tuple[bytes, bytes]]]]:
    for site in args.sites:
        name, _, folders = site.partition("=")
        old, _, new = folders.partition(":")
        yield name, _versions(Path(old), Path(new), args.seed)
    live = Path(args.suites or "nowhere") / "change-ota"
    if (live / "pairs.jsonl").exists():
        yield "live pages", _live(live)


def _versions(old: Path, new: Path, seed: int) -> Iterator[tuple[bytes, bytes]]:
    names = [path.relative_to(old) for path in sorted(old.rglob("*.htm*")) if path.is_file()]
    random.Random(seed).shuffle(names)
    for name in names:
        if (new / name).is_file():
            yield (old / name).read_bytes(), (new / name).read_bytes()


def _live(folder: Path) -> Iterator[tuple[bytes, bytes]]:
    for line in (folder / "pairs.jsonl").read_text().splitlines():
        old, new = (gzip.decompress((folder / json.loads(line)[side]).read_bytes()) for side in ("old", "new"))
        yield old, new


class Costs:
    """CPU time per step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.times: Counter[str] = Counter()
        self.first: list[float] = []  # cost of comparison relative to parsing, per changed page
        self.later: list[float] = []  # the same where what was left of its last version is known

    def take(self, name: str, work: Callable[..., Result], *things: Any) -> Result:
        start = time.process_time()
        result = work(*things)
        self.seconds[name] += time.process_time() - start
        self.times[name] += 1
        return result

    def spent(self, *names: str) -> float:
        """All the time spent on some work so far, in seconds."""
        return sum(self.seconds[name] for name in names)

    def of(self, *names: str) -> float:
        """The mean time of some work, in seconds."""
        return sum(self.seconds[name] / max(self.times[name], 1) for name in names)


def column(pairs: Pairs, traces: Path) -> dict[str, str]:
    """Measure the cost of comparison relative to parsing, and to all work on a page."""
    costs, kinds = Costs(), Counter[str]()
    strip.clear_caches()
    for old, new in pairs:
        kinds[_compare(old, new, costs)] += 1
    strip.clear_caches()
    for old, new in pairs:
        if old != new:
            _compare_later(old, new, costs)
    others, alternatives = (
        list(_measure_other_tools(pairs)),
        list(_measure_alternatives([pair for pair in pairs if pair[0] != pair[1]][:FEW])),
    )
    size = sum(len(new) for _, new in pairs) / len(pairs) / 1024
    first, later = costs.of("stable hash", "unpack", "marks", "classification"), costs.of("later")

    def share(seconds: float) -> str:
        return f"{seconds / costs.of('parse'):.1%}, {seconds / costs.of('read'):.1%}"

    cells = {
        "pages, mean size": f"{len(pairs)}, {size:.0f} KB",
        "parsing, reading": f"{costs.of('parse') * 1e6:.0f}, {costs.of('read') * 1e6:.0f} µs",
        **{
            f"parsing by {name}": "not installed" if not cost else f"{cost / costs.of('parse'):.1f} ×"
            for name, cost in others
        },
        "the same bytes: digests compared": share(costs.of("digests")),
        "text hash, computed for every page": share(costs.of("text hash")),
        "fingerprint": share(costs.of("fingerprint")),
        "stable hash": share(costs.of("stable hash")),
        "unpacking the last version": share(costs.of("unpack")),
        "classification": share(costs.of("classification")),
    }
    for kind, title in KINDS.items():
        made = f"{costs.of(kind) / costs.of(f'parse {kind}'):.0%} of {kinds[kind]}" if kinds[kind] else "-"
        cells[f"fingerprints of both versions where {title}, relative to parsing these pages"] = made
    cells["**other bytes for the first time, in all**"] = share(first)
    cells["half of these pages cost at most; share of them within the aim"] = _spread(costs.first)
    cells["**other bytes later, in all**"] = share(later)
    cells["half of these pages cost at most then; share of them within the aim"] = _spread(costs.later)
    for name, cost in alternatives:
        text = f"{cost / costs.of('parse'):.0%}, {cost / first:.1f} × what it costs us" if cost else "not installed"
        cells[f"other bytes, compared by {name}"] = text
    for name, seconds in _visits(traces, first, later):
        cells[name] = share(seconds)
    return cells


def _spread(shares: list[float]) -> str:
    """The cost of the page in the middle, and how many meet the aim."""
    if not shares:
        return "-"
    return f"{median(shares):.0%}; {sum(share <= AIM for share in shares) / len(shares):.0%}"


def _compare(old: bytes, new: bytes, costs: Costs) -> str:
    """Compare a page step by step as at a second visit."""
    digests = [hashlib.sha256(body).digest() for body in (old, new)]
    costs.take("digests", eq, *digests)
    costs.take("read", _read, new)
    costs.take("text hash", lambda words: hash_text(compact_text(words)), extract_raw_text(parse_html(new)))
    tree = costs.take("parse", parse_html, new)
    if digests[0] == digests[1]:
        return "unchanged"
    charset = (parse_html(old).encoding or "").lower()
    spent, marked = costs.spent("stable hash", "unpack", "marks", "classification"), costs.spent("marks")
    new_hash = costs.take("stable hash", compute_stable_hash, new)
    body = costs.take("unpack", igzip.decompress, igzip.compress(old))
    made = costs.take(
        "marks",
        build_comparison_fingerprints,
        _looked_at(tree),
        new,
        PreviousVersion(body, charset, stable_hash=new_hash),
    )
    after = made.after or made.page or b""
    kind = _kind(made.before or b"", after)
    costs.seconds[kind] += costs.spent("marks") - marked
    costs.times[kind] += 1
    costs.take("classification", compare_fingerprints, made.before or b"", after)
    parsed = costs.spent(f"parse {kind}")
    costs.take(f"parse {kind}", parse_html, new)
    whole = costs.spent("stable hash", "unpack", "marks", "classification") - spent
    costs.first.append(whole / max(costs.spent(f"parse {kind}") - parsed, 1e-9))
    costs.take("fingerprint", _mark, _looked_at(parse_html(new)))
    return kind


def _kind(before: bytes, after: bytes) -> str:
    if before == after:
        return "same"
    return "some" if decode_fingerprint(before).outline == decode_fingerprint(after).outline else "tags"


def _compare_later(old: bytes, new: bytes, costs: Costs) -> None:
    """The same for a page whose last version has a stable hash and a full fingerprint."""
    before = PreviousVersion(igzip.compress(old), (parse_html(old).encoding or "").lower(), has_fingerprint=True)
    last, new_hash = _mark(parse_html(old)), compute_stable_hash(old)
    parsed, spent = costs.spent("parse again"), costs.spent("later")
    tree = _looked_at(costs.take("parse again", parse_html, new))
    costs.take("later", _later, tree, new, before, last, new_hash)
    costs.later.append((costs.spent("later") - spent) / max(costs.spent("parse again") - parsed, 1e-9))


def _later(tree: Document, new: bytes, before: PreviousVersion, last: bytes, new_hash: bytes) -> object:
    """Compare a page unless its stable hash is unchanged."""
    mine = compute_stable_hash(new)
    if mine and mine == new_hash:
        return compare_fingerprints(UNCHANGED_FINGERPRINTS.before or b"", UNCHANGED_FINGERPRINTS.after or b"")
    made = build_comparison_fingerprints(tree, new, replace(before, body=igzip.decompress(before.body)))  # type: ignore[no-untyped-call]
    return compare_fingerprints(made.before or last, made.after or made.page or b"")


def _looked_at(tree: Document) -> Document:
    extract_metadata(tree, "http://localhost/")
    fingerprint_structure(tree)
    return tree


def _mark(tree: Document) -> bytes:
    return encode_fingerprint(fingerprint_page(tree))


def _read(body: bytes) -> object:
    """Do the work that every page needs."""
    tree = parse_html(body)
    links, blocks = resolve_links(extract_metadata(tree, "http://localhost/"), False), fingerprint_structure(tree)
    return links, blocks, fingerprint_text(extract_raw_text(tree))


def _measure_other_tools(pairs: Pairs) -> Iterator[tuple[str, float]]:
    """Measure parsing with other parsers; 0 for one that is not installed."""
    for name, module, way in (
        ("lxml", "lxml.html", "fromstring"),
        ("selectolax", "selectolax.lexbor", "LexborHTMLParser"),
    ):
        try:
            work = getattr(importlib.import_module(module), way)
        except ImportError:
            yield name, 0.0
            continue
        yield name, _mean(work, [new for _, new in pairs])
    yield "html.parser", _mean(lambda words: HTMLParser().feed(words), [new.decode("latin-1") for _, new in pairs[:50]])


def _measure_alternatives(pairs: Pairs) -> Iterator[tuple[str, float]]:
    """Measure text extraction and line diff with other libraries."""
    for name, module, way in (
        ("inscriptis and difflib, as changedetection.io does", "inscriptis", "get_text"),
        ("trafilatura and difflib", "trafilatura", "extract"),
    ):
        try:
            read = getattr(importlib.import_module(module), way)
        except ImportError:
            yield name, 0.0
            continue
        texts = [[side.decode("utf-8", "replace") for side in pair] for pair in pairs]
        kept = [((read(old) or "").splitlines(), new) for old, new in texts]
        yield name, _mean(partial(_diff_lines, read), kept) if kept else 0.0


def _diff_lines(read: Callable[[str], str | None], pair: tuple[list[str], str]) -> object:
    """Return inserted and deleted lines."""
    return SequenceMatcher(None, pair[0], (read(pair[1]) or "").splitlines(), autojunk=False).get_opcodes()


def _mean(work: Callable[[Any], object], bodies: list[Any]) -> float:
    start = time.process_time()
    for body in bodies:
        work(body)
    return (time.process_time() - start) / len(bodies)


def _visits(folder: Path, first: float, later: float) -> Iterator[tuple[str, float]]:
    """Measure comparison over daily visits of real sites."""
    for name in traces_in(folder):
        looks = changed = fresh = 0
        for life in histories.read(folder, name).pages:
            days = {moment // DAY for moment in life.times if life.born < moment < life.died}
            looks += max(1, int((life.died - life.born) // DAY))
            changed += len(days)
            fresh += bool(days)
        spent = fresh * first + (changed - fresh) * later
        yield f"a daily visit, changes as in {name} ({changed / looks:.2%} of the visits)", spent / looks


if __name__ == "__main__":
    sys.exit(main())
