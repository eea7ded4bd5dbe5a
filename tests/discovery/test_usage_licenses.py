"""RSL licenses and TDMRep reservations as lines of usage."""

import pytest

from sanderling.discovery.usage_licenses import find_license_urls, translate_license, translate_reservations

HOST = "https://a.test"


def translate(license_: str, url: str = "/") -> dict[str, str]:
    body = f'<rsl xmlns="https://rslstandard.org/rsl"><content url="{url}">{license_}</content></rsl>'
    lines = translate_license(body.encode(), HOST)
    pairs = (part.split("=") for line in lines for part in line.split(" ", 2)[2].split(", "))
    return dict(pairs)


def test_lines_of_robots_txt() -> None:
    body = b"User-agent: *\r\nLicense: https://a.test/license.xml\r\nlicense: /two.xml # note\nAllow: /"
    assert find_license_urls(body) == ["https://a.test/license.xml", "/two.xml"]


@pytest.mark.parametrize(
    ("license_", "denied"),
    [
        ("<license><prohibits type='usage'>ai-train</prohibits></license>", ["ai-train"]),
        ("<license><prohibits type='usage'>ai-all</prohibits></license>", ["ai-input", "ai-train"]),
        ("<license><prohibits type='usage'>all</prohibits></license>", ["search", "archive", "ai-input", "ai-train"]),
        ("<license><permits type='usage'>search</permits></license>", ["ai-input", "ai-train"]),
        ("<license><permits type='usage'>ai-train, ai-input</permits><payment type='free'/></license>", []),
        ("<license><permits type='usage'>ai-train</permits><payment type='use'/></license>", ["ai-input", "ai-train"]),
        ("<license><payment type='subscription'/></license>", ["search", "archive", "ai-input", "ai-train"]),
        ("<license><permits type='usage'>ai-train</permits><payment type='use'/></license>"
         "<license><permits type='usage'>ai-train</permits><payment type='attribution'/></license>", ["ai-input"]),
        ("<license><permits type='usage'>unheard-of</permits></license>", ["ai-input", "ai-train"]),
        ("<license><permits type='geo'>EU</permits></license>", []),
        ("<license/>", []),
    ],
)  # fmt: skip
def test_licenses(license_: str, denied: list[str]) -> None:
    assert [purpose for purpose, value in translate(license_).items() if value == "n"] == denied


def test_contents_of_other_hosts_are_ignored_and_paths_are_kept() -> None:
    license_ = "<license><prohibits type='usage'>ai-train</prohibits></license>"
    assert translate(license_, "https://other.test/") == {}
    body = f"<rsl><content url='https://www.a.test/images/*'>{license_}</content></rsl>"
    assert translate_license(body.encode(), HOST)[0].startswith("RSL-Usage: /images/* search=y")
    assert translate_license(b"<html>not a license", HOST) == []


def test_reservations() -> None:
    body = b'[{"location": "/a/*", "tdm-reservation": 1}, {"location": "/b", "tdm-reservation": 0}, {"location": 3}]'
    assert translate_reservations(body) == [
        "TDM-Usage: /a/* ai-input=n, ai-train=n", "TDM-Usage: /b ai-input=y, ai-train=y",
    ]  # fmt: skip
    assert translate_reservations(b"{") == []
    assert translate_reservations(b"[" * 100_000) == []
