"""The STRUCT buffer: what a specialised migrant brings home and what it keeps."""

from pathlib import Path

from sanderling.fetch.template_filter import MAX_PARKED_AGE, TemplateMatcher
from sanderling.fingerprint.structure import decode_features, fingerprint_structure
from sanderling.html.parser import parse_html
from sanderling.models import FetchBatch, FetchTask, Host, Outcome, Reason, TemplateFilter, Url, Visit

HOST = Host("https://shop.example")
PRODUCT = fingerprint_structure(
    parse_html(b"<div class=product><h1></h1><div class=price></div><div class=stock></div></div>")
)
TEXT = fingerprint_structure(
    parse_html(b"<article class=text><h1></h1><div class=by></div><section></section></article>")
)
BRIEF = TemplateFilter((decode_features(PRODUCT),))


def stop(id_: int, token: int = 1, digest: bytes = b"") -> FetchTask:
    return FetchTask(id_, token, Url(f"{HOST}/{id_}"), digest=digest)


def visit(of: FetchTask, signature: bytes) -> Visit:
    return Visit(
        of.id,
        of.token,
        of.url,
        Outcome.FETCHED,
        100.0,
        title="T",
        response_record=b"warc",
        fingerprints={"structure": signature},
    )


def test_a_match_goes_home_whole_and_another_page_without_its_body(tmp_path: Path) -> None:
    buffer = TemplateMatcher(str(tmp_path))
    buffer.register_batch(FetchBatch(HOST, (stop(1), stop(2)), template_filter=BRIEF), 0.0)
    assert buffer.park_unless_matching(visit(stop(1), PRODUCT)) == visit(stop(1), PRODUCT)
    other = buffer.park_unless_matching(visit(stop(2), TEXT))
    assert (other.outcome, other.reason, other.response_record) == (Outcome.PARKED, Reason.NOT_SIMILAR, b"")
    assert (other.title, other.fingerprints["structure"]) == ("T", TEXT)


def test_what_is_kept_comes_when_it_is_asked_for_and_only_once(tmp_path: Path) -> None:
    buffer = TemplateMatcher(str(tmp_path))
    buffer.register_batch(FetchBatch(HOST, (stop(2),), template_filter=BRIEF), 0.0)
    buffer.park_unless_matching(visit(stop(2), TEXT))
    kept, left = TemplateMatcher(str(tmp_path)).register_batch(FetchBatch(HOST, (stop(2, token=9), stop(3))), 200.0)
    assert [(v.id, v.token, v.outcome, v.response_record) for v in kept] == [(2, 9, Outcome.FETCHED, b"warc")]
    assert left.tasks == (stop(3),)
    assert buffer.register_batch(FetchBatch(HOST, (stop(2),)), 200.0)[0] == []


def test_a_page_kept_for_too_long_is_fetched_again(tmp_path: Path) -> None:
    buffer = TemplateMatcher(str(tmp_path))
    buffer.register_batch(FetchBatch(HOST, (stop(2),), template_filter=BRIEF), 0.0)
    buffer.park_unless_matching(visit(stop(2), TEXT))
    assert buffer.register_batch(FetchBatch(HOST, (stop(2),)), 101.0 + MAX_PARKED_AGE)[0] == []


def test_without_a_brief_and_for_pages_we_hold_everything_goes_home(tmp_path: Path) -> None:
    buffer = TemplateMatcher(str(tmp_path))
    buffer.register_batch(FetchBatch(HOST, (stop(1),)), 0.0)
    buffer.register_batch(FetchBatch(HOST, (stop(2, digest=b"old"),), template_filter=BRIEF), 0.0)
    assert buffer.park_unless_matching(visit(stop(1), TEXT)).outcome is Outcome.FETCHED
    assert buffer.park_unless_matching(visit(stop(2), TEXT)).outcome is Outcome.FETCHED
