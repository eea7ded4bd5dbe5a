"""Questions to a running crawl."""

import fcntl
import stat
import threading
from pathlib import Path

import pytest

from sanderling.errors import CollectionError
from sanderling.workers.control import ALIVE, FOLDER, Control, ask, is_running


def test_nobody_answers_where_no_crawl_runs(tmp_path: Path) -> None:
    assert not is_running(tmp_path)
    with pytest.raises(CollectionError, match="no crawl is running"):
        ask(tmp_path, {"do": "list"})


def test_a_question_is_answered(tmp_path: Path) -> None:
    control = Control(tmp_path)
    control.open()
    answers: list[object] = []
    asking = threading.Thread(target=lambda: answers.append(ask(tmp_path, {"do": "list", "migrants": ["a"]})))
    asking.start()
    while not (questions := control.questions()):
        pass
    assert [(question.do, question.what) for question in questions] == [("list", {"migrants": ["a"]})]
    control.answer(questions[0].id, {"fine": True})
    asking.join()
    assert answers == [{"fine": True}]
    control.close()
    assert not is_running(tmp_path)


def test_who_looks_just_when_a_crawl_begins_does_not_keep_it_from_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock

    def looked_at(handle: int, how: int) -> None:
        if how & fcntl.LOCK_EX:
            assert not (tmp_path / FOLDER / ALIVE).exists(), "it could be seen before it was locked"
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", looked_at)
    control = Control(tmp_path)
    control.open()
    assert is_running(tmp_path)
    control.close()
    assert not is_running(tmp_path)


def test_only_the_owner_may_read_and_ask(tmp_path: Path) -> None:
    control = Control(tmp_path)
    control.open()
    control.answer("x", {})
    assert stat.S_IMODE((tmp_path / FOLDER).stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / FOLDER).iterdir()} == {0o600}
    control.close()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"no": 1}', b"[" * 60_000])
def test_what_is_no_question_is_said_so(tmp_path: Path, content: bytes) -> None:
    control = Control(tmp_path)
    control.open()
    (tmp_path / FOLDER / "x.ask").write_bytes(content)
    assert control.questions() == []
    assert "no question" in (tmp_path / FOLDER / "x.answer").read_text()
    control.close()
