"""Tokens are stored as hashes, expire, and are revoked."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sanderling.errors import UsageError
from sanderling.web.auth import DATABASE
from sanderling.web.rest.api_tokens import MAX_TOKENS, TOKEN_PREFIX, TokenScope, TokenStore, parse_scopes


def test_secret_is_not_stored(tmp_path: Path) -> None:
    store = TokenStore(tmp_path)
    token, secret = store.create_token("reports", (TokenScope.WATCH, TokenScope.READ), 10.0)
    store.close()
    assert secret.startswith(TOKEN_PREFIX)
    assert token.scopes == (TokenScope.READ, TokenScope.WATCH)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as db:
        rows = str(db.execute("SELECT * FROM api_tokens").fetchall())
    assert secret not in rows
    assert secret.removeprefix(TOKEN_PREFIX) not in rows


def test_token_is_found_by_its_secret_until_it_expires_or_is_revoked(tmp_path: Path) -> None:
    with closing(TokenStore(tmp_path)) as store:
        token, secret = store.create_token("a", (TokenScope.READ,), 10.0, lifetime=100.0)
        assert store.find_token("sdl_wrong", 11.0) is None
        found = store.find_token(secret, 20.0)
        assert found is not None
        assert found.id == token.id
        assert store.list_tokens()[0].used_at == 20.0
        assert store.find_token(secret, 110.0) is None
        store.revoke_token("a")
        assert store.find_token(secret, 20.0) is None
        assert store.list_tokens() == []


def test_token_is_revoked_by_number_where_a_name_is_used_twice(tmp_path: Path) -> None:
    with closing(TokenStore(tmp_path)) as store:
        first, _ = store.create_token("a", (TokenScope.READ,), 1.0)
        store.create_token("a", (TokenScope.READ,), 1.0)
        with pytest.raises(UsageError, match="2 tokens are named 'a'"):
            store.revoke_token("a")
        store.revoke_token(str(first.id))
        assert len(store.list_tokens()) == 1
        with pytest.raises(UsageError, match="no token 'b'"):
            store.revoke_token("b")


@pytest.mark.parametrize("name", ["", "  ", "a" * 101, "a\nb"])
def test_name_of_a_token_is_checked(tmp_path: Path, name: str) -> None:
    with closing(TokenStore(tmp_path)) as store, pytest.raises(UsageError, match="name of a token"):
        store.create_token(name, (TokenScope.READ,), 1.0)


def test_number_of_tokens_is_limited(tmp_path: Path) -> None:
    with closing(TokenStore(tmp_path)) as store:
        for number in range(MAX_TOKENS):
            store.create_token(str(number), (TokenScope.READ,), 1.0)
        with pytest.raises(UsageError, match="revoke one first"):
            store.create_token("more", (TokenScope.READ,), 1.0)
        with pytest.raises(UsageError, match="needs a scope"):
            store.create_token("none", (), 1.0)


def test_scopes_are_parsed_from_names() -> None:
    assert parse_scopes(["read, crawl", "watch"]) == (TokenScope.READ, TokenScope.CRAWL, TokenScope.WATCH)
    with pytest.raises(UsageError, match="unknown scope 'admin'; choose from read, crawl, watch"):
        parse_scopes(["admin"])
