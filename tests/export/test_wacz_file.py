"""WACZ files: structure, hashes, index, signature, and agreement with the reference validator."""

import gzip
import hashlib
import json
import shutil
import subprocess
from base64 import b64decode
from pathlib import Path
from random import Random
from zipfile import ZIP_STORED, ZipFile

import pytest
from msgspec.structs import replace
from tests.support.site import Page, Site, html

from sanderling.cli import main
from sanderling.db.connection import transaction
from sanderling.export.wacz_file import LINES_PER_BLOCK, _drop_confirmations, write_wacz
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.collection import open_collection, open_collection_read_only
from sanderling.warc.archive import open_archive
from sanderling.warc.cdxj import REVISIT_MIME, CdxjEntry, format_entry, format_timestamp, parse_entry
from sanderling.warc.packer import HttpExchange, pack_response
from sanderling.warc.records import OriginalRecord
from sanderling.warc.warc_reader import read_record

PICTURE = Page(b"picture", headers={"Content-Type": "image/png"})
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
FLAGS = ("--delay", "0", "--allow-private", "--workers", "1", "--quiet")


@pytest.fixture(scope="module")
def archived_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site archived three times: one page changed, two pictures with the same bytes."""
    folder = tmp_path_factory.mktemp("wacz") / "collection"
    pages = {
        "/": Page(b"<title>Home</title><img src=/a.png><img src=/b.png><a href=/two>2</a>"),
        "/two": html(text="2"),
    }
    with Site({**pages, "/a.png": PICTURE, "/b.png": PICTURE}) as site:
        for text in ("2", "two", "two"):
            site.pages["/two"] = html(text=text)
            assert main(["archive", site.root, "-C", str(folder), *FLAGS]) == 0
    return folder


@pytest.fixture(scope="module")
def wacz(archived_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("out") / "site.wacz"
    assert main(["export", "-C", str(archived_site), "-o", str(path), "--quiet"]) == 0
    return path


def test_package_lists_every_file_with_its_hash(wacz: Path) -> None:
    with ZipFile(wacz) as package:
        description = json.loads(package.read("datapackage.json"))
        listed = {resource["path"]: resource for resource in description["resources"]}
        assert description["wacz_version"] == "1.1.1"
        assert {*listed, "datapackage.json", "datapackage-digest.json"} == set(package.namelist())
        for path, resource in listed.items():
            body = package.read(path)
            assert (resource["bytes"], resource["hash"]) == (len(body), f"sha256:{hashlib.sha256(body).hexdigest()}")
        digest = json.loads(package.read("datapackage-digest.json"))["hash"]
        assert digest == f"sha256:{hashlib.sha256(package.read('datapackage.json')).hexdigest()}"


def test_archives_and_index_can_be_read_by_ranges(wacz: Path) -> None:
    with ZipFile(wacz) as package:
        for info in package.infolist():
            if info.filename.startswith("archive/") or info.filename.endswith(".gz"):
                assert info.compress_type == ZIP_STORED
            # wabac.js computes where a file starts from the directory at the end, which has no 64-bit lengths here.
            assert int.from_bytes(wacz.read_bytes()[info.header_offset + 28 :][:2], "little") == len(info.extra) == 0


def test_index_entries_have_the_dates_of_their_records(wacz: Path, tmp_path: Path) -> None:
    with ZipFile(wacz) as package:
        package.extractall(tmp_path)
    lines = gzip.decompress((tmp_path / "indexes" / "index.cdx.gz").read_bytes()).splitlines(keepends=True)
    assert lines == sorted(lines)
    for line in lines:
        entry = parse_entry(line)
        record = read_record(tmp_path / "archive", entry.location)
        date = "".join(filter(str.isdigit, record.get_field("WARC-Date")))[:14]
        assert (record.url, date) == (entry.url, format_timestamp(entry.captured_at))
    found = [(entry.url.rpartition("/")[2], entry.mime) for entry in map(parse_entry, lines)]
    assert found.count(("two", "text/html")) == 2  # two versions; the third visit confirmed the second
    assert {("a.png", "image/png"), ("b.png", REVISIT_MIME)} <= set(found) or {
        ("b.png", "image/png"), ("a.png", REVISIT_MIME)
    } <= set(found)  # fmt: skip


@pytest.mark.parametrize("second", ["0", "1"])
def test_only_captures_with_their_own_record_are_listed(tmp_path: Path, second: str) -> None:
    """In the second of a `revisit` record, the entry of a response stays, and that of a 304 is left out."""
    at, later = 1_600_000_000.25, 1_600_000_000.75 + int(second)
    with open_archive(tmp_path, {}) as archive:
        page = pack_response(HttpExchange("http://a.test/b", at, HEAD, b"body"))
        place = archive.append(page.member)
        original = OriginalRecord(page.record_id, "http://a.test/b", at, page.payload_digest, place)
        revisit = archive.append_revisit(HttpExchange("http://a.test/b", later, HEAD), original)[1]
        copy = archive.append_revisit(HttpExchange("http://a.test/c", at, HEAD), original)[1]
    own = CdxjEntry("http://a.test/b", at, "text/html", 200, page.payload_digest, place)
    revisit_entries = [
        replace(own, captured_at=later, mime=REVISIT_MIME, location=revisit),
        replace(own, url="http://a.test/c", mime=REVISIT_MIME, location=copy),
    ]
    confirmation = replace(own, url="http://a.test/c", captured_at=later)
    lines = sorted(map(format_entry, (own, *revisit_entries, confirmation)))
    kept = sorted(map(format_entry, (own, *revisit_entries)))
    assert list(_drop_confirmations(lines, tmp_path)) == kept


def test_each_record_is_listed_once_at_its_own_time(tmp_path: Path) -> None:
    """Bodies that come again without `revisit` records, as in imported archives, and visits of the same second."""
    random = Random(7)
    with open_archive(tmp_path, {}) as archive:
        own, confirmations = [], []
        for number in range(200):
            at, body = 1_600_000_000 + number // 4 + random.random(), b"body %d" % random.randrange(3)
            url = random.choice(("http://a.test/b", "http://a.test/c"))
            packed = pack_response(HttpExchange(url, at, HEAD, body))
            place = archive.append(packed.member)
            own.append(CdxjEntry(url, at, "text/html", 200, packed.payload_digest, place))
            confirmations.append(replace(own[-1], captured_at=at + random.randrange(3)))
    lines = sorted({*map(format_entry, own), *map(format_entry, confirmations)})
    assert list(_drop_confirmations(lines, tmp_path)) == sorted(map(format_entry, own))


def test_blocks_of_the_index_are_found_by_their_first_key(wacz: Path) -> None:
    with ZipFile(wacz) as package:
        meta, *blocks = package.read("indexes/index.idx").decode().splitlines()
        index = package.read("indexes/index.cdx.gz")
    assert meta == '!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}'
    for block in blocks:
        key, place = block.split(" {")
        place = json.loads("{" + place)
        member = index[place["offset"] : place["offset"] + place["length"]]
        lines = gzip.decompress(member).decode().splitlines()
        assert lines[0].startswith(key + " {")
        assert len(lines) <= LINES_PER_BLOCK


def test_pages_have_titles_times_and_seeds(wacz: Path) -> None:
    with ZipFile(wacz) as package:
        header, *pages = map(json.loads, package.read("pages/pages.jsonl").decode().splitlines())
    assert header["format"] == "json-pages-1.0"
    assert [(page["title"], page.get("seed", False)) for page in pages] == [("Home", True), ("two", False)]
    assert all(page["ts"].endswith("Z") and len(page["ts"]) == 20 for page in pages)


def test_reference_validator_accepts_the_file(wacz: Path) -> None:
    validator = shutil.which("wacz") or pytest.skip("py-wacz is not installed (pip install wacz)")
    result = subprocess.run([validator, "validate", "-f", str(wacz)], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout
    assert "the passed WACZ is valid" in result.stdout


def test_signature_is_valid_for_the_digest_of_the_package(archived_site: Path, tmp_path: Path) -> None:
    ec = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

    key, path = ec.generate_private_key(ec.SECP384R1()), tmp_path / "x.wacz"
    pem = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (tmp_path / "key").write_bytes(key.private_bytes(*pem))
    flags = ["-C", str(archived_site), "-o", str(path), "--title", "A title", "--quiet"]
    assert main(["export", *flags, "--sign", str(tmp_path / "key")]) == 0
    with ZipFile(path) as package:
        description = json.loads(package.read("datapackage.json"))
        signed = json.loads(package.read("datapackage-digest.json"))["signedData"]
    assert (description["title"], description["created"]) == ("A title", signed["created"])
    raw = b64decode(signed["signature"])
    der = encode_dss_signature(int.from_bytes(raw[:48], "big"), int.from_bytes(raw[48:], "big"))
    public = serialization.load_der_public_key(b64decode(signed["publicKey"]))
    assert isinstance(public, ec.EllipticCurvePublicKey)
    public.verify(der, signed["hash"].encode(), ec.ECDSA(hashes.SHA256()))
    for unusable in (b"no key", ec.generate_private_key(ec.SECP256R1()).private_bytes(*pem)):
        (tmp_path / "key").write_bytes(unusable)
        assert main(["export", *flags, "--sign", str(tmp_path / "key")]) == 4


def test_deleted_and_unfinished_indexes_are_completed_from_the_records(archived_site: Path, tmp_path: Path) -> None:
    shutil.copytree(archived_site, tmp_path / "copy")
    indexes = tmp_path / "copy" / "indexes"
    sizes = []
    for damage in (lambda: None, lambda: shutil.rmtree(indexes), lambda: (indexes / "index.cdxj").write_bytes(b"x\n")):
        damage()
        with open_collection_read_only(tmp_path / "copy") as collection:
            sizes.append(write_wacz(collection, tmp_path / "x.wacz").captures)
        if not indexes.exists():
            shutil.copytree(archived_site / "indexes", indexes)
    assert len(set(sizes)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["copy", "x.wacz"] or not list(tmp_path.glob(".wacz-*"))


def test_parts_contain_all_captures_and_are_listed(archived_site: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(archived_site, folder)
    with Site({"/": html(text="other")}) as site:  # the next crawl starts a WARC file
        (file,) = (folder / "archive").glob("*.warc.gz")
        with open_archive(folder / "archive", {file.name: file.stat().st_size}, max_file_bytes=1) as archive:
            archive.append(pack_response(HttpExchange(site.root, 1.6e9, HEAD, b"more")).member)
            lengths = archive.flush()
    with open_collection(folder) as collection, transaction(collection.db):
        for name, length in lengths.items():
            PageCatalog(collection.db).upsert_file(name, length)
    assert main(["export", "-C", str(folder), "-o", str(tmp_path / "s.wacz"), "--part-size", "1KB", "--quiet"]) == 0
    assert main(["export", "-C", str(folder), "-o", str(tmp_path / "whole.wacz"), "--quiet"]) == 0
    package = json.loads((tmp_path / "s.json").read_text())
    assert package["profile"] == "multi-wacz-package"
    assert len(package["resources"]) > 1
    lines = []
    for resource in package["resources"]:
        content = (tmp_path / resource["path"]).read_bytes()
        assert (resource["bytes"], resource["hash"]) == (len(content), f"sha256:{hashlib.sha256(content).hexdigest()}")
        with ZipFile(tmp_path / resource["path"]) as part:
            lines += gzip.decompress(part.read("indexes/index.cdx.gz")).splitlines()
    with ZipFile(tmp_path / "whole.wacz") as whole:
        assert sorted(lines) == gzip.decompress(whole.read("indexes/index.cdx.gz")).splitlines()
    assert main(["import", str(tmp_path / "s.json"), "-C", str(tmp_path / "in"), "--quiet", "--no-index"]) == 0
    assert main(["import", str(tmp_path / "whole.wacz"), "-C", str(tmp_path / "in2"), "--quiet", "--no-index"]) == 0
    imported = [(tmp_path / name / "indexes" / "index.cdxj").read_bytes().count(b"\n") for name in ("in", "in2")]
    assert imported[0] == imported[1] > 0


def test_selections_that_do_not_apply_are_rejected(
    archived_site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = str(archived_site), str(tmp_path / "x.wacz")
    assert main(["export", "-C", folder, "--format", "wacz"]) == 4
    assert main(["export", "-C", folder, "-o", out, "--what", "links"]) == 4
    assert main(["export", "-C", folder, "-o", str(tmp_path / "x.jsonl"), "--title", "x"]) == 4
    assert main(["export", "-C", folder, "-o", str(tmp_path / "none" / "x.wacz")]) == 4
    assert "cannot write" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
