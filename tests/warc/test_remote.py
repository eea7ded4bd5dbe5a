"""Tests of remote archives on a shared disk, in memory, and in an S3 object store."""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.site import Page, Site, html

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, CrawlSummary, crawl
from sanderling.errors import CollectionError, UsageError
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_stored_record, resolve_known_url
from sanderling.warc import archive
from sanderling.warc.remote import RemoteArchive, open_file_system
from sanderling.warc.warc_reader import StoredRecord, iterate_records

fsspec = pytest.importorskip("fsspec")
COUNT = 60


@contextmanager
def object_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run an S3 server on loopback, and configure s3fs by environment variables."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (("ACCESS_KEY_ID", "a"), ("SECRET_ACCESS_KEY", "b"), ("DEFAULT_REGION", "us-east-1"),
                        ("ENDPOINT_URL", f"http://{host}:{port}")):  # fmt: skip
        monkeypatch.setenv(f"AWS_{name}", value)
    try:
        yield
    finally:
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        server.stop()


@pytest.fixture(params=["file", "memory", "s3"])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return an archive address."""
    name = f"bucket-{uuid.uuid4().hex}"
    if request.param == "s3":
        with object_store(monkeypatch):
            fsspec.filesystem("s3").mkdir(name)
            yield f"s3://{name}/crawl"
        return
    yield f"memory://{name}" if request.param == "memory" else f"file://{tmp_path / name}"
    if request.param == "memory":
        fsspec.filesystem("memory").rm(f"/{name}", recursive=True)


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rotate files at 20 kB, so that a small crawl writes several."""
    monkeypatch.setattr(archive.open_archive, "__defaults__", ((), time.time, 20_000, (), None))


def site_pages() -> dict[str, Page]:
    leaves = {f"/p{n}": html(text=f"{uuid.uuid4().hex * 20} {n}") for n in range(COUNT)}
    return {"/": html(*leaves, text="all"), **leaves}


def run_crawl(site: Site, folder: Path, address: str) -> CrawlSummary:
    request = CrawlRequest(
        (site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True), workers=WorkerSettings(workers=1, archive=address),
    )  # fmt: skip
    return crawl(folder, request)


def list_remote_urls(address: str, folder: Path) -> list[str]:
    """Return the URLs of all responses in the remote archive."""
    fs, root = open_file_system(address)
    found = []
    for entry in sorted(fs.ls(root, detail=False)):
        copy = Path(entry).name
        assert copy.startswith("sanderling-")
        assert copy.endswith(".warc.gz")
        local = folder / copy
        fs.get_file(entry, str(local))
        try:
            found += [
                r.url for r in iterate_records(local) if isinstance(r, StoredRecord) and r.record_type == "response"
            ]
        finally:
            local.unlink()
    return found


def test_full_files_are_uploaded_and_pages_are_read_remotely(tmp_path: Path, address: str) -> None:
    folder = tmp_path / "collection"
    with Site(site_pages()) as site:
        assert run_crawl(site, folder, address).pages == COUNT + 1
        assert sorted(list_remote_urls(address, tmp_path)) == sorted(site.root + path for path in site.pages)
        assert len(list((folder / "archive").glob("*.warc.gz"))) == 1, "only the current file is local"
        with open_collection_read_only(folder) as collection:
            for path, page in site.pages.items():
                id_, key = resolve_known_url(collection, site.root + path)
                assert load_stored_record(collection, id_, key).body == page.body
        site.pages["/p7"] = html(text="changed " + uuid.uuid4().hex * 900)
        again = run_crawl(site, folder, "")
        assert (again.pages, again.fetched) == (COUNT + 1, 1)
        assert (
            len(list_remote_urls(address, tmp_path)) == len(set(list_remote_urls(address, tmp_path))) + 1 == COUNT + 2
        )


def test_cdxj_index_is_rebuilt_from_remote_files(tmp_path: Path, address: str) -> None:
    with Site(site_pages()) as site:
        run_crawl(site, tmp_path / "c", address)
        before = (tmp_path / "c" / "indexes" / "index.cdxj").read_text()
        (tmp_path / "c" / "indexes" / "index.cdxj").unlink()
        for path in (tmp_path / "c" / "indexes").iterdir():
            path.unlink()
        run_crawl(site, tmp_path / "c", "")
        after = (tmp_path / "c" / "indexes" / "index.cdxj").read_text()
        assert set(before.splitlines()) <= set(after.splitlines())


def test_unreachable_remote_archive_loses_no_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"file://{tmp_path / 'shared'}"

    def refuse(_self: RemoteArchive, name: str) -> None:
        raise OSError(f"cannot write {name}")

    with Site(site_pages()) as site:
        with monkeypatch.context() as patch:
            patch.setattr(RemoteArchive, "_upload_file", refuse)
            assert run_crawl(site, tmp_path / "c", address).pages == COUNT + 1
        assert "cannot upload" in (tmp_path / "c" / "logs" / "crawl.log").read_text()
        local_count = len(list((tmp_path / "c" / "archive").glob("*.warc.gz")))
        assert local_count > 1
        run_crawl(site, tmp_path / "c", "")
        assert len(list((tmp_path / "c" / "archive").glob("*.warc.gz"))) == 1
        assert len(list((tmp_path / "shared").iterdir())) >= local_count


def test_uploaded_files_are_deleted_locally_during_the_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    names = [f"sanderling-20260101000000-0000{n}.warc.gz" for n in range(4)]
    for name in names:
        (tmp_path / "here" / name).write_bytes(name.encode())
    remote_archive = RemoteArchive(tmp_path / "here", f"file://{tmp_path / 'there'}")

    def upload(name: str) -> None:
        remote_archive.start_upload(name)
        remote_archive.uploads[name].exception()  # wait for it

    upload(names[0])
    assert (tmp_path / "here" / names[0]).exists(), "its last batch may not be committed"
    with monkeypatch.context() as patch:
        patch.setattr(remote_archive.fs, "put_file", lambda *_: (_ for _ in ()).throw(OSError("unreachable")))
        upload(names[1])
        assert not (tmp_path / "here" / names[0]).exists()
    upload(names[2])
    upload(names[3])
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == [names[3]]
    assert remote_archive.list_files() == {name: len(name) for name in names}
    remote_archive.close()


def test_second_remote_address_is_rejected(tmp_path: Path) -> None:
    with Site({"/": html(text="one")}) as site:
        run_crawl(site, tmp_path / "c", f"file://{tmp_path / 'a'}")
        with pytest.raises(CollectionError, match="already stores its WARC files at"):
            run_crawl(site, tmp_path / "c", f"file://{tmp_path / 'b'}")
    with pytest.raises(UsageError, match="is not an address that --archive can use"):
        open_file_system("nonsense://x")
