"""IPC Table 13: one letter changed, as the signatures and the digests see it."""

from experiments.frame import Table, exact
from experiments.paper_methods import compute_digests
from sanderling.changes.paper_signatures import compute_checksum, compute_rms

TITLE = "IPC Table 13: 'dog' and 'cog' by RMS, checksum and digests"

DOG, COG = (f"The quick brown fox jumps over the lazy {word}" for word in ("dog", "cog"))


def table() -> Table:
    """Sign both sentences."""
    rows = (
        exact("RMS, dog", 127.329, 127.329, compute_rms(DOG), 5e-4),
        exact("RMS, cog", 129.820, 129.820, compute_rms(COG), 5e-4),
        exact("checksum, dog", 43.356, 45.612, compute_checksum([(12, DOG)]), 5e-4),
        exact("checksum, cog", 43.344, 45.600, compute_checksum([(12, COG)]), 5e-4),
        exact(
            "checksum, dog, without its first two letters",
            43.356,
            43.356,
            compute_checksum([(12, DOG)], skip_leading=2),
            5e-4,
        ),
        exact(
            "checksum, cog, without its first two letters",
            43.344,
            43.344,
            compute_checksum([(12, COG)], skip_leading=2),
            5e-4,
        ),
        exact(
            "MD5 of cog",
            "e4d909c290d0fb1ca068ffaddf22cbd0",
            "1055d3e698d289f2af8663725127bd4b",
            compute_digests(COG)["md5"],
        ),
        exact(
            "MD5 of 'dog.'", "(printed as cog.)", "e4d909c290d0fb1ca068ffaddf22cbd0", compute_digests(DOG + ".")["md5"]
        ),
        exact("SHA-1 of cog", "de9f2c7f...", "de9f2c7fd25e1b3afad3e85a0bd17d9b100db4b3", compute_digests(COG)["sha1"]),
        exact(
            "order-blind: man bites dog, less dog bites man",
            None,
            0,
            compute_rms("man bites dog") - compute_rms("dog bites man"),
        ),
    )
    return Table(
        TITLE, rows, "The printed checksums lose the letters 'Th' (E37); the MD5 is that of another sentence (E41)."
    )
