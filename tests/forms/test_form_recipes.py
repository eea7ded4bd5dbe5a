"""Recipes of the user."""

from pathlib import Path

import pytest

from sanderling.config.secret_values import read_secret
from sanderling.errors import UsageError
from sanderling.forms.form_recipes import load_recipes


def write(tmp_path: Path, text: str) -> str:
    file = tmp_path / "recipes.toml"
    file.write_text(text)
    return str(file)


def test_forms_and_logins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_PASSWORD", "s3cret")
    recipes = load_recipes(
        write(
            tmp_path,
            "[[form]]\nurl='https://a.test/s'\nfields={cat=['1','2'],lang='en'}\nwords=['q']\n"
            "[[login]]\nurl='https://a.test/login'\nfields={user='me',password='env:MY_PASSWORD'}\ncheck='Log out'\n",
        )
    )
    fields = recipes.forms[0].form.fields
    assert [(field.name, field.kind, field.values) for field in fields] == [
        ("cat", "choice", ["1", "2"]), ("lang", "hidden", []), ("q", "text", []),
    ]  # fmt: skip
    assert recipes.logins[0].fields == {"user": "me", "password": "s3cret"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[form]]\nurl='x:'", "needs a url"),
        ("[[form]]\nurl='https://a.test'\nfield=1", "no key 'field'"),
        ("[form]\nurl='https://a.test'", r"\[\[form\]\]"),
        ("[[other]]\n", "unknown table 'other'"),
        ("no toml", "is not a TOML file"),
        ("[[login]]\nurl='https://a.test'", "needs fields"),
        ("[[login]]\nurl='https://a.test'\nfields={p='env:UNSET_NAME'}", "UNSET_NAME is not set"),
    ],
)
def test_errors_name_the_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_recipes(write(tmp_path, text))


def test_secrets_come_from_the_environment_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("abc\n")
    assert read_secret(f"file:{tmp_path / 'token'}", "x") == "abc"
    assert read_secret("plain", "x") == "plain"
    with pytest.raises(UsageError, match="cannot read the file"):
        read_secret("file:/nowhere/at/all", "x")
