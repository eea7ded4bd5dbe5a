"""Notifications about changes by mail, webhook, or chat. Empty diffs and error pages are not sent."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from sanderling.changes.feed import ReportedChange, summarize_change
from sanderling.errors import MissingExtra, UsageError
from sanderling.terminal import strip_control_characters

if TYPE_CHECKING:
    from apprise import Apprise

MAX_LISTED_CHANGES = 50  # in a message
SUBJECT_FORMAT = "Sanderling: {count} changed page{s}{times}"


class AlertSender(Protocol):
    """Sends a notification: apprise, or a replacement in tests."""

    def notify(self, body: str, title: str) -> object:
        """Send a message; the result is false if that failed."""
        ...


class _AppriseSender:
    """Sends plain text: page content must not become markup in an HTML mail."""

    def __init__(self, apprise: "Apprise") -> None:
        self.apprise = apprise

    def notify(self, body: str, title: str) -> object:
        return self.apprise.notify(body=body, title=title, body_format="text")


def open_sender(targets: Sequence[str]) -> AlertSender:
    """Open a sender to apprise URLs (mailto://, json://, slack:// ...)."""
    try:
        import apprise
    except ImportError:
        raise MissingExtra("alerts", "alerts") from None
    sender = apprise.Apprise()
    for target in targets:
        if not sender.add(target):
            raise UsageError(
                f"{_redact_address(target)} is not a notification URL that apprise supports;"
                " write e.g. mailto://user:pass@example.org"
            )
    return _AppriseSender(sender)


def _redact_address(target: str) -> str:
    return f"{target.partition('://')[0]}://…" if "://" in target else "the alert target"


def format_message(items: Iterable[ReportedChange]) -> tuple[str, str] | None:
    """Return subject and body of a message about all reportable changes; None if there are none."""
    reportable = [item for item in items if item.is_reportable]
    if not reportable:
        return None
    reportable.sort(key=lambda item: (-item.change.significance, item.url))
    lines = [_format_change(item) for item in reportable[:MAX_LISTED_CHANGES]]
    if len(reportable) > MAX_LISTED_CHANGES:
        lines.append(f"and {len(reportable) - MAX_LISTED_CHANGES} more")
    count = len({url for item in reportable for url in item.shared_urls or (item.url,)})
    events = sum(len(item.shared_urls) or 1 for item in reportable)
    times = f", {events} changes" if events > count else ""  # a page may have changed twice
    return SUBJECT_FORMAT.format(count=count, s="" if count == 1 else "s", times=times), "\n".join(lines)


def _format_change(item: ReportedChange) -> str:
    names = dict.fromkeys(filter(None, (strip_control_characters(item.name), strip_control_characters(item.url))))
    return "\n".join((*names, summarize_change(item.change), *item.words, ""))


def send_alert(items: Iterable[ReportedChange], sender: AlertSender) -> int:
    """Send a message about all reportable changes; return their number, 0 if sending failed."""
    reportable = [item for item in items if item.is_reportable]
    message = format_message(reportable)
    if message is None:
        return 0
    subject, body = message
    return len(reportable) if sender.notify(body=body, title=subject) else 0
