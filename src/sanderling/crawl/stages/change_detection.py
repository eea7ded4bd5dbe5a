"""What kind of change a page had, and when to come back to it: the one loop from refresh to frontier."""

from collections.abc import Mapping, Sequence

from sanderling.changes.fingerprint_diff import FingerprintDiff, diff_fingerprints
from sanderling.clock import parse_http_date
from sanderling.crawl.context import CrawlContext
from sanderling.fingerprint.model import decode_fingerprint, encode_fingerprint, is_current_fingerprint
from sanderling.models import Outcome, Url, UrlRole, Visit
from sanderling.revisit.policies.sitemap_driven import RevisitHint as Told
from sanderling.revisit.schedule import VisitFacts
from sanderling.storage.archive_batch import ArchivedVisit
from sanderling.storage.catalog import MISSES_UNTIL_GONE, PageState
from sanderling.storage.signal_log import Signal
from sanderling.urls.normalize import get_host, split_url
from sanderling.urls.scope import get_site
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import read_record

SCHEDULED_OUTCOMES = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT, Outcome.GONE)
MAX_SAME_TEXT_PAGES = 100_000
FAILURE_DELAY_SECONDS = 86_400.0  # seconds until a page that could not be seen is looked at again


def classify_changes(
    archived_visits: Sequence[ArchivedVisit], latest: Mapping[int, PageState], context: CrawlContext
) -> set[int]:
    """Say what kind of change each page had that was known before; give those where it matters."""
    changed: set[int] = set()
    for item in archived_visits:
        visit, old = item.visit, latest.get(item.visit.id)
        if old is None or visit.role is not UrlRole.PAGE or not (old.is_present or old.is_gone):
            continue
        site = get_site(visit.url)
        context.crawl_log.record_signal(Signal.EXTRACT_PAGE, 1, visit.url)
        is_same = not item.has_changed or context.catalog.is_restored(visit, old)
        if is_same and visit.outcome in (Outcome.NOT_MODIFIED, Outcome.FETCHED):
            context.change_store.record_unchanged(visit.id, site, is_copy=_is_copy(item))
        elif visit.outcome is Outcome.FETCHED:
            found = _diff_visit(visit, old, context)
            _record_same_text(
                context.same_text_pages,
                old,
                found is not None and not found.has_text_change and not old.duplicate_of_id,
            )
            change = context.change_store.record_change(
                visit.id, site, visit.visited_at, old.last_visit, found, visit.mime, is_copy=_is_copy(item)
            )
            if change.is_significant:
                changed.add(visit.id)
            else:  # a clock, a counter: the page says what it said
                context.stats["unchanged"] += 1
    if context.page_resources is not None:
        context.stats["replaced"] += context.page_resources.record_replacements(archived_visits, latest)
    context.change_store.save_noise_models()
    context.stats["changed"] += len(changed)
    return changed


def _is_copy(item: ArchivedVisit) -> bool:
    """Say whether a page is another one's copy: to the byte, or by its own word under another query.

    Some sites name one canonical page for all: another path is another page.
    """
    visit, twin = item.visit, item.identical_body
    if twin is not None and twin.url_id != visit.id:
        return True
    return visit.canonical not in ("", visit.url) and _without_query(visit.canonical) == _without_query(visit.url)


def _without_query(url: Url) -> str:
    return url.partition("?")[0]


def _record_same_text(same_text_pages: dict[int, int], old: PageState, is_same_text: bool) -> None:
    """Note that a page reads as it did, or does no more; beyond the limit, pages are looked up again for nothing."""
    if not is_same_text:
        same_text_pages.pop(old.url_id, None)
    elif len(same_text_pages) < MAX_SAME_TEXT_PAGES:
        same_text_pages.setdefault(old.url_id, old.visit_id)


def _diff_visit(visit: Visit, old: PageState, context: CrawlContext) -> FingerprintDiff | None:
    """How a page differs from its last version: by the marks its migrant made of both, or else by full marks.

    A migrant that could not read the last version leaves that to us; None where either is no page.
    """
    new = visit.fingerprints.get("after") or visit.fingerprints.get("signature", b"")
    if not new or not old.was_html:
        return None
    before = visit.fingerprints.get("before") or context.catalog.load_fingerprint(visit.id, "signature")
    if not is_current_fingerprint(before) and (place := context.catalog.find_body_location(old.visit_id)):
        from sanderling.fingerprint.build import fingerprint_page
        from sanderling.html.parser import parse_html  # most crawls never ask

        before = encode_fingerprint(
            fingerprint_page(parse_html(read_record(context.archive.folder, RecordLocation(*place)).body, old.charset))
        )
    return (
        diff_fingerprints(decode_fingerprint(before), decode_fingerprint(new))
        if is_current_fingerprint(before)
        else None
    )


def schedule_visits(
    archived_visits: Sequence[ArchivedVisit],
    latest: Mapping[int, PageState],
    changed_ids: set[int],
    context: CrawlContext,
    now: float,
) -> None:
    """Say when to come back to every page of the batch: the one loop from refresh to frontier."""
    seen = [
        item for item in archived_visits if item.visit.role is UrlRole.PAGE and item.visit.outcome in SCHEDULED_OUTCOMES
    ]
    ids = [item.visit.id for item in seen]
    hints = context.sitemap_hints.load_hints(ids)
    facts, gone = [], []
    for item in seen:
        visit, old = item.visit, latest.get(item.visit.id)
        if visit.outcome is Outcome.GONE and (old is None or old.miss_count + 1 >= MISSES_UNTIL_GONE):
            gone.append(visit.id)
            context.stats["vanished"] += old is not None and old.is_present
            continue
        hint = hints.get(visit.id)
        facts.append(
            VisitFacts(
                visit.id, get_site(visit.url), split_url(visit.url)[1], now, old.last_visit if old else 0.0,
                visit.id in changed_ids, old.visit_count + 1 if old else 1, old.change_count if old else 0,
                visit.outcome is Outcome.GONE, parse_http_date(visit.last_modified) or 0.0, visit.size,
                Told(hint.lastmod, hint.is_date_only, hint.changefreq) if hint else None,
            )
        )  # fmt: skip
        context.stats["new"] += old is None and visit.outcome is Outcome.FETCHED
        context.stats["moved"] += old is not None and old.is_present and visit.outcome is Outcome.REDIRECT
        context.stats["bytes_saved"] += old.size if old and visit.outcome is Outcome.NOT_MODIFIED else 0
        if old and old.etag and visit.etag != old.etag and visit.outcome is Outcome.FETCHED and not item.has_changed:
            context.hosts.count_false_etag(get_host(visit.url))
    context.revisit_schedule.schedule_visits(facts)
    context.crawl_log.record_signal(Signal.TO_UPDATE, len(facts), seen[-1].visit.url if seen else "")
    context.revisit_schedule.delete_pages(gone)
    context.change_lists.remove_pages([*gone, *(page.url_id for page in facts if not page.previous_visit_at)])
    context.change_lists.score_visits(
        {page.url_id: page.has_changed or page.is_missing for page in facts if page.previous_visit_at}, now
    )
    lost = [
        i.visit for i in archived_visits if i.visit.outcome in (Outcome.RETRY, Outcome.FAILED) and i.visit.id in latest
    ]
    for visit in lost:
        context.revisit_schedule.postpone(
            [visit.id], now + FAILURE_DELAY_SECONDS, f"it could not be seen: {visit.reason}"
        )
    context.revisit_schedule.score_announcements(
        {page.url_id: (page.site, page.has_changed) for page in facts if page.previous_visit_at}
    )
