"""Records about pages that were rendered in a browser, passed between packages."""

from enum import StrEnum

from msgspec import Struct


class Capture(Struct, frozen=True):
    """A request of a rendered page, archived after the record of the page."""

    url: str
    fetched_at: float
    mime: str
    status: int
    payload_digest: str
    member: bytes  # WARC record, as a gzip member
    request_member: bytes = b""  # WARC request record, likewise; empty: none
    is_indexed: bool = True  # replay tools find it by its URL


class RenderReason(StrEnum):
    """Reason why a page was rendered, or not."""

    SETTING = "setting"  # `--render always` or a pattern
    NO_SCRIPTS = "no_scripts"  # or not HTML
    PROBE = "probe"  # to compare it with its HTTP version
    GAIN = "gain"  # rendering adds content to pages of this template
    NO_GAIN = "no_gain"  # rendering adds nothing to pages of this template
    SHELL = "shell"  # looks built by scripts, and was not rendered
    COMPLETE = "complete"  # was rendered before, and looks complete now


class RenderTemplate(Struct, frozen=True, array_like=True):
    """Comparisons, with and without rendering, of pages of a host with similar HTML and the same scripts."""

    sketch: tuple[int, ...]  # smallest hashes of blocks and script addresses
    has_text: bool  # the HTML has text before rendering
    pages: int = 0  # pages seen
    probes: int = 0  # pages rendered and compared; old ones count less
    gains: int = 0  # of these, pages to which rendering added content
    next_probe: int = 0  # number of seen pages at which rendering is tried again


class DataSource(Struct, frozen=True, array_like=True):
    """A document that the scripts of a page requested, such as JSON."""

    url: str
    digest: bytes  # of status and body
    etag: str = ""
    last_modified: str = ""


Box = tuple[int, int, int, int]  # left, top, width, height in pixels


class VisualChange(Struct, frozen=True, array_like=True):
    """Difference between the screenshots of two versions, in the block with the most differing pixels."""

    share: float  # of the pixels in the box of the block
    box: Box
    old_box: Box
    blocks: int = 1  # blocks that differ, although their text or image is the same

    def describe(self) -> str:
        more = f", and {self.blocks - 1} more" if self.blocks > 1 else ""
        return f"{self.share:.0%} of the pixels of a block with the same text, {self.box[2]} x {self.box[3]}{more}"


class PageRendering(Struct, frozen=True, array_like=True):
    """How a version of a page was made."""

    is_rendered: bool
    reason: RenderReason
    rendered_at: float = 0.0
    words_added: int = -1  # by rendering, in the main content; -1: not compared
    links_added: int = -1  # to pages of the same site
    probes: int = 0  # of its template
    gains: int = 0
    page_digest: bytes = b""  # of the HTML as the server sent it, without volatile markup
    sources: tuple[DataSource, ...] = ()
    can_check_sources: bool = True  # False: what the page requested cannot be asked again without rendering
    template: RenderTemplate | None = None  # with this page; None: not compared
    visual: VisualChange | None = None  # None: no screenshot, or it does not differ


def describe_unrendered(is_shell: bool, previous: PageRendering | None) -> PageRendering | None:
    """Return what is stored of a page that was not rendered. None: nothing, as for most pages."""
    if is_shell:
        return PageRendering(False, RenderReason.SHELL)
    return PageRendering(False, RenderReason.COMPLETE) if previous is not None else None
