"""What the publisher must know about a site."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sanderling.errors import UsageError
from sanderling.publisher.priority import FORMULAS

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class PublishedSite:
    """One web site, its state file and its choices."""

    base_url: str  # scheme and authority as visitors see them: https://example.org
    state_file: Path  # where views and changes are kept
    priority_formula: str = "hits"  # of priority.py
    half_life_days: float = 30.0
    sitemap_path: str = "/sitemap.xml"
    changes_path: str = "/changes.xml"
    page_size: int = 10_000  # entries of one answer
    max_urls: int = 5_000_000  # further pages are not taken up
    page_parameters: tuple[str, ...] = ()  # query parameters that name a page of their own
    private_prefixes: tuple[str, ...] = ()  # beginnings of paths that are never listed
    index_file: str = "index.html"
    deletion_days: float = 180.0  # how long a deletion is told
    indexnow_key: str = ""
    serve_tvi_files: bool = False  # answer for side files of pages with volatile parts

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path or parts.query or parts.fragment:
            raise UsageError(
                f"the base of a site is a scheme and a host, such as https://example.org, not {self.base_url!r}"
            )
        if self.priority_formula not in FORMULAS:
            raise UsageError(f"no priority is called {self.priority_formula!r}: choose one of {', '.join(FORMULAS)}")
        if not (self.half_life_days > 0 and self.deletion_days > 0 and 1 <= self.page_size <= 50_000):
            raise UsageError("half life and forgetting take days above 0, a page of a list 1 to 50000 entries")

    @property
    def half_life_ms(self) -> int:
        """The half-life of a view in milliseconds."""
        return int(self.half_life_days * DAY_MS)

    def build_url(self, path: str) -> str:
        """The full address of a path."""
        return self.base_url + path

    def is_private(self, path: str) -> bool:
        """Say if the owner wants this path kept out of every list."""
        return path.startswith(self.private_prefixes) if self.private_prefixes else False
