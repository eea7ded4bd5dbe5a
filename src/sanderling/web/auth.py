"""Authentication: a password (argon2), session cookies, CSRF tokens; stored as hashes."""

import hashlib
import secrets
import threading
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from msgspec import Struct

from sanderling.db.connection import apply_migrations, connect_private_sqlite

DATABASE = "serve.db"
SESSION_COOKIE = "sanderling_session"
SESSION_SECONDS = 12 * 3600.0
MIN_PASSWORD_LENGTH = 12
MAX_CONCURRENT_HASHES = 2  # each takes 64 MB
MIGRATIONS = [
    """
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE sessions (id TEXT PRIMARY KEY, csrf TEXT NOT NULL, until REAL NOT NULL)
    """
]


class LoginSession(Struct, frozen=True):
    id: str
    csrf: str  # token required in every form


class AuthStore:
    """Stores password, sessions and settings."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / DATABASE
        self.db = connect_private_sqlite(self.path)
        apply_migrations(self.db, {"web": MIGRATIONS})
        self.lock = threading.Lock()
        self.hasher = PasswordHasher()
        self.hash_slots = threading.BoundedSemaphore(MAX_CONCURRENT_HASHES)

    def create_initial_password(self) -> str:
        """Generate and store a password; empty if it exists already."""
        if self.get_setting("password"):
            return ""
        password = secrets.token_urlsafe(18)
        self.set_setting("password", self._hash_password(password))
        return password

    def log_in(self, password: str, now: float) -> LoginSession | None:
        """Create a session. None if the password is wrong."""
        if not self._is_correct_password(password):
            return None
        session = LoginSession(secrets.token_urlsafe(32), secrets.token_urlsafe(24))
        with self.lock:
            self.db.execute("DELETE FROM sessions WHERE until < ?", (now,))
            self.db.execute(
                "INSERT INTO sessions VALUES (?, ?, ?)",
                (_hash_session_id(session.id), session.csrf, now + SESSION_SECONDS),
            )
        return session

    def get_session(self, id_: str, now: float) -> LoginSession | None:
        """Return a session. None if unknown or expired."""
        if not id_:
            return None
        row = self.db.execute(
            "SELECT csrf FROM sessions WHERE id = ? AND until > ?", (_hash_session_id(id_), now)
        ).fetchone()
        return LoginSession(id_, row[0]) if row else None

    def log_out(self, id_: str) -> None:
        with self.lock:
            self.db.execute("DELETE FROM sessions WHERE id = ?", (_hash_session_id(id_),))

    def change_password(self, old: str, new: str) -> str:
        """Set a password and end all sessions. Returns an error message or ""."""
        if len(new) < MIN_PASSWORD_LENGTH:
            return f"The new password needs at least {MIN_PASSWORD_LENGTH} characters."
        if not self._is_correct_password(old):
            return "The current password is wrong."
        self.set_setting("password", self._hash_password(new))
        with self.lock:
            self.db.execute("DELETE FROM sessions")
        return ""

    def _is_correct_password(self, password: str) -> bool:
        with self.hash_slots:
            try:
                return self.hasher.verify(self.get_setting("password"), password)
            except (Argon2Error, InvalidHashError):
                return False

    def _hash_password(self, password: str) -> str:
        with self.hash_slots:
            return self.hasher.hash(password)

    def get_setting(self, name: str, default: str = "") -> str:
        row = self.db.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else default

    def set_setting(self, name: str, value: str) -> None:
        with self.lock:
            self.db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))

    def close(self) -> None:
        self.db.close()


def _hash_session_id(id_: str) -> str:
    return hashlib.sha256(id_.encode()).hexdigest()
