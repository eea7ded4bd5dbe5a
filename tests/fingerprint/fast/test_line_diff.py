from hypothesis import given
from hypothesis import strategies as st
from tests.support.parity import agree, as_found

from sanderling.changes.fingerprint_diff import diff_fingerprints
from sanderling.content.extract import extract_blocks
from sanderling.fingerprint.build import build_text_fingerprint
from sanderling.fingerprint.fast.line_diff import compare_blocks
from sanderling.fingerprint.normalized_lines import assign_price_roles, measure_main_content, normalize_lines
from sanderling.html.parser import parse_html

PROSE = "Sanderlings run along the edge of the waves and pick up what the water leaves behind."
LINES = st.lists(
    st.sampled_from(
        (
            *(f"<p>{PROSE}</p>", f"<p hidden>{PROSE}</p>", "<p>10:15</p>", "<p>11:45</p>", "<p>$ 5</p>"),
            *("<p hidden>$ 5</p>", "<p>Sold out</p>", "<p>3 hours ago</p>", "<pre>10:15\n $ 5</pre>"),
            *("<p>Rendered in 3 ms</p>", "<p>Gulls</p>", "<p>Opens</p>", "<p>an hour ago</p>"),
            *("<p>Saturday, 9 May 2026</p>", "<p>Sunday, 10 May 2026</p>", "<p>19:30 Uhr</p>", "<p>Next meeting</p>"),
            *("<p>Views</p>", "<p>1,204</p>", "<p>31</p>", "<p>1.2k</p>"),
            *("<ul><li><a href=/a>A</a><li><a href=/b>B</a><li><a href=/c>C</a><li><a href=/d>D</a></ul>", "<hr>"),
        )
    ),
    max_size=9,
)  # fmt: skip


@given(start=LINES, old=LINES, new=LINES, end=LINES)
def test_partial_text_fingerprints_differ_like_complete_ones(
    start: list[str], old: list[str], new: list[str], end: list[str]
) -> None:
    pages = [extract_blocks(parse_html("".join((*start, *middle, *end)).encode(), "utf-8")) for middle in (old, new)]
    pair, full = (
        compare_blocks(*pages),
        [
            build_text_fingerprint(assign_price_roles(normalize_lines(page), page.lines), measure_main_content(page))
            for page in pages
        ],
    )
    found, truth = diff_fingerprints(pair.old, pair.new), diff_fingerprints(*full)
    assert found == as_found(truth, found)


def test_added_time_that_completes_a_timetable_changes_other_lines() -> None:
    times = "".join(f"<p>1{hour}:15</p>" for hour in range(3))
    old, new = (
        extract_blocks(parse_html(f"{times}<p>{PROSE}</p>{more}".encode(), "utf-8"))
        for more in ("<p>x</p>", "<p>14:15</p>")
    )
    pair = compare_blocks(old, new)
    assert len(diff_fingerprints(pair.old, pair.new).blocks) > 1


def test_chinese_line_is_prose_with_fewer_characters() -> None:
    links = "".join(f"<li><a href=/{name}>{name}</a></li>" for name in ("价格", "新闻", "港口", "天气"))
    page = f"<p>{PROSE}</p>" * 20 + f"<ul>{links}</ul><p>{{0}}</p><ul>{links}</ul>" + f"<p>{PROSE}</p>" * 2
    old, new = (page.format(words).encode() for words in ("船在潮水转向时离开港口", "船在潮水转向时离开港口谁也不等"))
    assert agree(old, new).blocks
