"""Requests to a migrant: failed tasks are requested again from their own site."""

from pathlib import Path

from sanderling.models import FetchBatch, FetchTask, Host, Url
from sanderling.workers.migrant.client import MigrantAddress, RequestFailure
from sanderling.workers.migrant.keys import create_key
from sanderling.workers.migrant.requests import MAX_RETRY_SECONDS, MigrantRequests

ONE, OTHER = Host("http://one.example"), Host("http://other.example")


def test_tasks_of_a_failed_whole_site_request_are_retried_at_their_own_site(tmp_path: Path) -> None:
    create_key(tmp_path / "key")
    now = [1000.0]
    requests = MigrantRequests(
        MigrantAddress("http://127.0.0.1:1", str(tmp_path / "key")), "sanderling", lambda: now[0]
    )

    def receive_failure() -> tuple[Host, list[str]]:
        received = requests.receive(30.0)
        assert received is not None
        sent, message, _ = received
        assert isinstance(message, RequestFailure)
        assert requests.handle_failure(sent, message) == []
        return sent.request.site, [url.path for url in sent.request.urls]

    requests.request_batch(FetchBatch(ONE, (FetchTask(1, 0, Url(ONE + "/")),)), is_whole_site=True)
    later = (FetchTask(2, 0, Url(ONE + "/a")), FetchTask(3, 0, Url(OTHER + "/b")), FetchTask(4, 0, Url(OTHER + "/c")))
    requests.request_batch(FetchBatch(ONE, later[:1]), is_whole_site=False)
    requests.request_batch(FetchBatch(OTHER, later[1:]), is_whole_site=False)
    assert receive_failure() == (ONE, ["/"])
    now[0] += MAX_RETRY_SECONDS
    requests.send_due_retries()
    assert sorted(receive_failure() for _ in range(2)) == [(ONE, ["/", "/a"]), (OTHER, ["/b", "/c"])]
    assert sorted(task.id for task in requests.cancel()) == [1, 2, 3, 4]
    requests.close()
