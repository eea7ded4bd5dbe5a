"""Notifications about changes by mail, webhook, or chat. Empty diffs and error pages are not sent."""

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from sanderling.changes.feed import ReportedChange, summarize_change
from sanderling.config.secret_values import read_secret
from sanderling.errors import MissingExtra, UsageError
from sanderling.plugins.plugin_registry import PluginGroup, list_plugin_names, load_plugin
from sanderling.plugins.protocols import Notifier
from sanderling.terminal import strip_control_characters

if TYPE_CHECKING:
    from apprise import Apprise

_log = logging.getLogger(__name__)
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


class _PluginSender:
    """Sends with the notifiers of plugins, and the rest with another sender."""

    def __init__(self, notifiers: Sequence[tuple[str, Notifier]], rest: AlertSender | None) -> None:
        self.notifiers, self.rest = notifiers, rest

    def notify(self, body: str, title: str) -> object:
        sent = [_notify(notifier, target, title, body) for target, notifier in self.notifiers]
        return all(sent) and (self.rest is None or bool(self.rest.notify(body, title)))


def _notify(notifier: Notifier, target: str, title: str, body: str) -> bool:
    try:
        notifier(target, title, body)
    except Exception as error:  # noqa: BLE001 code of strangers: an error is a message that was not sent
        _log.warning("%s was not notified: %s", _redact_address(target), type(error).__name__)
        return False
    return True


def open_sender(targets: Sequence[str]) -> AlertSender:
    """Open a sender to apprise URLs (mailto://, json://, slack:// ...), and to those of plugins."""
    targets = [read_secret(target, "the notification target") for target in targets]
    names = set(list_plugin_names(PluginGroup.NOTIFIERS))
    notifiers = [
        (target, load_plugin(PluginGroup.NOTIFIERS, target.partition("://")[0]))
        for target in targets
        if target.partition("://")[0] in names
    ]
    if not notifiers:
        return _open_apprise(targets)
    own = {target for target, _ in notifiers}
    rest = [target for target in targets if target not in own]
    return _PluginSender(notifiers, _open_apprise(rest) if rest else None)


def _open_apprise(targets: Sequence[str]) -> AlertSender:
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
