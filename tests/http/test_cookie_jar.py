"""Cookie files of Netscape."""

import stat
from pathlib import Path

import pytest

from sanderling.errors import UsageError
from sanderling.http.cookie_jar import load_jar, mask_cookie, parse_cookies, read_cookie_file, update_jar


def line(name: str, value: str, domain: str = "a.test") -> str:
    return "\t".join((domain, "FALSE", "/", "FALSE", "0", name, value))


def test_files_of_browsers_are_read(tmp_path: Path) -> None:
    file = tmp_path / "cookies.txt"
    text = ["# Netscape HTTP Cookie File", "", line("sid", "1"), "#HttpOnly_" + line("x", "2", ".B.test"), "junk\tline"]
    file.write_text("\r\n".join(text))
    assert set(read_cookie_file(str(file))) == {("a.test", "/", "sid"), ("b.test", "/", "x")}
    file.write_text('[{"name": "sid"}]')
    with pytest.raises(UsageError, match="no cookies in the format of Netscape"):
        read_cookie_file(str(file))
    with pytest.raises(UsageError, match="cannot read"):
        read_cookie_file(str(tmp_path / "missing"))


def test_jar_keeps_what_other_processes_wrote(tmp_path: Path) -> None:
    jar = tmp_path / "jar"
    update_jar(jar, [line("a", "1"), line("b", "1"), line("c", "1")])
    loaded = load_jar(jar)
    update_jar(jar, [line("a", "2"), line("b", "1"), line("c", "1")], loaded)  # one process changes a
    update_jar(jar, [line("a", "1"), line("b", "3")], loaded)  # another changes b, and c expires
    assert {key[2]: text.split("\t")[6] for key, text in parse_cookies(jar.read_text()).items()} == {"a": "2", "b": "3"}
    assert stat.S_IMODE(jar.stat().st_mode) == 0o600


def test_values_of_cookies_are_masked() -> None:
    assert mask_cookie(b"Set-Cookie: sid=s3cret; Path=/; HttpOnly\r\n") == b"Set-Cookie: sid=***; Path=/; HttpOnly\r\n"
    assert mask_cookie(b"Server: x=y\r\n") == b"Server: x=y\r\n"
