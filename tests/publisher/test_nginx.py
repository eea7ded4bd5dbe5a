"""Tests of the stand-alone publisher next to a real nginx."""

import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.publisher.conftest import BROWSER, parse_listing
from tests.support.site import free_port

CONFIG = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log {folder}/access.log combined;
  client_body_temp_path {folder}/t; proxy_temp_path {folder}/t; fastcgi_temp_path {folder}/t;
  uwsgi_temp_path {folder}/t; scgi_temp_path {folder}/t;
  types {{ text/html html; }}
  server {{
    listen 127.0.0.1:{port}; root {folder}/www;
    location /staff/ {{ auth_basic "staff"; auth_basic_user_file {folder}/passwords; }}
    location ~ ^/(sitemap\\.xml|changes\\.xml|\\.well-known/resourcesync) {{ proxy_pass http://127.0.0.1:{behind}; }}
  }}
}}
"""


def get(url: str, agent: str = BROWSER) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"User-Agent": agent}), timeout=20) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read()


@pytest.fixture
def ports() -> tuple[int, int]:
    return free_port(), free_port()


@pytest.fixture
def nginx(tmp_path: Path, ports: tuple[int, int]) -> Iterator[str]:
    program = shutil.which("nginx")
    if program is None:
        pytest.skip("nginx is not installed")
    for name in ("index.html", "article.html", "staff/plan.html", "hidden/x.html"):
        (tmp_path / "www" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "www" / name).write_text(f"<p>{name}")
    (tmp_path / "www/robots.txt").write_text("User-agent: *\nDisallow: /hidden/\n")
    (tmp_path / "passwords").write_text("frank:{PLAIN}secret\n")
    (tmp_path / "nginx.conf").write_text(CONFIG.format(folder=tmp_path, port=ports[0], behind=ports[1]))
    command = [program, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    for _ in range(400):  # wait up to twenty seconds until it listens
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", ports[0])) == 0:
                break
        threading.Event().wait(0.05)
        if process.poll() is not None:
            pytest.fail(f"nginx ended: {process.stderr.read().decode() if process.stderr else ''}")
    yield f"http://127.0.0.1:{ports[0]}"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)


def test_views_logged_by_nginx_become_priorities(nginx: str, tmp_path: Path, ports: tuple[int, int]) -> None:
    for path in ("/", "/", "/article.html", "/hidden/x.html", "/staff/plan.html", "/missing.html"):
        get(nginx + path)
    get(nginx + "/article.html", agent="curl/8")
    words = [
        str(tmp_path / "www"),
        "--base",
        nginx,
        "--state",
        str(tmp_path / "s.db"),
        "--listen",
        f"127.0.0.1:{ports[1]}",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "sanderling.publisher", *words, "--access-log", str(tmp_path / "access.log")],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    try:
        while "publishing on" not in process.stderr.readline():
            assert process.poll() is None
        status, body = get(f"{nginx}/changes.xml?LAST_VISIT=0")
        assert status == 200
        rows = [(path.removeprefix(nginx), priority, change) for path, priority, change in parse_listing(body)]
        assert rows == [("/", 1.0, "created"), ("/article.html", 0.5, "created")]
        assert get(f"{nginx}/changes.xml?LAST_VISIT=never")[0] == 400
        assert get(f"{nginx}/.well-known/resourcesync")[0] == 200
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
