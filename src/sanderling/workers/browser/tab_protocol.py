"""Messages between a worker and its browser process, as frames of `worker_protocol`."""

from msgspec import Struct

from sanderling.page_rendering import VisualChange

HeaderPair = tuple[str, str]


class BrowserConfig(Struct, frozen=True):
    """The first frame sent to a browser process. Sizes in bytes, times in seconds."""

    user_agent: str
    chromium_path: str
    user_script: str = ""  # run before the scripts of every page
    page_seconds: float = 20.0  # of a page, without the time in which it waits for requests
    total_seconds: float = 180.0  # of a page
    tab_bytes: int = 1 << 30  # resident memory of the process of a page
    max_html: int = 20_000_000
    max_requests: int = 300  # of a page
    max_rounds: int = 10  # of scrolling, and of clicking "load more"
    screenshots: bool = False
    allows_unsandboxed: bool = True  # False: do not start if Chromium's sandbox cannot be used


class RenderCommand(Struct, frozen=True, tag=True):
    """Render a document that was fetched."""

    page_id: int
    url: str
    status: int
    headers: tuple[HeaderPair, ...]
    body: bytes
    previous_picture: bytes = b""  # of the last version
    previous_blocks: bytes = b""  # in that picture


class SubresponseCommand(Struct, frozen=True, tag=True):
    """The answer to a request of a page."""

    page_id: int
    request_id: int
    status: int = 0
    headers: tuple[HeaderPair, ...] = ()
    body: bytes = b""
    is_refused: bool = False


class BrowserStarted(Struct, frozen=True, tag=True):
    has_sandbox: bool
    has_network: bool  # no network namespace: only the missing proxy keeps requests inside
    error: str = ""  # the browser did not start


class Subrequest(Struct, frozen=True, tag=True):
    """A request of a page."""

    page_id: int
    request_id: int
    url: str
    method: str
    kind: str  # Playwright's resource type: script, stylesheet, fetch, ...
    headers: dict[str, str] = {}
    body: bytes = b""


class RenderedPage(Struct, frozen=True, tag=True):
    """The result of a page."""

    page_id: int
    problem: str = ""  # name of a `Reason`; empty: rendered
    detail: str = ""
    html: bytes = b""
    redirect_url: str = ""  # the page's script navigated to it
    screenshot: bytes = b""
    picture_blocks: bytes = b""
    visual: VisualChange | None = None
    seconds: float = 0.0
    refused: dict[str, int] = {}  # refused in the browser, by kind
    unfetched: tuple[str, ...] = ()  # URLs of pictures and other files that the page requested and did not get
    notes: tuple[str, ...] = ()  # limits reached


BrowserCommand = RenderCommand | SubresponseCommand
BrowserMessage = BrowserStarted | Subrequest | RenderedPage
