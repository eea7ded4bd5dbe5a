"""Sanitized stored pages."""

import re

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import HOSTILE, CrawledSite

from sanderling.api.replay.sanitize import build_content_policy, sanitize_page
from sanderling.api.reports.view_models import StoredBody

URL = "https://site.example/a/page.html"


def sanitize(body: bytes, mime: str = "text/html", *, scripts: bool = False) -> str:
    return sanitize_page(StoredBody(URL, 1, 5.0, 200, mime, "utf-8", body), "NONCE", allow_scripts=scripts).decode()


def test_active_content_is_removed() -> None:
    page = sanitize(HOSTILE)
    for word in ("<script", "<iframe", "<object", "<embed", "<base", "http-equiv", "onload", "onerror", "javascript:"):
        assert word not in page, word
    assert "formaction" not in page
    assert not re.search(r'action="', page)
    assert "tries everything" in page


def test_links_and_images_are_rewritten_to_stored_copies() -> None:
    page = sanitize(b'<a href="../b?x=1&y=2">b</a><img src="/i.png" srcset="https://x/i.png 2x"><a href="#top">t</a>')
    assert 'href="/stored?url=https%3A%2F%2Fsite.example%2Fb%3Fx%3D1%26y%3D2&amp;at=5"' in page
    assert 'src="/stored/part?url=https%3A%2F%2Fsite.example%2Fi.png&amp;at=5"' in page
    assert "srcset" not in page
    assert 'href="#top"' in page


def test_only_the_tracker_script_is_allowed() -> None:
    page = sanitize(b"<p>x", scripts=True)
    assert page.index('<script nonce="NONCE"') < page.index("<p>")
    assert "script-src 'nonce-N'" in build_content_policy("N", allow_scripts=True)
    assert "sandbox allow-scripts;" in build_content_policy("N", allow_scripts=True)
    assert "allow-same-origin" not in build_content_policy("N", allow_scripts=True)
    assert build_content_policy("N", allow_scripts=False).startswith("sandbox; default-src 'none'; script-src 'none'")


def test_other_files_are_shown_as_text_or_size() -> None:
    assert "&lt;script&gt;" in sanitize(b"<script>1</script>", "text/plain")
    assert "&lt;svg" in sanitize(b"<svg onload=1>", "application/xml")
    assert "3 bytes" in sanitize(b"abc", "application/zip")
    assert "5 bytes" in sanitize(b"\x1f\x8b\x08\0\0", "text/plain")  # gzip declared as text


@pytest.mark.parametrize("body", [b"", b"\x00" * 100, b"<" * 10_000, b"<div>" * 3_000, b"<a href='http://[bad'>x</a>"])
def test_any_body_is_sanitized(body: bytes) -> None:
    assert sanitize(body).startswith("<!doctype html>")


def test_response_is_sandboxed(client: TestClient, crawled_site: CrawledSite) -> None:
    headers = client.get("/stored", params={"url": crawled_site.url("/hostile")}).headers
    assert headers["content-security-policy"].startswith(
        "sandbox allow-scripts; default-src 'none'; script-src 'nonce-"
    )
    assert headers["x-frame-options"] == "SAMEORIGIN"


def test_only_images_and_stylesheets_are_resources(client: TestClient, crawled_site: CrawledSite) -> None:
    assert client.get("/stored/part", params={"url": crawled_site.url("/gull"), "at": 5}).status_code == 404
    saved = client.get("/stored/file", params={"url": crawled_site.url("/hostile")}).headers
    assert saved["content-disposition"] == 'attachment; filename="hostile"'
    assert saved["content-type"] == "application/octet-stream"
