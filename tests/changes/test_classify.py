"""The verdict on two versions of a page."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.change_pages import HEAD, NAV, TEXT, compare, mark, page

from sanderling.changes.classify import ChangeCounts, ChangeKind, ParagraphChange, compare_fingerprints, to_json
from sanderling.changes.fingerprint_diff import BlockAction
from sanderling.changes.tag_tree_diff import StructureSeverity
from sanderling.content.user_rules import UserRules
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.model import encode_fingerprint
from sanderling.html.parser import parse_html

words = st.lists(st.sampled_from(["tide", "sand", "crab", "worm", "wave", "shell"]), min_size=1, max_size=8).map(
    " ".join
)
texts = st.lists(words, max_size=8)


def test_the_same_page_did_not_change() -> None:
    change = compare(page(), page())
    assert not change.is_significant
    assert change.significance == 0


def test_an_inserted_paragraph_is_one_insertion() -> None:
    change = compare(page(), page([*TEXT[:2], "A new paragraph about their nests.", *TEXT[2:]]))
    assert change.counts == {"added": 1}
    assert change.paragraphs == (ParagraphChange(BlockAction.ADDED, 29, True, new=4, amount=change.amount),)
    assert change.kinds == (ChangeKind.CONTENT, ChangeKind.STRUCTURE)
    assert change.structure.severity is StructureSeverity.MINOR


def test_a_removed_paragraph_is_one_removal() -> None:
    change = compare(page(), page([*TEXT[:2], *TEXT[3:]]))
    assert change.counts == {"removed": 1}


def test_a_rewritten_paragraph_is_content_alone() -> None:
    change = compare(page(), page([*TEXT[:2], "They follow the waves.", *TEXT[3:]]))
    assert (change.kinds, change.counts) == ((ChangeKind.CONTENT,), {"changed": 1})
    assert change.structure.severity is StructureSeverity.NONE


def test_a_moved_paragraph_is_a_move() -> None:
    change = compare(page(), page([TEXT[4], *TEXT[:4]]))
    assert (change.kinds, change.counts) == ((ChangeKind.CONTENT,), {"moved": 1})


def test_more_change_is_more_significant() -> None:
    little = compare(page(), page([*TEXT[:4], "x"]))
    much = compare(page(), page([f"{number}" for number in range(5)]))
    assert 0.4 < little.significance < much.significance <= 1
    assert little.amount < much.amount <= 1


def test_furniture_is_no_content() -> None:
    change = compare(page(), page(nav=NAV.replace("Birds", "All our birds")))
    assert change.kinds == ()
    assert change.noise == ("furniture",)
    assert change.paragraphs[0].main is False


def test_times_and_counters_are_noise() -> None:
    for old, new in (
        ("Seen at 10:31:07", "Seen at 23:02:55"),
        ("1,204 views", "1,377 views"),
        ("posted 3 hours ago", "posted 2 days ago"),
        ("Request ID: 8fe2a11b", "Request ID: 1c77d0aa"),
        ("\u00a9 2025 Birds", "\u00a9 2026 Birds"),
        ("6990178682447328991", "11900332545383543163"),
    ):
        change = compare(page([*TEXT, old]), page([*TEXT, new]))
        assert (old, change.kinds) == (old, ())


@pytest.mark.parametrize("hours", ["<dl><dt>Opens</dt><dd>{}</dd></dl>", "<table><tr><th>Abfahrt:<td>{}</table>"])
def test_a_time_below_its_label_is_content(hours: str) -> None:
    assert compare(page(more=hours.format("9:00")), page(more=hours.format("9:30"))).counts == {BlockAction.CHANGED: 1}
    clock = "<dl><dt>Local time</dt><dd>{}</dd></dl>"
    assert compare(page(more=clock.format("9:00")), page(more=clock.format("9:30"))).kinds == ()


@pytest.mark.parametrize(
    ("label", "old", "new"),
    [
        ("Hearing date", "Monday, 5 May 2027", "Tuesday, 13 May 2027"),
        ("When", "Monday, 5 May 2027, 19:30", "Monday, 12 May 2027, 19:30"),
        ("Nächster Termin", "19:30 Uhr", "20:00 Uhr"),
        ("Kick-off", "15:00", "17:30"),
    ],
)
def test_a_day_or_an_hour_below_what_it_is_for_is_content(label: str, old: str, new: str) -> None:
    before, after = (page(more=f"<dl><dt>{label}</dt><dd>{said}</dd></dl>") for said in (old, new))
    assert compare(before, after).counts == {BlockAction.CHANGED: 1}


def test_a_number_below_the_name_of_a_counter_is_noise() -> None:
    pairs = "<dl><dt>{0}</dt><dd>{1}</dd><dt>Likes:</dt><dd>{2}</dd><dt>Joined</dt><dd>2015</dd></dl>"
    table = "<table><tr><th>Seats</th><th>Visitors</th></tr><tr><td>{0}</td><td>40</td></tr></table>"
    old, new, other = (
        page(more=pairs.format(*said)) for said in (("Messages", 812, 31), ("Messages", 815, 33), ("Rooms", 815, 33))
    )
    assert compare(old, new).kinds == ()
    assert compare(new, other).counts
    assert compare(page(more=pairs.format("Rooms", 12, 31)), page(more=pairs.format("Rooms", 14, 31))).counts
    assert compare(page(more=table.format(12)), page(more=table.format(14))).counts


def test_several_days_are_a_list_and_one_is_today() -> None:
    days = ["Saturday, 9 May 2026", "Saturday, 16 May 2026", "Saturday, 23 May 2026"]
    assert compare(page([*TEXT, *days]), page([*TEXT, *days[:2], "Sunday, 24 May 2026"])).counts == {
        BlockAction.CHANGED: 1
    }
    assert compare(page([*TEXT, days[0]]), page([*TEXT, days[1]])).kinds == ()


@pytest.mark.parametrize(
    ("old", "new"), [("an hour ago", "2 hours ago"), ("Yesterday", "2 days ago"), ("۳ ساعت پیش", "۴ ساعت پیش")]
)
def test_an_age_in_words_or_in_other_digits_is_noise(old: str, new: str) -> None:
    changed = compare(page([*TEXT, old]), page([*TEXT, new]))
    assert changed.kinds == ()
    assert changed.noise == ("stamps",)


def test_tokens_cache_busters_and_view_state_are_noise() -> None:
    form = '<form action="/go"><input type="hidden" name="{0}" value="{1}"><input name="q"></form>'
    for name in ("csrf_token", "__VIEWSTATE", "__EVENTVALIDATION"):
        assert compare(page(more=form.format(name, "aaa1")), page(more=form.format(name, "bbb2"))).kinds == ()
    busted = HEAD.replace("v=1", "v=2")
    assert compare(page(), page(head=busted)).kinds == ()
    nonce = '<script nonce="{0}">window.token = "{0}"; start();</script>'
    assert compare(page(more=nonce.format("a1b2")), page(more=nonce.format("c3d4"))).kinds == ()
    link = '<a href="/next;jsessionid={0}">go on</a><a href="/list?sid={0}&page=2">two</a>'
    assert compare(page(more=link.format("A1")), page(more=link.format("B2"))).kinds == ()


def test_other_looks_are_presentation() -> None:
    styled = page().replace('class="text"', 'class="text wide"')
    assert compare(page(), styled).kinds == (ChangeKind.PRESENTATION,)
    assert compare(page(), page().replace("<h1>", '<h1 style="color:red">')).kinds == (ChangeKind.PRESENTATION,)
    assert compare(page(), page().replace("site.css", "other.css")).kinds == (ChangeKind.PRESENTATION,)
    assert compare(page(), page().replace("small waders", "<b>small</b> waders")).kinds == (ChangeKind.PRESENTATION,)


def test_other_scripts_handlers_forms_and_frames_are_behaviour() -> None:
    assert compare(page(), page().replace("/app.js", "/tracker.js")).kinds == (ChangeKind.BEHAVIOR,)
    old, new = "<script>start();</script>", "<script>for (;;) { spy([1]); }</script>"
    assert compare(page(more=old), page(more=new)).behavior["scripts"].added == 1
    assert compare(page(), page().replace("<h1>", '<h1 onclick="go()">')).kinds == (ChangeKind.BEHAVIOR,)
    form = '<form action="/a"><input name="q"></form>'
    assert compare(page(more=form), page(more=form.replace("/a", "/b"))).kinds == (ChangeKind.BEHAVIOR,)
    frame = '<iframe src="/a"></iframe>'
    assert compare(page(more=frame), page(more=frame.replace("/a", "/b"))).kinds == (ChangeKind.BEHAVIOR,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<script>greet()</script>", "<script>follow()</script>"),
        ('<input name="q" onfocus="greet()">', '<input name="q" onfocus="follow()">'),
        ('<embed src="/a.swf">', '<embed src="/b.swf">'),
        ('<object data="/a.swf"></object>', '<object data="/b.swf"></object>'),
        ('<applet code="A.class"></applet>', '<applet code="B.class"></applet>'),
    ],
)
def test_other_code_is_behaviour_wherever_it_hangs(old: str, new: str) -> None:
    assert compare(page(more=old), page(more=new)).kinds == (ChangeKind.BEHAVIOR,)


def test_what_is_shown_or_hidden_from_now_on_is_content() -> None:
    flag = "<p{}>Sold out for this season</p><p{}>Order it today</p>"
    for veil in (" hidden", ' style="display: none"'):
        change = compare(page(more=flag.format(veil, "")), page(more=flag.format("", veil)))
        assert ChangeKind.CONTENT in change.kinds
        assert change.counts == {"added": 1, "removed": 1}
    assert compare(page(more=flag.format(" hidden", "")), page(more=flag.format(" hidden=''", ""))).kinds == ()


@pytest.mark.parametrize(
    "fold",
    [
        '<h3><button aria-expanded="false" aria-controls="a1">Dogs?</button></h3><div id="a1" hidden><p>{}</p></div>',
        '<button aria-expanded="false">Dogs?</button> <div style="display: none"><p>{}</p></div>',
        "<p>Dogs? <button onclick='unfold(2)'>show</button></p><div style='display:none;'><p>{}</p></div>",
        '<div role="tabpanel" hidden><p>{}</p></div>',
        '<h3>Dogs?</h3><div hidden="until-found"><p>{}</p></div>',
        "<details><summary>Dogs?</summary><p>{}</p></details>",
    ],
)
def test_what_readers_unfold_is_content(fold: str) -> None:
    old, new = (page(more=fold.format(answer)) for answer in ("Dogs are welcome.", "Dogs are not welcome."))
    assert compare(old, new).counts == {BlockAction.CHANGED: 1}
    assert compare(old, old.replace('"false"', '"true"').replace(" hidden", "")).counts == {}


def test_what_no_control_unfolds_is_not_shown() -> None:
    long = f'<div><button aria-expanded="false">Menu</button><p>{TEXT[0] * 6}</p></div>'
    for before in ("<h3>Dogs?</h3>", long, '<button aria-expanded="false">Dogs?</button> or '):
        old, new = (page(more=f"{before}<div hidden>{answer}</div>") for answer in ("Welcome.", "Not welcome."))
        assert compare(old, new).kinds == ()


def test_the_same_words_in_other_blocks_are_no_other_content() -> None:
    one = page([*TEXT, "One thing is said. Then another is said."])
    two = page([*TEXT, "One thing is said.", "Then another is said."])
    assert compare(one, two).kinds == (ChangeKind.STRUCTURE,)
    cells = "<table><tr><td>{}</td><td>{}</td></tr></table>"
    assert compare(page(more=cells.format("1", "23")), page(more=cells.format("12", "3"))).kinds == (
        ChangeKind.CONTENT,
    )


def test_the_same_words_in_other_blocks_are_no_other_content_where_other_words_differ() -> None:
    one = page(["Of gulls", "One is said. Another is said.", *TEXT, "A word"])
    two = page(["Of terns", "One is said.", "Another is said.", *TEXT, "Two words"])
    assert compare(one, two).counts == compare(two, one).counts == {BlockAction.CHANGED: 2}


def test_what_comes_and_goes_beside_the_text_is_not_taken_for_its_twin_in_it() -> None:
    bar = "<nav><a href='/'>Home</a><p>{}</p></nav>"
    one = page(nav=bar.format("Sanderlings"), foot="<footer>Of gulls</footer>")
    two = page(nav=bar.format("All birds"), foot="<footer>Of terns</footer>")
    assert compare(one, two).kinds == compare(two, one).kinds == ()


def test_a_text_that_keeps_its_order_has_not_moved_when_a_bar_did() -> None:
    bar = "<nav>" + "".join(f"<p>Page {number} of all</p>" for number in range(9)) + "</nav>"
    one, two = page(nav=NAV + bar), page(nav=NAV, foot=bar)
    assert compare(one, two).counts == {}
    turned = page(TEXT[::-1], nav=NAV, foot=bar)
    assert ChangeKind.CONTENT in compare(one, turned).kinds


def test_a_declared_main_part_without_prose_is_believed_if_most_words_are_there() -> None:
    listed = "".join(f"<p><a href='/{number}'>Bird {number}</a></p>" for number in range(10, 30))
    index = "<main><h1>Index of birds</h1>{0}</main><div>Made by the people of the shore, edition {1}</div>"
    assert compare(index.format(listed, 2), index.format(listed, 3)).kinds == ()
    assert (
        ChangeKind.CONTENT
        in compare(index.format(listed, 2), index.format(listed.replace("Bird 12", "A gull"), 2)).kinds
    )


def test_another_page_in_a_frameset_is_behaviour() -> None:
    frames = '<html><frameset cols="*,*"><frame src="/a"><frame src="/b"></frameset></html>'
    assert compare(frames, frames.replace("/b", "/c")).kinds == (ChangeKind.BEHAVIOR,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<img src="/show.php?id=3&t=17">', '<img src="/show.php?id=4&t=18">'),
        ('<img src="/_next/image?url=%2Fgull.png&w=640">', '<img src="/_next/image?url=%2Ftern.png&w=640">'),
        ('<img src="/birds/12345.jpg">', '<img src="/birds/67890.jpg">'),
        ('<img srcset="/gull.png 1x, /gull2.png 2x">', '<img srcset="/tern.png 1x, /tern2.png 2x">'),
        ('<video src="/gull.mp4"></video>', '<video src="/tern.mp4"></video>'),
        ('<audio><source src="/gull.mp3"></audio>', '<audio><source src="/tern.mp3"></audio>'),
    ],
)
def test_another_picture_film_or_sound_is_media(old: str, new: str) -> None:
    assert ChangeKind.MEDIA in compare(page(more=old), page(more=new)).kinds


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<img src="/gull.png?17">', '<img src="/gull.png?18">'),
        ('<img src="/gull.78c92fac7aa8fdd8.png">', '<img src="/gull.11112fac7aa8fdd9.png">'),
        ('<img src="/gull-1699999999.png">', '<img src="/gull-1700000000.png">'),
        ('<script>track("a1b2", 17);</script>', '<script>track("c3d4", 18);</script>'),
    ],
)
def test_a_token_in_a_picture_or_script_is_noise(old: str, new: str) -> None:
    assert compare(page(more=old), page(more=new)).kinds == ()


def test_another_picture_is_media_and_in_the_main_part_content_too() -> None:
    picture = '<img src="/gull.png" alt="a bird">'
    assert compare(page(more=picture), page(more=picture.replace("gull", "tern"))).kinds == (
        ChangeKind.CONTENT,
        ChangeKind.MEDIA,
    )
    outside = compare(page(nav=NAV + picture), page(nav=NAV + picture.replace("gull", "tern")))
    assert outside.kinds == (ChangeKind.MEDIA,)


def test_a_picture_that_the_page_has_still_is_no_other_content() -> None:
    picture = '<img src="/gull.png" alt="a bird">'
    assert ChangeKind.CONTENT not in compare(page(more=picture), page(nav=NAV + picture)).kinds


def test_a_picture_loaded_late_is_the_same_picture() -> None:
    now, later = '<img src="/gull.png">', '<img src="data:image/gif;base64,R0" data-src="/gull.png">'
    assert compare(page(more=now), page(more=later)).kinds == ()


def test_a_picture_behind_a_placeholder_is_the_same_picture() -> None:
    late = '<p><img src="/blank.gif" data-src="/bird.jpg" alt="A bird"></p>'
    assert (
        ChangeKind.MEDIA not in compare(page(more='<p><img src="/bird.jpg" alt="A bird"></p>'), page(more=late)).kinds
    )


def test_another_picture_on_a_short_page_is_content() -> None:
    old, new = (f"<h1>Boats</h1><p>Hulls.</p><figure><img src='/{name}.jpg'></figure>" for name in ("a", "b"))
    assert compare(old, new).kinds == (ChangeKind.CONTENT, ChangeKind.MEDIA)


def test_a_digest_in_a_class_name_is_noise() -> None:
    old, new = (page(more=f'<div class="view-dom-id-{token * 20}">Birds</div>') for token in ("a1", "b2"))
    assert compare(old, new).kinds == ()


def test_a_link_that_leads_elsewhere_is_content() -> None:
    link = '<p>See <a href="https://example.org/terms">our terms</a>.</p>'
    change = compare(page(more=link), page(more=link.replace("terms", "rules", 1)))
    assert change.kinds == (ChangeKind.CONTENT, ChangeKind.LINKS)
    assert (change.links.added, change.links.removed) == (1, 1)


def test_some_more_links_or_some_less_on_the_same_words_are_no_other_content() -> None:
    old, new = (
        "<p>See <a href=/g>gulls</a>, terns and waders.</p>",
        "<p>See gulls, <a href=/t>terns</a> and waders.</p>",
    )
    assert ChangeKind.CONTENT in compare(page(more=old), page(more=new)).kinds
    one_more = new.replace("waders", "<a href=/w>waders</a>")
    assert ChangeKind.CONTENT in compare(page(more=old), page(more=one_more)).kinds
    more = one_more.replace("See", "<a href=/s>See</a>")
    for one, other in ((old, more), (more, old)):
        change = compare(page(more=one), page(more=other))
        assert ChangeKind.CONTENT not in change.kinds
        assert ChangeKind.LINKS in change.kinds


def test_marks_made_under_other_attention_are_not_compared() -> None:
    narrow = encode_fingerprint(fingerprint_page(parse_html(page().encode()), UserRules(watch=("h1",))))
    change = compare(page(), page())
    assert change.comparable
    assert not compare_fingerprints(mark(page()), narrow).comparable


@settings(max_examples=40, deadline=None)
@given(texts)
def test_blanks_attribute_order_and_entities_never_matter(paragraphs: list[str]) -> None:
    one = "".join(f'<p class="a" id="b{n}">{text} &amp; more</p>' for n, text in enumerate(paragraphs))
    two = "".join(
        f"\n<p   id=b{n}  class=a >{text.replace(' ', '&nbsp;  ')}\n &#38; more\n</p>"
        for n, text in enumerate(paragraphs)
    )
    assert compare(page(more=one), page(more=two)).kinds == ()


@settings(max_examples=40, deadline=None)
@given(texts, texts)
def test_verdicts_are_symmetric(one: list[str], two: list[str]) -> None:
    forth, back = compare(page(one), page(two)), compare(page(two), page(one))
    assert (forth.kinds, forth.significance) == (back.kinds, back.significance)
    swap = {"added": "removed", "removed": "added"}
    assert forth.counts == {swap.get(action, action): count for action, count in back.counts.items()}
    assert (forth.links.added, forth.links.removed) == (back.links.removed, back.links.added)


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=300))
def test_nothing_from_the_web_breaks_the_verdict(body: bytes) -> None:
    one = encode_fingerprint(fingerprint_page(parse_html(body)))
    assert compare(page(), page()).kinds == ()
    assert compare_fingerprints(one, one).kinds == ()
    compare_fingerprints(one, mark(page()))


def test_a_report_is_plain_json() -> None:
    report = to_json(compare(page(), page([*TEXT, "One more."])))
    assert report["kinds"] == ["content", "structure"]
    assert report["paragraphs"] == [{"action": "added", "size": 8, "main": True, "new": 7, "amount": 0.0131}]


def titled(title: str) -> str:
    return f"<title>{title}</title><main><p>{'The same words. ' * 9}</p></main>"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Free what init() made", "Free what init() made."),
        ("Free what init() .", "Free what init()."),
        ("Terns - Birds", "Terns | Birds"),
        ("Notes on v.2.0", "Notes on v2.0"),
        ("The gull's “nest”", "The gull’s &quot;nest&quot;"),
    ],
)
def test_a_title_spelled_otherwise_is_the_same(one: str, other: str) -> None:
    assert compare(titled(one), titled(other)).kinds == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C++ guide", "C guide"),
        ("C# guide", "C guide"),
        ("Release 1.2", "Release 12"),
        ("Tea from $.99", "Tea from $99"),
        ("🟢 Service", "🔴 Service"),
        ("Inn ★★", "Inn ★★★"),
    ],
)
def test_signs_that_say_something_in_a_title_count(one: str, other: str) -> None:
    assert compare(titled(one), titled(other)).kinds == (ChangeKind.CONTENT,)


def test_another_title_is_content_of_little_significance() -> None:
    old, new = titled("Gulls"), titled("Terns")
    found = compare(old, new)
    assert (found.kinds, found.significance, found.title) == ((ChangeKind.CONTENT,), 0.3, ChangeCounts(1, 1))
    assert not compare(old.replace("Gulls", "(2) Gulls"), old.replace("Gulls", "(13) Gulls")).is_significant


def test_another_drawing_inside_the_page_is_media() -> None:
    old, new = (
        f"<main><p>{'The same words. ' * 9}</p><svg><path d='{line}'/></svg></main>" for line in ("M1 2", "M3 4")
    )
    assert compare(old, new).kinds == (ChangeKind.MEDIA,)


def test_what_a_form_offers_is_behaviour_and_its_tokens_are_noise() -> None:
    form = "<main><p>Order here.</p><form><select name=size><option>small<option>large</select>"
    form += "<input name=q placeholder='Search'><input type=submit value=Buy><input type=hidden name=t value=1></form>"
    for old, new in (("small", "tiny"), ("Search", "Find"), ("Buy", "Order")):
        assert compare(form, form.replace(old, new)).kinds == (ChangeKind.BEHAVIOR,)
    assert not compare(form, form.replace("value=1", "value=2")).is_significant


def test_a_token_in_the_name_of_a_field_is_noise() -> None:
    form = '<form action="/login"><input type="hidden" name="{}" value="1"><input name="{}"></form>'
    names = ("9f86d081884c7d659a2feaa0c55ad015", "60303ae22b998861bce3b28f33eec1be")
    old, other = (page(more=form.format(name, "user")) for name in names)
    assert compare(old, other).kinds == ()
    assert compare(old, page(more=form.format(names[1], "mail"))).kinds == (ChangeKind.BEHAVIOR,)


def test_each_block_says_what_it_adds_to_the_amount() -> None:
    texts = [f"Paragraph {name} tells a story of its own." for name in ("one", "two", "three", "four")]
    old = "<main>" + "".join(f"<p>{text}</p>" for text in texts) + "</main>"
    found = compare(old, old.replace("two tells", "two has told").replace("<p>Paragraph four", "<p>Then"))
    assert [block.action for block in found.paragraphs] == ["changed", "changed"]
    assert round(sum(block.amount for block in found.paragraphs), 3) == round(found.amount, 3)
