"""Measure how well forms are queried: records reached per request against an oracle that knows the databases.

    python -m benchmarks.crawl.form_coverage [--set handlers|repaired|applications|held-out] [NAME ...]

The oracle covers the records greedily with pages of results of any query. Records are counted when a page of results
shows them; the pages of the records themselves are not fetched.
"""

import argparse
import heapq
import resource
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.lib.form_applications import APPLICATIONS, FormApplication, build_packages
from benchmarks.lib.form_applications_held_out import HELD_OUT_APPLICATIONS, PostedSearch
from benchmarks.lib.form_databases import DEVELOPMENT, HELD_OUT, FormSite, build_records

from sanderling.cli import main as run_command

SEED = 41
RECORD_PAGES = r"/(record|package|maintainer|shop\.php|bekanntmachung|firma|car|item|thumb)\b|/object/\d+$"
SETS: dict[str, Callable[[], list[FormSite | FormApplication]]] = {
    "handlers": lambda: [kind(build_records(SEED)) for kind in DEVELOPMENT],
    "repaired": lambda: [kind(build_records(SEED)) for kind in HELD_OUT],
    "held-out": lambda: [kind(build_packages()) for kind in HELD_OUT_APPLICATIONS],
    "applications": lambda: [kind(build_packages()) for kind in APPLICATIONS],
}


def cover_records(site: FormSite | FormApplication) -> list[int]:
    """Return how many records the oracle has reached after each request."""
    pages = [
        frozenset(record.number for record in found[start : start + site.page_size])
        for found in site.list_queries()
        for start in range(0, len(found), site.page_size)
    ]
    reached: set[int] = set()
    counts = [0]
    heap = [(-len(page), number) for number, page in enumerate(pages)]
    heapq.heapify(heap)
    while heap:
        gain, number = heapq.heappop(heap)
        actual = len(pages[number] - reached)
        if actual < -gain:
            if actual:
                heapq.heappush(heap, (-actual, number))
            continue
        reached |= pages[number]
        counts.append(len(reached))
    return counts


def measure_site(site: FormSite | FormApplication, limit: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="forms-") as folder, site:
        arguments = ["--forms", "search", "--form-limit", str(limit), "--exclude", RECORD_PAGES, "--repeat-limit", "0"]
        if isinstance(site, PostedSearch):
            arguments += ["--recipe", site.write_recipe(Path(folder))]
        options = ["--allow-private", "--delay", "0", "--workers", "1", "--quiet", "--no-index", "--no-sitemaps"]
        run_command(["crawl", site.root + "/", *arguments, *options, *site.options, "-C", str(Path(folder) / "c")])
    reached: set[int] = set()
    shown = wasted = 0
    curve = [0]
    for _, numbers in site.shown:
        wasted += not set(numbers) - reached
        shown += len(numbers)
        reached |= set(numbers)
        curve.append(len(reached))
    oracle = cover_records(site)
    requests = len(site.shown)
    return {
        "form": site.name,
        "requests": requests,
        "records": len(reached),
        "reachable": oracle[-1],
        "rate": _find_requests(oracle, len(reached)) / max(1, requests),
        "rates": [
            _find_requests(oracle, int(share * oracle[-1])) / needed
            if (needed := _find_requests(curve, int(share * oracle[-1]))) <= requests
            else 0.0
            for share in (0.25, 0.5, 0.75, 0.9)
        ],
        "duplicates": 1 - len(reached) / max(1, shown),
        "wasted": wasted / max(1, requests),
        "trips": len(site.trips),
    }


def _find_requests(counts: Sequence[int], target: int) -> int:
    """Return the number of requests after which so many records are reached."""
    return next((number for number, count in enumerate(counts) if count >= target), len(counts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=tuple(SETS), default="handlers")
    parser.add_argument("--limit", type=int, default=3_000)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    print(
        f"{'form':20} {'requests':>8} {'records':>14} {'rate':>5}  at 25/50/75/90 %           duplicates wasted trips"
    )
    for site in SETS[arguments.set]():
        if arguments.names and site.name not in arguments.names:
            continue
        row = measure_site(site, arguments.limit)
        rates = " ".join(f"{rate:.2f}" for rate in row["rates"])  # type: ignore[attr-defined]
        print(
            f"{row['form']:20} {row['requests']:8} {row['records']:6} of {row['reachable']:5} {row['rate']:5.2f}"
            f"  {rates:26} {row['duplicates']:9.1%} {row['wasted']:6.1%} {row['trips']:5}",
            flush=True,
        )
    seconds = sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"{seconds:.0f} s of processor time")


if __name__ == "__main__":
    main()
