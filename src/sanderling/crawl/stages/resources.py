"""What pages use and do not contain: images, scripts and style sheets are visited too, where a crawl is asked to.

A page may be the same to the byte while its picture or its script is another one. The resources are queued behind all
pages and visited with their validators; where one was replaced, the pages that use it changed. One that many pages use
belongs to the template: then the change is that of the resource itself, told once.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sanderling.changes.change_store import ChangeStore
from sanderling.changes.resource_changes import ResourceChange, get_resource_type
from sanderling.db.connection import Connection
from sanderling.fingerprint.image_hash import compute_image_distance
from sanderling.frontier.url_filter import UrlFilter
from sanderling.frontier.url_store import UrlStore
from sanderling.models import CandidateUrl, FileRef, Outcome, Url, UrlSource, Visit
from sanderling.storage.archive_batch import ArchivedVisit
from sanderling.storage.catalog import PageCatalog, PageState
from sanderling.storage.queries import load_urls
from sanderling.urls.scope import get_site

RESOURCE_RANK = 1e9  # rank: after the pages of their host
MAX_USING_PAGES = 20  # pages for which a resource is their own


class PageResources(Struct, frozen=True):
    """The rooms that are asked."""

    db: Connection
    url_store: UrlStore
    url_filter: UrlFilter
    change_store: ChangeStore
    catalog: PageCatalog

    def enqueue_resources(self, visits: Sequence[Visit], depths: Mapping[int, int], now: float) -> None:
        """Queue the resources of these pages, and remember who uses them."""
        pages = [visit for visit in visits if visit.resources]
        if not pages:
            return
        wanted = {pointer.url: (pointer, visit) for visit in pages for pointer in visit.resources}
        known = self.url_store.get(wanted)
        ids = {url: found.id for url, found in known.items()}
        fresh = [_build_candidate(*wanted[url], depths) for url in wanted if url not in known]
        entries = [entry for new in fresh if (entry := self.url_filter.admit(new, False, now)) is not None]
        ids |= self.url_store.insert_and_enqueue(entries, now)
        self.db.executemany("DELETE FROM uses WHERE page = ?", [(visit.id,) for visit in pages])
        self.db.executemany(
            "INSERT INTO uses VALUES (?, ?) ON CONFLICT (page, resource) DO NOTHING",
            [(visit.id, ids[pointer.url]) for visit in pages for pointer in visit.resources if pointer.url in ids],
        )

    def load_visited(self) -> list[int]:
        """All resources that were seen: a refresh asks whether they are still the same."""
        return [id_ for (id_,) in self.db.execute("SELECT id FROM urls WHERE role = 'resource' AND state = 'visited'")]

    def record_replacements(self, archived_visits: Sequence[ArchivedVisit], latest: Mapping[int, PageState]) -> int:
        """Note what was replaced since the last visit; say how many changes that made."""
        noted = 0
        for item in archived_visits:
            old = latest.get(item.visit.id)
            if item.has_changed and item.visit.outcome is Outcome.FETCHED and old is not None and old.is_present:
                noted += self._record_replacement(item.visit, old)
        return noted

    def _record_replacement(self, visit: Visit, old: PageState) -> int:
        sort = get_resource_type(visit.mime)
        users = self._load_using_pages(visit.id) if sort else []
        if not sort or not users:
            return 0
        amount = compute_image_distance(
            self.catalog.load_fingerprint(visit.id, "look"), visit.fingerprints.get("look", b"")
        )
        swap = ResourceChange(visit.url, sort, amount)
        changed = load_urls(self.db, users) if len(users) <= MAX_USING_PAGES else {visit.id: visit.url}
        for page, url in changed.items():
            self.change_store.record_resource_change(page, get_site(Url(url)), visit.visited_at, old.last_visit, swap)
        return len(changed)

    def _load_using_pages(self, resource_id: int) -> list[int]:
        rows = self.db.execute("SELECT page FROM uses WHERE resource = ? LIMIT ?", (resource_id, MAX_USING_PAGES + 1))
        return [page for (page,) in rows]


def _build_candidate(file_ref: FileRef, page: Visit, depths: Mapping[int, int]) -> CandidateUrl:
    """A resource stands on the level of its page: it is part of it."""
    return CandidateUrl(
        file_ref.url,
        file_ref.request_url,
        depths[page.id],
        UrlSource.LINK,
        page.id,
        rank=RESOURCE_RANK,
        role=file_ref.role,
    )
