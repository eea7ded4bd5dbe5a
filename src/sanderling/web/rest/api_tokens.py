"""API tokens: created and revoked by the owner of a collection, stored as hashes in `serve.db`."""

import hashlib
import secrets
import threading
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from sanderling.db.connection import apply_migrations, close_on_finalize, connect_private_sqlite
from sanderling.errors import UsageError
from sanderling.web.auth import DATABASE

TOKEN_PREFIX = "sdl_"  # lets secret scanners recognize a token
MAX_TOKENS = 200
MAX_NAME_LENGTH = 100
LAST_USE_RESOLUTION = 60.0  # seconds between two updates of the time of last use
MIGRATIONS = [
    """
    CREATE TABLE api_tokens (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL,
        created_at REAL NOT NULL, expires_at REAL NOT NULL, used_at REAL NOT NULL
    )
    """
]


class TokenScope(StrEnum):
    """What a token may do."""

    READ = "read"  # pages, changes, search, status
    CRAWL = "crawl"  # start and stop crawls
    WATCH = "watch"  # add and remove watches


class ApiToken(Struct, frozen=True):
    """A token without its secret. Times are in seconds; 0: never."""

    id: int
    name: str
    scopes: tuple[TokenScope, ...]
    created_at: float
    expires_at: float = 0.0
    used_at: float = 0.0


class TokenStore:
    """Stores the tokens of a collection. Use it from any thread."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.db = connect_private_sqlite(folder / DATABASE)
        close_on_finalize(self, self.db)  # an application that was never started is not closed
        apply_migrations(self.db, {"api_tokens": MIGRATIONS})
        self.lock = threading.Lock()

    def create_token(
        self, name: str, scopes: tuple[TokenScope, ...], now: float, lifetime: float = 0.0
    ) -> tuple[ApiToken, str]:
        """Create a token. Returns it with its secret, which is not stored. Raises UsageError."""
        name = name.strip()
        if not name or len(name) > MAX_NAME_LENGTH or not name.isprintable():
            raise UsageError(f"the name of a token has 1 to {MAX_NAME_LENGTH} printable characters")
        if not scopes:
            raise UsageError(f"a token needs a scope: {', '.join(TokenScope)}")
        ordered = tuple(scope for scope in TokenScope if scope in scopes)
        secret, expires_at = TOKEN_PREFIX + secrets.token_urlsafe(32), now + lifetime if lifetime else 0.0
        with self.lock:
            (count,) = self.db.execute("SELECT count(*) FROM api_tokens").fetchone()
            if count >= MAX_TOKENS:
                raise UsageError(f"there are {count} tokens; revoke one first")
            row = self.db.execute(
                "INSERT INTO api_tokens (name, digest, scopes, created_at, expires_at, used_at)"
                " VALUES (?, ?, ?, ?, ?, 0) RETURNING id",
                (name, hash_secret(secret), " ".join(ordered), now, expires_at),
            ).fetchone()
        return ApiToken(int(row[0]), name, ordered, now, expires_at), secret

    def find_token(self, secret: str, now: float) -> ApiToken | None:
        """Return the token of a secret, and record its use. None if unknown, revoked, or expired."""
        with self.lock:
            row = self.db.execute(
                "SELECT id, name, scopes, created_at, expires_at, used_at FROM api_tokens WHERE digest = ?",
                (hash_secret(secret),),
            ).fetchone()
            token = _build_token(row) if row else None
            if token is None or 0 < token.expires_at <= now:
                return None
            if not token.used_at or now - token.used_at >= LAST_USE_RESOLUTION:
                self.db.execute("UPDATE api_tokens SET used_at = ? WHERE id = ?", (now, token.id))
        return token

    def list_tokens(self) -> list[ApiToken]:
        """Return all tokens, oldest first, expired ones included."""
        with self.lock:
            rows = self.db.execute(
                "SELECT id, name, scopes, created_at, expires_at, used_at FROM api_tokens ORDER BY id"
            ).fetchall()
        return [_build_token(row) for row in rows]

    def revoke_token(self, text: str) -> ApiToken:
        """Delete a token by its number or name. Raises UsageError if there is none, or several have the name."""
        tokens = self.list_tokens()
        found = [token for token in tokens if str(token.id) == text] or [t for t in tokens if t.name == text]
        if len(found) != 1:
            problem = (
                f"{len(found)} tokens are named {text!r}; give a number" if found else f"there is no token {text!r}"
            )
            raise UsageError(f"{problem}; sanderling token list shows them")
        with self.lock:
            self.db.execute("DELETE FROM api_tokens WHERE id = ?", (found[0].id,))
        return found[0]

    def close(self) -> None:
        self.db.close()


def hash_secret(secret: str) -> str:
    """Return the SHA-256 of a secret. It has 256 random bits, so a slow hash would add nothing."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def parse_scopes(texts: list[str]) -> tuple[TokenScope, ...]:
    """Parse names of scopes, also separated by commas. Raises UsageError."""
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in set(TokenScope)]:
        raise UsageError(f"unknown scope {unknown[0]!r}; choose from {', '.join(TokenScope)}")
    return tuple(map(TokenScope, names))


def _build_token(row: tuple[int, str, str, float, float, float]) -> ApiToken:
    id_, name, scopes, created_at, expires_at, used_at = row
    return ApiToken(id_, name, tuple(map(TokenScope, scopes.split())), created_at, expires_at, used_at)
