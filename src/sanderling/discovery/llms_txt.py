"""Parse llms.txt: a list of pages in Markdown (llmstxt.org), at the root of a site."""

import re
from collections import Counter

from sanderling.discovery.entry_types import SitemapEntry, SitemapKind, SitemapProblem

MARKDOWN_LINK = re.compile(r"\]\(\s*<?([^\s<>()]{1,2000})>?[^()]{0,300}\)")
MAX_LINE = 10_000


class MarkdownListParser:
    """Collects the links of a Markdown file, line by line."""

    def __init__(self, problems: Counter[SitemapProblem]) -> None:
        self.kind = SitemapKind.UNKNOWN
        self.entries: list[SitemapEntry] = []
        self._problems = problems
        self._unfinished_line = ""

    def feed(self, text: str, is_last: bool) -> None:
        lines = (self._unfinished_line + text).replace("\r", "\n").split("\n")
        self._unfinished_line = "" if is_last else lines.pop()[:MAX_LINE]
        for line in lines:
            for match in MARKDOWN_LINK.finditer(line[:MAX_LINE]):
                if not match[1].startswith("#"):
                    self.kind = SitemapKind.MARKDOWN
                    self.entries.append(SitemapEntry(match[1]))
