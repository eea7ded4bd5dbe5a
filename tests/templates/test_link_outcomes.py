"""Which page led to which, and what the navigator hears of it."""

from sanderling.templates.link_model import LinkSeen, Navigator
from sanderling.templates.link_outcomes import Arrival, LinkOutcomes

ROOT = "https://shop.example"
SAMPLE = f"{ROOT}/p/1.html"


def listing(number: int, *targets: str) -> Arrival:
    url = f"{ROOT}/list/{number}.html"
    links = [(100 * number + n, LinkSeen(ROOT + target, "", url, "ul.all>li")) for n, target in enumerate(targets)]
    return Arrival(number, url, "", b"", links)


def leads() -> LinkOutcomes:
    return LinkOutcomes(Navigator([SAMPLE]), [SAMPLE])


def test_a_page_that_leads_to_a_sample_is_a_hub() -> None:
    good, bad = leads(), leads()
    for ledger, target in ((good, "/p/1.html"), (bad, "/imprint")):
        ledger.ways[7] = [LinkSeen(f"{ROOT}/list/7.html")]
        ledger.take_in(listing(7, target), 0.0)
    assert good.brought[f"{ROOT}/list/7.html"] == 1
    another = LinkSeen(f"{ROOT}/list/8.html")
    assert good.navigator.score(another) > bad.navigator.score(another)


def test_only_the_first_page_that_leads_to_a_sample_has_the_credit() -> None:
    ledger = leads()
    ledger.take_in(listing(7, "/p/1.html"), 0.0)
    ledger.take_in(listing(8, "/p/1.html"), 0.0)
    assert ledger.brought[f"{ROOT}/list/8.html"] == 0


def test_what_a_link_turned_out_to_be_corrects_the_worth_of_its_page() -> None:
    ledger = leads()
    ledger.take_in(listing(7, "/odd/a", "/odd/b"), 0.0)
    before = ledger.brought[f"{ROOT}/list/7.html"]
    ledger.take_in(Arrival(700, f"{ROOT}/odd/a", "", b""), 1.0)
    assert ledger.brought[f"{ROOT}/list/7.html"] > before
    assert 700 not in ledger.ways
    assert 701 in ledger.ways


def test_the_ways_to_a_page_are_told_apart_by_their_place() -> None:
    ledger = leads()
    target = f"{ROOT}/p/2.html"
    for n, place in enumerate(["ul>li", "ul>li", "table>td"]):
        url = f"{ROOT}/c/{n}.html"
        ledger.take_in(Arrival(n, url, "", b"", [(9, LinkSeen(target, "", url, place))]), 0.0)
    assert [way.place for way in ledger.ways[9]] == ["ul>li", "table>td"]


def pointing(ledger: LinkOutcomes, wanted: float, *targets: str) -> None:
    """Six pages come in that link to all these."""
    ids = {target: 1_000 + n for n, target in enumerate(["/up/", "/help", "/rare"])}
    for n in range(6):
        url = f"{ROOT}/{'p' if wanted else 'news'}/{n + 2}.html"
        links = [(ids[target], LinkSeen(ROOT + target, "", url, "nav>a")) for target in targets]
        ledger.take_in(Arrival(int(100 * wanted) + n, url, "", b"", links), wanted)


def test_a_page_that_wanted_pages_and_no_others_link_to_may_be_their_list() -> None:
    ledger = leads()
    pointing(ledger, 0.0, "/help", "/rare")
    pointing(ledger, 1.0, "/up/", "/help")
    assert ledger.listed(1_000) > 0.3
    assert ledger.listed(1_001) == 0.0
    assert ledger.listed(1_002) == 0.0


def test_such_pages_promise_less_when_one_was_no_list() -> None:
    ledger = leads()
    pointing(ledger, 0.0, "/help")
    pointing(ledger, 1.0, "/up/", "/rare")
    before = ledger.listed(1_002)
    ledger.take_in(Arrival(1_000, f"{ROOT}/up/", "", b""), 0.0)
    assert 0 < ledger.listed(1_002) < before
