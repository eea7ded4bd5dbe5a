"""Files that contain or name several WARC files."""

import gzip
import json
import os
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from sanderling.errors import UsageError
from sanderling.warc.import_reader import ImportableRecord, iterate_importable
from sanderling.warc.import_sources import open_source
from sanderling.warc.packer import HttpExchange, pack_response

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
MEMBERS = [pack_response(HttpExchange(f"http://a.test/{n}", 1.5e9 + n, HEAD, b"<p>%d" % n)).member for n in range(4)]


def read_urls(path: Path, scratch: Path) -> list[str]:
    scratch.mkdir(exist_ok=True)
    return [
        item.record.url[-1]
        for source in open_source(path, scratch).files
        for item in iterate_importable(source.path, 0, source.offsets)
        if isinstance(item, ImportableRecord)
    ]


def write_wacz(path: Path, *members: bytes, **nested: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as package:
        if members:
            package.writestr("archive/x.warc.gz", b"".join(members))
        for name, content in nested.items():
            package.writestr(f"{name}.wacz", content)
    return path


def write_package(listing: Path, **fields: str) -> Path:
    listing.write_text(json.dumps({"profile": "multi-wacz-package", "resources": [fields]}))
    return listing


def test_packages_in_a_package_are_read(tmp_path: Path) -> None:
    parts = {f"p{n}": write_wacz(tmp_path / "part", MEMBERS[n]).read_bytes() for n in range(3)}
    assert read_urls(write_wacz(tmp_path / "x.wacz", **parts), tmp_path / "scratch") == ["0", "1", "2"]
    assert not list((tmp_path / "scratch").iterdir())


def test_package_that_contains_itself_again_and_again_is_rejected(tmp_path: Path) -> None:
    content = write_wacz(tmp_path / "x.wacz", MEMBERS[0]).read_bytes()
    for _ in range(6):
        content = write_wacz(tmp_path / "x.wacz", inner=content).read_bytes()
    with pytest.raises(UsageError, match="too many"):
        read_urls(tmp_path / "x.wacz", tmp_path / "scratch")


def test_listed_packages_are_read_and_their_digests_verified(tmp_path: Path) -> None:
    digest = sha256(write_wacz(tmp_path / "a.wacz", MEMBERS[1]).read_bytes()).hexdigest()
    listed = write_package(tmp_path / "x.json", path="a.wacz", hash=f"sha256:{digest}")
    assert read_urls(listed, tmp_path / "scratch") == ["1"]
    write_wacz(tmp_path / "a.wacz", MEMBERS[2])
    with pytest.raises(UsageError, match="does not have the digest"):
        read_urls(listed, tmp_path / "scratch")


@pytest.mark.parametrize("name", ["../a.wacz", "/etc/hosts", "a\0.wacz", "x" * 5000, "http://a.test/a.wacz", "l.wacz"])
def test_listed_packages_outside_of_the_folder_are_rejected(tmp_path: Path, name: str) -> None:
    write_wacz(tmp_path / "a.wacz", MEMBERS[1])
    (tmp_path / "sub").mkdir()
    os.symlink(tmp_path / "a.wacz", tmp_path / "sub" / "l.wacz")
    with pytest.raises(UsageError, match="no WACZ file in its folder"):
        read_urls(write_package(tmp_path / "sub" / "x.json", path=name), tmp_path / "scratch")


@pytest.mark.parametrize(
    "text", ["{", "{}", '{"profile": "data-package"}', '{"profile": "multi-wacz-package"}', "{" * 9]
)
def test_other_json_files_are_rejected(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(UsageError, match="not a multi-WACZ package"):
        read_urls(tmp_path / "x.json", tmp_path / "scratch")


@pytest.mark.parametrize("form", ["cdxj", "cdx", "cdxj.gz"])
def test_index_selects_records_of_its_files(tmp_path: Path, form: str) -> None:
    """A foreign collection in the layout of pywb: the index is in `indexes`, WARC files are in `archive`."""
    (tmp_path / "archive").mkdir()
    (tmp_path / "indexes").mkdir()
    (tmp_path / "archive" / "x.warc.gz").write_bytes(b"".join(MEMBERS))
    offsets = [sum(map(len, MEMBERS[:n])) for n in (3, 1)]
    lines = ["garbage", 'a {"offset": 5}', 'a {"filename": "x", "offset": "-1"}']
    if form == "cdx":
        lines.insert(0, " CDX N b a m s k r M S V g")
        lines += [f"test,a)/ 2017 http://a.test/ text/html 200 X - - 9 {offset} x.warc.gz" for offset in offsets]
    else:
        lines += [f"test,a)/ 2017 {json.dumps({'offset': str(o), 'filename': 'x.warc.gz'})}" for o in offsets]
    text = "".join(f"{line}\n" for line in lines).encode()
    index = tmp_path / "indexes" / f"x.{form}"
    index.write_bytes(gzip.compress(text) if form.endswith("gz") else text)
    assert read_urls(index, tmp_path / "scratch") == ["1", "3"]


@pytest.mark.parametrize("name", ["../../x.warc.gz", "/etc/passwd", "missing.warc.gz"])
def test_index_names_only_files_of_its_archive(tmp_path: Path, name: str) -> None:
    (tmp_path / "x.warc.gz").write_bytes(MEMBERS[0])
    (tmp_path / "a" / "indexes").mkdir(parents=True)
    index = tmp_path / "a" / "indexes" / "x.cdxj"
    index.write_text(json.dumps({"offset": 0, "filename": name}))
    with pytest.raises(UsageError, match="names"):
        read_urls(index, tmp_path / "scratch")
    index.write_text("nothing\n")
    with pytest.raises(UsageError, match="lists no records"):
        read_urls(index, tmp_path / "scratch")
