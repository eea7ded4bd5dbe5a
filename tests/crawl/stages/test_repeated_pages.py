"""Sites without an end, made by a program, against the whole crawler."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date, timedelta
from hashlib import md5
from pathlib import Path
from random import Random
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.support.site import Page, Site

from sanderling.config.settings import HttpSettings, LimitSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.session import CrawlSummary, crawl
from sanderling.models import Reason
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages, load_skipped_urls

SRC = Path(__file__).parents[3] / "src"
WORDS = [
    *("river", "stone", "market", "engine", "garden", "window"),
    *("copper", "silver", "planet", "forest", "bridge", "candle"),
]
SAFETY_LIMIT = 3000  # pages: far more than a stopped pattern needs
Answer = Callable[[str, dict[str, str]], str | None]


class Program(dict[str, Page]):
    """Builds pages on request from their path and query."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer

    def get(self, path: str, default: Page | None = None) -> Page | None:  # type: ignore[override]
        if path == "/robots.txt":
            return default
        parts = urlsplit(path)
        body = self.answer(parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()})
        return default if body is None else Page(f"<html><body>{body}</body></html>".encode(), etag=False)


def serve(answer: Answer) -> Site:
    site = Site({})
    site.pages = Program(answer)
    return site


def run(site: Site, folder: Path, repeat_limit: int = 200, limit: int = SAFETY_LIMIT) -> CrawlSummary:
    return crawl(
        folder,
        CrawlRequest(
            seeds=(site.root + "/",),
            scope=ScopeSettings(sitemaps=False),
            limits=LimitSettings(limit=limit, repeat_limit=repeat_limit),
            politeness=PolitenessSettings(delay=0.0, backoff=0.2),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=2),
        ),
    )


def load_paths(folder: Path) -> set[str]:
    with open_collection_read_only(folder) as collection:
        return {"/" + row.url.split("/", 3)[3] for row in load_pages(collection.db)}


def load_skipped(folder: Path) -> dict[str, tuple[str, str]]:
    with open_collection_read_only(folder) as collection:
        return {row.url: (row.reason, row.detail) for row in load_skipped_urls(collection.db)}


def text_of(seed: object, words: int = 12) -> str:
    return " ".join(Random(str(seed)).choices(WORDS, k=words))


def link(*targets: str) -> str:
    return " ".join(f'<a href="{target}">more</a>' for target in targets)


def answer_calendar(path: str, query: dict[str, str]) -> str | None:
    if path != "/calendar":
        return link("/calendar?d=0") if path == "/" else None
    number = int(query["d"])
    days = [date(2026, 11, 1) + timedelta((number + step) % 900_000) for step in (-1, 0, 1)]
    return (
        f"<title>{days[1]:%d %B %Y}</title><h1>Events on {days[1]:%A, %d %B %Y}</h1><p>No events.</p>"
        f'<a href="?d={number - 1}">{days[0]:%d %b}</a><a href="?d={number + 1}">{days[2]:%d %b}</a>'
        + link(*(f"?d={number + step}" for step in range(2, 31)))
    )


def answer_random_refresh(path: str, _: dict[str, str]) -> str | None:
    token = md5(path.encode()).hexdigest()[:10]
    return f'<meta http-equiv="refresh" content="0; url=/r/{token}">'


def answer_session_ids(path: str, query: dict[str, str]) -> str | None:
    token = md5(repr(query).encode()).hexdigest()[:10]
    article = int(query.get("article", 0))
    targets = [(article * 7 + step * 11) % 60 for step in range(60 if path == "/" else 6)]
    return f"<p>{text_of(article, 60)}</p>" + link(*(f"/show?article={n}&key={token}" for n in targets))


@pytest.mark.parametrize(
    ("answer", "pattern", "distinct"),
    [
        (answer_calendar, "/calendar?d", 1),
        (answer_random_refresh, "/r/*", 1),
        (answer_session_ids, "/show?article&key", 60),
    ],
)
def test_endless_pattern_is_stopped_with_its_reason(
    tmp_path: Path, answer: Answer, pattern: str, distinct: int
) -> None:
    with serve(answer) as site:
        summary = run(site, tmp_path)
        assert summary.finish_reason == "done"
        assert summary.fetched < 200 + 4 * distinct + 400  # and what workers held when it was stopped
        skipped = load_skipped(tmp_path)
        detail = f"the last 200 pages of {site.root}{pattern} had no new content"
        assert set(skipped.values()) == {(Reason.REPEATED_CONTENT, detail)}
        assert summary.skipped == len(skipped)
        assert detail in (tmp_path / "logs" / "crawl.log").read_text()


def test_different_pages_are_all_fetched(tmp_path: Path) -> None:
    def answer(path: str, query: dict[str, str]) -> str | None:
        number = int(query.get("d", 0))
        targets = [f"/x?d={min(700, number + step)}" for step in range(1, 9)]
        return f"<h1>Page {number}</h1><p>{text_of(number)}</p>{link(*targets)}"

    with serve(answer) as site:
        assert (run(site, tmp_path).fetched, load_skipped(tmp_path)) == (701, {})


