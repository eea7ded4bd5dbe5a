"""Fetch images, scripts and style sheets of pages if enabled, and report replacements as changes.

A page may be byte-identical while its image was replaced. Resources are queued behind all pages. A replaced resource
is a change of the pages that use it, or if many pages use it, a change of the resource itself.
"""

from collections.abc import Mapping, Sequence

from sanderling.changes.change_store import ChangeStore
from sanderling.changes.resource_changes import ResourceChange, get_resource_type
from sanderling.fingerprint.image_hash import compute_image_distance
from sanderling.frontier.frontier import Frontier
from sanderling.models import CandidateUrl, FileRef, Outcome, Url, UrlSource, Visit
from sanderling.storage.archive_batch import ArchivedVisit
from sanderling.storage.catalog import PageCatalog, PageState
from sanderling.storage.queries import load_urls
from sanderling.urls.scope import get_site

RESOURCE_RANK = 1e9  # after the pages of the host
MAX_USING_PAGES = 20  # a resource that more pages use belongs to the template


def enqueue_resources(
    visits: Sequence[Visit], depths: Mapping[int, int], frontier: Frontier, changes: ChangeStore, now: float
) -> None:
    """Queue the resources of pages, and store which page uses them."""
    pages = [visit for visit in visits if visit.resources]
    if not pages:
        return
    resources = {ref.url: (ref, visit) for visit in pages for ref in visit.resources}
    known = frontier.url_store.get(resources)
    ids = {url: found.id for url, found in known.items()}
    candidates = [_build_candidate(*resources[url], depths) for url in resources if url not in known]
    entries = [
        entry for candidate in candidates if (entry := frontier.url_filter.admit(candidate, False, now)) is not None
    ]
    ids |= frontier.enqueue(entries, now)
    changes.store_resource_uses(
        {visit.id: [ids[ref.url] for ref in visit.resources if ref.url in ids] for visit in pages}
    )


def record_replacements(
    archived_visits: Sequence[ArchivedVisit],
    previous: Mapping[int, PageState],
    catalog: PageCatalog,
    changes: ChangeStore,
) -> int:
    """Record replaced resources as changes. Returns the number of changes."""
    count = 0
    for item in archived_visits:
        old = previous.get(item.visit.id)
        if item.has_changed and item.visit.outcome is Outcome.FETCHED and old is not None and old.is_present:
            count += _record_replacement(item.visit, old, catalog, changes)
    return count


def _record_replacement(visit: Visit, old: PageState, catalog: PageCatalog, changes: ChangeStore) -> int:
    resource_type = get_resource_type(visit.mime)
    page_ids = changes.find_using_pages(visit.id, MAX_USING_PAGES + 1) if resource_type else []
    if not resource_type or not page_ids:
        return 0
    distance = compute_image_distance(catalog.load_fingerprint(visit.id, "look"), visit.fingerprints.get("look", b""))
    change = ResourceChange(visit.url, resource_type, distance)
    changed = load_urls(catalog.db, page_ids) if len(page_ids) <= MAX_USING_PAGES else {visit.id: visit.url}
    for page, url in changed.items():
        changes.record_resource_change(page, get_site(Url(url)), visit.visited_at, old.last_visit, change)
    return len(changed)


def _build_candidate(file_ref: FileRef, page: Visit, depths: Mapping[int, int]) -> CandidateUrl:
    return CandidateUrl(
        file_ref.url,
        file_ref.request_url,
        depths[page.id],
        UrlSource.LINK,
        page.id,
        rank=RESOURCE_RANK,
        role=file_ref.role,
    )
