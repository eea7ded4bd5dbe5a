"""Commands to a running crawl."""

import fcntl
import stat
import threading
from pathlib import Path

import pytest

from sanderling.errors import CollectionError
from sanderling.workers.control import CONTROL_FOLDER, LOCK_FILE, ControlChannel, is_crawl_running, send_command


def test_command_fails_if_no_crawl_is_running(tmp_path: Path) -> None:
    assert not is_crawl_running(tmp_path)
    with pytest.raises(CollectionError, match="no crawl is running"):
        send_command(tmp_path, {"do": "list"})


def test_command_gets_its_reply(tmp_path: Path) -> None:
    control = ControlChannel(tmp_path)
    control.open()
    replies: list[object] = []
    client = threading.Thread(target=lambda: replies.append(send_command(tmp_path, {"do": "list", "workers": ["a"]})))
    client.start()
    while not (commands := control.read_commands()):
        pass
    assert [(command.action, command.arguments) for command in commands] == [("list", {"workers": ["a"]})]
    control.write_reply(commands[0].id, {"ok": True})
    client.join()
    assert replies == [{"ok": True}]
    control.close()
    assert not is_crawl_running(tmp_path)


def test_lock_file_is_locked_before_it_is_visible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = fcntl.flock

    def check_lock(handle: int, how: int) -> None:
        if how & fcntl.LOCK_EX:
            assert not (tmp_path / CONTROL_FOLDER / LOCK_FILE).exists(), "visible before it was locked"
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", check_lock)
    control = ControlChannel(tmp_path)
    control.open()
    assert is_crawl_running(tmp_path)
    control.close()
    assert not is_crawl_running(tmp_path)


def test_only_the_owner_may_read_and_write(tmp_path: Path) -> None:
    control = ControlChannel(tmp_path)
    control.open()
    control.write_reply("x", {})
    assert stat.S_IMODE((tmp_path / CONTROL_FOLDER).stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / CONTROL_FOLDER).iterdir()} == {0o600}
    control.close()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"no": 1}', b"[" * 60_000])
def test_invalid_command_is_reported(tmp_path: Path, content: bytes) -> None:
    control = ControlChannel(tmp_path)
    control.open()
    (tmp_path / CONTROL_FOLDER / "x.ask").write_bytes(content)
    assert control.read_commands() == []
    assert "invalid command" in (tmp_path / CONTROL_FOLDER / "x.answer").read_text()
    control.close()
