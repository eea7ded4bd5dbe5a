"""Login, sessions, CSRF and rate limits."""

import re
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from sanderling.web.app import build_app
from sanderling.web.auth import DATABASE, MAX_CONCURRENT_HASHES, AuthStore
from sanderling.web.middleware import LOGIN_RATE, PATH_RATES, ClientRateLimiter, get_client_key
from sanderling.web.state import AppState

PASSWORD = "a long enough password"


@pytest.fixture
def token(client: TestClient, app_state: AppState) -> str:
    app_state.auth_store.set_setting("password", app_state.auth_store.hasher.hash(PASSWORD))
    assert client.post("/login", data={"password": PASSWORD}).headers["location"] == "/settings"
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/settings").text)
    assert found
    return found[1]


def test_initial_password_is_returned_once_and_stored_as_hash(tmp_path: Path) -> None:
    auth_store = AuthStore(tmp_path)
    password = auth_store.create_initial_password()
    assert len(password) >= 20
    assert auth_store.create_initial_password() == ""
    assert auth_store.get_setting("password").startswith("$argon2")
    assert auth_store.log_in("wrong", 0.0) is None
    session = auth_store.log_in(password, 0.0)
    assert session is not None
    assert auth_store.get_session(session.id, 1.0) == session
    assert auth_store.get_session(session.id, 1e9) is None
    with closing(sqlite3.connect(tmp_path / DATABASE)) as db:
        rows = db.execute("SELECT id FROM sessions").fetchall()
    assert session.id not in str(rows)
    assert (tmp_path / DATABASE).stat().st_mode & 0o077 == 0
    auth_store.close()


def test_changes_require_login(client: TestClient, app_state: AppState) -> None:
    assert client.get("/settings").headers["location"] == "/login"
    for action in ("privacy", "erase", "start", "stop", "password"):
        assert client.post("/settings", data={"do": action, "retention": "5"}).status_code == 403
    assert app_state.retention_days == 90


def test_changes_require_csrf_token_and_same_origin(client: TestClient, token: str) -> None:
    assert client.post("/settings", data={"do": "erase"}).status_code == 403
    assert client.post("/settings", data={"do": "erase", "csrf": "wrong"}).status_code == 403
    foreign = client.post("/settings", data={"do": "erase", "csrf": token}, headers={"sec-fetch-site": "cross-site"})
    assert foreign.status_code == 403


def test_settings_are_changed_after_login(client: TestClient, token: str, app_state: AppState) -> None:
    page = client.post("/settings", data={"do": "privacy", "retention": "30", "csrf": token})
    assert "Saved." in page.text
    assert (app_state.is_tracking, app_state.retention_days) == (False, 30)
    wrong = client.post("/settings", data={"do": "privacy", "retention": "x", "csrf": token})
    assert "from 1 to 3650" in wrong.text
    seeds = client.post("/settings", data={"do": "start", "seeds": "file:///etc/passwd", "csrf": token})
    assert "http" in seeds.text
    app_state.auth_store.set_setting("retention_days", "90")


def test_password_change_ends_all_sessions(client: TestClient, token: str) -> None:
    short = client.post("/settings", data={"do": "password", "old": PASSWORD, "new": "short", "csrf": token})
    assert "at least 12" in short.text
    client.post("/settings", data={"do": "password", "old": PASSWORD, "new": PASSWORD + "!", "csrf": token})
    assert client.get("/settings").headers["location"] == "/login"


def test_logging_out_ends_the_session(client: TestClient, token: str) -> None:
    assert client.post("/logout", data={"csrf": token}).status_code == 303
    assert client.get("/settings").headers["location"] == "/login"


def test_login_attempts_are_rate_limited() -> None:
    now = 0.0
    rate_limiter = ClientRateLimiter(clock=lambda: now)
    tries = [rate_limiter.take_token("1.2.3.4", "/login") for _ in range(20)]
    assert sum(tries) == PATH_RATES["/login"].burst
    assert rate_limiter.take_token("5.6.7.8", "/login")
    now = 60.0
    assert sum(rate_limiter.take_token("1.2.3.4", "/login") for _ in range(20)) == 6


def test_unknown_host_name_is_rejected(client: TestClient) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421
    for host in ("localhost:8420", "127.0.0.1", "[::1]:8420", "testserver"):
        assert client.get("/", headers={"host": host}).status_code == 200


def test_large_request_bodies_are_rejected(client: TestClient) -> None:
    assert client.post("/login", content=b"x" * 100_000).status_code == 413


def test_login_attempts_are_limited_across_addresses() -> None:
    rate_limiter = ClientRateLimiter(clock=lambda: 0.0)
    tried = 0
    for number in range(20_000):  # more than MAX_CLIENTS
        if (
            rate_limiter.take_token(get_client_key(f"10.1.{number >> 8}.{number & 255}"), "/login")
            and rate_limiter.take_login_token()
        ):
            tried += 1
    assert tried == LOGIN_RATE.burst


def test_only_login_posts_use_the_shared_bucket(app_state: AppState) -> None:
    rate_limiter = ClientRateLimiter(clock=lambda: 0.0)
    with TestClient(build_app(app_state, ["testserver"], rate_limiter)) as client:
        for _ in range(5):
            client.get("/login")
        assert all(rate_limiter.take_login_token() for _ in range(int(LOGIN_RATE.burst)))
        assert client.post("/login", data={"password": "x"}).status_code == 429
        assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::ffff", "2001:db8:1:2::/64"), ("fe80::1%eth0", "fe80::/64"), ("", ""),
        ("testclient", "testclient"),
    ],
)  # fmt: skip
def test_client_key_of_ipv6_is_the_64_network(address: str, key: str) -> None:
    assert get_client_key(address) == key


def test_concurrent_password_hashes_are_limited(tmp_path: Path) -> None:
    auth_store = AuthStore(tmp_path)
    password, running, maximum, lock = auth_store.create_initial_password(), [0], [0], threading.Lock()
    verify = auth_store.hasher.verify

    class CountingHasher:
        def verify(self, known: str, tried: str) -> bool:
            with lock:
                running[0] += 1
                maximum[0] = max(maximum[0], running[0])
            try:
                return verify(known, tried)
            finally:
                with lock:
                    running[0] -= 1

    auth_store.hasher = CountingHasher()  # type: ignore[assignment]
    with ThreadPoolExecutor(12) as threads:
        sessions = list(threads.map(lambda _: auth_store.log_in(password, 0.0), range(12)))
    auth_store.close()
    assert all(sessions)
    assert maximum[0] <= MAX_CONCURRENT_HASHES
