"""The crawler with catalog and frontier in a real PostgreSQL server on a private socket."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import structs
from tests.support.old_tables import check_new_rows, create_old_tables
from tests.support.postgres import run_postgres
from tests.support.site import Site, html, tree

from sanderling.cli import main
from sanderling.config.settings import (
    HttpSettings,
    LimitSettings,
    OrderingSettings,
    PolitenessSettings,
    ScopeSettings,
    WorkerSettings,
)
from sanderling.crawl.depth import load_level_counts
from sanderling.crawl.explain import explain_url
from sanderling.crawl.refresh import RefreshMode, refresh
from sanderling.crawl.session import CrawlRequest, CrawlSummary, crawl
from sanderling.db.postgres import build_copy, connect_postgres, translate_sql
from sanderling.dedup.duplicate_stats import load_duplicate_stats
from sanderling.dedup.near_duplicates import load_pairs
from sanderling.deletion.delete_pages import delete_pages
from sanderling.deletion.selection import DeletionSelection
from sanderling.errors import CollectionError, DatabaseUnavailable, UsageError
from sanderling.storage.collection import has_collection, open_collection, open_collection_read_only
from sanderling.storage.queries import find_url_id, load_pages, load_skipped_urls, load_stored_record, resolve_known_url
from sanderling.warc.warc_reader import StoredRecord, iterate_records


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start a PostgreSQL server and return its address."""
    with run_postgres() as address:
        yield address


@pytest.fixture
def store(server: str, request: pytest.FixtureRequest) -> str:
    """Create an empty database and return its address."""
    name = "t" + str(abs(hash(request.node.name)) % 10**9)
    db = connect_postgres(server)
    db.execute(f"CREATE DATABASE {name}")
    db.close()
    return server.replace("/postgres?", f"/{name}?")


def build_request(site: Site, store: str) -> CrawlRequest:
    return CrawlRequest(
        (site.root + "/",),
        scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=2, store=store),
    )


def run_crawl(site: Site, folder: Path, store: str) -> CrawlSummary:
    return crawl(folder, build_request(site, store))


def test_pages_replaced_by_the_same_notice_are_gone_after_repeated_visits(tmp_path: Path, store: str) -> None:
    stories = ("gulls over harbor walls", "tinned mackerel, its price", "an old lighthouse keeper", "maps of sandbanks")
    with Site({"/": html("/p0", "/p1", "/p2", "/p3", text="the front page")}) as site:
        site.pages.update({f"/p{n}": html(text=f"{story}. " * 4) for n, story in enumerate(stories)})
        request = build_request(site, store)
        crawl(tmp_path, request)
        site.pages.update({f"/p{n}": html(text="Tato stranka uz tu neni, zkuste to jinde.") for n in range(4)})
        assert sum(refresh(tmp_path, request, RefreshMode.ALL).gone for _ in range(3)) == 4


def test_site_is_crawled_and_recrawled(tmp_path: Path, store: str) -> None:
    with Site(tree(40)) as site:
        assert run_crawl(site, tmp_path, store).pages == 40
        site.pages["/p3"] = html("/", "/new", text="changed")
        site.pages["/new"] = html(text="new")
        again = run_crawl(site, tmp_path, store)
        assert (again.fetched, again.not_modified, again.pages) == (2, 39, 41)
        with open_collection_read_only(tmp_path) as collection:
            assert {row.url for row in load_pages(collection.db)} == {site.root + path for path in site.pages}
            id_, key = resolve_known_url(collection, site.root + "/p4")
            assert load_stored_record(collection, id_, key).body == site.pages["/p4"].body
            duplicates = load_duplicate_stats(collection.db)
            assert duplicates.links > duplicates.known_links > 0
            assert duplicates.near_duplicate_pages == len(list(load_pairs(collection.db)))


def test_focused_crawl_eviction_sampled_depth_and_explain_work(tmp_path: Path, store: str) -> None:
    with Site(tree(60, fan=5)) as site:
        request = CrawlRequest(
            (site.root + "/", site.root + "/p1"),
            scope=ScopeSettings(sitemaps=False),
            limits=LimitSettings(keep=20, depth="sample:30"),
            politeness=PolitenessSettings(delay=0),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=1, store=store),
            ordering=OrderingSettings(query="number page"),
        )
        assert crawl(tmp_path, request).pages == 20
        with open_collection_read_only(tmp_path) as collection:
            evicted = next(load_skipped_urls(collection.db, "u.reason = 'evicted'"))
            explanation = explain_url(collection.db, find_url_id(collection.db, evicted.url), time.time())
            assert (explanation.state, explanation.reason, explanation.ordering) == ("skipped", "evicted", "shark")
            assert sum(level.visited for level in load_level_counts(collection.db)) == 20
        assert (
            crawl(
                tmp_path, structs.replace(request, limits=LimitSettings(), ordering=OrderingSettings(order="coverage"))
            ).pages
            == 60
        )


