"""Sign WACZ files and seals (WACZ Signing and Verification 0.1.0, anonymous signature): ECDSA with the curve P-384."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from sanderling import __version__
from sanderling.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

COORDINATE_BYTES = 48  # of P-384; the signature is r and s, as in Web Cryptography
SIGNED_FORMAT = "the key must be a P-384 key in PEM: openssl ecparam -name secp384r1 -genkey -noout -out FILE"


def load_signing_key(path: Path) -> "EllipticCurvePrivateKey":
    """Load a P-384 private key from a PEM file."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise MissingExtra("--sign", "sign") from None
    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except OSError as error:
        raise UsageError(f"cannot read the key {path}: {error.strerror}") from None
    except (ValueError, TypeError):  # not PEM, or encrypted
        raise UsageError(f"cannot read the key {path}: {SIGNED_FORMAT}") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name != "secp384r1":
        raise UsageError(f"{path} is another kind of key: {SIGNED_FORMAT}")
    return key


def sign_digest(digest: str, created: str, key: "EllipticCurvePrivateKey") -> dict[str, str]:
    """Return the `signedData` of a data package with this digest."""
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    r, s = decode_dss_signature(key.sign(digest.encode(), ECDSA(SHA256())))
    signature = r.to_bytes(COORDINATE_BYTES, "big") + s.to_bytes(COORDINATE_BYTES, "big")
    public_key = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return {
        "hash": digest,
        "signature": b64encode(signature).decode(),
        "publicKey": b64encode(public_key).decode(),
        "created": created,
        "software": f"sanderling {__version__}",
    }


def is_signature_valid(digest: str, signed: Mapping[str, str]) -> bool:
    """Return whether `signedData` is a signature of this digest by the key that it contains."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey
        from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.serialization import load_der_public_key
    except ImportError:
        raise MissingExtra("verifying signatures", "sign") from None
    try:
        raw = b64decode(signed["signature"], validate=True)
        key = load_der_public_key(b64decode(signed["publicKey"], validate=True))
        if not isinstance(key, EllipticCurvePublicKey) or len(raw) != 2 * COORDINATE_BYTES:
            return False
        r, s = (int.from_bytes(part, "big") for part in (raw[:COORDINATE_BYTES], raw[COORDINATE_BYTES:]))
        key.verify(encode_dss_signature(r, s), digest.encode(), ECDSA(SHA256()))
    except (InvalidSignature, ValueError, KeyError, TypeError):
        return False
    return signed.get("hash") == digest


def get_key_fingerprint(signed: Mapping[str, str]) -> str:
    """Return the SHA-256 digest of the public key, to compare with that of the expected signer."""
    return f"sha256:{sha256(str(signed.get('publicKey', '')).encode()).hexdigest()[:32]}"
