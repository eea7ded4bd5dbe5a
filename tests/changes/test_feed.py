import sys
from xml.etree import ElementTree

import pytest
from tests.support.change_pages import TEXT, compare, page

from sanderling.changes.alerts import format_message, open_sender, send_alert
from sanderling.changes.changed_text import build_changed_text
from sanderling.changes.classify import PageChange
from sanderling.changes.feed import ATOM_NAMESPACE, ReportedChange, summarize_change, write_atom_feed, write_rss_feed
from sanderling.errors import MissingExtra, UsageError

CHANGE = compare(page(), page([*TEXT, "One more."]))
ITEM = ReportedChange("https://example.org/a?b&c", 1_700_000_000.0, 1_600_000_000.0, CHANGE, "A <b>title</b> \x1b")
UNREPORTABLE = [
    ReportedChange("https://example.org/same", 1_700_000_001.0, 0.0, PageChange()),
    ReportedChange("https://example.org/gone", 1_700_000_002.0, 0.0, CHANGE, status=503),
    ReportedChange("https://example.org/other", 1_700_000_003.0, 0.0, PageChange(comparable=False)),
]


class Mailbox:
    """A sender that stores messages."""

    def __init__(self, answer: bool = True) -> None:
        self.answer = answer
        self.sent: list[tuple[str, str]] = []

    def notify(self, body: str, title: str) -> bool:
        self.sent.append((title, body))
        return self.answer


def test_change_is_summarized_in_a_line() -> None:
    assert summarize_change(PageChange()) == "no significant change; significance 0.00"
    assert (
        summarize_change(CHANGE) == f"content, structure; significance {CHANGE.significance:.2f}; paragraphs: 1 added"
    )


def test_summary_counts_images_and_scripts() -> None:
    old, new = (page(more=f'<img src="/{name}.png"><script>{name}({name})</script>') for name in ("a", "b"))
    summary = summarize_change(compare(old, new))
    assert "images: 1 added, 1 removed; scripts: 1 added, 1 removed" in summary


def test_url_of_a_page_without_title_is_listed_once() -> None:
    message = format_message([ReportedChange(ITEM.url, ITEM.seen_at, ITEM.previous_at, CHANGE)])
    assert message is not None
    assert message[1].count(ITEM.url) == 1


def test_atom_feed_has_reportable_changes_only() -> None:
    root = ElementTree.fromstring(write_atom_feed([*UNREPORTABLE, ITEM], "Changes", "urn:x"))
    entries = root.findall(f"{{{ATOM_NAMESPACE}}}entry")
    assert len(entries) == 1
    link = entries[0].find(f"{{{ATOM_NAMESPACE}}}link")
    assert link is not None
    assert link.get("href") == ITEM.url
    assert [entry.get("term") for entry in entries[0].findall(f"{{{ATOM_NAMESPACE}}}category")] == [
        "content",
        "structure",
    ]
    assert root.findtext(f"{{{ATOM_NAMESPACE}}}updated") == "2023-11-14T22:13:20+00:00"


def test_rss_feed_has_reportable_changes_only() -> None:
    root = ElementTree.fromstring(write_rss_feed([*UNREPORTABLE, ITEM], "Changes", "urn:x"))
    assert root.findtext("channel/link") == "https://example.org/"
    (entry,) = root.findall("channel/item")
    assert entry.findtext("link") == ITEM.url
    assert entry.findtext("pubDate") == "Tue, 14 Nov 2023 22:13:20 +0000"


def test_empty_feed_is_valid() -> None:
    assert ElementTree.fromstring(write_atom_feed([], "Changes", "urn:x")).tag == f"{{{ATOM_NAMESPACE}}}feed"


def test_unreportable_changes_are_not_sent() -> None:
    mailbox = Mailbox()
    assert send_alert(UNREPORTABLE, mailbox) == 0
    assert mailbox.sent == []
    assert format_message([]) is None


def test_all_changes_are_sent_in_a_single_message() -> None:
    mailbox = Mailbox()
    assert send_alert([ITEM, *UNREPORTABLE, ITEM], mailbox) == 2
    ((title, body),) = mailbox.sent
    assert title == "Sanderling: 1 changed page, 2 changes"
    assert ITEM.url in body
    assert "\x1b" not in body


def test_failed_message_counts_as_zero() -> None:
    assert send_alert([ITEM], Mailbox(answer=False)) == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # apprise imports modules removed in Python 3.13
def test_unknown_alert_url_is_rejected_without_its_secrets() -> None:
    pytest.importorskip("apprise")
    with pytest.raises(UsageError) as error:
        open_sender(["nonsense://user:secret@host"])
    assert "secret" not in str(error.value)


def test_missing_apprise_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(MissingExtra, match=r"\[alerts\]"):
        open_sender(["mailto://x"])


def test_feeds_and_messages_contain_escaped_words() -> None:
    text = build_changed_text("Price 5 <script>", "Price 6 <script>")
    item = ReportedChange(ITEM.url, ITEM.seen_at, ITEM.previous_at, CHANGE, texts=(text,))
    entry = ElementTree.fromstring(write_atom_feed([item], "Changes", "urn:x")).find(
        f"{{{ATOM_NAMESPACE}}}entry/{{{ATOM_NAMESPACE}}}content"
    )
    assert entry is not None
    shown = "<p>Price <del>5</del><ins>6</ins> &lt;script&gt;</p>"
    assert (entry.get("type"), entry.text) == ("html", shown)
    described = ElementTree.fromstring(write_rss_feed([item], "Changes", "https://example.org/")).findtext(
        "channel/item/description"
    )
    assert shown in (described or "")
    message = format_message([item])
    assert message is not None
    assert item.words[0] in message[1]
