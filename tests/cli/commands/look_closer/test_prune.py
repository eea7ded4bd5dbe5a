"""Retention: what is kept, what stays readable, disk space, and kills at any moment."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.crawl.imports.import_archives import import_archives
from sanderling.crawl.request import CrawlRequest
from sanderling.search.index import open_search_index
from sanderling.storage.collection import open_collection_read_only
from sanderling.warc.packer import HttpExchange, pack_response
from sanderling.warc.records import OriginalRecord, RecordLocation, pack_revisit

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
MONTHS = [datetime(2024, month, day, tzinfo=UTC).timestamp() for month in range(1, 7) for day in (3, 10, 20)]


def build_body(url: str, number: int) -> bytes:
    noise = f"{url} {number} ".encode() + os.urandom(9000).hex().encode()
    return b"<title>%d</title><p>%s" % (number, noise)


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A collection of two pages with 18 versions each, and of one that never changed."""
    members = []
    for number, at in enumerate(MONTHS):
        for path in ("/a", "/legal/b"):
            url = f"http://a.test{path}"
            members.append(pack_response(HttpExchange(url, at, HEAD, build_body(url, number))).member)
        members.append(pack_response(HttpExchange("http://a.test/same", at, HEAD, b"<title>same</title>")).member)
    (tmp_path / "x.warc.gz").write_bytes(b"".join(members))
    import_archives(tmp_path / "c", [tmp_path / "x.warc.gz"], CrawlRequest(()))
    return tmp_path / "c"


def list_stored(folder: Path, path: str) -> list[float]:
    sql = "SELECT v.at FROM visits AS v JOIN urls AS u ON u.id = v.url WHERE u.path = ? AND v.length > 0 ORDER BY v.at"
    with open_collection_read_only(folder) as opened:
        return [at for (at,) in opened.db.execute(sql, (path,))]


def count_disk_bytes(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in (folder / "archive").glob("*.warc.gz"))


def test_last_versions_are_kept_and_disk_space_is_freed(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = count_disk_bytes(collection)
    command = ["prune", "--keep-versions", "3", "-C", str(collection)]
    assert main([*command, "--dry-run", "--json"]) == 0
    preview = json.loads(capsys.readouterr().out)
    assert (preview["pruned"], len(preview["examples"])) == (30, 20)
    assert count_disk_bytes(collection) == before
    assert main(command) == 4  # no terminal to confirm
    assert main([*command, "--yes"]) == 0
    assert list_stored(collection, "/a") == MONTHS[-3:]
    assert list_stored(collection, "/same") == MONTHS  # one version
    assert count_disk_bytes(collection) < 0.6 * before  # blocks that a record fills only partly are not freed
    assert main(["verify", "-C", str(collection)]) == 0
    assert main(["show", "http://a.test/a", "-C", str(collection), "--quiet"]) == 0
    assert "<title>17</title>" in capsys.readouterr().out
    assert main(["changes", "-C", str(collection)]) == 0
    assert main(["history", "http://a.test/a", "-C", str(collection)]) == 0
    assert "2024-01-03" in capsys.readouterr().out
    index = (collection / "indexes" / "index.cdxj").read_text()
    assert (index.count('a.test/a"'), index.count('a.test/same"')) == (3, 18)
    assert main([*command, "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pruned"] == 0


def test_months_days_and_holds(collection: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.api.version_pruning.system_clock", lambda: MONTHS[-1] + 86_400)
    flags = ["-C", str(collection), "--yes", "--quiet"]
    assert main(["prune", "--keep-monthly", "--keep-days", "20", "--hold", "/legal/", *flags]) == 0
    kept = [at for at in MONTHS if datetime.fromtimestamp(at, UTC).day != 10 or at > MONTHS[-1] - 19 * 86_400]
    assert list_stored(collection, "/a") == kept
    assert list_stored(collection, "/legal/b") == MONTHS
    assert main(["prune", *flags]) == 4
    assert main(["prune", "--keep-versions", "1", "--hold", "(", *flags]) == 4


def test_body_of_a_kept_version_of_another_page_stays(tmp_path: Path) -> None:
    shared = b"<title>shared</title>"
    members = [
        pack_response(HttpExchange(f"http://a.test/{path}", at, HEAD, body)).member
        for path, at, body in (
            ("a", MONTHS[0], shared),
            ("b", MONTHS[1], shared),
            ("a", MONTHS[2], b"<title>new</title>"),
        )
    ]
    (tmp_path / "x.warc.gz").write_bytes(b"".join(members))
    import_archives(tmp_path / "c", [tmp_path / "x.warc.gz"], CrawlRequest(()))
    assert main(["prune", "--keep-versions", "1", "-C", str(tmp_path / "c"), "--yes", "--quiet"]) == 0
    assert list_stored(tmp_path / "c", "/a") == [MONTHS[0], MONTHS[2]]


def test_confirmations_of_pruned_versions_go_too(tmp_path: Path) -> None:
    members, url = [], "http://a.test/"
    for number, at in enumerate(MONTHS[:4]):
        packed = pack_response(HttpExchange(url, at, HEAD, build_body(url, number)))
        original = OriginalRecord(packed.record_id, url, at, packed.payload_digest, RecordLocation("", 0, 0))
        not_modified = HttpExchange(url, at + 60, b"HTTP/1.1 304 Not Modified\r\n\r\n")
        members += [packed.member, pack_revisit(not_modified, original, "sha256", "server-not-modified").member]
    (tmp_path / "x.warc.gz").write_bytes(b"".join(members))
    import_archives(tmp_path / "c", [tmp_path / "x.warc.gz"], CrawlRequest(()))
    assert main(["prune", "--keep-versions", "1", "-C", str(tmp_path / "c"), "--yes", "--quiet"]) == 0
    assert list_stored(tmp_path / "c", "/") == [MONTHS[3], MONTHS[3] + 60]


def test_stop_before_the_indexes_are_updated_is_made_good(collection: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["prune", "--keep-versions", "1", "-C", str(collection), "--yes", "--quiet"]

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    assert main(["search", "title", "-C", str(collection), "--quiet"]) == 0  # builds the index
    assert count_past_versions(collection) == 34
    with monkeypatch.context() as patch:
        patch.setattr("sanderling.deletion.prune_versions._update_indexes", stop)
        main(command)
    assert (collection / "indexes" / "index.cdxj").read_text().count('a.test/a"') == 18
    assert main(command) == 0
    assert (collection / "indexes" / "index.cdxj").read_text().count('a.test/a"') == 1
    assert count_past_versions(collection) == 0


def count_past_versions(folder: Path) -> int:
    index = open_search_index(folder / "index", write=False)
    assert index is not None
    return index.history_index.searcher().num_docs


def kill_after(seconds: float, folder: Path) -> None:
    code = (
        "import sys, sanderling.deletion.prune_versions as p; p.CHUNK_VERSIONS = 1\n"
        "from sanderling.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, "prune", "--keep-versions", "1", "-C", str(folder), "--yes", "--quiet"]
    )
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_killed_pruning_is_finished(collection: Path) -> None:
    for seconds in (0.5, 0.6, 0.7, 0.8):
        kill_after(seconds, collection)
        assert main(["show", "http://a.test/a", "-C", str(collection), "--quiet"]) == 0
    assert main(["prune", "--keep-versions", "1", "-C", str(collection), "--yes", "--quiet"]) == 0
    assert list_stored(collection, "/a") == MONTHS[-1:]
    assert main(["verify", "-C", str(collection)]) == 0
    index = (collection / "indexes" / "index.cdxj").read_text()
    assert index.count('a.test/a"') == 1