@contextmanager
def terminate_connections_at(server: str, site: Site, request_counts: tuple[int, ...]) -> Iterator[None]:
    """Terminate all database connections whenever the site has received a number of requests."""
    done = threading.Event()

    def terminate() -> None:
        admin = connect_postgres(server)
        for request_count in request_counts:
            while sum(site.hits.values()) < request_count and not done.wait(0.01):
                pass
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        admin.close()

    thread = threading.Thread(target=terminate)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_crawl_survives_lost_database_connections(tmp_path: Path, server: str, store: str) -> None:
    """All connections are terminated several times during the crawl, which continues by itself."""
    with Site(tree(900)) as site:
        with terminate_connections_at(server, site, (100, 300, 600)):
            summary = run_crawl(site, tmp_path, store)
        assert (summary.finish_reason, summary.pages) == ("done", 900)
        with open_collection_read_only(tmp_path) as collection:
            assert {row.url for row in load_pages(collection.db)} == {site.root + path for path in site.pages}
        records = [record for path in (tmp_path / "archive").glob("*.gz") for record in iterate_records(path)]
        assert all(isinstance(record, StoredRecord) for record in records)
        archived = [
            r.url for r in records if isinstance(r, StoredRecord) and (r.record_type, r.status) == ("response", 200)
        ]
        assert len(archived) == len(set(archived)) == 900


def test_refresh_survives_lost_database_connections(tmp_path: Path, server: str, store: str) -> None:
    with Site(tree(300)) as site:
        run_crawl(site, tmp_path, store)
        site.pages.update({f"/p{n}": html("/", text=f"page {n} has other words now") for n in range(1, 300)})
        before = sum(site.hits.values())
        with terminate_connections_at(server, site, (before + 60, before + 150)):
            summary = refresh(
                tmp_path, build_request(site, ""), RefreshMode.ALL
            )  # the folder stores the database address
        assert (summary.finish_reason, summary.due) == ("done", 300)
        with open_collection_read_only(tmp_path) as collection:
            assert collection.db.execute("SELECT count(*) FROM changes").fetchone()[0] == 299
            assert collection.db.execute("SELECT count(*) FROM queue").fetchone()[0] == 0


@pytest.mark.slow
def test_killed_coordinator_resumes_without_losing_pages(tmp_path: Path, store: str) -> None:
    with Site(tree(500)) as site:
        command = [sys.executable, "-c", "import sys; from sanderling.cli import main; sys.exit(main())", "crawl",
                   site.root + "/", "-C", str(tmp_path), "--store", store, "--delay", "0", "--allow-private",
                   "--workers", "2", "--no-sitemaps"]  # fmt: skip
        for request_count in (100, 250, 400):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while sum(site.hits.values()) < request_count and process.poll() is None:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.wait()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        with open_collection_read_only(tmp_path) as collection:
            assert {row.url for row in load_pages(collection.db)} == {site.root + path for path in site.pages}
        records = [record for path in (tmp_path / "archive").glob("*.gz") for record in iterate_records(path)]
        archived = [
            r.url for r in records if isinstance(r, StoredRecord) and (r.record_type, r.status) == ("response", 200)
        ]
        assert len(archived) == len(set(archived)) == 500
        assert sum(site.hits.values()) - 501 <= 3 * (2 * 160 + 1)


def test_database_has_only_one_coordinator(tmp_path: Path, store: str) -> None:
    with open_collection(tmp_path / "a", store), pytest.raises(CollectionError, match="another coordinator"):
        open_collection(tmp_path / "b", store)


def test_collection_cannot_change_its_database(tmp_path: Path, store: str) -> None:
    open_collection(tmp_path / "a").close()
    with pytest.raises(CollectionError, match="stores its database in SQLite"):
        open_collection(tmp_path / "a", store)


def test_database_belongs_to_the_folder_of_its_archive(tmp_path: Path, store: str) -> None:
    with Site(tree(3)) as site:
        run_crawl(site, tmp_path / "a", store)
        with pytest.raises(CollectionError, match="holds the collection of another folder"):
            run_crawl(site, tmp_path / "b", store)
        assert not has_collection(tmp_path / "b")
        assert run_crawl(site, tmp_path / "a", "").not_modified == 3


def test_database_of_another_folder_is_not_migrated_and_nothing_is_deleted(tmp_path: Path, store: str) -> None:
    with Site(tree(3)) as site:
        run_crawl(site, tmp_path / "a", store)
        db = connect_postgres(store)
        db.execute("DELETE FROM schema_versions WHERE component = 'dedup'")  # as written by an older version
        run_crawl(site, tmp_path / "b", "")
        clean = ["crawl", site.root, "-C", str(tmp_path / "b"), "--store", store, "--clean", "--yes"]
        assert main(clean) == 4
        assert has_collection(tmp_path / "b")
        with pytest.raises(CollectionError, match="holds the collection of another folder"):
            open_collection(tmp_path / "c", store)
        assert not db.execute("SELECT 1 FROM schema_versions WHERE component = 'dedup'").fetchone()
        db.close()


def test_rows_of_renamed_tables_and_columns_are_kept(tmp_path: Path, store: str) -> None:
    db = connect_postgres(store)
    create_old_tables(db)
    (tmp_path / "store").write_text(store)
    open_collection_read_only(tmp_path).close()
    with open_collection(tmp_path) as collection:
        check_new_rows(collection.db)
    db.close()


