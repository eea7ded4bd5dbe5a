"""Cookie files in the format of Netscape, as browsers' extensions, curl and wget write them."""

import fcntl
import os
import re
from collections.abc import Iterable
from pathlib import Path

from sanderling.errors import UsageError

FIELDS = 7  # domain, subdomains, path, secure, expiry, name, value
HTTP_ONLY = "#HttpOnly_"
HEADER = "# Netscape HTTP Cookie File\n"
SET_COOKIE = re.compile(rb"(set-cookie2?\s*:\s*[^=;\r\n]{0,200}=)[^;\r\n]*", re.IGNORECASE)
MAX_COOKIES = 20_000

CookieKey = tuple[str, str, str]


def parse_cookies(text: str) -> dict[CookieKey, str]:
    """Return the lines of a cookie file by domain, path and name; lines that are no cookie are left out."""
    found: dict[CookieKey, str] = {}
    for line in text.splitlines()[:MAX_COOKIES]:
        fields = line.removeprefix(HTTP_ONLY).split("\t")
        if len(fields) == FIELDS and not fields[0].startswith("#") and fields[4].lstrip("-").isdecimal():
            found[fields[0].lstrip(".").lower(), fields[2], fields[5]] = line
    return found


def read_cookie_file(name: str) -> dict[CookieKey, str]:
    """Read a cookie file of the user. Raises UsageError, without its content, if it has no cookie."""
    try:
        cookies = parse_cookies(Path(name).expanduser().read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise UsageError(f"cannot read the cookie file {name}: {error.strerror}") from None
    if not cookies:
        raise UsageError(f"{name} has no cookies in the format of Netscape: seven columns, separated by tabs")
    return cookies


def update_jar(jar: Path, lines: Iterable[str], loaded: Iterable[str] = ()) -> None:
    """Write cookies into a jar (mode 0600), except those that were `loaded` from it and did not change.

    Several processes may do so at once.
    """
    new = parse_cookies("\n".join(lines))
    old = parse_cookies("\n".join(loaded))
    changed = {key: line for key, line in new.items() if old.get(key) != line}
    gone = old.keys() - new.keys()
    if not (changed or gone):
        return
    with os.fdopen(os.open(jar, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8", errors="replace") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        remaining = {key: line for key, line in parse_cookies(file.read()).items() if key not in gone}
        file.seek(0)
        file.truncate()
        file.write(HEADER + "".join(f"{line}\n" for line in (remaining | changed).values()))


def load_jar(jar: Path) -> list[str]:
    """Return the lines of a jar; [] if there is none."""
    try:
        return list(parse_cookies(jar.read_text(encoding="utf-8", errors="replace")).values())
    except OSError:
        return []


def mask_cookie(line: bytes) -> bytes:
    """Return a header line with the value of a cookie masked: it may open a session of the user."""
    return SET_COOKIE.sub(rb"\1***", line)
