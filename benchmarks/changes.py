"""How well changes are named, and what that costs.

python -m benchmarks.changes mutations FOLDER ...   pages below the folders, each changed in known ways
python -m benchmarks.changes live                   consecutive fetches of live pages (suites/change-ota)
python -m benchmarks.changes versions OLD NEW       two versions of a site; --truth content_changes.json --pair N
python -m benchmarks.changes speed [OLD NEW]        marks and verdicts beside parsing and reading, on two versions of a
                                                    site, without folders on the live pages of suites/change-ota
"""

import argparse
import gzip
import hashlib
import json
import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import eq
from pathlib import Path
from typing import Any, TypeVar

from isal import igzip
from msgspec import structs

from benchmarks import histories
from benchmarks.histories import DAY, traces_in
from benchmarks.mutations import KINDS, NOISE, Mutation
from sanderling.changes.detect import Change, Kind, detect, judge
from sanderling.changes.difference import difference
from sanderling.changes.noise import Noise
from sanderling.migrants.follow import links_of
from sanderling.pages import again, pieces, stamps
from sanderling.pages.blocks import blocks
from sanderling.pages.links import extract
from sanderling.pages.parse import Document, parse
from sanderling.pages.signatures import brought, sign, sign_blocks, write
from sanderling.pages.simhash import simhash
from sanderling.pages.structure import structure
from sanderling.pages.text import dense, letters, text_mark

Result = TypeVar("Result")


def main() -> int:
    """Run one of the measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measure", choices=("mutations", "live", "versions", "speed"))
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=300, help="pages looked at (default 300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suites", default=os.environ.get("SANDERLING_SUITES", ""))
    parser.add_argument("--traces", default=os.environ.get("SANDERLING_TRACES", ""))
    parser.add_argument("--truth", type=Path, help="content_changes.json")
    parser.add_argument("--pair", type=int, default=0, help="which pair of that file")
    parser.add_argument("--verbose", action="store_true", help="name what went wrong")
    args = parser.parse_args()
    run: Callable[[argparse.Namespace], None] = globals()[args.measure]
    run(args)
    return 0


def pages(folders: Iterable[Path], count: int, seed: int) -> list[Path]:
    """Some pages below these folders, chosen by chance."""
    found = [path for folder in folders for path in sorted(folder.rglob("*.htm*")) if path.is_file()]
    return random.Random(seed).sample(found, min(count, len(found)))


def read(path: Path) -> bytes:
    """A page, packed or not."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def mutations(args: argparse.Namespace) -> None:
    """Change each page in every known way, and see what we make of it."""
    right: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for path in pages(args.folders, args.pages, args.seed):
        for mutation, change in _mutated(path, args.seed):
            tried[mutation.name] += 1
            right[mutation.name] += mutation.is_right(change)
            if args.verbose and not mutation.is_right(change):
                print(f"  {mutation.name}: {path}: {change.kinds} {change.counts}", file=sys.stderr)
    for mutation in (*KINDS, *NOISE):
        name = mutation.name
        print(f"{name:<24}{right[name]:>7} of {tried[name]:<7}{_share(right[name], tried[name])}")
    for title, group in (("kinds named", KINDS), ("noise unheard", NOISE)):
        names = [mutation.name for mutation in group]
        good, all_ = sum(right[name] for name in names), sum(tried[name] for name in names)
        print(f"{title:<24}{good:>7} of {all_:<7}{_share(good, all_)}")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2%}" if whole else "-"


def _mutated(path: Path, seed: int) -> Iterator[tuple[Mutation, Change]]:
    body = read(path)
    for mutation in (*KINDS, *NOISE):
        pair = mutation.apply(body, random.Random(f"{seed} {path} {mutation.name}"))
        if pair is not None:
            old, new = (write(sign(parse(version.encode()))) for version in pair)
            yield mutation, detect(old, new)


def live(args: argparse.Namespace) -> None:
    """Consecutive fetches of live pages: did the main content change?"""
    folder = _live(args)
    score: Counter[tuple[bool, bool]] = Counter()
    for line in (folder / "pairs.jsonl").read_text().splitlines():
        pair = json.loads(line)
        marks = [write(sign(parse(gzip.decompress((folder / pair[side]).read_bytes())))) for side in ("old", "new")]
        said = Kind.CONTENT in detect(marks[0], marks[1]).kinds
        score[pair["main_content_changed"], said] += 1
        if args.verbose and said != pair["main_content_changed"]:
            print(f"  {pair['page']} {pair['old']} {pair['new']}: we say {said}", file=sys.stderr)
    _print_score("live pages", score)


