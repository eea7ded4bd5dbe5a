"""How a crawler finds us: a line in robots.txt, a link header on pages, and the well-known path (answers.py)."""

from collections.abc import Iterable
from hashlib import sha256

from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.recorder import RequestRecorder
from sanderling.publisher.responses import ListingResponse
from sanderling.publisher.robots_rules import MAX_ROBOTS_BYTES
from sanderling.publisher.volatile_files import TVI_MEDIA_TYPE, build_tvi_file, extract_volatile_parts

ROBOTS_PATH = "/robots.txt"
ROBOTS_REFRESH_MS = 3600_000  # milliseconds


def build_link_header(site: PublishedSite) -> str:
    """Name the lists in a header."""
    return f'<{site.build_url(site.changes_path)}>; rel="changes", <{site.build_url(site.sitemap_path)}>; rel="sitemap"'


def add_sitemap_line(site: PublishedSite, robots_text: str) -> str:
    """Add the line that names the sitemap, if it is not there."""
    line = f"Sitemap: {site.build_url(site.sitemap_path)}"
    if any(found.strip().lower() == line.lower() for found in robots_text.splitlines()):
        return robots_text
    return f"{robots_text.rstrip()}\n\n{line}\n".lstrip()


class RobotsRewriter:
    """Knows what the application says in robots.txt, and adds our line to it."""

    def __init__(self, recorder: RequestRecorder) -> None:
        self.recorder = recorder
        self.loaded_at: int | None = None  # None: never

    def is_refresh_due(self) -> bool:
        """Say if robots.txt should be read (again) before anything is listed."""
        return self.loaded_at is None or self.recorder.get_time_ms() - self.loaded_at > ROBOTS_REFRESH_MS

    def load_rules(self, body: bytes) -> None:
        """Take in the rules."""
        self.recorder.load_robots_rules(body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace"))
        self.loaded_at = self.recorder.get_time_ms()

    def build_robots_response(self, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> ListingResponse:
        """Answer robots.txt with our line added; write one where the application has none."""
        coded = any(name.lower() == "content-encoding" and value != "identity" for name, value in headers)
        if status in (404, 410):
            status, headers, body = 200, [("Content-Type", "text/plain; charset=utf-8")], b""
        elif status != 200 or coded or len(body) >= MAX_ROBOTS_BYTES:
            return ListingResponse(status, tuple((n, v) for n, v in headers if n.lower() != "content-length"), body)
        self.load_rules(body)
        dropped = ("content-length", "etag", "last-modified", "content-md5", "digest")
        kept = tuple((name, value) for name, value in headers if name.lower() not in dropped)
        text = add_sitemap_line(self.recorder.site, body.decode("utf-8", "surrogateescape"))
        return ListingResponse(200, kept, text.encode("utf-8", "surrogateescape"))


def build_tvi_response(status: int, headers: Iterable[tuple[str, str]], body: bytes) -> ListingResponse | None:
    """Make the side file of a page the application just served; None if it has no volatile parts."""
    told = {name.lower(): value for name, value in headers}
    if status != 200 or "content-encoding" in told or "html" not in told.get("content-type", ""):
        return None
    page = body.decode("utf-8", "replace")
    if not extract_volatile_parts(page):
        return None
    side = build_tvi_file(page).encode("utf-8", "surrogatepass")
    tag = f'"{sha256(side).hexdigest()[:32]}"'
    return ListingResponse(200, (("Content-Type", TVI_MEDIA_TYPE), ("ETag", tag), ("Cache-Control", "no-cache")), side)
