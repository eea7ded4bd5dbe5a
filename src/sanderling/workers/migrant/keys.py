"""Ed25519 keys of crawlers, signatures of requests, and allowed senders of a migrant."""

import os
from base64 import b64decode, b64encode
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from sanderling.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGNATURE_CONTEXT = b"sanderling itinerary 1\n"  # a signature is valid for nothing else


def create_key(file: Path) -> str:
    """Write a new private key (mode 0600) and FILE.pub. Returns the public key."""
    key = _import_ed25519().Ed25519PrivateKey.generate()
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{file} exists and is not overwritten; choose another name") from None
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from None
    with os.fdopen(handle, "w") as out:
        out.write(b64encode(key.private_bytes_raw()).decode() + "\n")
    public = b64encode(key.public_key().public_bytes_raw()).decode()
    file.with_name(file.name + ".pub").write_text(public + "\n")
    return public


def load_key(file: Path) -> "Ed25519PrivateKey":
    """Read a private key. Raises UsageError if the file holds no key."""
    try:
        key: Ed25519PrivateKey = _import_ed25519().Ed25519PrivateKey.from_private_bytes(b64decode(file.read_text()))
        return key
    except OSError as error:
        raise UsageError(f"cannot read the key {file}: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"{file} holds no private key; create one with sanderling identity create") from None


def get_public_key(key: "Ed25519PrivateKey") -> str:
    return b64encode(key.public_key().public_bytes_raw()).decode()


def sign_body(key: "Ed25519PrivateKey", body: bytes) -> str:
    """Return the signature of a request body in base64."""
    return b64encode(key.sign(SIGNATURE_CONTEXT + body)).decode()


def has_valid_signature(public_key: str, signature: str, body: bytes) -> bool:
    """Check the signature of a request body."""
    from cryptography.exceptions import InvalidSignature

    try:
        key = _import_ed25519().Ed25519PublicKey.from_public_bytes(b64decode(public_key, validate=True))
        key.verify(b64decode(signature, validate=True), SIGNATURE_CONTEXT + body)
    except (InvalidSignature, ValueError):
        return False
    return True


def load_senders(file: Path) -> dict[str, str]:
    """Read `{public key: name}` from a file with a `KEY NAME` per line. It may be missing."""
    try:
        lines = file.read_text().splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the list of senders {file}: {error}") from None
    pairs = (line.split(None, 1) for line in lines if line.strip() and not line.startswith("#"))
    return {pair[0]: pair[1].strip() if len(pair) > 1 else "" for pair in pairs}


def add_sender(file: Path, public_key: str, name: str) -> None:
    """Add a sender. Raises UsageError for an invalid key."""
    try:
        is_valid = len(b64decode(public_key, validate=True)) == 32
    except ValueError:
        is_valid = False
    if not is_valid:
        raise UsageError(f"{public_key[:60]!r} is not a public key; use the line in the .pub file")
    if public_key not in load_senders(file):
        with file.open("a") as out:
            out.write(f"{public_key} {' '.join(name.split())}\n")


def _import_ed25519() -> ModuleType:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingExtra("signing requests", "sign") from None
    return ed25519