def test_same_pages_that_lead_to_different_pages_are_all_fetched(tmp_path: Path) -> None:
    def answer(path: str, query: dict[str, str]) -> str | None:
        if path == "/item":
            return f"<p>{text_of(query['id'], 40)}</p>"
        number = int(query.get("page", 0))
        return f"<p>Choose an item</p>{link(f'/item?id={number}', f'/list?page={min(500, number + 1)}')}"

    with serve(answer) as site:
        run(site, tmp_path)
        assert {f"/item?id={number}" for number in range(501)} <= load_paths(tmp_path)


def test_filtered_lists_are_stopped_after_all_products(tmp_path: Path) -> None:
    products = [(n, WORDS[n % 5], WORDS[5 + n % 4]) for n in range(120)]

    def answer(path: str, query: dict[str, str]) -> str | None:
        if path.startswith("/product/"):
            return f"<p>{text_of(path, 30)}</p>"
        page = int(query.get("page", 0))
        chosen = [p for p in products if query.get("color", p[1]) == p[1] and query.get("size", p[2]) == p[2]]
        items = "".join(f'<a href="/product/{n}">{c} {s} {n}</a><br>' for n, c, s in chosen[page * 10 : page * 10 + 10])
        color, size = (f"&{name}={query[name]}" if name in query else "" for name in ("color", "size"))
        filters = [f"/shop?page=0{size}&color={word}" for word in WORDS[:5]]
        filters += [f"/shop?page=0{color}&size={word}" for word in WORDS[5:9]]
        return items + link(*filters, f"/shop?page={page + 1}{color}{size}")

    with serve(answer) as site:
        summary = run(site, tmp_path)
        assert summary.finish_reason == "done"
        assert {f"/product/{n}" for n, _, _ in products} <= load_paths(tmp_path)
        assert {reason for reason, _ in load_skipped(tmp_path).values()} == {Reason.REPEATED_CONTENT}


def test_rare_pages_among_error_pages_are_fetched(tmp_path: Path) -> None:
    def answer(path: str, query: dict[str, str]) -> str | None:
        if path == "/":
            return link(*(f"/x?id={number}" for number in range(1000)))
        number = int(query["id"])
        return f"<p>{text_of(number)}</p>" if number % 20 == 0 else f"<h1>Oops</h1><p>Item {number} is not available."

    with serve(answer) as site:
        assert run(site, tmp_path).fetched == 1001


def test_next_session_tries_again_with_fewer_pages(tmp_path: Path) -> None:
    is_down = True

    def answer(path: str, query: dict[str, str]) -> str | None:
        if path == "/":
            return link(*(f"/x?id={number}" for number in range(900)))
        return "<p>Please come back later" if is_down else f"<p>{text_of(query['id'], 30)}</p>"

    with serve(answer) as site:
        first = run(site, tmp_path, repeat_limit=60)
        assert first.skipped
        second = run(site, tmp_path, repeat_limit=60)
        assert len(load_paths(tmp_path)) >= first.pages
        assert second.skipped <= first.skipped
        is_down = False
        assert run(site, tmp_path, repeat_limit=60).skipped == 0
        assert len(load_paths(tmp_path)) == 901


def test_limit_of_zero_and_a_changed_limit(tmp_path: Path) -> None:
    with serve(answer_calendar) as site:
        assert run(site, tmp_path / "a", repeat_limit=0, limit=700).finish_reason == "limit"
        first = run(site, tmp_path / "b", repeat_limit=50)
        second = run(site, tmp_path / "b", repeat_limit=first.pages + 500, limit=first.pages + 300)
        assert second.pages > first.pages + 100


def test_kill_does_not_forget_what_was_stopped(tmp_path: Path) -> None:
    program = "import sys; from sanderling.cli import main; sys.exit(main())"
    with serve(answer_calendar) as site:
        command = [sys.executable, "-c", program, "crawl", site.root + "/", "-C", str(tmp_path), "--allow-private"]
        command += ["--no-sitemaps", "--workers", "1", "--delay", "0.002", "--json"]
        log = tmp_path / "logs" / "crawl.log"
        environment = {**os.environ, "PYTHONPATH": str(SRC)}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, start_new_session=True)
        deadline = time.monotonic() + 60
        while sum(site.hits.values()) < 150 and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        killed_at = sum(site.hits.values())
        done = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=120)
        assert json.loads(done.stdout.splitlines()[-1])["finish_reason"] == "done"
        assert "had no new content" in log.read_text()
        assert sum(site.hits.values()) - killed_at < 200  # the first pages still count
        hits = sum(site.hits.values())
        subprocess.run([*command, "--limit", "20"], env=environment, capture_output=True, check=True, timeout=120)
        assert sum(site.hits.values()) - hits <= 60
