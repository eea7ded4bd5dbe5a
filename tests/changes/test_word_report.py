from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.change_pages import TEXT
from tests.support.change_pages import page as markup

from sanderling.changes.changed_text import format_plain_text
from sanderling.changes.classify import ChangeKind, PageChange
from sanderling.changes.fingerprint_diff import BlockAction
from sanderling.changes.paper_signatures import compute_checksum, compute_rms
from sanderling.changes.render import extract_excerpt, render_html, render_lines
from sanderling.changes.word_diff import DiffOperation, diff_words
from sanderling.changes.word_report import DiffReport, build_diff_report, parse_version


def build_report(old: str, new: str) -> DiffReport:
    return build_diff_report(parse_version(old.encode()), parse_version(new.encode()))


def render(found: DiffReport, *, boilerplate: bool = False) -> list[str]:
    return [line.plain for line in render_lines(found, include_boilerplate=boilerplate)]


@given(st.text(max_size=60), st.text(max_size=60))
def test_pieces_restore_both_versions(old: str, new: str) -> None:
    found = diff_words(old, new)
    assert "".join(piece.text for piece in found if piece.operation is not DiffOperation.ADDED) == old
    assert "".join(piece.text for piece in found if piece.operation is not DiffOperation.REMOVED) == new


def test_changed_words_of_a_paragraph_are_marked() -> None:
    found = build_report(markup(), markup([TEXT[0].replace("small", "pale"), *TEXT[1:]]))
    assert found.change.kinds == (ChangeKind.CONTENT,)
    (row,) = found.rows
    assert row.action is BlockAction.CHANGED
    assert [(piece.operation, piece.text) for piece in row.pieces if piece.operation is not DiffOperation.SAME] == [
        (DiffOperation.REMOVED, "small"),
        (DiffOperation.ADDED, "pale"),
    ]
    assert render(found)[1] == f"~ ¶3 {TEXT[0].replace('small', '[-small-]{+pale+}')}"


def test_paragraphs_have_paper_signatures() -> None:
    found = build_report(markup(), markup([*TEXT, "A new one."]))
    (row,) = found.rows
    assert row.old is None
    assert row.new is not None
    assert row.new.rms == compute_rms("A new one.")
    assert row.new.checksum == compute_checksum([(12.0, "A new one.")])
    assert found.new.checksum > found.old.checksum


def test_heading_has_a_larger_checksum() -> None:
    found = build_report("<p>tide", "<h1>tide</h1>")
    assert found.new.checksum == 2 * found.old.checksum


def test_links_and_assets_are_listed() -> None:
    found = build_report(markup(), markup(more='<a href="/new">x</a><img src="/b.png">'))
    assert (found.links_added, found.links_removed) == (("/new",), ())
    assert found.assets_added == ("/b.png",)
    assert "+ link /new" in render(found)


def test_link_with_the_same_resolved_target_is_not_listed() -> None:
    old = b'<a href="tides.html">x</a><a href="#top">up</a>'
    new = b'<a href="/sea/tides.html#now">x</a><a href="../moon">y</a><a href="javascript:void(0)">z</a>'
    before, after = (parse_version(body, url="https://a.example/sea/") for body in (old, new))
    found = build_diff_report(before, after)
    assert (found.links_added, found.links_removed) == (("https://a.example/moon",), ())


def test_reference_with_another_token_or_size_is_not_listed() -> None:
    more = '<a href="/on?sid={0}">x</a><img src="/b-{0}00x200.png"><script src="/app.js?v={0}"></script>'
    found = build_report(markup(more=more.format(1)), markup(more=more.format(2)))
    assert (found.links_added, found.links_removed, found.assets_added, found.assets_removed) == ((), (), (), ())


def test_moved_paragraph_shows_both_numbers() -> None:
    found = build_report(markup(), markup([*TEXT[1:], TEXT[0]]))
    assert f"> ¶3→{len(TEXT) + 2} {TEXT[0]}" in render(found)


def list_lines(report: DiffReport, change: PageChange, max_lines: int = 5) -> tuple[str, ...]:
    return tuple(map(format_plain_text, extract_excerpt(report, change, max_lines)))


