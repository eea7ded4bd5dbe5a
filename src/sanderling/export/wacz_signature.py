"""Sign WACZ files (WACZ Signing and Verification 0.1.0, anonymous signature): ECDSA with the curve P-384."""

from base64 import b64encode
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
        raise MissingExtra("--sign", "migrant") from None
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
