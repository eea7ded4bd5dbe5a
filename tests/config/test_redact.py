"""Secrets are neither displayed nor stored."""

import json
import stat
from pathlib import Path

import pytest
from tests.support.site import Site, html

from sanderling.cli import main
from sanderling.config.redact import redact_address_password, redact_command, redact_password, strip_userinfo
from sanderling.storage.collection import open_collection_read_only
from sanderling.warc.warc_reader import StoredRecord, iterate_records

SECRET = "hunter2"
SEED = "http://127.0.0.1:1/"


def test_stored_command_line_has_no_password() -> None:
    command = ["crawl", "http://me:pw@x/", "--basic-auth", "x=me:pw", "--header=Cookie: pw", "--proxy", "http://a:pw@b",
             "--archive", "ftp://a:pw/@there/", "--migrant=https://a:pw/@host", "https://x/@home"]  # fmt: skip
    redacted = " ".join(redact_command(command))
    assert "pw" not in redacted
    assert redacted.startswith(
        "crawl http://***@x/ --basic-auth *** --header=*** --proxy *** --archive ftp://a:***@there/"
    )
    assert redacted.endswith("--migrant=https://a:***@host https://x/@home")


@pytest.mark.parametrize(
    ("address", "expected"),
    [("http://me:p://w@x@host/a", "http://host/a"), ("http://host://x", "http://host://x"), ("me:pw", "me:pw")],
)
def test_user_name_and_password_are_removed(address: str, expected: str) -> None:
    assert strip_userinfo(address) == expected


@pytest.mark.parametrize("password", ["pw@pw", "p w pw", "@pw", "pw\tpw"])
def test_passwords_with_special_characters_are_masked_completely(password: str) -> None:
    assert redact_command([f"http://me:{password}@x/@home"]) == ["http://***@x/@home"]


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://127.0.0.1:3128", "http://127.0.0.1:3128"),
        ("http://a:hun@/ter2@b:1", "http://a:***@b:1"),
        ("a:hunter2@b", "a:***@b"),
        ("postgresql://a@b/c?password=hunter2&x=y", "postgresql://a@b/c?password=***&x=y"),
        ("host=b password='hun ter2' user=a", "host=b password=*** user=a"),
    ],
)
def test_only_the_password_of_an_address_is_masked(address: str, shown: str) -> None:
    assert redact_password(address) == shown


def test_password_of_an_address_is_masked_in_messages() -> None:
    assert redact_address_password('no bucket "a:hunter2@b"', "s3://a:hunter2@b/c") == 'no bucket "a:***@b"'
    assert redact_address_password("refused", "http://b:1") == "refused"


INVALID_ARGUMENTS = [
    ["--header", f"Authorization: Bearer {SECRET}\nX: y"],
    ["--header", f"Authorization Bearer {SECRET}"],
    ["--header", SECRET],
    ["--header", f"Range: {SECRET}"],
    ["--header", f"User-Agent: {SECRET}"],
    ["--headr", f"Authorization: {SECRET}"],
    [f"--headr=Authorization: {SECRET}"],
    [f"--basic-auht=a.example=me:{SECRET}"],
    ["--basic-auth", f"me:{SECRET}"],
    ["--basic-auth", f"me:{SECRET}=a.example:x"],
    ["--basic-auth", f"http://me:{SECRET}@a.example=a:b"],
    ["--proxy", f"me:{SECRET}@127.0.0.1:1"],
    ["--proxy", f"http://me:a/{SECRET}@127.0.0.1:1"],
    ["--proxy", f"http://me:a#{SECRET}@127.0.0.1:1"],
    ["--proxy", f"http://me:{SECRET}@127.0.0.1:99999"],
    ["--store", f"host=127.0.0.1 password={SECRET}"],
    ["--store", f"mysql://me:{SECRET}@127.0.0.1/x"],
    ["--archive", f"nowhere://me:{SECRET}@there/x"],
    ["--archive", f"ftp://me:{SECRET}@127.0.0.1:1/x"],
    [f"http://me:{SECRET}@127.0.0.1:99999/"],
    [f"http://me:a/{SECRET}@127.0.0.1/"],
    [f"me:{SECRET}@127.0.0.1"],
    [f"ftp://me:{SECRET}@127.0.0.1/"],
    [f"http:/me:{SECRET}@127.0.0.1/"],
    [f"https:\\\\me:{SECRET}@127.0.0.1/"],
]