def _live(args: argparse.Namespace) -> Path:
    return Path(args.suites or "nowhere") / "change-ota"


def versions(args: argparse.Namespace) -> None:
    """Two versions of a site, all of whose pages differ in bytes: in which does the main text?"""
    old, new = args.folders
    truth = set(json.loads(args.truth.read_text())[args.pair]["main_text_changed"])
    noise, found = Noise(), {}
    names = sorted(str(path.relative_to(old)) for path in old.rglob("*.htm*") if path.is_file())
    for number, name in enumerate(names):
        if (new / name).is_file():
            before, after = (old / name).read_bytes(), (new / name).read_bytes()
            found[name] = None if before == after else difference(sign(parse(before)), sign(parse(after)))
            noise.learn(number, found[name])
    score: Counter[tuple[bool, bool]] = Counter()
    for number, (name, facts) in enumerate(found.items()):
        said = facts is not None and Kind.CONTENT in judge(facts, noise, number).kinds
        score[name in truth, said] += 1
        if args.verbose and said != (name in truth):
            print(f"  {name}: we say {said}", file=sys.stderr)
    _print_score(f"{len(found)} pages", score)


def _print_score(title: str, score: Counter[tuple[bool, bool]]) -> None:
    hit, wrong, missed = score[True, True], score[False, True], score[True, False]
    precision = hit / (hit + wrong) if hit + wrong else 1.0
    recall = hit / (hit + missed) if hit + missed else 1.0
    f1 = 2 * hit / (2 * hit + wrong + missed) if hit + wrong + missed else 1.0
    print(
        f"{title}: precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f} ({hit} + {wrong} wrong, {missed} missed)"
    )


