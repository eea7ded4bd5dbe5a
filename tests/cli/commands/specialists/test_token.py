"""Tokens of the HTTP API on the command line."""

import json
from pathlib import Path

import pytest

from sanderling.cli import main


def test_token_is_created_listed_and_revoked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ["-C", str(tmp_path)]
    assert main(["token", "create", "deploy", "--scope", "crawl", "--scope", "read", "--expires", "90d", *folder]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("sdl_"), "only the secret, for $(sanderling token create ...)"
    assert err == "token 1 (read, crawl), shown only once:\n"
    assert main(["token", "list", *folder]) == 0
    assert "deploy  read, crawl" in capsys.readouterr().out
    assert main(["token", "revoke", "deploy", *folder]) == 0
    assert main(["token", "list", "--json", *folder]) == 0
    assert capsys.readouterr().out == ""


def test_token_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["token", "create", "a", "--json", "-C", str(tmp_path)]) == 0
    created = json.loads(capsys.readouterr().out)
    assert (created["scopes"], created["expires_at"]) == (["read"], None)
    assert main(["token", "list", "--json", "-C", str(tmp_path)]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert "token" not in listed
    assert listed["used_at"] is None
    assert main(["token", "revoke", "1", "--json", "-C", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out) == {"revoked": 1}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["create"], "no name given"),
        (["create", "a", "--expires", "soon"], "--expires"),
        (["revoke", "a"], "there is no token 'a'"),
        (["list", "--scope", "read"], "belong to sanderling token create"),
        (["create", "a", "--scope", "all"], "invalid choice"),
    ],
)
def test_mistakes_are_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], error: str
) -> None:
    assert main(["token", *words, "-C", str(tmp_path)]) == 4
    assert error in capsys.readouterr().err


def test_collection_has_to_exist(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["token", "list", "-C", str(tmp_path / "none")]) == 4
    assert "does not exist" in capsys.readouterr().err
