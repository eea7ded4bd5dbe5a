"""Logins of the user: by a form, a cookie file, or a token. Secrets are in no file, message or process list."""

import gzip
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Self
from urllib.parse import parse_qs

import pytest

from sanderling.cli import main

PASSWORD, SESSION, TOKEN = "pa55-of-alice", "5e55ion-of-alice", "t0ken-of-alice"
OPTIONS = ["--allow-private", "--delay", "0", "--quiet", "--no-index", "--no-sitemaps"]
FORM = (
    b"<form method=post action=/enter><input type=hidden name=csrf value=c5rf>"
    b"<input name=user><input type=password name=pw></form>"
)


class PrivateSite:
    """Shows its pages only to users with a session or a token."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.tokens: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.seen.append((self.path, self.headers.get("Cookie", "")))
                site.tokens.append(self.headers.get("Authorization", ""))
                is_known = f"sid={SESSION}" in self.headers.get("Cookie", "")
                is_known |= self.headers.get("Authorization") == f"Bearer {TOKEN}"
                if self.path == "/login":
                    self.answer(200, FORM)
                elif not is_known:
                    self.answer(403, b"no")
                else:
                    self.answer(200, b"<p>private page<a href=/next>next</a> Log out")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                fields = {name: values[0] for name, values in parse_qs(body).items()}
                if fields == {"csrf": "c5rf", "user": "alice", "pw": PASSWORD}:
                    self.answer(302, b"", {"Location": "/", "Set-Cookie": f"sid={SESSION}; Path=/; HttpOnly"})
                else:
                    self.answer(200, FORM)

            def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
                self.send_response(status)
                sent = {"Content-Type": "text/html", "Set-Cookie": "seen=5een-value", **(headers or {})}
                for name, value in sent.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.root = f"http://{self.host}"

    def __enter__(self) -> Self:
        Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def read_everything(folder: Path) -> bytes:
    """Return the bytes of all files except the cookie jar, archives decompressed."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "cookies.txt":
            body = path.read_bytes()
            found.append(gzip.decompress(body) if path.suffix == ".gz" else body)
    return b"\n".join(found)


def write_recipe(tmp_path: Path, root: str, check: str = "Log out") -> str:
    file = tmp_path / "recipe.toml"
    fields = 'fields = { user = "alice", pw = "env:ALICE_PASSWORD" }'
    file.write_text(f'[[login]]\nurl = "{root}/login"\n{fields}\ncheck = "{check}"\n')
    return str(file)


def test_login_by_form_and_no_secret_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALICE_PASSWORD", PASSWORD)
    folder = tmp_path / "c"
    with PrivateSite() as site:
        arguments = ["crawl", site.root + "/", *OPTIONS, "-C", str(folder), "-v"]
        assert main([*arguments, "--recipe", write_recipe(tmp_path, site.root)]) == 0
        assert main(["crawl", *OPTIONS, "--cookies", "-C", str(folder)]) == 0  # the session is kept between runs
    for command in (["status"], ["settings"], ["pages", "--status", "all"], ["explain", site.root + "/next"]):
        assert main([*command, "-C", str(folder)]) == 0
    capfd_text = "".join(capfd.readouterr())
    stored = read_everything(folder)
    assert b"private page" in stored
    assert b"Set-Cookie: seen=***" in stored
    for secret in (PASSWORD, SESSION, "5een-value"):
        assert secret.encode() not in stored
        assert secret not in capfd_text
    assert SESSION in (folder / "cookies.txt").read_text()
    assert (folder / "cookies.txt").stat().st_mode & 0o077 == 0
    assert [cookie for path, cookie in site.seen if path == "/next"].count("") == 0


def test_failed_login_is_one_sentence_without_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALICE_PASSWORD", "wr0ng-password")
    with PrivateSite() as site:
        recipe = write_recipe(tmp_path, site.root)
        assert main(["crawl", site.root + "/", *OPTIONS, "-C", str(tmp_path / "c"), "--recipe", recipe]) == 4
    error = capsys.readouterr().err
    assert "failed: the page that follows does not contain 'Log out'" in error
    assert "wr0ng" not in error


def test_cookies_of_a_file(tmp_path: Path) -> None:
    with PrivateSite() as site:
        file = tmp_path / "mine.txt"
        file.write_text("\t".join(("127.0.0.1", "FALSE", "/", "FALSE", "0", "sid", SESSION)) + "\n")
        before = file.read_bytes()
        command = ["crawl", site.root + "/", *OPTIONS, "-C", str(tmp_path / "c"), "--cookie-file", str(file)]
        assert main(command) == 0
    assert file.read_bytes() == before
    assert b"private page" in read_everything(tmp_path / "c")
    assert SESSION.encode() not in read_everything(tmp_path / "c")


def test_token_is_sent_to_its_host_only_and_shown_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALICE_TOKEN", TOKEN)
    with PrivateSite() as site, PrivateSite() as other:
        seeds = [site.root + "/", other.root + "/"]
        command = ["crawl", *seeds, *OPTIONS, "-C", str(tmp_path / "c"), "--bearer", f"{site.host}=env:ALICE_TOKEN"]
        main(command)
        assert set(site.tokens) == {f"Bearer {TOKEN}"}
        assert set(other.tokens) == {""}
    stored = read_everything(tmp_path / "c")
    assert b"private page" in stored
    assert TOKEN.encode() not in stored
    assert main(["crawl", seeds[0], "--bearer", f"{site.host}={TOKEN}", "-C", str(tmp_path / "d")]) == 4
    error = capsys.readouterr().err
    assert "HOST=env:NAME" in error
    assert TOKEN not in error


def test_process_list_shows_no_secret(tmp_path: Path) -> None:
    shown = []
    with PrivateSite() as site:
        recipe = write_recipe(tmp_path, site.root)
        command = [sys.executable, "-m", "sanderling", "crawl", site.root + "/", *OPTIONS, "-C", str(tmp_path / "c")]
        environment = {"PATH": "/usr/bin:/bin", "ALICE_PASSWORD": PASSWORD, "PYTHONPATH": ":".join(sys.path)}
        process = subprocess.Popen([*command, "--recipe", recipe], env=environment)
        while process.poll() is None:
            shown.append(
                subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
            )
    assert process.returncode == 0
    assert any(recipe in text for text in shown)
    assert not [text for text in shown if PASSWORD in text or SESSION in text]
