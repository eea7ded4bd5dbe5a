"""Sealed WARC files: every later modification is named, growth and deletions by us are not faults."""

import json
from pathlib import Path

import pytest
from tests.support.site import Site, html

from sanderling.cli import main
from sanderling.storage.seals import LAST_SEAL_FILE, SEALS_FILE

FLAGS = ("--delay", "0", "--allow-private", "--workers", "1", "--quiet", "--no-index")


@pytest.fixture
def sealed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Path, str]:
    """A sealed collection, and the digest of its last seal. It grew after the first of two seals."""
    folder = tmp_path / "c"
    with Site({"/": html("/a", text="root"), "/a": html(text="a")}) as site:
        assert main(["crawl", site.root, "-C", str(folder), *FLAGS]) == 0
        assert main(["seal", "-C", str(folder), "--quiet"]) == 0
        site.pages["/a"] = html(text="changed")
        assert main(["crawl", "-C", str(folder), *FLAGS]) == 0
    assert main(["verify", "-C", str(folder), "--quiet"]) == 0  # growth is no modification
    capsys.readouterr()
    assert main(["seal", "-C", str(folder), "--quiet"]) == 0
    return folder, capsys.readouterr().out.strip()


def find_faults(folder: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> list[str]:
    capsys.readouterr()
    code = main(["verify", "-C", str(folder), "--json", "--quiet", *flags])
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert code == bool(found)
    return [f"{fault['file']}: {fault['problem']}" for fault in found]


def test_untouched_files_are_valid_and_not_sealed_again(
    sealed: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, head = sealed
    assert find_faults(folder, capsys, "--seal", head) == []
    assert main(["seal", "-C", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"sealed": [], "unchanged": 1, "head": head}
    assert len((folder / "archive" / SEALS_FILE).read_text().splitlines()) == 2


def test_modified_and_missing_files_are_named(sealed: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = sealed
    (file,) = (folder / "archive").glob("*.warc.gz")
    content = bytearray(file.read_bytes())
    content[4] ^= 1  # the time in the gzip header, which no digest of a record covers
    file.write_bytes(content)
    assert [text[:60] for text in find_faults(folder, capsys)] == [f"{file.name}: modified after it was"[:60]]
    file.unlink()
    assert f"{file.name}: the sealed file is missing" in find_faults(folder, capsys)


def test_changed_removed_and_cut_lines_are_found(sealed: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    folder, head = sealed
    seals = folder / "archive" / SEALS_FILE
    first, second = seals.read_text().splitlines(keepends=True)
    seals.write_text(first.replace('"reason": "seal"', '"reason": "none"') + second)
    assert any("line 2: the line before was changed" in text for text in find_faults(folder, capsys))
    seals.write_text(second)
    assert any("line 1: the line before was changed" in text for text in find_faults(folder, capsys))
    seals.write_text(first)
    assert any("lines were removed" in text for text in find_faults(folder, capsys))  # without the digest, too
    (folder / LAST_SEAL_FILE).unlink()
    assert find_faults(folder, capsys) == []
    assert any("lines were removed" in text for text in find_faults(folder, capsys, "--seal", head))
    seals.write_text("nonsense\n")
    assert any("line 1 cannot be read" in text for text in find_faults(folder, capsys))
    seals.unlink()
    assert any("the seals are missing" in text for text in find_faults(folder, capsys, "--seal", head))
    seals.write_text(first + second[:40])  # a killed process
    assert find_faults(folder, capsys) == []
    assert main(["seal", "-C", str(folder), "--quiet"]) == 0
    assert seals.read_text().count("\n") == 2


def test_archive_seals_what_it_stores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "c"
    with Site({"/": html(text="root")}) as site:
        assert main(["archive", site.root, "-C", str(folder), *FLAGS[:-2], "--no-index", "--seal"]) == 0
        assert f"verify --seal: {(folder / LAST_SEAL_FILE).read_text().strip()}" in capsys.readouterr().err
        site.pages["/"] = html(text="changed")
        assert main(["archive", "-C", str(folder), *FLAGS[:-2], "--no-index"]) == 0
        assert "add --seal" in capsys.readouterr().err
        assert main(["archive", site.root, "-C", str(folder / "x"), *FLAGS, "--seal-key", str(tmp_path / "no")]) == 4
    assert not (folder / "x").exists()
    assert main(["verify", "-C", str(folder)]) == 0
    assert "bytes are not sealed" in capsys.readouterr().err


def test_deletion_is_recorded_in_the_chain(sealed: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    folder, head = sealed
    assert main(["delete", "*/a", "-C", str(folder), "--yes", "--quiet"]) == 0
    assert find_faults(folder, capsys, "--seal", head) == []
    assert main(["verify", "-C", str(folder)]) == 0
    assert "(delete at " in capsys.readouterr().err


def test_signatures_are_verified(sealed: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    ec = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")
    from cryptography.hazmat.primitives import serialization

    folder, _ = sealed
    pem = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    for name in ("mine", "theirs"):
        (folder / name).write_bytes(ec.generate_private_key(ec.SECP384R1()).private_bytes(*pem))
    assert main(["seal", "-C", str(folder), "--sign", str(folder / "mine"), "--quiet"]) == 0
    assert find_faults(folder, capsys) == []
    seals = folder / "archive" / SEALS_FILE
    signed = seals.read_text()
    last = json.loads(signed.splitlines()[-1])
    last["signed"]["signature"] = last["signed"]["signature"][::-1]
    seals.write_text("\n".join([*signed.splitlines()[:-1], json.dumps(last), ""]))
    assert any("the signature is not valid" in text for text in find_faults(folder, capsys))
    seals.write_text(signed)
    (file,) = (folder / "archive").glob("*.warc.gz")
    content = bytearray(file.read_bytes())
    content[4] ^= 1
    file.write_bytes(content)
    assert main(["seal", "-C", str(folder), "--sign", str(folder / "theirs"), "--quiet"]) == 0
    assert any("signed by several keys" in text for text in find_faults(folder, capsys))
