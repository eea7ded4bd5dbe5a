"""Test the output of `sanderling migrant`."""

from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.cli.commands.specialists.migrant import build_event_object, parse_positive_duration
from sanderling.models import Host, Outcome, Reason
from sanderling.workers.migrant.messages import MigrantRequest, MissedMessage, PageMessage

REQUEST = MigrantRequest("key", "host:1", Host("http://www.example"), 100.0, 200.0, b"n", ())


def test_changed_and_deleted_pages_have_different_events() -> None:
    changed = build_event_object(PageMessage("/a", 0, 1, b"HTTP/1.1 200 OK\r\n\r\n", b"words", b"\x01"), REQUEST, "/")
    gone = build_event_object(PageMessage(0, 0, 1, b"HTTP/1.1 404 Not Found\r\n\r\n", b"", b""), REQUEST, "/")
    assert (changed["url"], changed["status"], changed["size"], changed["at"]) == (
        "http://www.example/a",
        200,
        5,
        100.0,
    )
    assert (gone["url"], gone["status"]) == ("http://www.example/", 404)


def test_page_that_was_not_fetched_has_a_reason() -> None:
    event = build_event_object(MissedMessage("/b", Outcome.SKIPPED, Reason.ROBOTS), REQUEST, "/")
    assert event == {"url": "http://www.example/b", "outcome": "skipped", "reason": "robots"}


def test_only_applicable_settings_are_flags(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["migrant", "--help"])
    shown = capsys.readouterr().out
    assert "--migrant-ca" in shown
    assert "--store" not in shown
    assert main(["migrant", "run", "host.toml", "--store", "postgresql://x"]) == 4


def test_watch_accepts_time_units(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse_positive_duration("1h30m") == 5400.0
    for wrong in ("0", "-1", "nan", "soon", "9" * 400):
        assert main(["migrant", "follow", "http://a/", f"--every={wrong}"]) == 4
        assert "--every" in capsys.readouterr().err


def test_watch_of_more_than_a_day_is_rejected_before_a_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["migrant", "keygen", str(tmp_path / "key")]) == 0
    way = ["--migrant", "http://127.0.0.1:1", "--key", str(tmp_path / "key")]
    assert main(["migrant", "follow", "http://a.example/", *way, "--for", "25h"]) == 4
    assert "--for is at most 1d" in capsys.readouterr().err
    assert main(["migrant", "follow", "http://a.example/", *way, "--for", "1d"]) == 4
    assert "a day at most" not in capsys.readouterr().err


def test_file_without_a_key_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "key.pub").write_bytes(b"\xff\xfe\x00binary")
    assert main(["migrant", "allow", str(tmp_path / "key.pub"), "--senders", str(tmp_path / "senders")]) == 4
    assert "does not contain a public key" in capsys.readouterr().err
    assert not (tmp_path / "senders").exists()
