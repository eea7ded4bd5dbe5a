"""Fetch page requisites if enabled, and report replaced ones as changes.

Requisites are queued behind all pages, from any host, each once; style sheets and frames have requisites themselves.
A page may be byte-identical while its image was replaced. A replaced requisite is a change of the pages that use it,
or if many pages use it, a change of the requisite itself.
"""

from collections.abc import Mapping, Sequence

from sanderling.changes.change_store import ChangeStore
from sanderling.changes.resource_changes import ResourceChange, get_resource_type
from sanderling.crawl.context import REQUISITE_RANK
from sanderling.fingerprint.image_hash import compute_image_distance
from sanderling.frontier.frontier import Frontier
from sanderling.frontier.shard_links import ForeignLink
from sanderling.frontier.url_rows import UrlRow
from sanderling.models import CandidateUrl, FileRef, Outcome, Url, UrlRole, UrlSource, Visit
from sanderling.storage.archive_batch import ArchivedVisit
from sanderling.storage.catalog import PageCatalog, PageState
from sanderling.storage.queries import load_urls
from sanderling.urls.scope import get_site

MAX_NESTING = 6  # style sheets that import style sheets, frames in frames
MAX_USING_PAGES = 20  # a requisite that more pages use belongs to the template


def enqueue_requisites(
    visits: Sequence[Visit], rows: Mapping[int, UrlRow], frontier: Frontier, changes: ChangeStore, now: float
) -> None:
    """Queue the requisites of pages, and store which page uses them. Their depth is the level of nesting."""
    nesting = {visit.id: rows[visit.id].depth + 1 if visit.role is UrlRole.REQUISITE else 1 for visit in visits}
    using = [visit for visit in visits if visit.requisites and nesting[visit.id] <= MAX_NESTING]
    if not using:
        return
    refs = {ref.url: _build_candidate(ref, visit, nesting[visit.id]) for visit in using for ref in visit.requisites}
    known = frontier.url_store.get(refs)
    admitted = [url for url in known if not frontier.url_filter.find_requisite_rejection(url, now)[0]]
    frontier.promote_requisites({known[url].id: refs[url] for url in admitted})
    new = [candidate for url, candidate in refs.items() if url not in known]
    entries = [
        entry
        for candidate in new
        if not frontier.is_foreign(candidate.url)
        and (entry := frontier.url_filter.admit(candidate, False, now)) is not None
    ]
    ids = {url: found.id for url, found in known.items()} | frontier.enqueue(entries, now)
    foreign = [candidate for candidate in new if frontier.is_foreign(candidate.url)]
    ids |= frontier.send_foreign([_build_foreign_link(candidate) for candidate in foreign], {}, now)
    changes.store_resource_uses(
        {
            visit.id: [ids[ref.url] for ref in visit.requisites if ref.url in ids]
            for visit in using
            if visit.role is UrlRole.PAGE
        }
    )


def _build_foreign_link(candidate: CandidateUrl) -> ForeignLink:
    return ForeignLink(candidate.url, candidate.request_url, candidate.depth, candidate.source, candidate.role)


def record_replacements(
    archived_visits: Sequence[ArchivedVisit],
    previous: Mapping[int, PageState],
    catalog: PageCatalog,
    changes: ChangeStore,
) -> int:
    """Record replaced requisites as changes. Returns the number of changes."""
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
    distance = compute_image_distance(
        catalog.load_fingerprint(visit.id, "image_hash"), visit.fingerprints.image_hash or b""
    )
    change = ResourceChange(visit.url, resource_type, distance)
    changed = load_urls(catalog.db, page_ids) if len(page_ids) <= MAX_USING_PAGES else {visit.id: visit.url}
    for page, url in changed.items():
        changes.record_resource_change(page, get_site(Url(url)), visit.visited_at, old.last_visit, change)
    return len(changed)


def _build_candidate(file_ref: FileRef, page: Visit, nesting: int) -> CandidateUrl:
    return CandidateUrl(
        file_ref.url,
        file_ref.request_url,
        nesting,
        UrlSource.LINK,
        page.id,
        rank=REQUISITE_RANK,
        role=file_ref.role,
    )
