"""Telling search engines at once (IndexNow): what changed since we last told, as one small POST.

What was told is remembered by its stamp in the state file, so a ping that fails is sent again later, and a restart
neither repeats nor forgets.
"""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from http.client import HTTPException
from urllib.parse import urlsplit

from sanderling.errors import UsageError
from sanderling.publisher.listings import LIVE
from sanderling.publisher.published_site import Site
from sanderling.publisher.state_db import Connection, facts, writing

ENDPOINT = "https://api.indexnow.org/indexnow"
MOST = 10_000  # URLs of one ping, by the protocol
KEY = re.compile(r"[A-Za-z0-9-]{8,128}")

Post = Callable[[str, bytes], int]

CHANGED = f"""SELECT path, noticed, id FROM pages
WHERE (noticed > :told OR (noticed = :told AND id > :id)) AND noticed <= :stamp
  AND ({LIVE} OR (deleted = 1 AND hidden = 0)) ORDER BY noticed, id LIMIT {MOST}"""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A ping that is sent on elsewhere was not accepted."""

    def redirect_request(self, *_: object) -> None:
        return None


def post(address: str, body: bytes) -> int:
    """Send a ping; give the HTTP status, 0 if there was no answer."""
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "sanderling-publisher"}
    request = urllib.request.Request(address, body, headers, method="POST")
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=10) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as refused:
        with refused:
            return int(refused.code)
    except (OSError, HTTPException):
        return 0


def message(site: Site, paths: Sequence[str]) -> bytes:
    """Write the ping."""
    return json.dumps(
        {
            "host": urlsplit(site.base).netloc,
            "key": site.indexnow_key,
            "keyLocation": site.url(f"/{site.indexnow_key}.txt"),
            "urlList": [site.url(path) for path in paths],
        }
    ).encode()


def ping(db: Connection, site: Site, endpoint: str = ENDPOINT, send: Post = post) -> int:
    """Tell what changed and was not told yet; give how many URLs were accepted. Stops at the first refusal."""
    if not KEY.fullmatch(site.indexnow_key):
        raise UsageError("an IndexNow key has 8 to 128 letters, digits and dashes")
    known = facts(db)
    if known.told == 0:
        _remember(db, known.stamp, 1 << 62)  # what was there before us is no news
        return 0
    told = 0
    while rows := _untold(db):
        if send(endpoint, message(site, [path for path, _, _ in rows])) not in (200, 202):
            break
        told += len(rows)
        _remember(db, rows[-1][1], rows[-1][2])
    return told


def _untold(db: Connection) -> list[tuple[str, int, int]]:
    known = facts(db)
    return db.execute(CHANGED, {"told": known.told, "id": known.told_id, "stamp": known.stamp}).fetchall()


def _remember(db: Connection, stamp: int, id: int) -> None:
    with writing(db):
        db.execute("UPDATE facts SET told = ?, told_id = ?", (stamp, id))
