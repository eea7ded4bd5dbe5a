"""Store which templates of a host were compared with and without rendering."""

import msgspec

from sanderling.db.connection import Connection
from sanderling.page_rendering import PageRendering, RenderReason, RenderTemplate

RENDERING = "rendering"  # kind of a page's record among its fingerprints

_decode_templates = msgspec.msgpack.Decoder(tuple[RenderTemplate, ...]).decode
_decode_rendering = msgspec.msgpack.Decoder(PageRendering).decode


class RenderTemplateStore:
    """Reads and writes the comparisons of each host."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def load(self, host: str) -> tuple[RenderTemplate, ...]:
        row = self.db.execute("SELECT templates FROM render_templates WHERE host = ?", (host,)).fetchone()
        return _decode_templates(row[0]) if row else ()

    def save(self, host: str, templates: list[RenderTemplate]) -> None:
        self.db.execute(
            "INSERT INTO render_templates VALUES (?, ?)"
            " ON CONFLICT (host) DO UPDATE SET templates = excluded.templates",
            (host, msgspec.msgpack.encode(templates)),
        )


def encode_rendering(rendering: PageRendering) -> bytes:
    return msgspec.msgpack.encode(msgspec.structs.replace(rendering, template=None, visual=None))


def decode_rendering(packed: bytes | None) -> PageRendering | None:
    """Return how the stored version of a page was made. None: as the server sent it."""
    return _decode_rendering(packed) if packed else None


def describe_rendering(rendering: PageRendering) -> str:
    """Return in one sentence whether a page was rendered, and why."""
    answer = "yes" if rendering.is_rendered else "no"
    added = f"{rendering.words_added:,} words and {rendering.links_added:,} links"
    own = f"; to this page it added {added}" if rendering.words_added >= 0 else ""
    if rendering.reason is RenderReason.NO_SCRIPTS:
        return "no, it has no scripts"
    if rendering.reason is RenderReason.SHELL:
        return "no, although it looks built by scripts: --render auto runs them where that adds content"
    if rendering.reason is RenderReason.COMPLETE:
        return "no longer: its HTML looks complete"
    if rendering.reason is RenderReason.SETTING:
        return f"{answer}, by --render or --render-always"
    if rendering.reason is RenderReason.NO_GAIN and not rendering.probes:
        return "no: it looks complete, and rendering added nothing to such pages of the site"
    compared = f"rendering added content to {rendering.gains} of {rendering.probes} compared pages built like this one"
    return f"{answer}: {compared}{own}" if rendering.probes else f"{answer}, to compare it with its HTTP version{own}"