def test_unreachable_database_is_reported_before_anything_is_created(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="cannot be reached"), Site(tree(1)) as site:
        run_crawl(site, tmp_path / "c", "postgresql://user@127.0.0.1:1/none")
    assert not (tmp_path / "c").exists()
    with pytest.raises(UsageError, match="not a PostgreSQL address"):
        connect_postgres("mysql://x")


def test_sqlite_statements_are_translated() -> None:
    assert translate_sql("BEGIN IMMEDIATE") == "BEGIN"
    assert translate_sql("SELECT 1 WHERE a = ? AND b LIKE 'x%'") == "SELECT 1 WHERE a = %s AND b LIKE 'x%%'"
    assert translate_sql("SELECT :now, x::bytea") == "SELECT %(now)s, x::bytea"
    assert "BYTEA" in translate_sql("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB) WITHOUT ROWID")


def test_many_rows_of_large_tables_are_copied(store: str) -> None:
    insert = "INSERT INTO urls (id, path, found_at, state) VALUES (?, ?, ?, 'queued')"
    assert build_copy(insert) == ("COPY urls (id, path, found_at, state) FROM STDIN", "{}\t{}\t{}\tqueued")
    assert build_copy(insert.replace("urls", "pages")) is None
    assert build_copy(f"{insert} ON CONFLICT (id) DO NOTHING") is None
    values = ["/plain", "/a\\b", "/tab\tline\nend\r", "/nul\0", "\\N", "/ü", "", "{}", None]
    rows = [(number, value, 1.5) for number, value in enumerate(values * 3)]
    db = connect_postgres(store)
    db.execute("CREATE TABLE urls (id INTEGER PRIMARY KEY, path TEXT, found_at REAL, state TEXT)")
    db.executemany(insert, rows)
    db.executemany("DELETE FROM urls WHERE id = ?", [(0,), (2,)])
    stored = db.execute("SELECT id, path, found_at, state FROM urls ORDER BY id").fetchall()
    db.close()
    expected = [(number, value and value.replace("\0", ""), 1.5, "queued") for number, value, _ in rows]
    assert [*map(tuple, stored)] == [row for row in expected if row[0] not in (0, 2)]


def test_web_app_and_index_read_a_shared_database(store: str, tmp_path: Path) -> None:
    pytest.importorskip("tantivy")
    from sanderling.api.reports.crawl_view import CollectionCrawlView
    from sanderling.search.indexer import update_index
    from sanderling.templates.template_index import open_template_index

    with Site(tree(12)) as site:
        run_crawl(site, tmp_path, store)
        assert update_index(tmp_path) > 0
        view = CollectionCrawlView(tmp_path)
        status = view.get_status()
        assert (status.pages, status.running) == (12, False)
        assert [row.name for row in view.list_hosts(5)] == [site.root]
        assert (view.list_errors(5), view.list_due_urls(5) != []) == ([], True)
        assert view.count_reasons() == {"skipped": {}, "failed": {}}
        assert len(view.compute_visit_rates(5)) > 0
        assert len(view.compute_freshness()) > 0
        assert view.list_changes("", "", 0.0, 0, 10) == []
        page = view.get_page(site.root + "/p1")
        assert page is not None
        (version,) = view.list_visits(site.root + "/p1", 5)
        assert view.load_body(site.root + "/p1", version.visit) is not None
        with open_collection_read_only(tmp_path) as collection, open_template_index(collection) as index:
            assert index.open_site(1).page_count == 12
        view.db.close()


def test_pages_are_deleted(tmp_path: Path, store: str) -> None:
    with Site(tree(40)) as site:
        run_crawl(site, tmp_path, store)
        report = delete_pages(tmp_path, DeletionSelection([f"{site.root}/p3*"]))
        gone = {path for path in site.pages if path.startswith("/p3")}
        assert (report.pages, report.urls) == (len(gone), len(gone))
        before = site.hits.copy()
        run_crawl(site, tmp_path, store)
        assert all(site.hits[path] == before[path] for path in gone)
        with open_collection_read_only(tmp_path) as collection:
            stored = {row.url for row in load_pages(collection.db)}
            assert stored == {site.root + path for path in site.pages if path not in gone}
            assert {row.url for row in load_skipped_urls(collection.db, "u.reason = 'deleted'")} >= {site.root + "/p3"}


def test_url_patterns_are_stored(tmp_path: Path, store: str) -> None:
    with Site({"/": html(*(f"/x?id={n}" for n in range(300)))}) as site:
        site.pages.update({f"/x?id={n}": html(text="no events") for n in range(300)})
        request = structs.replace(build_request(site, store), limits=LimitSettings(repeat_limit=60))
        first = crawl(tmp_path, request)
        assert first.skipped + first.pages == 301
        with open_collection_read_only(tmp_path) as collection:
            assert collection.db.execute("SELECT count(*) FROM patterns").fetchone() == (1,)
            assert {row.reason for row in load_skipped_urls(collection.db)} <= {"repeated_content"}
        assert crawl(tmp_path, request).pages >= first.pages
