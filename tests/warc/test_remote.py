"""WARC files at another place, by fsspec: on a shared disk and in a store that is not a file system of this machine."""

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
    """A server that speaks S3, on loopback; s3fs is told of it as users tell it, by the environment."""
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
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An address for the archive."""
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
    """Files are full at 20 kB, so that a small crawl fills several."""
    monkeypatch.setattr(archive.open_archive, "__defaults__", ((), time.time, 20_000, ()))


def site_pages() -> dict[str, Page]:
    leaves = {f"/p{n}": html(text=f"{uuid.uuid4().hex * 20} {n}") for n in range(COUNT)}
    return {"/": html(*leaves, text="all"), **leaves}


def go(site: Site, folder: Path, place: str) -> CrawlSummary:
    request = CrawlRequest(
        (site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True), workers=WorkerSettings(workers=1, archive=place),
    )  # fmt: skip
    return crawl(folder, request)


def archived(place: str, folder: Path) -> list[str]:
    """URLs of all responses at the other place."""
    fs, root = open_file_system(place)
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


def test_full_files_go_there_and_pages_are_read_from_there(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "collection"
    with Site(site_pages()) as site:
        assert go(site, folder, place).pages == COUNT + 1
        assert sorted(archived(place, tmp_path)) == sorted(site.root + path for path in site.pages)
        assert len(list((folder / "archive").glob("*.warc.gz"))) == 1, "only the file being written is here"
        with open_collection_read_only(folder) as collection:
            for path, page in site.pages.items():
                id_, key = resolve_known_url(collection, site.root + path)
                assert load_stored_record(collection, id_, key).body == page.body
        site.pages["/p7"] = html(text="changed " + uuid.uuid4().hex * 900)
        again = go(site, folder, "")
        assert (again.pages, again.fetched) == (COUNT + 1, 1)
        assert len(archived(place, tmp_path)) == len(set(archived(place, tmp_path))) + 1 == COUNT + 2


def test_the_index_of_captures_is_made_again_from_there(tmp_path: Path, place: str) -> None:
    with Site(site_pages()) as site:
        go(site, tmp_path / "c", place)
        before = (tmp_path / "c" / "indexes" / "index.cdxj").read_text()
        (tmp_path / "c" / "indexes" / "index.cdxj").unlink()
        for path in (tmp_path / "c" / "indexes").iterdir():
            path.unlink()
        go(site, tmp_path / "c", "")
        after = (tmp_path / "c" / "indexes" / "index.cdxj").read_text()
        assert set(before.splitlines()) <= set(after.splitlines())


def test_a_place_that_cannot_be_reached_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = f"file://{tmp_path / 'shared'}"

    def refuse(_self: RemoteArchive, name: str) -> None:
        raise OSError(f"no way to {name}")

    with Site(site_pages()) as site:
        with monkeypatch.context() as away:
            away.setattr(RemoteArchive, "_upload_file", refuse)
            assert go(site, tmp_path / "c", place).pages == COUNT + 1
        assert "could not be copied" in (tmp_path / "c" / "logs" / "crawl.log").read_text()
        here = len(list((tmp_path / "c" / "archive").glob("*.warc.gz")))
        assert here > 1
        go(site, tmp_path / "c", "")
        assert len(list((tmp_path / "c" / "archive").glob("*.warc.gz"))) == 1
        assert len(list((tmp_path / "shared").iterdir())) >= here


def test_copies_go_from_here_while_the_crawl_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    names = [f"sanderling-20260101000000-0000{n}.warc.gz" for n in range(4)]
    for name in names:
        (tmp_path / "here" / name).write_bytes(name.encode())
    offsite = RemoteArchive(tmp_path / "here", f"file://{tmp_path / 'there'}")

    def send(name: str) -> None:
        offsite.start_upload(name)
        offsite.uploads[name].exception()  # wait for it

    send(names[0])
    assert (tmp_path / "here" / names[0]).exists(), "its last batch may not be committed"
    with monkeypatch.context() as away:
        away.setattr(offsite.fs, "put_file", lambda *_: (_ for _ in ()).throw(OSError("away")))
        send(names[1])
        assert not (tmp_path / "here" / names[0]).exists()
    send(names[2])
    send(names[3])
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == [names[3]]
    assert offsite.list_files() == {name: len(name) for name in names}
    offsite.close()


def test_an_archive_has_one_other_place(tmp_path: Path) -> None:
    with Site({"/": html(text="one")}) as site:
        go(site, tmp_path / "c", f"file://{tmp_path / 'a'}")
        with pytest.raises(CollectionError, match="it cannot have them at"):
            go(site, tmp_path / "c", f"file://{tmp_path / 'b'}")
    with pytest.raises(UsageError, match="is no place for an archive"):
        open_file_system("nonsense://x")
