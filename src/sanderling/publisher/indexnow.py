"""Announce changes to search engines by IndexNow, in a single POST request.

The last announced change is stored, so that a failed ping is retried.
"""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from http.client import HTTPException
from urllib.parse import urlsplit

from sanderling.errors import UsageError
from sanderling.publisher.listings import LIVE_FILTER
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.state_db import Connection, load_publisher_state, write_transaction

ENDPOINT = "https://api.indexnow.org/indexnow"
MAX_URLS_PER_PING = 10_000  # limit of the protocol
KEY_PATTERN = re.compile(r"[A-Za-z0-9-]{8,128}")

PostFunction = Callable[[str, bytes], int]

SELECT_UNANNOUNCED = f"""SELECT path, noticed, id FROM pages
WHERE (noticed > :announced OR (noticed = :announced AND id > :id)) AND noticed <= :stamp
  AND ({LIVE_FILTER} OR (deleted = 1 AND hidden = 0)) ORDER BY noticed, id LIMIT {MAX_URLS_PER_PING}"""


class _NoRedirectHandler(urllib.request.HTTPRedirectHandler):
    """Treat redirects as rejection."""

    def redirect_request(self, *_: object) -> None:
        return None


def post_ping(endpoint: str, body: bytes) -> int:
    """Send a ping. Returns the HTTP status, or 0 without a response."""
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "sanderling-publisher"}
    request = urllib.request.Request(endpoint, body, headers, method="POST")  # noqa: S310 endpoint of the site owner's settings
    try:
        with urllib.request.build_opener(_NoRedirectHandler).open(request, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return int(error.code)
    except (OSError, HTTPException):
        return 0


def build_ping(site: PublishedSite, paths: Sequence[str]) -> bytes:
    return json.dumps(
        {
            "host": urlsplit(site.base_url).netloc,
            "key": site.indexnow_key,
            "keyLocation": site.build_url(f"/{site.indexnow_key}.txt"),
            "urlList": [site.build_url(path) for path in paths],
        }
    ).encode()


def announce_changes(
    db: Connection, site: PublishedSite, endpoint: str = ENDPOINT, post_function: PostFunction = post_ping
) -> int:
    """Announce new changes until rejected. Returns the number of accepted URLs."""
    if not KEY_PATTERN.fullmatch(site.indexnow_key):
        raise UsageError("an IndexNow key has 8 to 128 letters, digits, and dashes")
    state = load_publisher_state(db)
    if state.announced_until == 0:
        _store_announced(db, state.last_commit_time, 1 << 62)  # pages of the first scan are not announced
        return 0
    announced = 0
    while rows := _load_unannounced(db):
        if post_function(endpoint, build_ping(site, [path for path, _, _ in rows])) not in (200, 202):
            break
        announced += len(rows)
        _store_announced(db, rows[-1][1], rows[-1][2])
    return announced


def _load_unannounced(db: Connection) -> list[tuple[str, int, int]]:
    state = load_publisher_state(db)
    return db.execute(
        SELECT_UNANNOUNCED,
        {"announced": state.announced_until, "id": state.announced_page_id, "stamp": state.last_commit_time},
    ).fetchall()


def _store_announced(db: Connection, commit_time: int, page_id: int) -> None:
    with write_transaction(db):
        db.execute("UPDATE facts SET told = ?, told_id = ?", (commit_time, page_id))