class Costs:
    """CPU time by what it was spent on."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.times: Counter[str] = Counter()

    def take(self, name: str, work: Callable[..., Result], *things: Any) -> Result:
        """Do some work and note what it cost."""
        start = time.process_time()
        result = work(*things)
        self.seconds[name] += time.process_time() - start
        self.times[name] += 1
        return result

    def of(self, *names: str) -> float:
        """The mean time of some work, in seconds."""
        return sum(self.seconds[name] / max(self.times[name], 1) for name in names)


def speed(args: argparse.Namespace) -> None:
    """What comparing costs beside parsing alone, and beside all that a migrant does to read a page anyway.

    Every page is parsed afresh and looked at once, so that nothing is remembered of it: only of its site.
    """
    pairs = list(islice(_pairs(args), args.pages))
    if not pairs:
        sys.exit("there are no pairs: name the folders of two versions, or set SANDERLING_SUITES")
    costs = Costs()
    for old, new in pairs:
        _compare(old, new, costs)
    renewed = _compare_again([pair for pair in pairs if pair[0] != pair[1]], costs)
    share = costs.times["verdict"] / len(pairs)
    size = sum(len(new) for _, new in pairs) / len(pairs) / 1024
    print(f"{len(pairs)} pages of {size:.0f} KB, {share:.1%} with other bytes", end="; ")
    print(f"parsing {costs.of('parse') * 1e6:.0f} us, reading {costs.of('read') * 1e6:.0f} us")
    first = costs.of("full mark", "verdict", "unpack", "parse old", "full mark old")
    second = costs.of("full mark", "verdict", "table")
    later = costs.of("mark again", "verdict")
    print(f"marks made from those of the last version: {renewed} of {costs.times['mark again']}")
    for title, seconds in (
        ("the same bytes", costs.of("digests")),
        ("cheap mark of every page", costs.of("cheap mark")),
        ("full mark", costs.of("full mark")),
        ("verdict", costs.of("verdict")),
        ("table for the next mark", costs.of("table")),
        ("mark made from the last one", costs.of("renewed mark")),
        ("mark made from the last one or in full", costs.of("mark again")),
        ("other bytes for the first time, in all", first),
        ("other bytes for the second time, in all", second),
        ("other bytes later, in all", later),
        ("this visit, if it is the second", share * first),
        ("this visit, if there were more", share * later),
        *_visits(args, first, second, later),
    ):
        of_parsing, of_reading = seconds / costs.of("parse"), seconds / costs.of("read")
        print(f"{title:<44}{seconds * 1e6:>9.1f} us {of_parsing:>8.1%} of parsing {of_reading:>8.1%} of reading")


def _pairs(args: argparse.Namespace) -> Iterator[tuple[bytes, bytes]]:
    """Real pages in two versions: of the folders named, chosen by chance, or consecutive fetches of live pages."""
    if args.folders:
        old, new = args.folders
        names = [
            path.relative_to(old)
            for path in pages([old], 1_000_000, args.seed)
            if (new / path.relative_to(old)).is_file()
        ]
        yield from (((old / name).read_bytes(), (new / name).read_bytes()) for name in names)
        return
    for line in (_live(args) / "pairs.jsonl").read_text().splitlines():
        old, new = ((_live(args) / json.loads(line)[side]).read_bytes() for side in ("old", "new"))
        yield gzip.decompress(old), gzip.decompress(new)


def _compare(old: bytes, new: bytes, costs: Costs) -> None:
    """Do all that is done with a page at a second visit, step by step."""
    digests = [hashlib.sha256(body).digest() for body in (old, new)]
    costs.take("digests", eq, *digests)
    costs.take("read", _read, new)
    costs.take("cheap mark", lambda words: text_mark(dense(words)), letters(parse(new)))
    tree = costs.take("parse", parse, new)
    if digests[0] != digests[1]:
        packed = igzip.compress(old)
        mark = costs.take("full mark", _mark, tree)
        before = costs.take("parse old", parse, costs.take("unpack", igzip.decompress, packed))
        last = costs.take("full mark old", _mark, before)
        costs.take("verdict", detect, last, mark)


def _compare_again(pairs: list[tuple[bytes, bytes]], costs: Costs) -> int:
    """Make the marks of pages that changed before from those of their last versions; say how many could be.

    All that is remembered of their tags and lines is forgotten in between.
    """
    marks = [_prepared(old, costs) for old, _ in pairs]
    pieces.forget()
    stamps.forget()
    for (_, new), mark in zip(pairs, marks, strict=True):
        tree = parse(new)
        before = costs.seconds["mark again"]
        if again.is_served(costs.take("mark again", _mark_again, tree, new, again.in_brief(mark))):
            costs.seconds["renewed mark"] += costs.seconds["mark again"] - before
            costs.times["renewed mark"] += 1
    return costs.times["renewed mark"]


def _prepared(body: bytes, costs: Costs) -> bytes:
    """The full mark of a page with a table for the next."""
    tree = parse(body)
    there, page = brought(tree), blocks(tree)
    mark, kept = sign_blocks(tree, page, there)
    table = costs.take("table", again.prepare, body, tree, page, kept)
    return write(structs.replace(mark, again=table))


def _mark_again(tree: Document, body: bytes, last: bytes) -> bytes:
    return write(again.sign_again(tree, body, last))


def _mark(tree: Document) -> bytes:
    return write(sign(tree))


def _read(body: bytes) -> object:
    """What a migrant does with a page whether it was seen before or not."""
    tree = parse(body)
    links, blocks = links_of(extract(tree, "http://localhost/"), False), structure(tree)
    words = letters(tree)
    bare = dense(words)
    return links, blocks, simhash(words, bare), text_mark(bare)


def _visits(args: argparse.Namespace, first: float, second: float, later: float) -> Iterator[tuple[str, float]]:
    """What comparing costs at each of the daily visits of real sites, by the histories of their content."""
    folder = Path(args.traces or "nowhere")
    for name in traces_in(folder):
        looks = changed = fresh = twice = 0
        for life in histories.read(folder, name).pages:
            days = {moment // DAY for moment in life.times if life.born < moment < life.died}
            looks += max(1, int((life.died - life.born) // DAY))
            changed += len(days)
            fresh += bool(days)
            twice += len(days) > 1
        spent = fresh * first + twice * second + (changed - fresh - twice) * later
        yield f"daily visits, {name} ({changed / looks:.2%})", spent / looks


if __name__ == "__main__":
    sys.exit(main())
