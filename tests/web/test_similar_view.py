"""Similar pages on the web: tick, sharpen, and save."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.support.site import Site
from tests.templates.test_similar_pages import shop
from tests.web.conftest import crawl_site

from sanderling.templates.sample_pages import load_saved_samples
from sanderling.web.app import build_app
from sanderling.web.server import ServerAddress, open_app_state

ORIGIN = {"Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-origin"}


class Shop:
    """A stored shop with a client of its web server."""

    def __init__(self, folder: Path, address: ServerAddress) -> None:
        self.folder = folder
        with Site(shop()) as site:
            crawl_site(site, folder)
            self.root = site.root
        self.state = open_app_state(folder, address)
        self.password = self.state.auth_store.create_initial_password()
        self.client = TestClient(build_app(self.state), base_url="http://127.0.0.1", headers=ORIGIN)

    def list_rows(self, *samples: str, negatives: tuple[str, ...] = ()) -> set[str]:
        """Return the paths of the pages that can be ticked but are not."""
        ticked = {"sample": [self.root + path for path in samples], "not": [self.root + path for path in negatives]}
        page = self.client.get("/similar", params=ticked).text
        return {url.removeprefix(self.root) for url in re.findall(r'name="sample" value="([^"]+)">', page)}

    def close(self) -> None:
        self.state.close()


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Shop]:
    shop_ = Shop(tmp_path, ServerAddress())
    yield shop_
    shop_.close()


def test_ticks_sharpen_the_answer(stored: Shop) -> None:
    products = stored.list_rows("/p/chairs-1.html", "/p/tables-2.html", "/p/chairs-3.html")
    assert "/p/tables-5.html" in products
    chairs = stored.list_rows("/p/chairs-1.html", "/p/chairs-3.html", negatives=("/p/tables-2.html",))
    assert "/p/chairs-5.html" in chairs
    assert {path for path in chairs if path.startswith("/p/tables")} == {"/p/tables-2.html"}  # its own row


def test_samples_are_saved_by_the_owner(stored: Shop) -> None:
    urls = [stored.root + path for path in ("/p/chairs-1.html", "/p/tables-2.html")]
    form = {"name": "products", "samples": " ".join(urls), "negatives": ""}
    assert stored.client.post("/similar", data=form).status_code == 403
    stored.client.post("/login", data={"password": stored.password})
    found = re.search(r'name="csrf" value="([^"]+)"', stored.client.get("/similar", params={"sample": urls}).text)
    assert found is not None
    assert "Saved as" in stored.client.post("/similar", data=form | {"csrf": found[1]}).text
    assert load_saved_samples(stored.folder, "products").samples == tuple(urls)


def test_a_page_that_cannot_be_a_sample_is_an_error(stored: Shop) -> None:
    answer = stored.client.get("/similar", params={"sample": "http://elsewhere.example/"})
    assert answer.status_code == 400
    assert "is not stored" in answer.text


def test_a_public_server_shows_similar_pages_to_its_owner_only(tmp_path: Path) -> None:
    shop_ = Shop(tmp_path, ServerAddress("0.0.0.0"))
    answer = shop_.client.get("/similar", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    shop_.close()
