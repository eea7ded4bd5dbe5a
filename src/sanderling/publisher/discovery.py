"""How a crawler finds us: a line in robots.txt, a link header on pages, and the well-known path (answers.py)."""

from collections.abc import Iterable
from hashlib import sha256

from sanderling.publisher.published_site import Site
from sanderling.publisher.recorder import Desk
from sanderling.publisher.responses import Answer
from sanderling.publisher.robots import LARGEST
from sanderling.publisher.volatile_files import TYPE, side_file, values

ROBOTS = "/robots.txt"
LEARN_EVERY = 3600_000  # milliseconds


def link_header(site: Site) -> str:
    """Name the lists in a header."""
    return f'<{site.url(site.changes_path)}>; rel="changes", <{site.url(site.sitemap_path)}>; rel="sitemap"'


def with_sitemap(site: Site, robots: str) -> str:
    """Add the line that names the sitemap, if it is not there."""
    line = f"Sitemap: {site.url(site.sitemap_path)}"
    if any(found.strip().lower() == line.lower() for found in robots.splitlines()):
        return robots
    return f"{robots.rstrip()}\n\n{line}\n".lstrip()


class Robots:
    """Knows what the application says in robots.txt, and adds our line to it."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.learned_at: int | None = None  # None: never

    def is_due(self) -> bool:
        """Say if robots.txt should be read (again) before anything is listed."""
        return self.learned_at is None or self.desk.now() - self.learned_at > LEARN_EVERY

    def learn(self, body: bytes) -> None:
        """Take in the rules."""
        self.desk.learn_rules(body[:LARGEST].decode("utf-8", "replace"))
        self.learned_at = self.desk.now()

    def amend(self, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> Answer:
        """Answer robots.txt with our line added; write one where the application has none."""
        coded = any(name.lower() == "content-encoding" and value != "identity" for name, value in headers)
        if status in (404, 410):
            status, headers, body = 200, [("Content-Type", "text/plain; charset=utf-8")], b""
        elif status != 200 or coded or len(body) >= LARGEST:
            return Answer(status, tuple((n, v) for n, v in headers if n.lower() != "content-length"), body)
        self.learn(body)
        dropped = ("content-length", "etag", "last-modified", "content-md5", "digest")
        kept = tuple((name, value) for name, value in headers if name.lower() not in dropped)
        text = with_sitemap(self.desk.site, body.decode("utf-8", "surrogateescape"))
        return Answer(200, kept, text.encode("utf-8", "surrogateescape"))


def side_answer(status: int, headers: Iterable[tuple[str, str]], body: bytes) -> Answer | None:
    """Make the side file of a page the application just served; None if it has no volatile parts."""
    told = {name.lower(): value for name, value in headers}
    if status != 200 or "content-encoding" in told or "html" not in told.get("content-type", ""):
        return None
    page = body.decode("utf-8", "replace")
    if not values(page):
        return None
    side = side_file(page).encode("utf-8", "surrogatepass")
    tag = f'"{sha256(side).hexdigest()[:32]}"'
    return Answer(200, (("Content-Type", TYPE), ("ETag", tag), ("Cache-Control", "no-cache")), side)
