"""Parse sitemaps, sitemap indexes, URL lists, and feeds incrementally, within limits."""

import codecs
import re
from collections import Counter
from collections.abc import Iterable

from sanderling.discovery.entry_builder import WHITESPACE, EntryBuilder
from sanderling.discovery.entry_types import SitemapEntry, SitemapKind, SitemapLimits, SitemapProblem, SitemapReport
from sanderling.discovery.feeds import LOC_LIMIT, JsonFeedParser, is_http_url
from sanderling.discovery.gunzip import GzipUnpacker
from sanderling.discovery.llms_txt import MarkdownListParser
from sanderling.discovery.xml_scanner import XmlScanner
from sanderling.html.encoding import detect_encoding

HEAD_BYTES = 1024  # for the detection of encoding and format
SCAN_BYTES = 16 * 1024  # smaller parts are buffered before they are scanned

_XML_START = re.compile(r"<(?:\?xml|urlset|sitemapindex|rss|feed|rdf:RDF)[\s>]").search


class SitemapParser:
    """Call `feed` repeatedly, then `finish`; both return complete entries."""

    def __init__(self, limits: SitemapLimits | None = None, charset: str = "") -> None:
        self._limits = limits or SitemapLimits()
        self._charset = charset  # of the Content-Type header
        self.problems: Counter[SitemapProblem] = Counter()
        self.bytes_read = 0  # uncompressed
        self._gunzip = GzipUnpacker()
        self._builder = EntryBuilder(self._limits, self.problems)
        self._scanner = XmlScanner(self._builder)
        self._text_parser: _UrlListParser | JsonFeedParser | MarkdownListParser | None = None
        self._decoder: codecs.IncrementalDecoder | None = None
        self._buffer: list[bytes] = []
        self._buffered_bytes = 0
        self._has_started = False
        self._entry_count = 0
        self.is_limit_reached = False  # the rest of the file is ignored

    @property
    def kind(self) -> SitemapKind:
        """Format, as far as the file was read."""
        return self._text_parser.kind if self._text_parser else self._builder.kind

    @property
    def updated_at(self) -> float | None:
        """Stated last change of a feed, or None."""
        return self._builder.updated_at.timestamp if self._builder.updated_at else None

    def feed(self, data: bytes) -> list[SitemapEntry]:
        """Parse some bytes and return complete entries."""
        for chunk in self._gunzip.feed(data):
            if self.is_limit_reached:
                break
            self._buffer_chunk(chunk)
        return self._take_entries()

    def finish(self) -> list[SitemapEntry]:
        """Parse buffered bytes, return the last entries, and complete `problems`."""
        for chunk in self._gunzip.finish():
            self._buffer_chunk(chunk)
        self._parse_buffer(is_last=True)
        self.problems[SitemapProblem.BAD_GZIP] += self._gunzip.is_broken and not self.is_limit_reached
        if self._text_parser is None and not self.is_limit_reached:
            self._builder.finish(self._scanner.is_inside_markup)
        entries = self._take_entries()
        if self.kind is SitemapKind.UNKNOWN:
            self.problems[SitemapProblem.NOT_A_SITEMAP] += 1
        self.problems = +self.problems
        return entries

    def _buffer_chunk(self, chunk: bytes) -> None:
        remaining = self._limits.max_bytes - self.bytes_read
        self._check_limit(len(chunk) > remaining, SitemapProblem.TOO_LARGE)
        self.bytes_read += min(len(chunk), remaining)
        self._buffer.append(chunk[:remaining])
        self._buffered_bytes += len(chunk)
        if self._buffered_bytes >= SCAN_BYTES or self.is_limit_reached:
            self._parse_buffer()

    def _parse_buffer(self, is_last: bool = False) -> None:
        data, self._buffer, self._buffered_bytes = b"".join(self._buffer), [], 0
        if self._decoder is None:
            self._decoder = codecs.getincrementaldecoder(detect_encoding(data[:HEAD_BYTES], self._charset))("replace")
        text = self._decoder.decode(data, is_last)
        if not self._has_started:
            text = text.lstrip(WHITESPACE)
            self._has_started = bool(text)
            text = self._detect_format(text)
        if self._text_parser:
            self._text_parser.feed(text, is_last)
        else:
            self._scanner.feed(text)
            self._check_limit(self._scanner.tag_count > self._limits.max_tags, SitemapProblem.TOO_LARGE)

    def _detect_format(self, text: str) -> str:
        """Detect the format. Returns the text without server warnings before the XML."""
        if text.startswith("{"):
            self._text_parser = JsonFeedParser(self.problems)
        elif text.startswith("# "):
            self._text_parser = MarkdownListParser(self.problems)
        elif text and not text.startswith("<"):
            if (match := _XML_START(text[:HEAD_BYTES])) and not is_http_url(text):
                self.problems[SitemapProblem.NOT_WELL_FORMED] += 1
                return text[match.start() :]
            self._text_parser = _UrlListParser(self.problems)
        return text

    def _check_limit(self, is_over: bool, problem: SitemapProblem) -> None:
        if is_over and not self.is_limit_reached:
            self.problems[problem] += 1
            self.is_limit_reached = True

    def _take_entries(self) -> list[SitemapEntry]:
        source = self._text_parser or self._builder
        entries, source.entries = source.entries, []
        remaining = self._limits.max_entries - self._entry_count
        self._check_limit(len(entries) > remaining, SitemapProblem.TOO_MANY_ENTRIES)
        self._entry_count += min(len(entries), remaining)
        return entries[:remaining]


def parse_sitemap(chunks: Iterable[bytes], limits: SitemapLimits | None = None, charset: str = "") -> SitemapReport:
    """Parse a whole file."""
    parser = SitemapParser(limits, charset)
    entries: list[SitemapEntry] = []
    for chunk in chunks:
        entries += parser.feed(chunk)
        if parser.is_limit_reached:
            break
    entries += parser.finish()
    pages, sitemaps = ((), tuple(entries)) if parser.kind is SitemapKind.INDEX else (tuple(entries), ())
    return SitemapReport(parser.kind, pages, sitemaps, parser.updated_at, dict(parser.problems), parser.bytes_read)


class _UrlListParser:
    """Parser of a text sitemap with a URL per line."""

    def __init__(self, problems: Counter[SitemapProblem]) -> None:
        self.kind = SitemapKind.UNKNOWN
        self.entries: list[SitemapEntry] = []
        self._problems = problems
        self._unfinished_line = ""

    def feed(self, text: str, is_last: bool) -> None:
        lines = (self._unfinished_line + text).replace("\r", "\n").split("\n")
        self._unfinished_line = "" if is_last else lines.pop()[: LOC_LIMIT + 1]
        for line in lines:
            loc = line.strip(WHITESPACE)
            if is_http_url(loc) and len(loc) <= LOC_LIMIT:
                self.kind = SitemapKind.TEXT
                self.entries.append(SitemapEntry(loc))
            elif loc:
                self._problems[SitemapProblem.BAD_LOC] += 1
