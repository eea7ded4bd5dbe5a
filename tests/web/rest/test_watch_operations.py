"""Watches are added, checked, paused, and deleted over HTTP."""

from starlette.testclient import TestClient
from tests.support.site import Site, html
from tests.web.rest.test_crawl_operations import wait_for


def test_watch_reports_a_change(new_api: TestClient) -> None:
    with Site({"/lamp": html(text="The lamp costs 20 EUR")}) as site:
        url = site.root + "/lamp"
        added = new_api.post("watches", json={"name": "lamp", "urls": [url], "every": "1m"})
        assert added.status_code == 201
        id_ = added.json()["id"]
        assert added.json()["definition"] == {"name": "lamp", "urls": [url], "every": 60.0}
        check = {"kind": "check_watches", "settings": {"delay": 0}}
        assert wait_for(new_api, new_api.post("crawls", json=check).json()["id"])["state"] == "finished"
        site.pages["/lamp"] = html(text="The lamp is sold out, and a new one costs 30 EUR")
        wait_for(new_api, new_api.post("crawls", json={"kind": "refresh_all", "settings": {"delay": 0}}).json()["id"])
        wait_for(new_api, new_api.post("crawls", json=check).json()["id"])
    events = new_api.get(f"watches/{id_}/events").json()
    assert [(event["url"], event["kinds"]) for event in events] == [(url, ["content"])]
    assert new_api.get(f"watches/{id_}").json()["events"] == 1


def test_watch_is_replaced_paused_and_deleted(new_api: TestClient) -> None:
    body = {"name": "a", "sites": ["https://a.example/"], "kinds": ["content"], "conditions": ["below 100"]}
    id_ = new_api.post("watches", json=body).json()["id"]
    assert new_api.post("watches", json=body | {"min_significance": 0.5}).json()["id"] == id_
    assert new_api.patch(f"watches/{id_}", json={"paused": True}).json()["paused"]
    watches = new_api.get("watches").json()
    assert [(watch["id"], watch["paused"], watch["definition"]["min_significance"]) for watch in watches] == [
        (id_, True, 0.5)
    ]
    deleted = new_api.delete(f"watches/{id_}")
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert new_api.get(f"watches/{id_}").status_code == 404
    assert new_api.delete(f"watches/{id_}").status_code == 404


def test_passwords_of_notification_services_are_not_returned(new_api: TestClient) -> None:
    body = {"urls": ["https://a.example/"], "notify": ["https://user:secret@mail.example/hook"]}
    added = new_api.post("watches", json=body)
    assert added.status_code == 201
    assert "secret" not in added.text
    assert "secret" not in new_api.get("watches").text


def test_invalid_watch_is_refused(new_api: TestClient) -> None:
    for body, error in (
        ({}, "has no page"),
        ({"urls": ["https://a/"], "conditions": ["under the sea"]}, "condition"),
        ({"urls": ["https://a/"], "every": "often"}, "regex"),
        ({"urls": ["https://a/"], "url": "b"}, "unknown field"),
    ):
        answer = new_api.post("watches", json=body)
        assert answer.status_code == 422
        assert error in answer.json()["error"], body
