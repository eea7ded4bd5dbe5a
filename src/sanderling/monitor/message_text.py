"""Messages about changes: the JSON of webhooks, and the text of mail and chat."""

from collections.abc import Sequence

from sanderling.changes.change_json import build_change_object
from sanderling.changes.feed import ReportedChange, summarize_change
from sanderling.monitor.watch import Watch
from sanderling.terminal import strip_control_characters

MAX_LISTED_CHANGES = 50


def build_payload(watch: Watch, changes: Sequence[ReportedChange]) -> dict[str, object]:
    """Return the JSON object that webhooks receive; each change has the fields of `sanderling changes --json`."""
    subject, body = format_text_message(watch, changes)
    return {
        "watch": watch.name,
        "subject": subject,
        "message": body,
        "changes": [build_change_object(item) for item in changes],
    }


def format_text_message(watch: Watch, changes: Sequence[ReportedChange]) -> tuple[str, str]:
    """Return subject and body of a message."""
    pages = len({url for item in changes for url in item.shared_urls or (item.url,)})
    if not changes:
        return f"{watch.name}: test message", f"Sanderling will report changes of {watch.name} here."
    subject = f"{watch.name}: {changes[0].name if len(changes) == 1 else f'{pages} pages changed'}"
    blocks = [format_change(item, watch.template, watch.name) for item in changes[:MAX_LISTED_CHANGES]]
    if len(changes) > MAX_LISTED_CHANGES:
        blocks.append(f"and {len(changes) - MAX_LISTED_CHANGES} more")
    return strip_control_characters(subject)[:200], "\n\n".join(blocks)


def format_change(item: ReportedChange, template: str = "", watch_name: str = "") -> str:
    """Format a change as plain text, with the template of the watch, if any."""
    if template:
        fields = {
            "watch": watch_name,
            "url": item.url,
            "title": item.name,
            "text": "\n".join(item.words),
            "kinds": ", ".join(item.change.kinds),
            "significance": f"{item.change.significance:.2f}",
            "pages": len(item.shared_urls) or 1,
        }
        return strip_control_characters(template.format_map(fields))
    lines = dict.fromkeys([item.name, item.url, *(item.words or [summarize_change(item.change)])])
    return "\n".join(map(strip_control_characters, lines))