def test_excerpt_lists_references_without_changed_text() -> None:
    link = '<p><a href="/{0}">Form</a> <img src="/{0}.png"></p>'
    found = build_report(markup(more=link.format("a")), markup(more=link.format("b")))
    assert list_lines(found, found.change) == ("+ link /b", "- link /a", "+ asset /b.png", "- asset /a.png")
    assert list_lines(found, found.change, max_lines=1) == ("+ link /b", "and 3 more links and assets")


def test_excerpt_lists_significant_paragraphs_only() -> None:
    found = build_report(markup(), markup([TEXT[0].replace("small", "pale"), *TEXT[1:], "A new one."]))
    _, second = found.change.paragraphs
    edited = f"~ {TEXT[0].replace('small', '[-small-]{+pale+}')}"
    assert list_lines(found, found.change) == (edited, "+ A new one.")
    assert list_lines(found, replace(found.change, paragraphs=(second,))) == ("+ A new one.",)


def test_excerpt_lists_changed_title() -> None:
    found = build_report(f"<title>Gulls</title>{markup()}", f"<title>Terns</title>{markup([*TEXT, 'A new one.'])}")
    assert list_lines(found, replace(found.change, paragraphs=())) == ("~ title [-Gulls-]{+Terns+}",)


def test_excerpt_shows_alternative_text() -> None:
    image = '<p><img src="/sign.png" alt="{}"></p>'
    found = build_report(markup(more=image.format("Open")), markup(more=image.format("Closed")))
    assert list_lines(found, found.change) == ("+ asset /sign.png (Closed)", "- asset /sign.png (Open)")


def test_boilerplate_is_shown_on_demand() -> None:
    found = build_report(markup(), markup(nav="<nav>Other</nav>"))
    assert not any("Other" in line for line in render(found))
    assert any("Other" in line for line in render(found, boilerplate=True))


def test_control_characters_are_removed() -> None:
    found = build_report(markup(), markup([*TEXT, "\x1b]0;owned\x07 and \u202e back"]))
    assert not any(letter in line for line in render(found) for letter in "\x1b\x07\u202e")


def test_html_report_is_escaped() -> None:
    evil = "&lt;script&gt;alert(1)&lt;/script&gt;"
    found = build_report(markup(), markup([*TEXT, evil], more='<a href="javascript:alert(1)">x</a>'))
    built = render_html(found, '"><script>', "then", "now")
    assert "<script" not in built
    assert "href=" not in built
    assert "Content-Security-Policy" in built
    assert "<ins>&lt;script&gt;alert(1)&lt;/script&gt;</ins>" in built


def test_long_unchanged_text_is_shortened() -> None:
    long = " ".join(["tide"] * 100)
    found = build_report(markup([f"start {long} end"]), markup([f"begin {long} end"]))
    (line,) = [line for line in render(found) if line.startswith("~")]
    assert len(line) < 120
    assert "…" in line


def test_changed_word_is_found_in_a_long_paragraph() -> None:
    long = "word " * 3_000
    found = diff_words(f"{long}old {long}", f"{long}new {long}")
    assert [(piece.operation, piece.text) for piece in found if piece.operation is not DiffOperation.SAME] == [
        (DiffOperation.REMOVED, "old"),
        (DiffOperation.ADDED, "new"),
    ]


def test_scripts_without_spaces_are_compared_by_character() -> None:
    for old, new, removed, added in (
        ("价格为五十元", "价格为六十元", "五", "六"),
        ("ราคาห้าบาท", "ราคาหกบาท", "ห้า", "หก"),
    ):
        found = diff_words(old, new)
        assert "".join(piece.text for piece in found if piece.operation is not DiffOperation.ADDED) == old
        assert "".join(piece.text for piece in found if piece.operation is DiffOperation.REMOVED) in removed
        assert "".join(piece.text for piece in found if piece.operation is DiffOperation.ADDED) in added


def test_html_report_shortens_unchanged_text() -> None:
    long = "word " * 3_000
    html = render_html(build_report(f"<p>{long}5 EUR</p>", f"<p>{long}6 EUR</p>"), "", "", "")
    assert "<td dir=auto>" in html
    assert "<del>5</del>" in html
    assert len(html) < 4_000


def test_changed_title_is_shown_first() -> None:
    old, new = (f"<title>{title} of the coast</title><p>{TEXT[0]}" for title in ("Gulls", "Terns"))
    assert any("~ title [-Gulls-]{+Terns+} of the coast" in line for line in render(build_report(old, new)))
