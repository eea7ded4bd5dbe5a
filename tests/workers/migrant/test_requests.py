"""Letters to one host: what failed is asked for again, where it belongs."""

from pathlib import Path

from sanderling.models import FetchBatch, FetchTask, Host, Url
from sanderling.workers.migrant.client import MigrantAddress, RequestFailure
from sanderling.workers.migrant.keys import create_key
from sanderling.workers.migrant.requests import MAX_RETRY_SECONDS, MigrantRequests

ONE, OTHER = Host("http://one.example"), Host("http://other.example")


def test_when_a_whole_site_fails_each_stop_is_asked_for_again_at_its_own_site(tmp_path: Path) -> None:
    create_key(tmp_path / "key")
    now = [1000.0]
    letters = MigrantRequests(MigrantAddress("http://127.0.0.1:1", str(tmp_path / "key")), "sanderling", lambda: now[0])

    def failed() -> tuple[Host, list[str]]:
        news = letters.receive(30.0)
        assert news is not None
        sent, message, _ = news
        assert isinstance(message, RequestFailure)
        assert letters.handle_failure(sent, message) == []
        return sent.request.site, [wanted.path for wanted in sent.request.urls]

    letters.request_batch(FetchBatch(ONE, (FetchTask(1, 0, Url(ONE + "/")),)), is_whole_site=True)
    later = (FetchTask(2, 0, Url(ONE + "/a")), FetchTask(3, 0, Url(OTHER + "/b")), FetchTask(4, 0, Url(OTHER + "/c")))
    letters.request_batch(FetchBatch(ONE, later[:1]), is_whole_site=False)
    letters.request_batch(FetchBatch(OTHER, later[1:]), is_whole_site=False)
    assert failed() == (ONE, ["/"])
    now[0] += MAX_RETRY_SECONDS
    letters.send_due_retries()
    assert sorted(failed() for _ in range(2)) == [(ONE, ["/", "/a"]), (OTHER, ["/b", "/c"])]
    assert sorted(stop.id for stop in letters.cancel()) == [1, 2, 3, 4]
    letters.close()
