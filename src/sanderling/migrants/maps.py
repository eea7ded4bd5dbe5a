"""Reading a sitemap or feed at the far end: hints and further sitemaps come home, already spelled."""

from sanderling.organise.normalise import resolve
from sanderling.records import Hint, Pointer, Role
from sanderling.sources.dates import Precision
from sanderling.sources.entries import Entry, Kind, Problem
from sanderling.sources.sitemap import read_sitemap

INDEX_LIMIT = 50_000  # sitemaps of one index


def read_map(url: str, body: bytes) -> tuple[tuple[Hint, ...], tuple[Pointer, ...], str]:
    """Read a file; give its pages, the sitemaps it names, and in one line what was wrong with it."""
    report = read_sitemap([body])
    hints = tuple(hint for entry in report.entries if (hint := _hint(url, entry)) is not None)
    pointers = tuple(
        Pointer(spelling.url, spelling.wire_if_different, Role.SITEMAP)
        for entry in report.sitemaps[:INDEX_LIMIT]
        if (spelling := resolve(url, entry.loc)) is not None
    )
    return hints, pointers, _note(report.kind, report.problems)


def _hint(url: str, entry: Entry) -> Hint | None:
    spelling = resolve(url, entry.loc)
    if spelling is None:
        return None
    return Hint(
        spelling.url,
        spelling.wire_if_different,
        entry.lastmod or 0.0,
        entry.lastmod_precision is Precision.DAY,
        entry.changefreq,
        -1.0 if entry.priority is None else entry.priority,
    )


def _note(kind: Kind, problems: dict[Problem, int]) -> str:
    found = ", ".join(f"{count} {problem}" for problem, count in problems.items() if count)
    return f"{kind}: {found}" if found else str(kind)
