from sanderling.changes.changed_text import build_changed_text, format_html, format_plain_text, truncate_text


def test_changed_words_are_bracketed_in_plain_text_and_marked_in_html() -> None:
    text = build_changed_text("Price 129 EUR", "Price 119 EUR", "$.price")
    assert format_plain_text(text) == "~ $.price Price [-129-]{+119+} EUR"
    assert format_html(text) == "$.price Price <del>129</del><ins>119</ins> EUR"


def test_added_and_removed_text_has_no_brackets() -> None:
    assert format_plain_text(build_changed_text("", "Autumn sale!")) == "+ Autumn sale!"
    assert format_plain_text(build_changed_text("Autumn sale!", "")) == "- Autumn sale!"


def test_page_content_cannot_add_markup_or_control_characters() -> None:
    assert format_html(build_changed_text("", "<script>\x1b[2J")) == "<ins>&lt;script&gt;[2J</ins>"


def test_long_text_is_truncated() -> None:
    assert format_plain_text(truncate_text(build_changed_text("", "x" * 500), 10)) == "+ " + "x" * 10 + "…"
