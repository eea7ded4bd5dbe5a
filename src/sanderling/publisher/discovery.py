"""Make the lists discoverable: robots.txt, Link header, and .tvi files."""

from collections.abc import Iterable
from hashlib import sha256

from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.recorder import RequestRecorder
from sanderling.publisher.responses import ListingResponse
from sanderling.publisher.robots_rules import MAX_ROBOTS_BYTES
from sanderling.publisher.volatile_files import TVI_MEDIA_TYPE, build_tvi_file, extract_volatile_parts

ROBOTS_PATH = "/robots.txt"
ROBOTS_REFRESH_MS = 3600_000


def build_link_header(site: PublishedSite) -> str:
    return f'<{site.build_url(site.changes_path)}>; rel="changes", <{site.build_url(site.sitemap_path)}>; rel="sitemap"'


def add_sitemap_line(site: PublishedSite, robots_text: str) -> str:
    """Add a Sitemap line to robots.txt, unless it is present."""
    line = f"Sitemap: {site.build_url(site.sitemap_path)}"
    if any(found.strip().lower() == line.lower() for found in robots_text.splitlines()):
        return robots_text
    return f"{robots_text.rstrip()}\n\n{line}\n".lstrip()


class RobotsRewriter:
    """Read the application's robots.txt, and add a Sitemap line to it."""

    def __init__(self, recorder: RequestRecorder) -> None:
        self.recorder = recorder
        self.loaded_at: int | None = None  # None: not yet

    def is_refresh_due(self) -> bool:
        """Return whether robots.txt must be read before anything is listed."""
        return self.loaded_at is None or self.recorder.get_time_ms() - self.loaded_at > ROBOTS_REFRESH_MS

    def load_rules(self, body: bytes) -> None:
        self.recorder.load_robots_rules(body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace"))
        self.loaded_at = self.recorder.get_time_ms()

    def build_robots_response(self, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> ListingResponse:
        """Add our Sitemap line to robots.txt, or create it."""
        is_compressed = any(name.lower() == "content-encoding" and value != "identity" for name, value in headers)
        if status in (404, 410):
            status, headers, body = 200, [("Content-Type", "text/plain; charset=utf-8")], b""
        elif status != 200 or is_compressed or len(body) >= MAX_ROBOTS_BYTES:
            return ListingResponse(status, tuple((n, v) for n, v in headers if n.lower() != "content-length"), body)
        self.load_rules(body)
        dropped = ("content-length", "etag", "last-modified", "content-md5", "digest")
        kept_headers = tuple((name, value) for name, value in headers if name.lower() not in dropped)
        text = add_sitemap_line(self.recorder.site, body.decode("utf-8", "surrogateescape"))
        return ListingResponse(200, kept_headers, text.encode("utf-8", "surrogateescape"))


def build_tvi_response(status: int, headers: Iterable[tuple[str, str]], body: bytes) -> ListingResponse | None:
    """Return None for pages without volatile parts."""
    header_values = {name.lower(): value for name, value in headers}
    if status != 200 or "content-encoding" in header_values or "html" not in header_values.get("content-type", ""):
        return None
    page = body.decode("utf-8", "replace")
    if not extract_volatile_parts(page):
        return None
    tvi_body = build_tvi_file(page).encode("utf-8", "surrogatepass")
    etag = f'"{sha256(tvi_body).hexdigest()[:32]}"'
    return ListingResponse(
        200, (("Content-Type", TVI_MEDIA_TYPE), ("ETag", etag), ("Cache-Control", "no-cache")), tvi_body
    )
