"""Configure a published web site."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sanderling.errors import UsageError
from sanderling.publisher.priority import FORMULAS

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class PublishedSite:
    """The configuration of a web site."""

    base_url: str  # public scheme and host: https://example.org
    state_file: Path  # stores views and changes
    priority_formula: str = "hits"  # see priority.py
    half_life_days: float = 30.0
    sitemap_path: str = "/sitemap.xml"
    changes_path: str = "/changes.xml"
    page_size: int = 10_000  # entries per response
    max_urls: int = 5_000_000  # further pages are ignored
    page_parameters: tuple[str, ...] = ()  # query parameters that identify a page
    private_prefixes: tuple[str, ...] = ()  # path prefixes that are never listed
    index_file: str = "index.html"
    deletion_days: float = 180.0  # how long a deletion is listed
    indexnow_key: str = ""
    serve_tvi_files: bool = False  # serve .tvi files of pages with volatile parts

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path or parts.query or parts.fragment:
            raise UsageError(
                f"the base URL of a site is a scheme and a host, such as https://example.org, not {self.base_url!r}"
            )
        if self.priority_formula not in FORMULAS:
            raise UsageError(f"unknown priority formula {self.priority_formula!r}: choose one of {', '.join(FORMULAS)}")
        if not (self.half_life_days > 0 and self.deletion_days > 0 and 1 <= self.page_size <= 50_000):
            raise UsageError("half-life and deletion days must be positive, and the page size 1 to 50000 entries")

    @property
    def half_life_ms(self) -> int:
        return int(self.half_life_days * DAY_MS)

    def build_url(self, path: str) -> str:
        return self.base_url + path

    def is_private(self, path: str) -> bool:
        """Return whether the owner excludes this path from all lists."""
        return path.startswith(self.private_prefixes) if self.private_prefixes else False
