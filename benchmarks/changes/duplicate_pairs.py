"""Measure how well near duplicates are found, and the cost of a lookup.

python -m benchmarks.changes.duplicate_pairs near OLD NEW [OLD NEW ...]   two versions of a page and two pages of a
template python -m benchmarks.changes.duplicate_pairs index                        memory and look-up of a large index
python -m benchmarks.changes.duplicate_pairs speed FOLDER ...             a sketch relative to parsing
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from sanderling.dedup.minhash_index import GUARANTEED_DISTANCE, MAX_DISTANCE, MinhashIndex
from sanderling.fingerprint.minhash import compute_hamming_distance, sketch_text
from sanderling.fingerprint.text_hash import fingerprint_text
from sanderling.html.native_tables import BINS
from sanderling.html.parser import parse_html
from sanderling.html.text import extract_raw_text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measure", choices=("near", "index", "speed"))
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=500, help="pages of each site (default 500)")
    parser.add_argument("--labels", type=Path, nargs="*", default=[], help="page types of each site, for its templates")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.measure != "index" and not args.folders:
        parser.error(f"{args.measure} needs folders of pages")
    run: Callable[[argparse.Namespace], None] = globals()[args.measure]
    run(args)
    return 0


class Site(Struct):
    """Marks of the pages of a site, in two versions, with their templates."""

    marks: list[tuple[int, int]]
    templates: list[str]


def near(args: argparse.Namespace) -> None:
    """Look up every new version among all old ones."""
    same: list[int] = []
    other: list[int] = []
    pairs = zip(args.folders[::2], args.folders[1::2], strict=True)
    for number, (old, new) in enumerate(pairs):
        labels = args.labels[number] if number < len(args.labels) else None
        site = _read(old, new, labels, args.pages, args.seed)
        ours = _measure_distances(site)
        theirs = _strangers(site, args.seed)
        _print_f1(f"{old.name}: {len(ours)} pages", ours, theirs)
        same += ours
        other += theirs
    _print_f1("all", same, other)


def _measure_distances(site: Site) -> list[int]:
    """Return the distance of each page to its old version, as found by the index."""
    known = MinhashIndex()
    for page, (old, _) in enumerate(site.marks, 1):
        known.add(page, old)
    return [
        next((pair.distance for pair in known.find(new) if pair.page == page), BINS)
        for page, (_, new) in enumerate(site.marks, 1)
    ]


def _read(old: Path, new: Path, labels: Path | None, count: int, seed: int) -> Site:
    names = sorted(
        str(path.relative_to(old)) for path in old.rglob("*.htm*") if (new / path.relative_to(old)).is_file()
    )
    chosen = random.Random(seed).sample(names, min(count, len(names)))
    types = json.loads(labels.read_text())["pages"] if labels and labels.is_file() else {}
    marks = [(_mark(old / name), _mark(new / name)) for name in chosen]
    return Site(marks, [types.get(name, "") for name in chosen])


def _mark(path: Path) -> int:
    return int.from_bytes(sketch_text(extract_raw_text(parse_html(path.read_bytes()))), "little")


def _strangers(site: Site, seed: int) -> list[int]:
    """Return as many pairs of different pages of a template."""
    dice = random.Random(seed)
    found: list[int] = []
    rows: dict[str, list[int]] = {}
    for (mark, _), template in zip(site.marks, site.templates, strict=True):
        rows.setdefault(template, []).append(mark)
    large = [row for row in rows.values() if len(row) > 1]
    while len(found) < len(site.marks):
        found.append(compute_hamming_distance(*dice.sample(dice.choices(large, [len(row) for row in large])[0], 2)))
    return found


def _print_f1(title: str, same: Sequence[int], other: Sequence[int]) -> None:
    for limit in sorted({GUARANTEED_DISTANCE, MAX_DISTANCE}):
        hit, wrong = sum(far <= limit for far in same), sum(far <= limit for far in other)
        f1 = 2 * hit / (hit + wrong + len(same))
        print(
            f"{title:<40} within {limit} bits: found {hit / len(same):.1%}, wrong {wrong / len(other):.2%}, F1 {f1:.4f}"
        )


def index(args: argparse.Namespace) -> None:
    """Fill an index with marks of chance, and look some up."""
    dice = random.Random(args.seed)
    found = MinhashIndex()
    empty = found.bytes_used
    for size in (10_000, 100_000, 1_000_000):
        while len(found) < size:
            found.add(len(found) + 1, dice.getrandbits(256) or 1)
        asked = [found.get_sketch(dice.randrange(1, size + 1)) ^ 1 << dice.randrange(256) for _ in range(500)]
        start = time.process_time()
        hits = sum(bool(found.find(mark)) for mark in asked)
        spent = (time.process_time() - start) / len(asked)
        memory = (found.bytes_used - empty) / size
        print(
            f"{size:>9} pages: {memory:.1f} bytes a page, {spent * 1e6:.0f} us a look-up, {hits} of {len(asked)} found"
        )


def speed(args: argparse.Namespace) -> None:
    """Time the sketch in Python and C relative to parsing."""
    seed = args.seed
    paths = [path for folder in args.folders for path in sorted(folder.rglob("*.htm*")) if path.is_file()]
    bodies = [path.read_bytes() for path in random.Random(seed).sample(paths, min(args.pages, len(paths)))]
    texts = [extract_raw_text(parse_html(body)) for body in bodies]
    print(
        f"parse {_clock(parse_html, bodies):.1f} us, "
        f"text {_clock(lambda b: extract_raw_text(parse_html(b)), bodies):.1f} us with parsing"
    )
    print(
        f"sketch of the text in Python {_clock(sketch_text, texts):.1f} us, "
        f"with its hash in C {_clock(fingerprint_text, texts):.1f} us"
    )


def _clock(work: Callable[..., object], things: Sequence[object]) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        for thing in things:
            work(thing)
        best = min(best, time.process_time() - start)
    return best / len(things) * 1e6


if __name__ == "__main__":
    sys.exit(main())
