"""The two commands: search in the terminal, and serve, started and stopped as a person would."""

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
from tests.web.conftest import World

from sanderling.cli import main
from sanderling.db.connection import connect_sqlite
from sanderling.errors import CollectionError, DiskFull
from sanderling.web.auth import AuthStore

RUN = "import sys; from sanderling.cli import main; sys.exit(main())"


def test_search_prints_what_it_finds_and_why(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "gull", "-C", str(world.folder), "--explain"]) == 0
    out = capsys.readouterr().out
    assert world.url("/gull") in out
    assert "score" in out
    assert "gull in title" in out
    assert re.search(r"score [\d.]+ = words [\d.]+ x links [\d.]+ x freshness [\d.]+ x readers [\d.]+", out)


def test_search_speaks_json_and_counts_from_one(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "shore", "-C", str(world.folder), "--json", "--first", "3", "--from", "2"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["position"] for row in rows] == [2, 3, 4]
    assert main(["search", "shore", "-C", str(world.folder), "--first", "0"]) == 4


def test_a_word_to_leave_out_is_asked_for_in_quotes(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "shore", "-gull", "-C", str(world.folder)]) == 4
    assert "in quotes: 'tide -storm'" in capsys.readouterr().err
    assert main(["search", "shore", "--frist", "1", "-C", str(world.folder)]) == 4
    assert "did you mean --first" in capsys.readouterr().err


def test_search_needs_a_collection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "x", "-C", str(tmp_path)]) == 4
    assert "there is no collection" in capsys.readouterr().err


def test_serve_tells_its_address_and_password_once_and_ends_when_told(world: World) -> None:
    said = []
    door = AuthStore(world.folder)
    door.set_setting("password", "")
    door.close()
    for stop in (signal.SIGINT, signal.SIGTERM):
        command = [sys.executable, "-c", RUN, "serve", "-C", str(world.folder), "--port", "0", "--no-index"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
            assert server.stdout
            assert server.stderr
            address = server.stdout.readline().strip()
            with urllib.request.urlopen(address + "healthz") as answer:
                assert json.load(answer)["status"] == "ok"
            server.send_signal(stop)
            assert server.wait(300) == 0
            said.append(server.stderr.read())
    assert "shown this once" in said[0]
    assert "shown this once" not in said[1]


def test_a_port_that_is_taken_is_said_so(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["serve", "-C", str(world.folder), "--port", port]) == 4
    assert "cannot serve on 127.0.0.1" in capsys.readouterr().err


def test_a_disk_without_room_for_news_of_the_index_is_searched_as_it_is(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise DiskFull("no space left")

    monkeypatch.setattr("sanderling.search.indexer.update_index", full)
    assert main(["search", "gull", "-C", str(world.folder)]) == 0
    told = capsys.readouterr()
    assert world.url("/gull") in told.out
    assert "no space left; the index is searched as it is" in told.err


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_an_index_on_a_disk_that_cannot_be_written_to_is_searched(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "gull", "-C", str(world.folder)]) == 0
    mounted = subprocess.run(["mount", "--bind", "-o", "ro", str(world.folder), str(tmp_path)], check=False)
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(tmp_path)], check=True)
        capsys.readouterr()
        assert main(["search", "gull", "-C", str(tmp_path)]) == 0
        assert world.url("/gull") in capsys.readouterr().out
        with pytest.raises(CollectionError, match="cannot be written to"):
            connect_sqlite(tmp_path / "another.db")
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)  # what the index maps may not be let go yet
