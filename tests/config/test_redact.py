"""No secret that a person typed comes back: not on the terminal, not in what is kept."""

import json
import stat
from pathlib import Path

import pytest
from tests.support.site import Site, html

from sanderling.cli import main
from sanderling.config.redact import redact_address_password, redact_command, redact_password
from sanderling.storage.collection import open_collection_read_only
from sanderling.warc.warc_reader import StoredRecord, iterate_records

SECRET = "hunter2"
SEED = "http://127.0.0.1:1/"


def test_no_password_is_kept_with_the_command() -> None:
    typed = ["crawl", "http://me:pw@x/", "--basic-auth", "x=me:pw", "--header=Cookie: pw", "--proxy", "http://a:pw@b",
             "--archive", "ftp://a:pw/@there/", "--migrant=https://a:pw/@host", "https://x/@home"]  # fmt: skip
    kept = " ".join(redact_command(typed))
    assert "pw" not in kept
    assert kept.startswith("crawl http://***@x/ --basic-auth *** --header=*** --proxy *** --archive ftp://a:***@there/")
    assert kept.endswith("--migrant=https://a:***@host https://x/@home")


@pytest.mark.parametrize("password", ["pw@pw", "p w pw", "@pw", "pw\tpw"])
def test_no_part_of_a_password_is_kept_whatever_letters_it_has(password: str) -> None:
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
def test_of_an_address_all_is_shown_but_the_password(address: str, shown: str) -> None:
    assert redact_password(address) == shown


def test_what_others_say_of_an_address_is_told_without_its_password() -> None:
    assert redact_address_password('no bucket "a:hunter2@b"', "s3://a:hunter2@b/c") == 'no bucket "a:***@b"'
    assert redact_address_password("refused", "http://b:1") == "refused"


WRONG = [
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


@pytest.mark.parametrize("words", WRONG)
def test_what_is_refused_is_refused_without_its_secret(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["crawl", SEED, *words, "-C", str(tmp_path / "c")]) == 4
    told = capsys.readouterr()
    assert SECRET not in told.out + told.err
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    "words",
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
def test_no_command_says_a_password_again_that_stands_where_it_expects_something_else(
    tmp_path: Path, words: list[str], url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, url, "-C", str(tmp_path / "c")]) == 4
    told = capsys.readouterr()
    assert SECRET not in told.out + told.err


def test_a_header_that_is_refused_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crawl", SEED, "--header", f"X-Key: {SECRET}\x00"]) == 4
    assert "X-Key is not a valid request header" in capsys.readouterr().err
    assert main(["crawl", SEED, f"--headr=X: {SECRET}"]) == 4
    assert "'--headr' is not a known argument; did you mean --header?" in capsys.readouterr().err


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_settings_are_listed_without_secrets(
    form: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {
        "HEADER": f"X-Key: {SECRET}\nCookie: {SECRET}", "BASIC_AUTH": f"a.example=me:{SECRET}",
        "PROXY": f"http://me:{SECRET}@b:1", "STORE": f"postgresql://me:{SECRET}@b/c", "ARCHIVE": f"s3://me:{SECRET}@b",
        "MIGRANT": f"https://me:{SECRET}@b",
    }  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(f"SANDERLING_{name}", value)
    assert main(["settings", *form]) == 0
    told = capsys.readouterr().out
    assert SECRET not in told
    assert all(text in told for text in ("X-Key: ***", "Cookie: ***", "a.example=me:***", "http://me:***@b:1"))


def test_a_crawl_with_secrets_leaves_none_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = Site({"/": html("/a"), "/a": html()})
    with site:
        line = ["crawl", site.root.replace("://", f"://me:{SECRET}@") + "/", "-C", str(tmp_path), "--allow-private",
                "--delay", "0", "--workers", "1", "-vv", "--basic-auth", f"127.0.0.1=me:{SECRET}", "--header",
                f"X-Api-Key: {SECRET}", "--header", f"Cookie: {SECRET}", "--header", "Accept-Language: nl",
                "--no-sitemaps"]  # fmt: skip
        assert main(line) == 0
    sent = site.requests[-1][1]
    assert (sent["x-api-key"], sent["cookie"], sent["accept-language"]) == (SECRET, SECRET, "nl")
    told = capsys.readouterr()
    assert SECRET not in told.out + told.err
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in kept if SECRET.encode() in path.read_bytes()] == []
    records = [
        r for path in (tmp_path / "archive").glob("*.gz") for r in iterate_records(path) if isinstance(r, StoredRecord)
    ]
    asked = [
        b"".join(f"{name}: {value}\n".encode() for name, value in r.http_headers)
        for r in records
        if r.record_type == "request"
    ]
    assert len(asked) == 2
    assert all(SECRET.encode() not in one and b"Accept-Language: nl" in one for one in asked)


def test_the_place_of_an_archive_is_for_its_owner_alone_and_not_in_the_catalogue(tmp_path: Path) -> None:
    with Site({"/": html()}) as site:
        line = [
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
        assert main([*line, "--archive", f"file://{tmp_path}/away", "--quiet"]) == 0
        pointer = tmp_path / "c" / "archive" / "elsewhere"
        assert stat.S_IMODE(pointer.stat().st_mode) == 0o600
        with open_collection_read_only(tmp_path / "c") as collection:
            (kept,) = collection.db.execute("SELECT value FROM meta WHERE name = 'settings'").fetchone()
        assert "archive" not in json.loads(kept)
        assert main(["refresh", "--all", "-C", str(tmp_path / "c"), "--quiet"]) == 0
    assert list((tmp_path / "away").glob("*.warc.gz"))


def test_a_password_for_a_host_beside_a_web_server_is_not_kept(tmp_path: Path) -> None:
    line = ["crawl", SEED, "-C", str(tmp_path), "--allow-private", "--workers", "1", "--quiet"]
    assert main([*line, "--migrant", f"https://me:{SECRET}@127.0.0.1:1"]) == 4  # our key is missing
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert kept
    assert [path for path in kept if SECRET.encode() in path.read_bytes()] == []