@pytest.mark.parametrize("arguments", INVALID_ARGUMENTS)
def test_rejected_arguments_are_reported_without_secrets(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["crawl", SEED, *arguments, "-C", str(tmp_path / "c")]) == 4
    output = capsys.readouterr()
    assert SECRET not in output.out + output.err
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        *(["check"], ["check", "url"], ["changes", "--kind"], ["experiment"], ["completion"], ["workers"], ["migrant"]),
        *(["migrant", "run"], ["publish"], ["pages", "--state"], ["serve", "--host"], ["crawl", "--depth"], []),
        *(
            ["changes", "--significance"],
            ["export", "--format"],
            ["url-rules", "--site"],
            ["url-rules", "--add"],
            ["sitemap"],
        ),
    ],
)
@pytest.mark.parametrize("url", [f"https://me:{SECRET}@a.example:99999/", f"ftp://me:a\t{SECRET}@a.example/"])
def test_misplaced_url_is_reported_without_its_password(
    tmp_path: Path, arguments: list[str], url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, url, "-C", str(tmp_path / "c")]) == 4
    output = capsys.readouterr()
    assert SECRET not in output.out + output.err


def test_rejected_header_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crawl", SEED, "--header", f"X-Key: {SECRET}\x00"]) == 4
    assert "X-Key is not a valid request header" in capsys.readouterr().err
    assert main(["crawl", SEED, f"--headr=X: {SECRET}"]) == 4
    assert "'--headr' is not a known argument; did you mean --header?" in capsys.readouterr().err


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_settings_are_listed_without_secrets(
    flags: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {
        "HEADER": f"X-Key: {SECRET}\nCookie: {SECRET}", "BASIC_AUTH": f"a.example=me:{SECRET}",
        "PROXY": f"http://me:{SECRET}@b:1", "STORE": f"postgresql://me:{SECRET}@b/c", "ARCHIVE": f"s3://me:{SECRET}@b",
        "MIGRANT": f"https://me:{SECRET}@b",
    }  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(f"SANDERLING_{name}", value)
    assert main(["settings", *flags]) == 0
    output = capsys.readouterr().out
    assert SECRET not in output
    assert all(text in output for text in ("X-Key: ***", "Cookie: ***", "a.example=me:***", "http://me:***@b:1"))


def test_crawl_stores_no_secrets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = Site({"/": html("/a"), "/a": html()})
    with site:
        command = ["crawl", site.root.replace("://", f"://me:{SECRET}@") + "/", "-C", str(tmp_path), "--allow-private",
                "--delay", "0", "--workers", "1", "-vv", "--basic-auth", f"127.0.0.1=me:{SECRET}", "--header",
                f"X-Api-Key: {SECRET}", "--header", f"Cookie: {SECRET}", "--header", "Accept-Language: nl",
                "--no-sitemaps"]  # fmt: skip
        assert main(command) == 0
    sent = site.requests[-1][1]
    assert (sent["x-api-key"], sent["cookie"], sent["accept-language"]) == (SECRET, SECRET, "nl")
    output = capsys.readouterr()
    assert SECRET not in output.out + output.err
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    records = [
        r for path in (tmp_path / "archive").glob("*.gz") for r in iterate_records(path) if isinstance(r, StoredRecord)
    ]
    requests = [
        b"".join(f"{name}: {value}\n".encode() for name, value in r.http_headers)
        for r in records
        if r.record_type == "request"
    ]
    assert len(requests) == 2
    assert all(SECRET.encode() not in request and b"Accept-Language: nl" in request for request in requests)


def test_archive_location_is_private_and_not_in_the_database(tmp_path: Path) -> None:
    with Site({"/": html()}) as site:
        command = [
            "crawl",
            site.root + "/",
            "-C",
            str(tmp_path / "c"),
            "--allow-private",
            "--delay",
            "0",
            "--workers",
            "1",
        ]
        assert main([*command, "--archive", f"file://{tmp_path}/away", "--quiet"]) == 0
        pointer = tmp_path / "c" / "archive" / "elsewhere"
        assert stat.S_IMODE(pointer.stat().st_mode) == 0o600
        with open_collection_read_only(tmp_path / "c") as collection:
            (settings,) = collection.db.execute("SELECT value FROM meta WHERE name = 'settings'").fetchone()
        assert "archive" not in json.loads(settings)
        assert main(["refresh", "--all", "-C", str(tmp_path / "c"), "--quiet"]) == 0
    assert list((tmp_path / "away").glob("*.warc.gz"))


def test_password_of_a_migrant_is_not_stored(tmp_path: Path) -> None:
    command = ["crawl", SEED, "-C", str(tmp_path), "--allow-private", "--workers", "1", "--quiet"]
    assert main([*command, "--migrant", f"https://me:{SECRET}@127.0.0.1:1"]) == 4  # the private key is missing
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
