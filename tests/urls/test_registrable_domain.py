"""Registrable domains."""

import pytest

from sanderling.urls.registrable_domain import get_registrable_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("https://www.example.co.uk", "example.co.uk"),
        ("https://a.b.github.io:8443", "b.github.io"),
        ("http://localhost", "localhost"),
        ("http://127.0.0.1:8000", "127.0.0.1"),
        ("http://[::1]", "::1"),
        ("www.example.org", "example.org"),
        ("com", "com"),
    ],
)
def test_registrable_domain_of_a_host(host: str, domain: str) -> None:
    assert get_registrable_domain(host) == domain
