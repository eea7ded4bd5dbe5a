"""A changed page is fetched again before its change is reported, and what varies is not reported."""

from contextlib import closing

import pytest
from tests.monitor.conftest import WatchedSite
from tests.support.site import Page

from sanderling.crawl.monitor_thread import run_monitor_once
from sanderling.monitor.watch_store import WatchStore

STORY = "".join(f"<p>The harbor of {name} was rebuilt by the engineers of {name}.</p>" for name in ("Aa", "Bb", "Cc"))


class VaryingPages(dict[str, Page]):
    """Pages in which `{}` is another word at each request."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def get(self, path: str, default: object = None) -> Page:
        page = super().get(path)
        if page is None:
            return Page(b"not here", 404)
        self.count += 1
        word = "".join(chr(97 + int(digit)) * 2 for digit in str(7919 * self.count))
        return Page(page.body.replace(b"{}", word.encode()), page.status, page.headers, page.etag)


def town(*paragraphs: str) -> Page:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return Page(f"<title>Town</title><main><h1>Town</h1>{STORY}{text}</main>".encode())


@pytest.fixture
def pages(watched: WatchedSite) -> dict[str, Page]:
    watched.site.pages = VaryingPages()
    return watched.site.pages


def check(watched: WatchedSite, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Check the pages once. Returns the added text of each event."""
    capsys.readouterr()
    watched.check()
    return capsys.readouterr().out.strip().splitlines()


def test_what_varies_between_fetches_is_not_reported(
    watched: WatchedSite, pages: dict[str, Page], capsys: pytest.CaptureFixture[str]
) -> None:
    pages["/town"] = town("Our guest of the hour is {} today.")
    assert watched(f"{watched.site.root}/town", "--every", "1ms") == 0
    assert check(watched, capsys) == []
    assert watched.site.hits["/town"] == 2  # the first version is fetched twice
    for _ in range(3):
        assert check(watched, capsys) == []
    pages["/town"] = town("Our guest of the hour is {} today.", "The ferry is closed.")
    assert "The ferry is closed." in "".join(check(watched, capsys))
    assert check(watched, capsys) == []


def test_page_with_validators_is_confirmed_by_not_modified(
    watched: WatchedSite, capsys: pytest.CaptureFixture[str]
) -> None:
    watched.site.pages["/town"] = town("The ferry runs.")
    assert watched(f"{watched.site.root}/town", "--every", "1ms") == 0
    check(watched, capsys)
    watched.site.pages["/town"] = town("The ferry is closed.")
    assert "closed" in "".join(check(watched, capsys))
    assert watched.site.hits["/town"] == 4
    assert check(watched, capsys) == []


def test_selected_part_is_reported_without_control_fetch(
    watched: WatchedSite, pages: dict[str, Page], capsys: pytest.CaptureFixture[str]
) -> None:
    pages["/town"] = town("<b>{}</b>")
    assert watched(f"{watched.site.root}/town", "--every", "1ms", "--selector", "b") == 0
    check(watched, capsys)
    assert check(watched, capsys)
    assert watched.site.hits["/town"] == 2


def test_change_is_reported_if_the_page_cannot_be_fetched_again(
    watched: WatchedSite, capsys: pytest.CaptureFixture[str]
) -> None:
    watched.site.pages["/town"] = town("The ferry runs.")
    assert watched(f"{watched.site.root}/town", "--every", "1ms") == 0
    check(watched, capsys)
    site, changed = watched.site, town("The ferry is closed.")

    class ThenBroken(dict[str, Page]):
        def get(self, path: str, default: object = None) -> Page:
            is_first = site.hits[path] == 3
            return changed if is_first else Page(b"broken", 500)

    site.pages = ThenBroken()
    assert "closed" in "".join(check(watched, capsys))


def test_change_is_reported_if_the_service_ended_before_the_control_fetch(
    watched: WatchedSite, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.site.pages["/town"] = town("The ferry runs.")
    assert watched(f"{watched.site.root}/town", "--every", "1h") == 0
    check(watched, capsys)
    watched.site.pages["/town"] = town("The ferry is closed.")
    with closing(WatchStore(watched.folder)) as store:
        watch = next(iter(store.load_watches().values()))
    assert watched(watch.urls[0], "--every", "1ms") == 0
    with monkeypatch.context() as patch:
        patch.setattr("sanderling.crawl.watch_service.WatchService._evaluate_once", lambda *_: None)
        watched.check()
    run_monitor_once(watched.folder, lambda *_: None, is_last=False)  # asks for a control fetch, which never comes
    events: list[str] = []
    run_monitor_once(watched.folder, lambda _, event: events.append(event.url))
    assert events == [watch.urls[0]]


def test_single_check_does_not_repeat_a_page_that_fails(watched: WatchedSite) -> None:
    watched.site.pages["/town"] = town("The ferry runs.")
    assert watched(f"{watched.site.root}/town", "--every", "1ms") == 0
    watched.check()
    watched.site.pages["/town"] = Page(b"broken", 500)
    before = watched.site.hits["/town"]
    watched.check()
    assert watched.site.hits["/town"] - before <= 4  # with its retries
