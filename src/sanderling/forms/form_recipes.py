"""Recipes: forms that the user describes in a TOML file, because no form is sent by POST or logged in to otherwise."""

import tomllib
from pathlib import Path
from typing import Any

from msgspec import Struct

from sanderling.config.secret_values import read_secret
from sanderling.errors import UsageError
from sanderling.html.form_fields import CHOICE, HIDDEN, TEXT, FormField, PageForm
from sanderling.urls.normalize import normalize_url

FORM_KEYS = {"url", "method", "fields", "words"}
LOGIN_KEYS = {"url", "fields", "check", "action"}


class FormRecipe(Struct, frozen=True):
    """A form to query: every combination of the listed values, and words in the fields named for them."""

    form: PageForm


class LoginRecipe(Struct, frozen=True):
    """A form to log in with, before the crawl starts."""

    url: str
    fields: dict[str, str]  # contains secrets
    check: str = ""  # text of the page that follows
    action: str = ""  # where the fields are sent; empty: where the form of the page leads


class Recipes(Struct, frozen=True):
    """All recipes of a file."""

    forms: tuple[FormRecipe, ...] = ()
    logins: tuple[LoginRecipe, ...] = ()


def load_recipes(name: str) -> Recipes:
    """Read a file of recipes. Raises UsageError, without values in it."""
    try:
        data = tomllib.loads(Path(name).read_text())
    except OSError as error:
        raise UsageError(f"cannot read the recipes {name}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise UsageError(f"{name} is not a TOML file") from None
    if unknown := sorted(data.keys() - {"form", "login"}):
        raise UsageError(f"{name}: unknown table {unknown[0]!r}; use [[form]] and [[login]]")
    forms = tuple(_parse_form(name, item) for item in _list_tables(name, data, "form"))
    return Recipes(forms, tuple(_parse_login(name, item) for item in _list_tables(name, data, "login")))


def _list_tables(name: str, data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    tables = data.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(item, dict) for item in tables):
        raise UsageError(f"{name}: write [[{key}]] with two brackets")
    return tables


def _parse_url(name: str, key: str, item: dict[str, Any], allowed: set[str]) -> str:
    if unknown := sorted(item.keys() - allowed):
        raise UsageError(f"{name}: [[{key}]] has no key {unknown[0]!r}; use {', '.join(sorted(allowed))}")
    url = normalize_url(str(item.get("url", "")))
    if url is None:
        raise UsageError(f"{name}: [[{key}]] needs a url, for example https://example.org/search")
    return url.request_url


def _parse_form(name: str, item: dict[str, Any]) -> FormRecipe:
    url, method = _parse_url(name, "form", item, FORM_KEYS), str(item.get("method", "post")).lower()
    fields, words = item.get("fields", {}), item.get("words", [])
    if method not in ("get", "post") or not isinstance(fields, dict) or not isinstance(words, list):
        raise UsageError(f"{name}: [[form]] {url}: method is get or post, fields a table, words a list of names")
    built = [
        FormField(key, CHOICE, [str(part) for part in value], str(value[0]) if value else "")
        if isinstance(value, list)
        else FormField(key, HIDDEN, [], str(value))
        for key, value in fields.items()
    ]
    built += [FormField(str(key), TEXT, [], "") for key in words]
    return FormRecipe(PageForm(url, method, built))


def _parse_login(name: str, item: dict[str, Any]) -> LoginRecipe:
    url, fields = _parse_url(name, "login", item, LOGIN_KEYS), item.get("fields", {})
    if not isinstance(fields, dict) or not fields:
        raise UsageError(f"{name}: [[login]] {url} needs fields, for example fields.password = 'env:MY_PASSWORD'")
    values = {key: read_secret(str(value), f"{name}: [[login]] field {key}") for key, value in fields.items()}
    action = normalize_url(item["action"]) if item.get("action") else None
    return LoginRecipe(url, values, str(item.get("check", "")), action.request_url if action else "")
