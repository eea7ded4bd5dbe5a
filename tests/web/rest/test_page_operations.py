"""Pages, content, versions, and changes over HTTP."""

from starlette.testclient import TestClient
from tests.web.conftest import CrawledSite


def test_pages_are_listed_in_parts(api: TestClient, crawled_site: CrawledSite) -> None:
    urls, after = [], ""
    while True:
        part = api.get("pages", params={"limit": 5, "after": after}).json()
        urls += [page["url"] for page in part["pages"]]
        after = part["next"]
        if not after:
            break
    assert len(urls) == len(set(urls)) == api.get("status").json()["pages"]
    wader = api.get("pages", params={"pattern": "*/wader*"}).json()
    assert len(wader["pages"]) == 12
    assert wader["next"] == ""


def test_page_has_times_in_iso_format(api: TestClient, crawled_site: CrawledSite) -> None:
    page = api.get("page", params={"url": crawled_site.url("/tern")}).json()
    assert page["first_seen"] < page["last_visit"]
    assert page["last_visit"].endswith("Z")
    assert page["changes"] == 1


def test_content_has_four_formats_and_past_versions(api: TestClient, crawled_site: CrawledSite) -> None:
    url = crawled_site.url("/tern")

    def get(**parameters: str) -> str:
        return str(api.get("page/content", params={"url": url, **parameters}).json()["untrusted_text"])

    assert get().startswith("The tern now hovers")
    assert "[to /gull]" in get(format="markdown")
    assert "to /gull\n" in get(format="text") + "\n"
    assert get(format="html").startswith("<html><head><title>")
    assert get(format="data") == ""
    first = api.get("page/versions", params={"url": url}).json()[0]
    assert "hovers" not in get(at=first["fetched_at"])


def test_versions_are_compared(api: TestClient, crawled_site: CrawledSite) -> None:
    url = crawled_site.url("/tern")
    versions = api.get("page/versions", params={"url": url}).json()
    assert [version["number"] for version in versions] == [1, 2]
    diff = api.get("page/diff", params={"url": url, "format": "text"}).json()
    assert (diff["old"], diff["new"]) == tuple(versions)
    assert "{+now hovers" in diff["untrusted_text"]
    assert api.get("page/diff", params={"url": url, "new": 9}).status_code == 404
    assert api.get("page/diff", params={"url": crawled_site.url("/gull")}).status_code == 404


def test_visits_links_and_changes_of_a_page(api: TestClient, crawled_site: CrawledSite) -> None:
    url = crawled_site.url("/tern")
    visits = api.get("page/visits", params={"url": url}).json()
    assert [visit["changed"] for visit in visits] == [True, False]
    assert api.get("page/visits", params={"url": "https://never.example/"}).status_code == 404
    links = api.get("page/links", params={"url": url}).json()
    assert {"url": crawled_site.url("/gull"), "anchor": "to /gull", "nofollow": False} in links["outgoing"]
    assert crawled_site.url("/") in links["incoming"]
    changes = api.get("changes", params={"kind": "content"}).json()
    assert [change["url"] for change in changes["changes"]] == [url]
    assert changes["total"] == 1
    assert api.get("changes", params={"kind": "media"}).json() == {"total": 0, "changes": []}
    assert api.get("changes", params={"offset": 1, "kind": "content"}).json() == {"total": 1, "changes": []}
