"""What the command `host` prints."""

import pytest

from sanderling.cli import main
from sanderling.cli.host import news, positive
from sanderling.engines.hosts.letter import Letter, Missed, Page
from sanderling.records import Host, Outcome, Reason

LETTER = Letter("key", "host:1", Host("http://www.example"), 100.0, 200.0, b"n", ())


def test_a_page_that_changed_and_one_that_is_gone_are_told_apart() -> None:
    changed = news(Page("/a", 0, 1, b"HTTP/1.1 200 OK\r\n\r\n", b"words", b"\x01"), LETTER, "/")
    gone = news(Page(0, 0, 1, b"HTTP/1.1 404 Not Found\r\n\r\n", b"", b""), LETTER, "/")
    assert (changed["url"], changed["status"], changed["size"], changed["at"]) == (
        "http://www.example/a",
        200,
        5,
        100.0,
    )
    assert (gone["url"], gone["status"]) == ("http://www.example/", 404)


def test_a_page_that_was_not_brought_has_a_reason() -> None:
    told = news(Missed("/b", Outcome.SKIPPED, Reason.ROBOTS), LETTER, "/")
    assert told == {"url": "http://www.example/b", "outcome": "skipped", "reason": "robots"}


def test_it_offers_only_what_it_heeds(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["host", "--help"])
    shown = capsys.readouterr().out
    assert "--via-ca" in shown
    assert "--store" not in shown
    assert main(["host", "run", "host.toml", "--store", "postgresql://x"]) == 4


def test_a_watch_takes_times_as_all_commands_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert positive("1h30m") == 5400.0
    for wrong in ("0", "-1", "nan", "soon", "9" * 400):
        assert main(["host", "watch", "http://a/", f"--every={wrong}"]) == 4
        assert "--every" in capsys.readouterr().err
