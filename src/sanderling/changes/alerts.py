"""Messages about changes, by mail, webhook or chat; never about an empty difference or an error page."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from sanderling.changes.feed import ReportedChange, summarize_change
from sanderling.errors import MissingExtra, UsageError
from sanderling.terminal import strip_control_characters

if TYPE_CHECKING:
    from apprise import Apprise

MAX_LISTED_CHANGES = 50  # changes spelled out in one message
SUBJECT_FORMAT = "Sanderling: {count} changed page{s}{times}"


class AlertSender(Protocol):
    """Whoever can send a message: apprise, and who stands in for it."""

    def notify(self, body: str, title: str) -> object:
        """Send; something false if it did not work."""
        ...


class _AppriseSender:
    """Sends through apprise, as text: where a letter is HTML, what a page says is no part of its markup."""

    def __init__(self, apprise: "Apprise") -> None:
        self.apprise = apprise

    def notify(self, body: str, title: str) -> object:
        return self.apprise.notify(body=body, title=title, body_format="text")


def open_sender(targets: Sequence[str]) -> AlertSender:
    """Make a sender to these addresses (mailto://, json://, slack:// ...: the schemes of apprise)."""
    try:
        import apprise
    except ImportError:
        raise MissingExtra("alerts", "alerts") from None
    sender = apprise.Apprise()
    for target in targets:
        if not sender.add(target):
            raise UsageError(
                f"{_redact_address(target)} is no address apprise knows; write e.g. mailto://user:pass@example.org"
            )
    return _AppriseSender(sender)


def _redact_address(target: str) -> str:
    """Name an address without its secrets."""
    return f"{target.partition('://')[0]}://…" if "://" in target else "that"


def format_message(items: Iterable[ReportedChange]) -> tuple[str, str] | None:
    """Write one message about all news; None if there is none."""
    news = [item for item in items if item.is_reportable]
    if not news:
        return None
    news.sort(key=lambda item: (-item.change.significance, item.url))
    lines = [_format_change(item) for item in news[:MAX_LISTED_CHANGES]]
    if len(news) > MAX_LISTED_CHANGES:
        lines.append(f"and {len(news) - MAX_LISTED_CHANGES} more")
    count = len({item.url for item in news})
    times = f", {len(news)} changes" if len(news) > count else ""  # of a page that changed twice both are told
    return SUBJECT_FORMAT.format(count=count, s="" if count == 1 else "s", times=times), "\n".join(lines)


def _format_change(item: ReportedChange) -> str:
    """Tell of one change: the page, the kinds, the words."""
    names = filter(None, (strip_control_characters(item.title), strip_control_characters(item.url)))
    return "\n".join((*names, summarize_change(item.change), *item.words, ""))


def send_alert(items: Iterable[ReportedChange], sender: AlertSender) -> int:
    """Send one message about all news; say how many changes it told of, 0 if there were none or nobody heard."""
    kept = [item for item in items if item.is_reportable]
    written = format_message(kept)
    if written is None:
        return 0
    subject, body = written
    return len(kept) if sender.notify(body=body, title=subject) else 0
