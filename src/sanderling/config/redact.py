"""What a person typed, as it may be shown or written down: without passwords, tokens and keys."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

ADDRESS_PASSWORD = re.compile(
    r"^((?:\w+://)?+[^:@]*):(.*)@", re.DOTALL
)  # before the last @: a password may hold any letter
PASSWORD_PARAMETER = re.compile(r"(\b\w*pass(?:word|wd)?\s*=\s*)('[^']*'|[^&\s']+)", re.IGNORECASE)
URL_USERINFO = re.compile(r"://[^/?#\\]*@")  # up to the last @ before a path, as whoever asks for the address takes it
FLAG_NAME = re.compile(r"--[a-z][a-z0-9-]*")
HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # of a header (RFC 9110, 5.1)

MASK = "***"
SECRET_FLAGS = ("--basic-auth", "--header", "--store", "--proxy", "--alert")  # flags whose values may be secrets
ADDRESS_FLAGS = ("--archive", "--migrant")  # flags whose values may hold one


def redact_password(address: str) -> str:
    """An address, of whatever kind, as it may be shown."""
    return PASSWORD_PARAMETER.sub(rf"\1{MASK}", ADDRESS_PASSWORD.sub(rf"\1:{MASK}@", address))


def strip_userinfo(address: str) -> str:
    """An address that is used again, by somebody who has to say anew who he is."""
    return re.sub(r"://.*@", "://", address, flags=re.DOTALL)


def redact_address_password(text: object, address: str) -> str:
    """What somebody said of an address, without its password."""
    found = [
        match[2]
        for pattern in (ADDRESS_PASSWORD, PASSWORD_PARAMETER)
        if (match := pattern.search(address)) and match[2]
    ]
    told = str(text)
    for secret in found:
        told = told.replace(secret, MASK)
    return told


def redact_arguments(text: object, arguments: Sequence[str]) -> str:
    """What is said of a command, without the passwords in its words; as they were typed, or as Python spells them."""
    told = str(text)
    for word in (*arguments, *(str(Path(word)) for word in arguments)):
        safe = redact_password(word)
        if safe != word:
            told = told.replace(word, safe).replace(repr(word), repr(safe))
    return told


def parse_header_name(header: str) -> str:
    """The name of a header, if it has one; what has none may be all secret."""
    name, colon, _ = header.partition(":")
    return name if colon and HEADER_NAME.fullmatch(name) else ""


def redact_flag_value(argument: str) -> str:
    """A flag as it may be shown, with its value left out; any other word as it is."""
    flag = FLAG_NAME.match(argument)
    return flag[0] if flag and argument[flag.end() :].startswith("=") else redact_password(argument)


def redact_command(argv: Sequence[str]) -> list[str]:
    """A command as it may be kept: passwords, and headers that may hold one, are not written down."""
    kept, before = [], ""
    for word in argv:
        flag, equals, value = word.partition("=")
        if equals and flag in (*SECRET_FLAGS, *ADDRESS_FLAGS):
            kept.append(f"{flag}={_redact_flag(flag, value)}")
        else:
            kept.append(_redact_flag(before, word))
        before = word
    return kept


def _redact_flag(flag: str, value: str) -> str:
    """A value of this flag."""
    if flag in SECRET_FLAGS:
        return MASK
    return redact_password(value) if flag in ADDRESS_FLAGS else URL_USERINFO.sub(f"://{MASK}@", value)


def _redact_login(item: str) -> str:
    host, equals, secret = item.partition("=")
    return f"{host}={redact_password(secret + '@')[:-1]}" if equals and ":" in secret else MASK


REDACTORS: dict[str, Callable[[str], str]] = {
    "basic_auth": _redact_login,
    "header": lambda header: f"{parse_header_name(header)}: {MASK}" if parse_header_name(header) else MASK,
    "proxy": redact_password,
    "store": redact_password,
    "archive": redact_password,
    "migrant": redact_password,
}
"""How a value of a setting is shown, where it may hold a secret."""


def redact_setting(name: str, value: object) -> object:
    """The value of a setting as it may be shown."""
    hide = REDACTORS.get(name)
    if hide is None or not value:
        return value
    return [hide(str(one)) for one in value] if isinstance(value, tuple | list) else hide(str(value))
