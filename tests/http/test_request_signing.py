"""Signatures of requests, verified by an independent implementation of RFC 9421."""

import base64
import json
import time
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, InvalidSignature, algorithms
from tests.support.site import Site, html

from sanderling.cli import main
from sanderling.http.request_signing import RequestSigner, build_key_directory, build_public_jwk, compute_key_id
from sanderling.models import Host

AGENT = "https://crawler.example"


class DirectoryKeys(HTTPSignatureKeyResolver):
    """Public keys by key id, read from a key directory."""

    def __init__(self, directory: dict[str, list[dict[str, str]]]) -> None:
        self.keys = {key["kid"]: base64.urlsafe_b64decode(key["x"] + "=") for key in directory["keys"]}

    def resolve_public_key(self, key_id: str) -> Ed25519PublicKey:
        return Ed25519PublicKey.from_public_bytes(self.keys[key_id])

    def resolve_private_key(self, key_id: str) -> Ed25519PrivateKey:
        raise NotImplementedError


class ReceivedRequest:
    """A request as the verifier expects it."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self.method, self.url, self.headers = "GET", url, headers


def verify(directory: dict[str, list[dict[str, str]]], url: str, headers: dict[str, str]) -> str:
    """Return the tag of a valid signature, or raise InvalidSignature."""
    verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=DirectoryKeys(directory))
    (result,) = verifier.verify(ReceivedRequest(url, headers), max_age=timedelta(minutes=10), expect_tag="web-bot-auth")
    assert '"@authority"' in result.covered_components
    return str(result.parameters["tag"])


def split_lines(lines: tuple[bytes, ...]) -> dict[str, str]:
    return dict(line.decode().split(": ", 1) for line in lines)


def test_key_id_is_the_thumbprint_of_rfc_8037() -> None:
    public = base64.urlsafe_b64decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
    assert build_public_jwk(public)["x"] == "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
    assert compute_key_id(public) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"  # RFC 8037, A.3


@pytest.mark.parametrize("agent", [AGENT, ""])
def test_signature_is_valid_for_its_host_only(agent: str) -> None:
    key = Ed25519PrivateKey.generate()
    directory = build_key_directory([key.public_key().public_bytes_raw()])
    headers = split_lines(RequestSigner(key.private_bytes_raw(), agent).sign(Host("https://a.test:8443")))
    assert verify(directory, "https://a.test:8443/page?x=1", headers) == "web-bot-auth"
    with pytest.raises(InvalidSignature):
        verify(directory, "https://b.test/page", headers)
    if agent:
        with pytest.raises(InvalidSignature):
            verify(directory, "https://a.test:8443/", {**headers, "Signature-Agent": 'sig1="https://evil.test"'})


def test_signatures_expire_and_are_not_repeated() -> None:
    signer = RequestSigner(Ed25519PrivateKey.generate().private_bytes_raw(), AGENT, lambda: time.time() - 3600)
    first, second = (split_lines(signer.sign(Host("https://a.test"))) for _ in range(2))
    assert first["Signature"] != second["Signature"]
    directory = build_key_directory([signer._key.public_key().public_bytes_raw()])
    with pytest.raises(InvalidSignature):
        verify(directory, "https://a.test/", first)


def test_crawl_signs_every_request_and_archives_no_signature(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, folder = tmp_path / "crawler.key", tmp_path / "collection"
    assert main(["identity", "create", str(key)]) == 0
    assert key.stat().st_mode & 0o777 == 0o600
    assert main(["identity", "directory", str(key), "--output", str(tmp_path / "public")]) == 0
    directory = json.loads((tmp_path / "public/.well-known/http-message-signatures-directory").read_text())
    arguments = ["--sign", str(key), "--signature-agent", AGENT, "--allow-private", "--delay", "0", "--quiet"]
    with Site({"/": html("/a"), "/a": html()}) as site:
        assert main(["crawl", site.root, *arguments, "-C", str(folder)]) == 0
        assert {path for path, _ in site.requests} >= {"/robots.txt", "/", "/a"}
        for path, headers in site.requests:
            sent = {name: headers[name] for name in ("signature", "signature-input", "signature-agent")}
            assert verify(directory, site.root + path, sent) == "web-bot-auth"
    secret = key.read_bytes().strip()
    stored = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert secret not in stored
    assert b"Signature-Input" not in stored
    capsys.readouterr()


def test_signature_agent_must_be_an_origin_with_a_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--signature-agent", AGENT], ["--sign", str(tmp_path / "none")]):
        assert main(["crawl", "https://a.test/", *arguments, "-C", str(tmp_path / "c")]) == 4
    error = capsys.readouterr().err
    assert "--signature-agent needs --sign" in error
    assert "cannot read the key" in error
