"""Template filter: matching pages are reported, the rest is parked."""

from pathlib import Path

from sanderling.fetch.template_filter import MAX_PARKED_AGE, TemplateMatcher
from sanderling.fingerprint.structure import decode_features, fingerprint_structure
from sanderling.html.parser import parse_html
from sanderling.models import FetchBatch, FetchTask, Host, Outcome, Reason, TemplateFilter, Url, Visit
from sanderling.page_fingerprints import PageFingerprints

HOST = Host("https://shop.example")
PRODUCT = fingerprint_structure(
    parse_html(b"<div class=product><h1></h1><div class=price></div><div class=stock></div></div>")
)
TEXT = fingerprint_structure(
    parse_html(b"<article class=text><h1></h1><div class=by></div><section></section></article>")
)
FILTER = TemplateFilter((decode_features(PRODUCT),))


def build_task(id_: int, token: int = 1, digest: bytes = b"") -> FetchTask:
    return FetchTask(id_, token, Url(f"{HOST}/{id_}"), digest=digest)


def build_visit(task: FetchTask, structure: bytes) -> Visit:
    return Visit(
        task.id,
        task.token,
        task.url,
        Outcome.FETCHED,
        100.0,
        title="T",
        response_record=b"warc",
        fingerprints=PageFingerprints(structure=structure),
    )


def test_matching_page_is_reported_and_other_page_is_parked(tmp_path: Path) -> None:
    matcher = TemplateMatcher(str(tmp_path))
    matcher.register_batch(FetchBatch(HOST, (build_task(1), build_task(2)), template_filter=FILTER), 0.0)
    assert matcher.park_unless_matching(build_visit(build_task(1), PRODUCT)) == build_visit(build_task(1), PRODUCT)
    parked = matcher.park_unless_matching(build_visit(build_task(2), TEXT))
    assert (parked.outcome, parked.reason, parked.response_record) == (Outcome.PARKED, Reason.NOT_SIMILAR, b"")
    assert (parked.title, parked.fingerprints.structure) == ("T", TEXT)


def test_parked_page_is_returned_once(tmp_path: Path) -> None:
    matcher = TemplateMatcher(str(tmp_path))
    matcher.register_batch(FetchBatch(HOST, (build_task(2),), template_filter=FILTER), 0.0)
    matcher.park_unless_matching(build_visit(build_task(2), TEXT))
    parked, remaining = TemplateMatcher(str(tmp_path)).register_batch(
        FetchBatch(HOST, (build_task(2, token=9), build_task(3))), 200.0
    )
    assert [(v.id, v.token, v.outcome, v.response_record) for v in parked] == [(2, 9, Outcome.FETCHED, b"warc")]
    assert remaining.tasks == (build_task(3),)
    assert matcher.register_batch(FetchBatch(HOST, (build_task(2),)), 200.0)[0] == []


def test_old_parked_page_is_fetched_again(tmp_path: Path) -> None:
    matcher = TemplateMatcher(str(tmp_path))
    matcher.register_batch(FetchBatch(HOST, (build_task(2),), template_filter=FILTER), 0.0)
    matcher.park_unless_matching(build_visit(build_task(2), TEXT))
    assert matcher.register_batch(FetchBatch(HOST, (build_task(2),)), 101.0 + MAX_PARKED_AGE)[0] == []


def test_pages_without_filter_or_already_stored_are_reported(tmp_path: Path) -> None:
    matcher = TemplateMatcher(str(tmp_path))
    matcher.register_batch(FetchBatch(HOST, (build_task(1),)), 0.0)
    matcher.register_batch(FetchBatch(HOST, (build_task(2, digest=b"old"),), template_filter=FILTER), 0.0)
    assert matcher.park_unless_matching(build_visit(build_task(1), TEXT)).outcome is Outcome.FETCHED
    assert matcher.park_unless_matching(build_visit(build_task(2), TEXT)).outcome is Outcome.FETCHED
