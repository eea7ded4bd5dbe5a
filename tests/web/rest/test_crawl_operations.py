"""Crawls are started, followed, and stopped over HTTP."""

import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.support.site import Site, tree
from tests.web.rest.conftest import API

from sanderling.web.app import build_app
from sanderling.web.server import ServerAddress, open_app_state


def wait_for(api: TestClient, id_: int, seconds: float = 120.0) -> dict[str, Any]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        job: dict[str, Any] = api.get(f"crawls/{id_}").json()
        if job["ended_at"]:
            return job
        time.sleep(0.1)
    raise AssertionError(f"crawl {id_} has not ended")


def test_crawl_runs_to_its_end_and_pages_can_be_read(new_api: TestClient, site: Site) -> None:
    settings: dict[str, Any] = {"delay": 0, "sitemaps": False, "exclude": ["/p2$"]}
    body = {"urls": [site.root + "/"], "settings": settings}
    started = new_api.post("crawls", json=body)
    assert started.status_code == 201
    job = started.json()
    assert (job["state"], job["started_by"], job["urls"]) == ("running", "test", body["urls"])
    assert job["settings"] == {**settings, "limit": 10_000, "time_limit": 86_400}
    done = wait_for(new_api, job["id"])
    assert (done["state"], done["finish_reason"], done["error"]) == ("finished", "done", "")
    assert done["summary"]["pages"] == len(new_api.get("pages").json()["pages"]) == 21, "without /p2 and below"
    again = new_api.post("crawls", json={"kind": "refresh_all", "settings": {"delay": 0}}).json()
    assert wait_for(new_api, again["id"])["summary"]["visited"] >= 21
    assert [one["id"] for one in new_api.get("crawls").json()] == [again["id"], job["id"]]


def test_running_crawl_is_stopped_and_excludes_others(new_api: TestClient) -> None:
    with Site(tree(2000)) as site:
        body = {"urls": [site.root + "/"], "settings": {"delay": "50ms", "sitemaps": False}}
        id_ = new_api.post("crawls", json=body).json()["id"]
        conflict = new_api.post("crawls", json=body)
        assert conflict.status_code == 409
        assert "a crawl is running" in conflict.json()["error"]
        while not new_api.get("status").json()["pages"]:
            time.sleep(0.1)
        assert new_api.post(f"crawls/{id_}/pause").json()["message"] == "paused 1 worker"
        assert new_api.post(f"crawls/{id_}/resume").json()["message"] == "resumed 1 worker"
        stopping = new_api.post(f"crawls/{id_}/stop").json()
        assert stopping["state"] in ("stopping", "finished")
        done = wait_for(new_api, id_)
    assert (done["state"], done["finish_reason"]) == ("finished", "interrupted")
    assert 0 < done["summary"]["pages"] < 2000
    assert new_api.post(f"crawls/{id_}/stop").json()["state"] == "finished"
    assert new_api.post(f"crawls/{id_}/pause").status_code == 409


def test_server_that_was_restarted_reports_the_result(new_api: TestClient, site: Site, tmp_path: Path) -> None:
    body = {"urls": [site.root + "/"], "settings": {"delay": "20ms", "sitemaps": False}}
    id_ = new_api.post("crawls", json=body).json()["id"]
    state = open_app_state(tmp_path / "c", ServerAddress())
    with TestClient(build_app(state, ["testserver"])) as second:
        second.base_url = second.base_url.join(API + "/")
        job = second.get(f"crawls/{id_}").json()
        assert job["state"] in ("running", "finished")
        new_api.get(f"crawls/{id_}")
        assert wait_for(second, id_)["finish_reason"] == "done"
    state.close()


def test_crawl_that_fails_has_its_error(new_api: TestClient, tmp_path: Path) -> None:
    with Site({"/": tree(1)["/"]}) as site:
        address = site.root
    job = new_api.post("crawls", json={"urls": [address + "/"], "settings": {"delay": 0, "sitemaps": False}}).json()
    done = wait_for(new_api, job["id"])
    assert done["summary"]["fetched"] == 0
    (tmp_path / "c" / "logs" / "crawl.log").unlink()
    (tmp_path / "c" / "logs" / "crawl.log").mkdir()
    failed = new_api.post("crawls", json={"urls": [address + "/"]}).json()
    result = wait_for(new_api, failed["id"])
    assert (result["state"], result["summary"]) == ("failed", {})
    assert "crawl.log" in result["error"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"urls": ["ftp://a/"]}, "only http and https"),
        ({"urls": ["https://a/"], "settings": {"allow_private": True}}, "unknown field `allow_private`"),
        ({"urls": ["https://a/"], "settings": {"header": ["X: y"]}}, "unknown field `header`"),
        ({"urls": ["https://a/"], "settings": {"include": ["("]}}, "not a valid regular expression"),
        ({"urls": ["https://a/"], "settings": {"limit": -1}}, ">= 0"),
        ({"urls": ["https://a/"], "settings": {"delay": "soon"}}, "regex"),
        ({"urls": ["https://a/"], "kind": "refresh"}, "takes no urls"),
        ({"kind": "refresh", "settings": {"scope": "any"}}, "has no setting 'scope'"),
        ({"kind": "mirror"}, "Invalid enum value 'mirror'"),
        ({"urls": ["https://a/"], "url": "https://b/"}, "unknown field `url`"),
    ],
)
def test_invalid_crawl_is_refused_before_it_starts(new_api: TestClient, body: dict[str, Any], error: str) -> None:
    answer = new_api.post("crawls", json=body)
    assert answer.status_code == 422
    assert error in answer.json()["error"]
    assert new_api.get("crawls").json() == []
