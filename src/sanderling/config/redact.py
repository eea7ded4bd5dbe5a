"""What a person typed, as it may be shown or written down: without passwords, tokens and keys."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

PASSWORD = re.compile(r"^((?:\w+://)?+[^:@]*):(.*)@", re.DOTALL)  # before the last @: a password may hold any letter
NAMED = re.compile(r"(\b\w*pass(?:word|wd)?\s*=\s*)('[^']*'|[^&\s']+)", re.IGNORECASE)
USER = re.compile(r"://[^/?#\\]*@")  # up to the last @ before a path, as whoever asks for the address takes it
FLAG = re.compile(r"--[a-z][a-z0-9-]*")
NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # of a header (RFC 9110, 5.1)

MASK = "***"
SECRET = ("--basic-auth", "--header", "--store", "--proxy", "--alert")  # flags whose values may be secrets
ADDRESSES = ("--archive", "--via")  # flags whose values may hold one


def hide_password(address: str) -> str:
    """An address, of whatever kind, as it may be shown."""
    return NAMED.sub(rf"\1{MASK}", PASSWORD.sub(rf"\1:{MASK}@", address))


def without_login(address: str) -> str:
    """An address that is used again, by somebody who has to say anew who he is."""
    return re.sub(r"://.*@", "://", address, flags=re.DOTALL)


def hide_in(text: object, address: str) -> str:
    """What somebody said of an address, without its password."""
    found = [match[2] for pattern in (PASSWORD, NAMED) if (match := pattern.search(address)) and match[2]]
    told = str(text)
    for secret in found:
        told = told.replace(secret, MASK)
    return told


def hide_typed(text: object, words: Sequence[str]) -> str:
    """What is said of a command, without the passwords in its words; as they were typed, or as Python spells them."""
    told = str(text)
    for word in (*words, *(str(Path(word)) for word in words)):
        safe = hide_password(word)
        if safe != word:
            told = told.replace(word, safe).replace(repr(word), repr(safe))
    return told


def header_name(header: str) -> str:
    """The name of a header, if it has one; what has none may be all secret."""
    name, colon, _ = header.partition(":")
    return name if colon and NAME.fullmatch(name) else ""


def flag_of(word: str) -> str:
    """A flag as it may be shown, with its value left out; any other word as it is."""
    flag = FLAG.match(word)
    return flag[0] if flag and word[flag.end() :].startswith("=") else hide_password(word)


def without_secrets(argv: Sequence[str]) -> list[str]:
    """A command as it may be kept: passwords, and headers that may hold one, are not written down."""
    kept, before = [], ""
    for word in argv:
        flag, equals, value = word.partition("=")
        if equals and flag in (*SECRET, *ADDRESSES):
            kept.append(f"{flag}={_kept(flag, value)}")
        else:
            kept.append(_kept(before, word))
        before = word
    return kept


def _kept(flag: str, value: str) -> str:
    """A value of this flag."""
    if flag in SECRET:
        return MASK
    return hide_password(value) if flag in ADDRESSES else USER.sub(f"://{MASK}@", value)


def _login(item: str) -> str:
    host, equals, secret = item.partition("=")
    return f"{host}={hide_password(secret + '@')[:-1]}" if equals and ":" in secret else MASK


SHOWN: dict[str, Callable[[str], str]] = {
    "basic_auth": _login,
    "header": lambda header: f"{header_name(header)}: {MASK}" if header_name(header) else MASK,
    "proxy": hide_password,
    "store": hide_password,
    "archive": hide_password,
    "via": hide_password,
}
"""How a value of a setting is shown, where it may hold a secret."""


def shown(name: str, value: object) -> object:
    """The value of a setting as it may be shown."""
    hide = SHOWN.get(name)
    if hide is None or not value:
        return value
    return [hide(str(one)) for one in value] if isinstance(value, tuple | list) else hide(str(value))
