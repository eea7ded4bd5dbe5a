"""Sample pages to find others like them, from the store or from the web.

A sample that cannot serve (a redirect, a PDF, an empty page, one that robots.txt forbids) is refused in one sentence.
"""

from msgspec import Struct

from sanderling.crawl.probe import ProbeResult, probe_robots, probe_url
from sanderling.crawl.request import parse_seed
from sanderling.db.connection import Connection
from sanderling.errors import UsageError
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.robots import build_robots_rules
from sanderling.fingerprint.structure import decode_features, fingerprint_structure
from sanderling.html.parser import Document, is_html, parse_charset, parse_html
from sanderling.models import Outcome, Reason, Url, UrlState
from sanderling.storage.collection import StoredCollection
from sanderling.storage.queries import find_url_id
from sanderling.templates.template_views import PageView
from sanderling.urls.normalize import NormalizedUrl, get_host

LEAST_FEATURES = 4  # fewer, and a page has no structure to speak of


class Sample(Struct, frozen=True):
    """A page to find others like it; its id and site are 0 if it is not stored."""

    look: PageView
    signature: bytes
    site: int = 0


def take_sample(text: str, collection: StoredCollection | None, settings: FetchSettings | None) -> Sample:
    """Look a sample up in the store, or fetch it where settings to do so are given; refuse what cannot serve."""
    spelling = parse_seed(text)
    known = stored_sample(spelling.url, collection.db) if collection else None
    if known is not None:
        return known
    if settings is None:
        raise UsageError(f"{spelling.url} is not stored; leave out --stored to fetch it")
    return fetched_sample(spelling, settings)


def stored_sample(url: Url, db: Connection) -> Sample | None:
    """The stored page of a URL as a sample; None if there is none."""
    id_ = find_url_id(db, url)
    if not id_:
        return None
    row = db.execute(
        "SELECT p.status, p.mime, p.title, p.location, u.host, m.value FROM pages AS p JOIN urls AS u ON u.id = p.url"
        " LEFT JOIN marks AS m ON m.url = p.url AND m.kind = 'structure' WHERE p.url = ?",
        (id_,),
    ).fetchone()
    if row is None:
        state, reason = db.execute("SELECT state, reason FROM urls WHERE id = ?", (id_,)).fetchone()
        if reason == Reason.ROBOTS:
            raise UsageError(_forbidden(url))
        if state in (UrlState.FAILED, UrlState.GONE):
            raise UsageError(f"{url} could not be fetched ({reason or state}): give another sample")
        return None
    status, mime, title, location, site, signature = row
    _refuse(url, status, mime, location, bytes(signature or b""))
    return Sample(PageView(id_, url, title, decode_features(bytes(signature))), bytes(signature), site)


def fetched_sample(spelling: NormalizedUrl, settings: FetchSettings) -> Sample:
    """Ask the web for a sample, if robots.txt lets us."""
    robots = probe_robots(get_host(spelling.url), settings)
    if not build_robots_rules(robots, settings.agent_token).is_allowed(spelling.request_url):
        raise UsageError(_forbidden(spelling.url))
    answer = probe_url(spelling, settings)
    if answer.outcome not in (Outcome.FETCHED, Outcome.REDIRECT):
        why = answer.detail or answer.reason or f"status {answer.status}"
        raise UsageError(f"{spelling.url} could not be fetched ({why}): give another sample")
    tree = _tree(answer) if is_html(answer.mime, answer.body) else None
    signature = fingerprint_structure(tree) if tree is not None else b""
    _refuse(spelling.url, answer.status, answer.mime, answer.location, signature)
    title = tree.find("title") if tree is not None else None
    words = " ".join(title.text.split()) if title is not None else ""
    return Sample(PageView(0, spelling.url, words, decode_features(signature)), signature)


def _tree(answer: ProbeResult) -> Document:
    return parse_html(answer.body, parse_charset(answer.content_type))


def _forbidden(url: str) -> str:
    return f"robots.txt of {get_host(Url(url))} does not let us fetch {url}: give another sample"


def _refuse(url: str, status: int, mime: str, location: str, signature: bytes) -> None:
    if 300 <= status < 400:
        raise UsageError(f"{url} is a redirect{f' to {location}' if location else ''}: give the page it leads to")
    if status >= 400:
        raise UsageError(f"{url} answers with status {status}: give a page that exists")
    if not signature and mime and not is_html(mime, b""):
        raise UsageError(f"{url} is {mime}, not a web page: only HTML has a structure to match")
    if len(decode_features(signature)) < LEAST_FEATURES:
        raise UsageError(f"{url} is nearly empty: it has no structure to match")
