"""The STRUCT buffer: what a specialised migrant brings home and what it keeps."""

from pathlib import Path

from sanderling.fetch.template_filter import FRESH, Buffer
from sanderling.fingerprint.structure import features, structure
from sanderling.html.parser import parse
from sanderling.models import Brief, Host, Itinerary, Outcome, Reason, Stop, Url, Visit

HOST = Host("https://shop.example")
PRODUCT = structure(parse(b"<div class=product><h1></h1><div class=price></div><div class=stock></div></div>"))
TEXT = structure(parse(b"<article class=text><h1></h1><div class=by></div><section></section></article>"))
BRIEF = Brief((features(PRODUCT),))


def stop(id_: int, token: int = 1, digest: bytes = b"") -> Stop:
    return Stop(id_, token, Url(f"{HOST}/{id_}"), digest=digest)


def visit(of: Stop, signature: bytes) -> Visit:
    return Visit(
        of.id, of.token, of.url, Outcome.FETCHED, 100.0, title="T", response=b"warc", marks={"structure": signature}
    )


def test_a_match_goes_home_whole_and_another_page_without_its_body(tmp_path: Path) -> None:
    buffer = Buffer(str(tmp_path))
    buffer.carry(Itinerary(HOST, (stop(1), stop(2)), brief=BRIEF), 0.0)
    assert buffer.weigh(visit(stop(1), PRODUCT)) == visit(stop(1), PRODUCT)
    other = buffer.weigh(visit(stop(2), TEXT))
    assert (other.outcome, other.reason, other.response) == (Outcome.KEPT, Reason.NOT_ALIKE, b"")
    assert (other.title, other.marks["structure"]) == ("T", TEXT)


def test_what_is_kept_comes_when_it_is_asked_for_and_only_once(tmp_path: Path) -> None:
    buffer = Buffer(str(tmp_path))
    buffer.carry(Itinerary(HOST, (stop(2),), brief=BRIEF), 0.0)
    buffer.weigh(visit(stop(2), TEXT))
    kept, left = Buffer(str(tmp_path)).carry(Itinerary(HOST, (stop(2, token=9), stop(3))), 200.0)
    assert [(v.id, v.token, v.outcome, v.response) for v in kept] == [(2, 9, Outcome.FETCHED, b"warc")]
    assert left.stops == (stop(3),)
    assert buffer.carry(Itinerary(HOST, (stop(2),)), 200.0)[0] == []


def test_a_page_kept_for_too_long_is_fetched_again(tmp_path: Path) -> None:
    buffer = Buffer(str(tmp_path))
    buffer.carry(Itinerary(HOST, (stop(2),), brief=BRIEF), 0.0)
    buffer.weigh(visit(stop(2), TEXT))
    assert buffer.carry(Itinerary(HOST, (stop(2),)), 101.0 + FRESH)[0] == []


def test_without_a_brief_and_for_pages_we_hold_everything_goes_home(tmp_path: Path) -> None:
    buffer = Buffer(str(tmp_path))
    buffer.carry(Itinerary(HOST, (stop(1),)), 0.0)
    buffer.carry(Itinerary(HOST, (stop(2, digest=b"old"),), brief=BRIEF), 0.0)
    assert buffer.weigh(visit(stop(1), TEXT)).outcome is Outcome.FETCHED
    assert buffer.weigh(visit(stop(2), TEXT)).outcome is Outcome.FETCHED
