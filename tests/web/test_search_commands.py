"""The commands `search` and `serve`."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.web.conftest import CrawledSite

from sanderling.cli import main
from sanderling.db.connection import connect_sqlite
from sanderling.errors import CollectionError, DiskFull
from sanderling.web.auth import AuthStore

RUN = "import sys; from sanderling.cli import main; sys.exit(main())"


def test_search_prints_results_and_scores(crawled_site: CrawledSite, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "gull", "-C", str(crawled_site.folder), "--explain"]) == 0
    out = capsys.readouterr().out
    assert crawled_site.url("/gull") in out
    assert "score" in out
    assert "gull in title" in out
    assert re.search(r"score [\d.]+ = words [\d.]+ x links [\d.]+ x freshness [\d.]+ x readers [\d.]+", out)


def test_search_prints_json_with_positions_from_1(
    crawled_site: CrawledSite, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "shore", "-C", str(crawled_site.folder), "--json", "--first", "3", "--from", "2"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["position"] for row in rows] == [2, 3, 4]
    assert main(["search", "shore", "-C", str(crawled_site.folder), "--first", "0"]) == 4


def test_excluded_word_must_be_quoted(crawled_site: CrawledSite, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "shore", "-gull", "-C", str(crawled_site.folder)]) == 4
    assert "quote queries with excluded words: 'tide -storm'" in capsys.readouterr().err
    assert main(["search", "shore", "--frist", "1", "-C", str(crawled_site.folder)]) == 4
    assert "did you mean --first" in capsys.readouterr().err


def test_search_needs_a_collection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "x", "-C", str(tmp_path)]) == 4
    assert "there is no collection" in capsys.readouterr().err


def test_serve_prints_url_and_password_and_stops_on_signals(crawled_site: CrawledSite) -> None:
    messages = []
    auth_store = AuthStore(crawled_site.folder)
    auth_store.set_setting("password", "")
    auth_store.close()
    for stop in (signal.SIGINT, signal.SIGTERM):
        command = [sys.executable, "-c", RUN, "serve", "-C", str(crawled_site.folder), "--port", "0", "--no-index"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
            assert server.stdout
            assert server.stderr
            address = server.stdout.readline().strip()
            with urllib.request.urlopen(address + "healthz") as answer:
                assert json.load(answer)["status"] == "ok"
            server.send_signal(stop)
            assert server.wait(300) == 0
            messages.append(server.stderr.read())
    assert "shown only once" in messages[0]
    assert "shown only once" not in messages[1]


def test_port_in_use_is_reported(crawled_site: CrawledSite, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = str(listener.getsockname()[1])
        assert main(["serve", "-C", str(crawled_site.folder), "--port", port]) == 4
    assert "cannot serve on 127.0.0.1" in capsys.readouterr().err


def test_full_disk_falls_back_to_the_current_index(
    crawled_site: CrawledSite, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def raise_disk_full(*_: object) -> None:
        raise DiskFull("no space left")

    monkeypatch.setattr("sanderling.search.indexer.update_index", raise_disk_full)
    assert main(["search", "gull", "-C", str(crawled_site.folder)]) == 0
    output = capsys.readouterr()
    assert crawled_site.url("/gull") in output.out
    assert "no space left; the index is searched as it is" in output.err


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_index_on_a_readonly_disk_is_searched(
    crawled_site: CrawledSite, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "gull", "-C", str(crawled_site.folder)]) == 0
    mounted = subprocess.run(["mount", "--bind", "-o", "ro", str(crawled_site.folder), str(tmp_path)], check=False)
    if mounted.returncode:
        pytest.skip("bind mounts are not available")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(tmp_path)], check=True)
        capsys.readouterr()
        assert main(["search", "gull", "-C", str(tmp_path)]) == 0
        assert crawled_site.url("/gull") in capsys.readouterr().out
        with pytest.raises(CollectionError, match="is not writable"):
            connect_sqlite(tmp_path / "another.db")
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)  # the index may still be mapped
