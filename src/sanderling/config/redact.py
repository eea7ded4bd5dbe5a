"""Remove passwords, tokens and keys from displayed, logged or stored text."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

# Up to the last @, because a password may contain one.
ADDRESS_PASSWORD = re.compile(r"^((?:\w+://)?+[^:@]*):(.*)@", re.DOTALL)
PASSWORD_PARAMETER = re.compile(r"(\b\w*pass(?:word|wd)?\s*=\s*)('[^']*'|[^&\s']+)", re.IGNORECASE)
URL_USERINFO = re.compile(r"://[^/?#\\]*@")  # up to the last @ before the path, as HTTP clients parse it
FLAG_NAME = re.compile(r"--[a-z][a-z0-9-]*")
HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, 5.1

MASK = "***"
SECRET_FLAGS = ("--basic-auth", "--bearer", "--header", "--store", "--proxy", "--alert")  # the value may be a secret
ADDRESS_FLAGS = ("--archive", "--migrant")  # the value may contain a secret


def redact_password(address: str) -> str:
    """Mask the password in an address (URL, `user:password@host`, or `password=...`)."""
    return PASSWORD_PARAMETER.sub(rf"\1{MASK}", ADDRESS_PASSWORD.sub(rf"\1:{MASK}@", address))


def strip_userinfo(address: str) -> str:
    """Remove user name and password from an address."""
    return re.sub(r"\A((?>.*?://)).*@", r"\1", address, flags=re.DOTALL)  # atomic: many `://` take linear time


def redact_address_password(text: object, address: str) -> str:
    """Mask the password of an address in a message."""
    secrets = [
        match[2]
        for pattern in (ADDRESS_PASSWORD, PASSWORD_PARAMETER)
        if (match := pattern.search(address)) and match[2]
    ]
    message = str(text)
    for secret in secrets:
        message = message.replace(secret, MASK)
    return message


def redact_arguments(text: object, arguments: Sequence[str]) -> str:
    """Mask passwords of command-line arguments in a message."""
    message = str(text)
    for argument in (*arguments, *(str(Path(argument)) for argument in arguments)):
        redacted = redact_password(argument)
        if redacted != argument:
            message = message.replace(argument, redacted).replace(repr(argument), repr(redacted))
    return message


def parse_header_name(header: str) -> str:
    """Return the name of a `Name: value` header; "" if it may be all secret."""
    name, colon, _ = header.partition(":")
    return name if colon and HEADER_NAME.fullmatch(name) else ""


def redact_flag_value(argument: str) -> str:
    """Return `--flag=value` without value, any other argument with masked password."""
    flag = FLAG_NAME.match(argument)
    return flag[0] if flag and argument[flag.end() :].startswith("=") else redact_password(argument)


def redact_command(argv: Sequence[str]) -> list[str]:
    """Mask secrets in a command line that is stored."""
    redacted, previous = [], ""
    for argument in argv:
        flag, equals, value = argument.partition("=")
        if equals and flag in (*SECRET_FLAGS, *ADDRESS_FLAGS):
            redacted.append(f"{flag}={_redact_flag(flag, value)}")
        else:
            redacted.append(_redact_flag(previous, argument))
        previous = argument
    return redacted


def _redact_flag(flag: str, value: str) -> str:
    if flag in SECRET_FLAGS:
        return MASK
    return redact_password(value) if flag in ADDRESS_FLAGS else URL_USERINFO.sub(f"://{MASK}@", value)


def _redact_login(item: str) -> str:
    host, equals, secret = item.partition("=")
    return f"{host}={redact_password(secret + '@')[:-1]}" if equals and ":" in secret else MASK


REDACTORS: dict[str, Callable[[str], str]] = {
    "basic_auth": _redact_login,
    "bearer": lambda item: f"{item.partition('=')[0]}={MASK}" if "=" in item else MASK,
    "header": lambda header: f"{parse_header_name(header)}: {MASK}" if parse_header_name(header) else MASK,
    "proxy": redact_password,
    "store": redact_password,
    "archive": redact_password,
    "migrant": redact_password,
}
"""Redaction function by setting, for settings that may contain a secret."""


def redact_setting(name: str, value: object) -> object:
    """Return the value of a setting without secrets."""
    redact = REDACTORS.get(name)
    if redact is None or not value:
        return value
    return [redact(str(item)) for item in value] if isinstance(value, tuple | list) else redact(str(value))
