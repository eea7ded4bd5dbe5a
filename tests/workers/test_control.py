"""Questions to a running crawl."""

import fcntl
import stat
import threading
from pathlib import Path

import pytest

from sanderling.errors import CollectionError
from sanderling.workers.control import CONTROL_FOLDER, LOCK_FILE, ControlChannel, is_crawl_running, send_command


def test_nobody_answers_where_no_crawl_runs(tmp_path: Path) -> None:
    assert not is_crawl_running(tmp_path)
    with pytest.raises(CollectionError, match="no crawl is running"):
        send_command(tmp_path, {"do": "list"})


def test_a_question_is_answered(tmp_path: Path) -> None:
    control = ControlChannel(tmp_path)
    control.open()
    answers: list[object] = []
    asking = threading.Thread(target=lambda: answers.append(send_command(tmp_path, {"do": "list", "workers": ["a"]})))
    asking.start()
    while not (questions := control.read_commands()):
        pass
    assert [(question.action, question.arguments) for question in questions] == [("list", {"workers": ["a"]})]
    control.write_reply(questions[0].id, {"fine": True})
    asking.join()
    assert answers == [{"fine": True}]
    control.close()
    assert not is_crawl_running(tmp_path)


def test_who_looks_just_when_a_crawl_begins_does_not_keep_it_from_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock

    def looked_at(handle: int, how: int) -> None:
        if how & fcntl.LOCK_EX:
            assert not (tmp_path / CONTROL_FOLDER / LOCK_FILE).exists(), "it could be seen before it was locked"
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", looked_at)
    control = ControlChannel(tmp_path)
    control.open()
    assert is_crawl_running(tmp_path)
    control.close()
    assert not is_crawl_running(tmp_path)


def test_only_the_owner_may_read_and_ask(tmp_path: Path) -> None:
    control = ControlChannel(tmp_path)
    control.open()
    control.write_reply("x", {})
    assert stat.S_IMODE((tmp_path / CONTROL_FOLDER).stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / CONTROL_FOLDER).iterdir()} == {0o600}
    control.close()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"no": 1}', b"[" * 60_000])
def test_what_is_no_question_is_said_so(tmp_path: Path, content: bytes) -> None:
    control = ControlChannel(tmp_path)
    control.open()
    (tmp_path / CONTROL_FOLDER / "x.ask").write_bytes(content)
    assert control.read_commands() == []
    assert "no question" in (tmp_path / CONTROL_FOLDER / "x.answer").read_text()
    control.close()
