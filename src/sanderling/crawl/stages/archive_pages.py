"""Append pages to the archive, and write their catalog rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from msgspec import Struct

from sanderling.crawl.stages.stage_services import ArchiveServices
from sanderling.crawl.stages.visit_batch import VisitBatch
from sanderling.models import Link, Outcome, Url, Visit
from sanderling.storage.archive_batch import ArchivedVisit, archive_visits
from sanderling.storage.catalog import PageState, VisitRow
from sanderling.storage.link_graph import FLUSH_LINK_COUNT, OutgoingLinks, pack_links, unpack_links
from sanderling.storage.signal_log import Signal


class ResolvedLinks(Struct, frozen=True, gc=False):
    """Links with the ids of their targets."""

    targets: list[int]
    links: Sequence[Link]

    def __iter__(self) -> Iterator[tuple[int, Link]]:
        return zip(self.targets, self.links, strict=True)


class ArchivedPages(Struct, frozen=True):
    """Archived visits with their links and catalog rows, in the same order."""

    archived: Sequence[ArchivedVisit]
    links: Sequence[ResolvedLinks]
    rows: Sequence[VisitRow]


def resolve_link_ids(links: Sequence[Link], ids: Mapping[Url, int]) -> ResolvedLinks:
    """Pair links with target ids. Links to unrecorded URLs are left out."""
    targets = list(map(ids.get, [link.url for link in links]))
    if all(targets):
        return ResolvedLinks(cast(list[int], targets), links)
    return ResolvedLinks([id_ for id_ in targets if id_], [link for link in links if link.url in ids])


def archive_pages(batch: VisitBatch, ids: Mapping[Url, int], context: ArchiveServices) -> ArchivedPages:
    """Archive stored visits. `ids` maps link targets to URL ids."""
    fetched_count = sum(visit.outcome is Outcome.FETCHED for visit in batch.stored)
    context.log.record_signal(Signal.CHECK, fetched_count)
    return archive_versions(batch.stored, batch.request_urls, batch.previous, ids, context)


def archive_versions(
    visits: Sequence[Visit],
    request_urls: Mapping[int, str],
    previous: Mapping[int, PageState],
    ids: Mapping[Url, int],
    context: ArchiveServices,
) -> ArchivedPages:
    """Append WARC records, start their flush, and build catalog rows."""
    archived = archive_visits(visits, previous, request_urls, context.storage.catalog, context.storage.archive)
    lengths = context.storage.archive.start_flush()
    file_ids = {name: context.storage.catalog.upsert_file(name, length) for name, length in lengths.items()}
    links = [resolve_link_ids(item.visit.links, ids) for item in archived]
    rows = [
        _build_visit_row(item, file_ids, resolved, previous.get(item.visit.id), context)
        for item, resolved in zip(archived, links, strict=True)
    ]
    return ArchivedPages(archived, links, rows)


def _build_visit_row(
    item: ArchivedVisit,
    file_ids: Mapping[str, int],
    resolved_links: ResolvedLinks,
    old: PageState | None,
    context: ArchiveServices,
) -> VisitRow:
    """Build a catalog row, and add new links to the link graph."""
    visit, location = item.visit, item.location
    packed_links, count = b"", 0
    if item.has_changed and visit.links:
        targets = resolved_links.targets
        count = len(targets)
        nofollow = [n for n, link in enumerate(resolved_links.links) if link.nofollow]
        packed_links = pack_links(OutgoingLinks(targets, [link.anchor for link in resolved_links.links], nofollow))
        known = set(unpack_links(old.packed_links).target_ids) if old else ()
        context.storage.link_graph.add(visit.id, [id_ for id_ in targets if id_ not in known] if known else targets)
    if location is None:
        return VisitRow(
            visit, item.has_changed, identical_body=item.identical_body, packed_links=packed_links, link_count=count
        )
    return VisitRow(
        visit,
        item.has_changed,
        file_ids[location.file],
        location.offset,
        location.length,
        item.record_id,
        item.payload_digest,
        item.identical_body,
        packed_links,
        count,
    )


def write_pages(pages: ArchivedPages, previous: Mapping[int, PageState], context: ArchiveServices) -> None:
    """Write visits and pages to the catalog, and look for near duplicates.

    The link graph is flushed here: it records up to which visit it is complete.
    """
    context.storage.catalog.write_visits(pages.rows, previous, context.run.session)
    if context.storage.link_graph.pending_count >= FLUSH_LINK_COUNT:
        context.storage.link_graph.flush()
    if (
        previous or context.frontier.collection_limit is not None
    ):  # changed or removed pages need a full pass at the end
        context.near_duplicates.defer()
    unique = [row.visit for row in pages.rows if 200 <= row.visit.status < 300 and row.identical_body is None]
    context.near_duplicates.add(
        [(visit.id, sketch) for visit in unique if (sketch := visit.fingerprints.minhash) is not None]
    )
