"""Classify changes of pages, and schedule their next visits."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from sanderling.changes.fingerprint_diff import FingerprintDiff, diff_fingerprints
from sanderling.clock import parse_http_date
from sanderling.crawl.stages.requisites import record_replacements
from sanderling.crawl.stages.stage_services import ChangeServices
from sanderling.crawl.stages.visit_batch import VisitBatch
from sanderling.fingerprint.model import decode_fingerprint, encode_fingerprint, is_current_fingerprint
from sanderling.frontier.url_rows import find_gone_pages
from sanderling.models import Outcome, Url, UrlRole, Visit
from sanderling.revisit.announcements import RevisitHint
from sanderling.revisit.missing_pages import find_moved_pages
from sanderling.revisit.schedule import VisitFacts
from sanderling.storage.archive_batch import ArchivedVisit
from sanderling.storage.catalog import MISSES_UNTIL_GONE, PageState
from sanderling.storage.render_templates import RENDERING, decode_rendering
from sanderling.storage.signal_log import Signal
from sanderling.urls.normalize import get_host, split_url
from sanderling.urls.scope import get_site
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import read_record

SCHEDULED_OUTCOMES = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT, Outcome.GONE)
MAX_SAME_TEXT_PAGES = 100_000  # pages beyond the limit are only compared again without need
FAILURE_DELAY_SECONDS = 86_400.0  # until the next visit of a page that could not be fetched


def classify_changes(
    archived_visits: Sequence[ArchivedVisit], previous: Mapping[int, PageState], context: ChangeServices
) -> set[int]:
    """Record changes of known pages. Returns the ids of significantly changed pages."""
    changed: set[int] = set()
    was_rendered = _find_rendered(previous, context)
    for item in archived_visits:
        visit, old = item.visit, previous.get(item.visit.id)
        if old is None or visit.role is not UrlRole.PAGE or not (old.is_present or old.is_gone):
            continue
        if _is_control(visit, context):
            context.stats.unchanged += 1
            continue
        site, visual = get_site(visit.url), visit.rendering.visual if visit.rendering is not None else None
        context.log.record_signal(Signal.EXTRACT_PAGE, 1, visit.url)
        is_unchanged = not item.has_changed or context.storage.catalog.is_restored(visit, old)
        if visit.outcome is Outcome.FETCHED and visit.is_rendered != (visit.id in was_rendered):
            context.stats.unchanged += 1  # rendered, or no longer rendered: the difference is ours
        elif visual is not None and visit.digest == old.digest:
            context.changes.record_other_change(
                visit.id, site, visit.visited_at, old.last_visit, FingerprintDiff(visual=visual)
            )
            changed.add(visit.id)
        elif is_unchanged and visit.outcome in (Outcome.NOT_MODIFIED, Outcome.FETCHED):
            context.changes.record_unchanged(visit.id, site, is_copy=_is_copy(item))
        elif visit.outcome is Outcome.FETCHED:
            diff = _diff_visit(visit, old, context)
            diff = replace(diff, visual=visual) if diff is not None and visual is not None else diff
            _record_same_text(
                context.run.same_text_pages,
                old,
                diff is not None and not diff.has_text_change and not old.duplicate_of_id,
            )
            change = context.changes.record_change(
                visit.id, site, visit.visited_at, old.last_visit, diff, visit.mime, is_copy=_is_copy(item)
            )
            if change.is_significant:
                changed.add(visit.id)
            else:  # only volatile text differs
                context.stats.unchanged += 1
    if context.options.fetches_requisites:
        context.stats.replaced_resources += record_replacements(
            archived_visits, previous, context.storage.catalog, context.changes
        )
    context.changes.save_noise_models()
    context.stats.changed += len(changed)
    return changed


def _is_control(visit: Visit, context: ChangeServices) -> bool:
    return visit.id in context.run.control_ids and visit.outcome in (Outcome.FETCHED, Outcome.NOT_MODIFIED)


def _find_rendered(previous: Mapping[int, PageState], context: ChangeServices) -> set[int]:
    """Return the pages whose last version was rendered in a browser."""
    packed = context.storage.catalog.load_fingerprints(list(previous), RENDERING) if previous else {}
    renderings = ((url_id, decode_rendering(value)) for url_id, value in packed.items())
    return {url_id for url_id, rendering in renderings if rendering is not None and rendering.is_rendered}


def _is_copy(item: ArchivedVisit) -> bool:
    """Whether a page has the bytes of another, or a canonical URL that differs only in the query.

    Some sites declare a single canonical URL for all pages, so other paths are not trusted.
    """
    visit, identical = item.visit, item.identical_body
    if identical is not None and identical.url_id != visit.id:
        return True
    return visit.canonical not in ("", visit.url) and _without_query(visit.canonical) == _without_query(visit.url)


def _without_query(url: Url) -> str:
    return url.partition("?")[0]


def _record_same_text(same_text_pages: dict[int, int], old: PageState, is_same_text: bool) -> None:
    if not is_same_text:
        same_text_pages.pop(old.url_id, None)
    elif len(same_text_pages) < MAX_SAME_TEXT_PAGES:
        same_text_pages.setdefault(old.url_id, old.visit_id)


def _diff_visit(visit: Visit, old: PageState, context: ChangeServices) -> FingerprintDiff | None:
    """Compare a page with its last version.

    Returns None if either is not HTML. A worker sends both fingerprints, unless it could not read the last version.
    """
    new = visit.fingerprints.after or visit.fingerprints.page or b""
    if not new or not old.was_html:
        return None
    before = visit.fingerprints.before or context.storage.catalog.load_fingerprint(visit.id, "page")
    if not is_current_fingerprint(before) and (location := context.storage.catalog.find_body_location(old.visit_id)):
        from sanderling.fingerprint.build import fingerprint_page
        from sanderling.html.parser import parse_html  # imported late: most crawls do not need the parser here

        before = encode_fingerprint(
            fingerprint_page(
                parse_html(read_record(context.storage.archive.folder, RecordLocation(*location)).body, old.charset)
            )
        )
    return (
        diff_fingerprints(decode_fingerprint(before), decode_fingerprint(new))
        if is_current_fingerprint(before)
        else None
    )


def schedule_visits(
    archived_visits: Sequence[ArchivedVisit],
    previous: Mapping[int, PageState],
    changed_ids: set[int],
    context: ChangeServices,
    now: float,
) -> None:
    """Schedule next visits, and score announcements."""
    visited = [
        item
        for item in archived_visits
        if item.visit.role is UrlRole.PAGE
        and item.visit.outcome in SCHEDULED_OUTCOMES
        and not _is_control(item.visit, context)
    ]
    context.run.control_ids.difference_update(
        item.visit.id for item in archived_visits if item.visit.outcome != Outcome.RETRY
    )
    gone = [item.visit.id for item in visited if _is_gone(item.visit, previous.get(item.visit.id))]
    for item in visited:
        _count_visit(item, previous.get(item.visit.id), context)
    facts = _collect_facts(visited, set(gone), previous, changed_ids, context, now)
    context.revisit.schedule.schedule_visits(facts)
    context.log.record_signal(Signal.TO_UPDATE, len(facts), visited[-1].visit.url if visited else "")
    context.revisit.schedule.delete_pages(gone)
    revisited = [page for page in facts if page.previous_visit_at]
    context.revisit.change_lists.remove_pages([*gone, *(page.url_id for page in facts if not page.previous_visit_at)])
    context.revisit.change_lists.score_visits(
        {page.url_id: page.has_changed or page.is_missing for page in revisited}, now
    )
    for visit in (item.visit for item in archived_visits):
        if visit.outcome in (Outcome.RETRY, Outcome.FAILED) and visit.id in previous:
            context.run.failed_ids.add(visit.id)
            reason = f"the last fetch failed: {visit.reason}"
            context.revisit.schedule.postpone([visit.id], now + _compute_failure_delay(visit.url, context), reason)


def requeue_linked_again(
    archived_visits: Sequence[ArchivedVisit], changed_ids: set[int], ids: Mapping[Url, int], context: ChangeServices
) -> None:
    """Queue gone pages that changed pages link to: they may have returned."""
    linked = {
        ids[link.url]
        for item in archived_visits
        if item.visit.id in changed_ids
        for link in item.visit.links
        if link.url in ids
    }
    context.frontier.requeue(find_gone_pages(context.db, sorted(linked)))


def _compute_failure_delay(url: Url, context: ChangeServices) -> float:
    """Return the time until a page that failed is tried again: no longer than its check interval."""
    interval = context.revisit.schedule.intervals.find_interval(url)
    is_monitored = interval.every or interval.objective == "delay"
    return min(FAILURE_DELAY_SECONDS, interval.every or interval.shortest) if is_monitored else FAILURE_DELAY_SECONDS


def _is_gone(visit: Visit, old: PageState | None) -> bool:
    return visit.outcome is Outcome.GONE and (old is None or old.miss_count + 1 >= MISSES_UNTIL_GONE)


def _count_visit(item: ArchivedVisit, old: PageState | None, context: ChangeServices) -> None:
    visit, stats = item.visit, context.stats
    was_present = old is not None and old.is_present
    if _is_gone(visit, old):
        stats.gone += was_present
        return
    stats.new += old is None and visit.outcome is Outcome.FETCHED
    stats.returned += old is not None and old.is_gone and visit.outcome is Outcome.FETCHED
    stats.moved += was_present and visit.outcome is Outcome.REDIRECT
    stats.bytes_saved += old.size if old and visit.outcome is Outcome.NOT_MODIFIED else 0
    if old and old.etag and visit.etag != old.etag and visit.outcome is Outcome.FETCHED and not item.has_changed:
        context.frontier.hosts.count_false_etag(get_host(visit.url))


def _collect_facts(
    visited: Sequence[ArchivedVisit],
    gone_ids: set[int],
    previous: Mapping[int, PageState],
    changed_ids: set[int],
    context: ChangeServices,
    now: float,
) -> list[VisitFacts]:
    hints = context.storage.sitemap_hints.load_hints([item.visit.id for item in visited])
    facts = []
    for visit in (item.visit for item in visited if item.visit.id not in gone_ids):
        old, hint = previous.get(visit.id), hints.get(visit.id)
        facts.append(
            VisitFacts(
                visit.id,
                get_site(visit.url),
                split_url(visit.url)[1],
                now,
                previous_visit_at=old.last_visit if old else 0.0,
                has_changed=visit.id in changed_ids,
                visits=old.visit_count + 1 if old else 1,
                changes=old.change_count if old else 0,
                is_missing=visit.outcome is Outcome.GONE,
                modified_at=parse_http_date(visit.last_modified) or 0.0,
                size=visit.size,
                sitemap_hint=RevisitHint(hint.lastmod, hint.is_date_only, hint.changefreq) if hint else None,
                url=visit.url,
            )
        )
    return facts


def move_histories(batch: VisitBatch, ids: Mapping[Url, int], context: ChangeServices) -> None:
    """Move visit histories along permanent redirects."""
    moved = find_moved_pages(batch.stored, batch.previous, batch.request_urls, ids)
    context.revisit.schedule.move_history(moved)
