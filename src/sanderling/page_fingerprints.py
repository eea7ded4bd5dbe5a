"""Fingerprints of a page version, computed by workers and stored by kind."""

from msgspec import Struct


class PageFingerprints(Struct, frozen=True, omit_defaults=True):
    """The names of the fields are the kinds in the table `fingerprints`; None: not computed."""

    structure: bytes | None = None  # features of the template
    text: bytes | None = None  # hash of the text
    minhash: bytes | None = None  # sketch of the text
    page: bytes | None = None  # full fingerprint; empty: versions were compared, and the stored one is outdated
    before: bytes | None = None  # of two compared versions, reduced to what differs; not stored
    after: bytes | None = None
    stable_hash: bytes | None = None  # of the page without volatile markup
    soft_error: bytes | None = None  # kind of an error page with status 200; empty: none
    image_hash: bytes | None = None  # perceptual hash of an image
    relevance: bytes | None = None  # to the topic of a focused crawl
    undated: bytes | None = None  # hash of what a page says apart from its date; empty: not needed; not stored
    tvi_table: bytes | None = None  # body of a TVI file; not stored

    @property
    def is_comparison(self) -> bool:
        """Return whether this version was compared with the previous one."""
        return self.page is not None or self.after is not None

    def list_stored(self) -> list[tuple[str, bytes]]:
        """Return the kinds and values to store."""
        return [(kind, value) for kind in STORED_KINDS if (value := getattr(self, kind)) is not None]


STORED_KINDS = tuple(
    kind for kind in PageFingerprints.__struct_fields__ if kind not in ("before", "after", "undated", "tvi_table")
)
NO_FINGERPRINTS = PageFingerprints()
