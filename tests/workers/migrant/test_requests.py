"""Letters to one host: what failed is asked for again, where it belongs."""

from pathlib import Path

from sanderling.models import Host, Itinerary, Stop, Url
from sanderling.workers.migrant.client import Address, Failed
from sanderling.workers.migrant.keys import new_key
from sanderling.workers.migrant.requests import LONGEST_WAIT, Correspondence

ONE, OTHER = Host("http://one.example"), Host("http://other.example")


def test_when_a_whole_site_fails_each_stop_is_asked_for_again_at_its_own_site(tmp_path: Path) -> None:
    new_key(tmp_path / "key")
    now = [1000.0]
    letters = Correspondence(Address("http://127.0.0.1:1", str(tmp_path / "key")), "sanderling", lambda: now[0])

    def failed() -> tuple[Host, list[str]]:
        news = letters.read(30.0)
        assert news is not None
        sent, message, _ = news
        assert isinstance(message, Failed)
        assert letters.fail(sent, message) == []
        return sent.letter.site, [wanted.path for wanted in sent.letter.stops]

    letters.ask(Itinerary(ONE, (Stop(1, 0, Url(ONE + "/")),)), whole=True)
    later = (Stop(2, 0, Url(ONE + "/a")), Stop(3, 0, Url(OTHER + "/b")), Stop(4, 0, Url(OTHER + "/c")))
    letters.ask(Itinerary(ONE, later[:1]), whole=False)
    letters.ask(Itinerary(OTHER, later[1:]), whole=False)
    assert failed() == (ONE, ["/"])
    now[0] += LONGEST_WAIT
    letters.write_again()
    assert sorted(failed() for _ in range(2)) == [(ONE, ["/", "/a"]), (OTHER, ["/b", "/c"])]
    assert sorted(stop.id for stop in letters.abandon()) == [1, 2, 3, 4]
    letters.close()
