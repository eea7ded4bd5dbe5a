"""Sample pages: from the store, the web, or saved under a name."""

from pathlib import Path

import msgspec
from msgspec import Struct

from sanderling.crawl.probe import ProbeResult, probe_robots, probe_url
from sanderling.crawl.request import parse_seed
from sanderling.db.connection import Connection
from sanderling.errors import UsageError
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.robots import build_robots_rules
from sanderling.fingerprint.structure import decode_features, fingerprint_structure
from sanderling.frontier.url_rows import find_host_id, load_state
from sanderling.html.parser import Document, is_html, parse_charset, parse_html
from sanderling.models import Outcome, Reason, Url, UrlState
from sanderling.storage.collection import StoredCollection
from sanderling.storage.queries import find_url_id, load_structure_page
from sanderling.templates.page_features import PageView
from sanderling.urls.normalize import NormalizedUrl, get_host

MIN_FEATURES = 2  # a page of a single block has no structure
SAVED_SAMPLES = "samples.json"


class Sample(Struct, frozen=True):
    """A sample page; `site` is 0 if no page of its host is known."""

    view: PageView
    site: int = 0


class SavedSamples(Struct, frozen=True):
    """Samples under a name."""

    samples: tuple[str, ...]
    negatives: tuple[str, ...] = ()


def load_saved_samples(folder: Path, name: str) -> SavedSamples:
    saved = _read_saved(folder)
    if name not in saved:
        known = ", ".join(sorted(saved)) or "none"
        raise UsageError(
            f"no samples are saved as {name!r} (saved: {known}); save them with: sanderling similar --save"
        )
    return saved[name]


def save_samples(folder: Path, name: str, samples: SavedSamples) -> None:
    """Save samples under a name, in a file of the collection."""
    saved = _read_saved(folder) | {name: samples}
    part = folder / f"{SAVED_SAMPLES}.part"
    part.write_bytes(msgspec.json.format(msgspec.json.encode(saved)))
    part.replace(folder / SAVED_SAMPLES)


def _read_saved(folder: Path) -> dict[str, SavedSamples]:
    try:
        return msgspec.json.decode((folder / SAVED_SAMPLES).read_bytes(), type=dict[str, SavedSamples])
    except FileNotFoundError:
        return {}
    except msgspec.DecodeError as error:
        raise UsageError(
            f"{folder / SAVED_SAMPLES} is damaged ({error}): remove it and save the samples again"
        ) from None


def take_sample(text: str, collection: StoredCollection | None, settings: FetchSettings | None) -> Sample:
    """Return a stored page as a sample, or fetch it if settings are given. Raises UsageError if it cannot serve."""
    normalized = parse_seed(text)
    stored = load_sample(normalized.url, collection.db) if collection else None
    if stored is not None:
        return stored
    if settings is None:
        raise UsageError(f"{normalized.url} is not stored; leave out --stored to fetch it")
    view = fetch_sample(normalized, settings)
    return Sample(view, find_host_id(collection.db, get_host(Url(view.url))) if collection else 0)


def load_sample(url: Url, db: Connection) -> Sample | None:
    """Return the stored page of a URL as a sample, or None."""
    id_ = find_url_id(db, url)
    if not id_:
        return None
    page = load_structure_page(db, id_)
    if page is None:
        state, reason, _ = load_state(db, id_) or ("", "", 0)
        if reason == Reason.ROBOTS:
            raise UsageError(_describe_exclusion(url))
        if state in (UrlState.FAILED, UrlState.GONE):
            raise UsageError(f"{url} could not be fetched ({reason or state}): give another sample")
        return None
    fingerprint = bytes(page.structure or b"")
    _refuse_unusable(url, page.status, page.mime, page.location, fingerprint)
    return Sample(PageView(id_, url, page.title, fingerprint), page.host_id)


def fetch_sample(normalized: NormalizedUrl, settings: FetchSettings) -> PageView:
    """Fetch a sample if robots.txt allows it."""
    robots = probe_robots(get_host(normalized.url), settings)
    if not build_robots_rules(robots, settings.agent_token).is_allowed(normalized.request_url):
        raise UsageError(_describe_exclusion(normalized.url))
    answer = probe_url(normalized, settings)
    if answer.outcome not in (Outcome.FETCHED, Outcome.REDIRECT):
        why = answer.detail or answer.reason or f"status {answer.status}"
        raise UsageError(f"{normalized.url} could not be fetched ({why}): give another sample")
    tree = _parse_answer(answer) if is_html(answer.mime, answer.body) else None
    fingerprint = fingerprint_structure(tree) if tree is not None else b""
    _refuse_unusable(normalized.url, answer.status, answer.mime, answer.location, fingerprint)
    title = tree.find("title") if tree is not None else None
    return PageView(0, normalized.url, " ".join(title.text.split()) if title is not None else "", fingerprint)


def _parse_answer(answer: ProbeResult) -> Document:
    return parse_html(answer.body, parse_charset(answer.content_type))


def _describe_exclusion(url: str) -> str:
    return f"robots.txt of {get_host(Url(url))} does not let us fetch {url}: give another sample"


def _refuse_unusable(url: str, status: int, mime: str, location: str, fingerprint: bytes) -> None:
    if 300 <= status < 400:
        raise UsageError(f"{url} is a redirect{f' to {location}' if location else ''}: give the page it leads to")
    if status >= 400:
        raise UsageError(f"{url} answers with status {status}: give a page that exists")
    if not fingerprint and mime and not is_html(mime, b""):
        raise UsageError(f"{url} is {mime}, not a web page: only HTML has a structure to match")
    if len(decode_features(fingerprint)) < MIN_FEATURES:
        raise UsageError(f"{url} is nearly empty: it has no structure to match")
