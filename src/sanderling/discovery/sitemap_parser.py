"""Read a sitemap, an index of sitemaps, a text list, a feed (RSS, Atom, JSON): bytes in, entries out, within limits.

What can be read is read; the rest is counted as problems. A file may come in any pieces and is never held whole.
"""

import codecs
import re
from collections import Counter
from collections.abc import Iterable

from sanderling.discovery.entries import BLANKS, LOC_LIMIT, Gatherer
from sanderling.discovery.entry_types import Entry, Kind, Limits, Problem, SitemapReport
from sanderling.discovery.feeds import JsonFeed, looks_like_url
from sanderling.discovery.gunzip import Gunzip
from sanderling.discovery.xml_scanner import Scanner
from sanderling.html.encoding import encoding_of

HEAD = 1024  # bytes that decide on encoding and kind
STRIDE = 16 * 1024  # bytes scanned at a time; smaller pieces are put together first

_XML = re.compile(r"<(?:\?xml|urlset|sitemapindex|rss|feed|rdf:RDF)[\s>]").search


class SitemapReader:
    """Read one file as it comes: feed it, take the entries, finish."""

    def __init__(self, limits: Limits | None = None, charset: str = "") -> None:
        self._limits = limits or Limits()
        self._charset = charset  # as declared from outside
        self.problems: Counter[Problem] = Counter()
        self.bytes_read = 0  # uncompressed
        self._gunzip = Gunzip()
        self._gatherer = Gatherer(self._limits, self.problems)
        self._scanner = Scanner(self._gatherer)
        self._lines: _Lines | JsonFeed | None = None
        self._decoder: codecs.IncrementalDecoder | None = None
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._has_begun = False
        self._count = 0
        self.is_full = False  # a limit is reached: nothing more is read

    @property
    def kind(self) -> Kind:
        """Say what the file is, as far as it was read."""
        return self._lines.kind if self._lines else self._gatherer.kind

    @property
    def updated(self) -> float | None:
        """Say when a feed says it was last changed itself."""
        return self._gatherer.updated.at if self._gatherer.updated else None

    def feed(self, data: bytes) -> list[Entry]:
        """Read some bytes; give the entries that became complete."""
        for piece in self._gunzip.feed(data):
            if self.is_full:
                break
            self._wait(piece)
        return self._found()

    def finish(self) -> list[Entry]:
        """Read what is left, and judge the whole."""
        for piece in self._gunzip.finish():
            self._wait(piece)
        self._read(is_last=True)
        self.problems[Problem.BAD_GZIP] += self._gunzip.is_broken and not self.is_full
        if self._lines is None and not self.is_full:
            self._gatherer.finish(self._scanner.is_inside)
        found = self._found()
        if self.kind is Kind.UNKNOWN:
            self.problems[Problem.NOT_A_SITEMAP] += 1
        self.problems = +self.problems
        return found

    def _wait(self, piece: bytes) -> None:
        room = self._limits.bytes - self.bytes_read
        self._check(len(piece) > room, Problem.TOO_LARGE)
        self.bytes_read += min(len(piece), room)
        self._waiting.append(piece[:room])
        self._waiting_bytes += len(piece)
        if self._waiting_bytes >= STRIDE or self.is_full:
            self._read()

    def _read(self, is_last: bool = False) -> None:
        data, self._waiting, self._waiting_bytes = b"".join(self._waiting), [], 0
        if self._decoder is None:
            self._decoder = codecs.getincrementaldecoder(encoding_of(data[:HEAD], self._charset))("replace")
        text = self._decoder.decode(data, is_last)
        if not self._has_begun:
            text = text.lstrip(BLANKS)
            self._has_begun = bool(text)
            text = self._begin(text)
        if self._lines:
            self._lines.feed(text, is_last)
        else:
            self._scanner.feed(text)
            self._check(self._scanner.steps > self._limits.tags, Problem.TOO_LARGE)

    def _begin(self, text: str) -> str:
        """Decide by its first characters what a file is; words of a server before the XML are left out."""
        if text.startswith("{"):
            self._lines = JsonFeed(self.problems)
        elif text and not text.startswith("<"):
            if (found := _XML(text[:HEAD])) and not looks_like_url(text):
                self.problems[Problem.NOT_WELL_FORMED] += 1
                return text[found.start() :]
            self._lines = _Lines(self.problems)
        return text

    def _check(self, is_over: bool, problem: Problem) -> None:
        if is_over and not self.is_full:
            self.problems[problem] += 1
            self.is_full = True

    def _found(self) -> list[Entry]:
        source = self._lines or self._gatherer
        found, source.found = source.found, []
        room = self._limits.entries - self._count
        self._check(len(found) > room, Problem.TOO_MANY)
        self._count += min(len(found), room)
        return found[:room]


def read_sitemap(chunks: Iterable[bytes], limits: Limits | None = None, charset: str = "") -> SitemapReport:
    """Read a whole file; give all it says."""
    reader = SitemapReader(limits, charset)
    found: list[Entry] = []
    for chunk in chunks:
        found += reader.feed(chunk)
        if reader.is_full:
            break
    found += reader.finish()
    pages, sitemaps = ((), tuple(found)) if reader.kind is Kind.INDEX else (tuple(found), ())
    return SitemapReport(reader.kind, pages, sitemaps, reader.updated, dict(reader.problems), reader.bytes_read)


class _Lines:
    """A list of URLs, one per line."""

    def __init__(self, problems: Counter[Problem]) -> None:
        self.kind = Kind.UNKNOWN
        self.found: list[Entry] = []
        self._problems = problems
        self._left = ""

    def feed(self, text: str, is_last: bool) -> None:
        lines = (self._left + text).replace("\r", "\n").split("\n")
        self._left = "" if is_last else lines.pop()[: LOC_LIMIT + 1]
        for line in lines:
            loc = line.strip(BLANKS)
            if looks_like_url(loc) and len(loc) <= LOC_LIMIT:
                self.kind = Kind.TEXT
                self.found.append(Entry(loc))
            elif loc:
                self._problems[Problem.BAD_LOC] += 1
