"""Secrets are given by place; those in arguments are pointed out."""

from pathlib import Path

import pytest
from tests.support.site import Site, html

from sanderling.cli import main
from sanderling.config.secret_values import find_visible_secrets, read_secret_header
from sanderling.config.settings import HttpSettings
from sanderling.crawl.request import CrawlRequest, build_fetch_settings
from sanderling.errors import UsageError


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        (["--basic-auth", "a.example=me:pw"], ["--basic-auth"]),
        (["--basic-auth=a.example=me:pw"], ["--basic-auth"]),
        (["--basic-auth", "a.example=env:X", "--bearer", "a=file:/x"], []),
        (["--header", "Authorization: Token x"], ["--header"]),
        (["--header", "X-Api-Key: env:KEY"], []),
        (["--header", "Accept-Language: nl"], []),
        (["--proxy", "http://me:pw@a:1", "--notify", "mailto://me:pw@a"], ["--proxy", "--notify"]),
        (["--proxy", "http://a:1", "--notify", "env:MAIL"], []),
    ],
)
def test_visible_secrets(arguments: list[str], flags: list[str]) -> None:
    assert list(find_visible_secrets(arguments)) == flags


def test_logins_and_headers_are_read_from_their_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGIN", "me:pw")
    (tmp_path / "key").write_text("abc\n")
    fetching = HttpSettings(
        basic_auth=("a.example=env:LOGIN",), header=(f"X-Key: file:{tmp_path / 'key'}", "Accept: x"), proxy=""
    )
    settings = build_fetch_settings(CrawlRequest((), fetching=fetching))
    assert settings.basic_auth == {"a.example": "me:pw"}
    assert settings.headers == ("X-Key: abc", "Accept: x")
    monkeypatch.setenv("LOGIN", "only-a-name")
    with pytest.raises(UsageError, match="USER:PASSWORD"):
        build_fetch_settings(CrawlRequest((), fetching=fetching))
    assert read_secret_header("Accept: y") == "Accept: y"


def test_login_by_place_is_sent_and_stored_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOGIN", "me:hunter2")
    options = ["--allow-private", "--delay", "0", "--workers", "1", "--no-index", "-C", str(tmp_path / "c")]
    with Site({"/": html("in")}) as site:
        assert main(["crawl", site.root + "/", *options, "--basic-auth", "127.0.0.1=env:LOGIN"]) == 0
    assert "warning" not in capsys.readouterr().err
    stored = b"".join(path.read_bytes() for path in (tmp_path / "c").rglob("*") if path.is_file())
    assert b"hunter2" not in stored
    assert b"bWU6aHVudGVyMg" not in stored
    assert main(["settings", "--basic-auth", "127.0.0.1=me:hunter2"]) in (0, 4)
    output = capsys.readouterr()
    assert "hunter2" not in output.out + output.err
