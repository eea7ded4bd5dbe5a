"""Nothing changes without a login, and a login is hard to steal or guess."""

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
def token(client: TestClient, rooms: AppState) -> str:
    """Log in; gives the token forms need."""
    rooms.auth_store.set_setting("password", rooms.auth_store.hasher.hash(PASSWORD))
    assert client.post("/login", data={"password": PASSWORD}).headers["location"] == "/settings"
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/settings").text)
    assert found
    return found[1]


def test_the_first_password_is_said_once_and_kept_as_a_hash(tmp_path: Path) -> None:
    door = AuthStore(tmp_path)
    password = door.create_initial_password()
    assert len(password) >= 20
    assert door.create_initial_password() == ""
    assert door.get_setting("password").startswith("$argon2")
    assert door.log_in("wrong", 0.0) is None
    session = door.log_in(password, 0.0)
    assert session is not None
    assert door.get_session(session.id, 1.0) == session
    assert door.get_session(session.id, 1e9) is None
    with closing(sqlite3.connect(tmp_path / DATABASE)) as db:
        rows = db.execute("SELECT id FROM sessions").fetchall()
    assert session.id not in str(rows)
    assert (tmp_path / DATABASE).stat().st_mode & 0o077 == 0
    door.close()


def test_without_a_login_nothing_can_be_changed(client: TestClient, rooms: AppState) -> None:
    assert client.get("/settings").headers["location"] == "/login"
    for do in ("privacy", "erase", "start", "stop", "password"):
        assert client.post("/settings", data={"do": do, "retention": "5"}).status_code == 403
    assert rooms.retention_days == 90


def test_with_a_login_but_without_the_token_or_from_elsewhere_neither(client: TestClient, token: str) -> None:
    assert client.post("/settings", data={"do": "erase"}).status_code == 403
    assert client.post("/settings", data={"do": "erase", "csrf": "wrong"}).status_code == 403
    foreign = client.post("/settings", data={"do": "erase", "csrf": token}, headers={"sec-fetch-site": "cross-site"})
    assert foreign.status_code == 403


def test_settings_can_be_changed_by_who_may(client: TestClient, token: str, rooms: AppState) -> None:
    page = client.post("/settings", data={"do": "privacy", "retention": "30", "csrf": token})
    assert "Saved." in page.text
    assert (rooms.is_tracking, rooms.retention_days) == (False, 30)
    wrong = client.post("/settings", data={"do": "privacy", "retention": "x", "csrf": token})
    assert "from 1 to 3650" in wrong.text
    seeds = client.post("/settings", data={"do": "start", "seeds": "file:///etc/passwd", "csrf": token})
    assert "http" in seeds.text
    rooms.auth_store.set_setting("retention_days", "90")


def test_a_changed_password_ends_all_sessions(client: TestClient, token: str) -> None:
    short = client.post("/settings", data={"do": "password", "old": PASSWORD, "new": "short", "csrf": token})
    assert "at least 12" in short.text
    client.post("/settings", data={"do": "password", "old": PASSWORD, "new": PASSWORD + "!", "csrf": token})
    assert client.get("/settings").headers["location"] == "/login"


def test_logging_out_ends_the_session(client: TestClient, token: str) -> None:
    assert client.post("/logout", data={"csrf": token}).status_code == 303
    assert client.get("/settings").headers["location"] == "/login"


def test_guessing_is_slowed_down() -> None:
    now = 0.0
    buckets = ClientRateLimiter(clock=lambda: now)
    tries = [buckets.take_token("1.2.3.4", "/login") for _ in range(20)]
    assert sum(tries) == PATH_RATES["/login"].burst
    assert buckets.take_token("5.6.7.8", "/login")
    now = 60.0
    assert sum(buckets.take_token("1.2.3.4", "/login") for _ in range(20)) == 6


def test_a_foreign_name_that_points_here_is_not_answered(client: TestClient) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421
    for host in ("localhost:8420", "127.0.0.1", "[::1]:8420", "testserver"):
        assert client.get("/", headers={"host": host}).status_code == 200


def test_large_bodies_are_turned_away(client: TestClient) -> None:
    assert client.post("/login", content=b"x" * 100_000).status_code == 413


def test_passwords_are_limited_over_all_addresses() -> None:
    buckets = ClientRateLimiter(clock=lambda: 0.0)
    tried = 0
    for number in range(20_000):  # more than are remembered
        if (
            buckets.take_token(get_client_key(f"10.1.{number >> 8}.{number & 255}"), "/login")
            and buckets.take_login_token()
        ):
            tried += 1
    assert tried == LOGIN_RATE.burst


def test_only_tried_passwords_count_for_all_addresses(rooms: AppState) -> None:
    buckets = ClientRateLimiter(clock=lambda: 0.0)
    with TestClient(build_app(rooms, ["testserver"], buckets)) as client:
        for _ in range(5):
            client.get("/login")
        assert all(buckets.take_login_token() for _ in range(int(LOGIN_RATE.burst)))
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
def test_an_ipv6_client_is_its_network(address: str, key: str) -> None:
    assert get_client_key(address) == key


def test_few_passwords_are_hashed_at_once(tmp_path: Path) -> None:
    door = AuthStore(tmp_path)
    password, now, most, lock = door.create_initial_password(), [0], [0], threading.Lock()
    verify = door.hasher.verify

    class Counting:
        def verify(self, known: str, tried: str) -> bool:
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            try:
                return verify(known, tried)
            finally:
                with lock:
                    now[0] -= 1

    door.hasher = Counting()  # type: ignore[assignment]
    with ThreadPoolExecutor(12) as threads:
        sessions = list(threads.map(lambda _: door.log_in(password, 0.0), range(12)))
    door.close()
    assert all(sessions)
    assert most[0] <= MAX_CONCURRENT_HASHES
