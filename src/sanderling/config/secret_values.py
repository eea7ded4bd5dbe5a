"""Secrets that are given by place, so that `ps` and shell histories do not show them: `env:NAME` or `file:PATH`."""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from sanderling.config.redact import redact_password
from sanderling.errors import UsageError

SECRET_PLACE = re.compile(r"(env|file):(.+)", re.DOTALL)
SECRET_HEADERS = ("auth", "cookie", "key", "token", "secret")  # in the name of the header
ADVICE = {
    "--basic-auth": "HOST=env:NAME or HOST=file:PATH",
    "--header": "'Name: env:NAME' or 'Name: file:PATH'",
    "--proxy": "env:NAME or file:PATH",
    "--alert": "env:NAME or file:PATH",
    "--notify": "env:NAME or file:PATH",
    "--store": "the password to PGPASSWORD or ~/.pgpass",
    "--archive": "it to the variables or files of the storage service",
}


def read_secret(text: str, place: str) -> str:
    """Return the value behind `env:NAME` or `file:PATH`, or the text itself. Raises UsageError without the value."""
    match = SECRET_PLACE.fullmatch(text)
    if match is None:
        return text
    if match[1] == "env":
        if match[2] not in os.environ:
            raise UsageError(f"{place}: the environment variable {match[2]} is not set")
        return os.environ[match[2]]
    try:
        return Path(match[2]).expanduser().read_text().strip()
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"{place}: cannot read the file {match[2]}") from None


def read_secret_header(header: str) -> str:
    """Return a `Name: value` header whose value may be given by place."""
    name, _, value = header.partition(":")
    return f"{name}: {read_secret(value.strip(), f'--header {name}')}" if SECRET_PLACE.match(value.strip()) else header


def read_login(item: str) -> tuple[str, str]:
    """Return host and USER:PASSWORD of a `HOST=...` item. Raises UsageError without the value."""
    host, _, place = item.partition("=")
    login = read_secret(place, "--basic-auth")
    if ":" not in login:
        raise UsageError("--basic-auth must have the form HOST=env:NAME or HOST=file:PATH, which holds USER:PASSWORD")
    return host, login


def find_visible_secrets(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the flags whose value is a secret that other users of the machine can see."""
    split = [tuple(text.split("=", 1)) for text in arguments if text.startswith("--") and "=" in text]
    for flag, value in [*pairwise(arguments), *(pair for pair in split if len(pair) == 2)]:
        if flag in ADVICE and _is_secret(flag, value):
            yield flag


def _is_secret(flag: str, value: str) -> bool:
    if flag == "--basic-auth":
        secret = value.partition("=")[2]
        return ":" in secret and SECRET_PLACE.match(secret) is None
    if flag == "--header":
        name, _, content = value.partition(":")
        is_named = any(word in name.lower() for word in SECRET_HEADERS)
        return is_named and bool(content.strip()) and SECRET_PLACE.match(content.strip()) is None
    return redact_password(value) != value
