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


def test_equal_pages_do_not_change() -> None:
    change = compare(page(), page())
    assert not change.is_significant
    assert change.significance == 0


def test_inserted_paragraph_is_a_single_addition() -> None:
    change = compare(page(), page([*TEXT[:2], "A new paragraph about their nests.", *TEXT[2:]]))
    assert change.counts == {"added": 1}
    assert change.paragraphs == (ParagraphChange(BlockAction.ADDED, 29, True, new=4, amount=change.amount),)
    assert change.kinds == (ChangeKind.CONTENT, ChangeKind.STRUCTURE)
    assert change.structure.severity is StructureSeverity.MINOR


def test_removed_paragraph_is_a_single_removal() -> None:
    change = compare(page(), page([*TEXT[:2], *TEXT[3:]]))
    assert change.counts == {"removed": 1}


def test_rewritten_paragraph_is_a_content_change_only() -> None:
    change = compare(page(), page([*TEXT[:2], "They follow the waves.", *TEXT[3:]]))
    assert (change.kinds, change.counts) == ((ChangeKind.CONTENT,), {"changed": 1})
    assert change.structure.severity is StructureSeverity.NONE


def test_moved_paragraph_is_moved() -> None:
    change = compare(page(), page([TEXT[4], *TEXT[:4]]))
    assert (change.kinds, change.counts) == ((ChangeKind.CONTENT,), {"moved": 1})


def test_more_change_is_more_significant() -> None:
    little = compare(page(), page([*TEXT[:4], "x"]))
    much = compare(page(), page([f"{number}" for number in range(5)]))
    assert 0.4 < little.significance < much.significance <= 1
    assert little.amount < much.amount <= 1


def test_boilerplate_is_not_content() -> None:
    change = compare(page(), page(nav=NAV.replace("Birds", "All our birds")))
    assert change.kinds == ()
    assert change.noise == ("boilerplate",)
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
def test_labeled_time_is_content(hours: str) -> None:
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
def test_labeled_date_is_content(label: str, old: str, new: str) -> None:
    before, after = (page(more=f"<dl><dt>{label}</dt><dd>{value}</dd></dl>") for value in (old, new))
    assert compare(before, after).counts == {BlockAction.CHANGED: 1}


def test_labeled_counter_is_noise() -> None:
    pairs = "<dl><dt>{0}</dt><dd>{1}</dd><dt>Likes:</dt><dd>{2}</dd><dt>Joined</dt><dd>2015</dd></dl>"
    table = "<table><tr><th>Seats</th><th>Visitors</th></tr><tr><td>{0}</td><td>40</td></tr></table>"
    old, new, relabeled = (
        page(more=pairs.format(*value)) for value in (("Messages", 812, 31), ("Messages", 815, 33), ("Rooms", 815, 33))
    )
    assert compare(old, new).kinds == ()
    assert compare(new, relabeled).counts
    assert compare(page(more=pairs.format("Rooms", 12, 31)), page(more=pairs.format("Rooms", 14, 31))).counts
    assert compare(page(more=table.format(12)), page(more=table.format(14))).counts


def test_several_dates_are_a_calendar_and_a_single_date_is_noise() -> None:
    days = ["Saturday, 9 May 2026", "Saturday, 16 May 2026", "Saturday, 23 May 2026"]
    assert compare(page([*TEXT, *days]), page([*TEXT, *days[:2], "Sunday, 24 May 2026"])).counts == {
        BlockAction.CHANGED: 1
    }
    assert compare(page([*TEXT, days[0]]), page([*TEXT, days[1]])).kinds == ()


@pytest.mark.parametrize(
    ("old", "new"), [("an hour ago", "2 hours ago"), ("Yesterday", "2 days ago"), ("۳ ساعت پیش", "۴ ساعت پیش")]
)
def test_relative_time_in_words_or_other_digits_is_noise(old: str, new: str) -> None:
    changed = compare(page([*TEXT, old]), page([*TEXT, new]))
    assert changed.kinds == ()
    assert changed.noise == ("volatile text",)


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


def test_changed_styles_are_presentation() -> None:
    styled = page().replace('class="text"', 'class="text wide"')
    assert compare(page(), styled).kinds == (ChangeKind.PRESENTATION,)
    assert compare(page(), page().replace("<h1>", '<h1 style="color:red">')).kinds == (ChangeKind.PRESENTATION,)
    assert compare(page(), page().replace("site.css", "other.css")).kinds == (ChangeKind.PRESENTATION,)
    assert compare(page(), page().replace("small waders", "<b>small</b> waders")).kinds == (ChangeKind.PRESENTATION,)


def test_changed_scripts_handlers_forms_and_frames_are_behavior() -> None:
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
def test_changed_code_is_behavior(old: str, new: str) -> None:
    assert compare(page(more=old), page(more=new)).kinds == (ChangeKind.BEHAVIOR,)


def test_visibility_change_is_content() -> None:
    flag = "<p{}>Sold out for this season</p><p{}>Order it today</p>"
    for hiding in (" hidden", ' style="display: none"'):
        change = compare(page(more=flag.format(hiding, "")), page(more=flag.format("", hiding)))
        assert ChangeKind.CONTENT in change.kinds
        assert change.counts == {"added": 1, "removed": 1}
    assert compare(page(more=flag.format(" hidden", "")), page(more=flag.format(" hidden=''", ""))).kinds == ()


@pytest.mark.parametrize(
    "markup",
    [
        '<h3><button aria-expanded="false" aria-controls="a1">Dogs?</button></h3><div id="a1" hidden><p>{}</p></div>',
        '<button aria-expanded="false">Dogs?</button> <div style="display: none"><p>{}</p></div>',
        "<p>Dogs? <button onclick='unfold(2)'>show</button></p><div style='display:none;'><p>{}</p></div>",
        '<div role="tabpanel" hidden><p>{}</p></div>',
        '<h3>Dogs?</h3><div hidden="until-found"><p>{}</p></div>',
        "<details><summary>Dogs?</summary><p>{}</p></details>",
    ],
)
def test_collapsible_content_is_content(markup: str) -> None:
    old, new = (page(more=markup.format(answer)) for answer in ("Dogs are welcome.", "Dogs are not welcome."))
    assert compare(old, new).counts == {BlockAction.CHANGED: 1}
    assert compare(old, old.replace('"false"', '"true"').replace(" hidden", "")).counts == {}


def test_hidden_text_without_control_is_ignored() -> None:
    long = f'<div><button aria-expanded="false">Menu</button><p>{TEXT[0] * 6}</p></div>'
    for before in ("<h3>Dogs?</h3>", long, '<button aria-expanded="false">Dogs?</button> or '):
        old, new = (page(more=f"{before}<div hidden>{answer}</div>") for answer in ("Welcome.", "Not welcome."))
        assert compare(old, new).kinds == ()


def test_reflowed_text_is_not_a_content_change() -> None:
    old = page([*TEXT, "One thing is here. Then another is here."])
    new = page([*TEXT, "One thing is here.", "Then another is here."])
    assert compare(old, new).kinds == (ChangeKind.STRUCTURE,)
    cells = "<table><tr><td>{}</td><td>{}</td></tr></table>"
    assert compare(page(more=cells.format("1", "23")), page(more=cells.format("12", "3"))).kinds == (
        ChangeKind.CONTENT,
    )


def test_reflowed_text_between_changed_blocks_is_not_a_content_change() -> None:
    old = page(["Of gulls", "One is here. Another is here.", *TEXT, "A word"])
    new = page(["Of terns", "One is here.", "Another is here.", *TEXT, "Two words"])
    assert compare(old, new).counts == compare(new, old).counts == {BlockAction.CHANGED: 2}


def test_boilerplate_equal_to_main_content_is_not_content() -> None:
    bar = "<nav><a href='/'>Home</a><p>{}</p></nav>"
    old = page(nav=bar.format("Sanderlings"), foot="<footer>Of gulls</footer>")
    new = page(nav=bar.format("All birds"), foot="<footer>Of terns</footer>")
    assert compare(old, new).kinds == compare(new, old).kinds == ()


def test_moved_boilerplate_does_not_move_main_content() -> None:
    bar = "<nav>" + "".join(f"<p>Page {number} of all</p>" for number in range(9)) + "</nav>"
    old, new = page(nav=NAV + bar), page(nav=NAV, foot=bar)
    assert compare(old, new).counts == {}
    turned = page(TEXT[::-1], nav=NAV, foot=bar)
    assert ChangeKind.CONTENT in compare(old, turned).kinds


def test_declared_main_element_without_prose_is_used_if_it_has_most_text() -> None:
    listed = "".join(f"<p><a href='/{number}'>Bird {number}</a></p>" for number in range(10, 30))
    index = "<main><h1>Index of birds</h1>{0}</main><div>Made by the people of the shore, edition {1}</div>"
    assert compare(index.format(listed, 2), index.format(listed, 3)).kinds == ()
    assert (
        ChangeKind.CONTENT
        in compare(index.format(listed, 2), index.format(listed.replace("Bird 12", "A gull"), 2)).kinds
    )


def test_changed_frame_is_behavior() -> None:
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
def test_changed_image_video_or_audio_is_media(old: str, new: str) -> None:
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
def test_token_in_image_or_script_is_noise(old: str, new: str) -> None:
    assert compare(page(more=old), page(more=new)).kinds == ()


def test_changed_image_in_main_content_is_media_and_content() -> None:
    picture = '<img src="/gull.png" alt="a bird">'
    assert compare(page(more=picture), page(more=picture.replace("gull", "tern"))).kinds == (
        ChangeKind.CONTENT,
        ChangeKind.MEDIA,
    )
    outside = compare(page(nav=NAV + picture), page(nav=NAV + picture.replace("gull", "tern")))
    assert outside.kinds == (ChangeKind.MEDIA,)


def test_image_moved_out_of_main_content_is_not_a_content_change() -> None:
    picture = '<img src="/gull.png" alt="a bird">'
    assert ChangeKind.CONTENT not in compare(page(more=picture), page(nav=NAV + picture)).kinds


def test_lazily_loaded_image_is_the_same_image() -> None:
    now, later = '<img src="/gull.png">', '<img src="data:image/gif;base64,R0" data-src="/gull.png">'
    assert compare(page(more=now), page(more=later)).kinds == ()


def test_image_with_placeholder_is_the_same_image() -> None:
    late = '<p><img src="/blank.gif" data-src="/bird.jpg" alt="A bird"></p>'
    assert (
        ChangeKind.MEDIA not in compare(page(more='<p><img src="/bird.jpg" alt="A bird"></p>'), page(more=late)).kinds
    )


def test_changed_image_on_a_short_page_is_content() -> None:
    old, new = (f"<h1>Boats</h1><p>Hulls.</p><figure><img src='/{name}.jpg'></figure>" for name in ("a", "b"))
    assert compare(old, new).kinds == (ChangeKind.CONTENT, ChangeKind.MEDIA)


def test_digest_in_class_name_is_noise() -> None:
    old, new = (page(more=f'<div class="view-dom-id-{token * 20}">Birds</div>') for token in ("a1", "b2"))
    assert compare(old, new).kinds == ()


def test_changed_link_target_is_content() -> None:
    link = '<p>See <a href="https://example.org/terms">our terms</a>.</p>'
    change = compare(page(more=link), page(more=link.replace("terms", "rules", 1)))
    assert change.kinds == (ChangeKind.CONTENT, ChangeKind.LINKS)
    assert (change.links.added, change.links.removed) == (1, 1)


def test_more_or_fewer_links_on_the_same_text_are_not_a_content_change() -> None:
    old, new = (
        "<p>See <a href=/g>gulls</a>, terns and waders.</p>",
        "<p>See gulls, <a href=/t>terns</a> and waders.</p>",
    )
    assert ChangeKind.CONTENT in compare(page(more=old), page(more=new)).kinds
    one_more = new.replace("waders", "<a href=/w>waders</a>")
    assert ChangeKind.CONTENT in compare(page(more=old), page(more=one_more)).kinds
    more = one_more.replace("See", "<a href=/s>See</a>")
    for before, after in ((old, more), (more, old)):
        change = compare(page(more=before), page(more=after))
        assert ChangeKind.CONTENT not in change.kinds
        assert ChangeKind.LINKS in change.kinds


def test_fingerprints_with_other_user_rules_are_not_comparable() -> None:
    narrow = encode_fingerprint(fingerprint_page(parse_html(page().encode()), UserRules(watch=("h1",))))
    change = compare(page(), page())
    assert change.comparable
    assert not compare_fingerprints(mark(page()), narrow).comparable


@settings(max_examples=40, deadline=None)
@given(texts)
def test_white_space_attribute_order_and_entities_are_ignored(paragraphs: list[str]) -> None:
    old = "".join(f'<p class="a" id="b{n}">{text} &amp; more</p>' for n, text in enumerate(paragraphs))
    new = "".join(
        f"\n<p   id=b{n}  class=a >{text.replace(' ', '&nbsp;  ')}\n &#38; more\n</p>"
        for n, text in enumerate(paragraphs)
    )
    assert compare(page(more=old), page(more=new)).kinds == ()


@settings(max_examples=40, deadline=None)
@given(texts, texts)
def test_classification_is_symmetric(old: list[str], new: list[str]) -> None:
    forward, back = compare(page(old), page(new)), compare(page(new), page(old))
    assert (forward.kinds, forward.significance) == (back.kinds, back.significance)
    reversed_actions = {"added": "removed", "removed": "added"}
    assert forward.counts == {reversed_actions.get(action, action): count for action, count in back.counts.items()}
    assert (forward.links.added, forward.links.removed) == (back.links.removed, back.links.added)


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=300))
def test_arbitrary_bytes_can_be_classified(body: bytes) -> None:
    old = encode_fingerprint(fingerprint_page(parse_html(body)))
    assert compare(page(), page()).kinds == ()
    assert compare_fingerprints(old, old).kinds == ()
    compare_fingerprints(old, mark(page()))


def test_change_is_converted_to_json() -> None:
    report = to_json(compare(page(), page([*TEXT, "One more."])))
    assert report["kinds"] == ["content", "structure"]
    assert report["paragraphs"] == [{"action": "added", "size": 8, "main": True, "new": 7, "amount": 0.0131}]


def build_titled_page(title: str) -> str:
    return f"<title>{title}</title><main><p>{'The same words. ' * 9}</p></main>"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Free what init() made", "Free what init() made."),
        ("Free what init() .", "Free what init()."),
        ("Terns - Birds", "Terns | Birds"),
        ("Notes on v.2.0", "Notes on v2.0"),
        ("The gull's “nest”", "The gull’s &quot;nest&quot;"),
    ],
)
def test_title_punctuation_is_ignored(old: str, new: str) -> None:
    assert compare(build_titled_page(old), build_titled_page(new)).kinds == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("C++ guide", "C guide"),
        ("C# guide", "C guide"),
        ("Release 1.2", "Release 12"),
        ("Tea from $.99", "Tea from $99"),
        ("🟢 Service", "🔴 Service"),
        ("Inn ★★", "Inn ★★★"),
    ],
)
def test_meaningful_title_symbols_count(old: str, new: str) -> None:
    assert compare(build_titled_page(old), build_titled_page(new)).kinds == (ChangeKind.CONTENT,)


def test_changed_title_is_content_of_low_significance() -> None:
    old, new = build_titled_page("Gulls"), build_titled_page("Terns")
    found = compare(old, new)
    assert (found.kinds, found.significance, found.title) == ((ChangeKind.CONTENT,), 0.3, ChangeCounts(1, 1))
    assert not compare(old.replace("Gulls", "(2) Gulls"), old.replace("Gulls", "(13) Gulls")).is_significant


def test_changed_svg_is_media() -> None:
    old, new = (
        f"<main><p>{'The same words. ' * 9}</p><svg><path d='{line}'/></svg></main>" for line in ("M1 2", "M3 4")
    )
    assert compare(old, new).kinds == (ChangeKind.MEDIA,)


def test_form_values_are_behavior_and_tokens_are_noise() -> None:
    form = "<main><p>Order here.</p><form><select name=size><option>small<option>large</select>"
    form += "<input name=q placeholder='Search'><input type=submit value=Buy><input type=hidden name=t value=1></form>"
    for old, new in (("small", "tiny"), ("Search", "Find"), ("Buy", "Order")):
        assert compare(form, form.replace(old, new)).kinds == (ChangeKind.BEHAVIOR,)
    assert not compare(form, form.replace("value=1", "value=2")).is_significant


def test_token_in_field_name_is_noise() -> None:
    form = '<form action="/login"><input type="hidden" name="{}" value="1"><input name="{}"></form>'
    names = ("9f86d081884c7d659a2feaa0c55ad015", "60303ae22b998861bce3b28f33eec1be")
    old, new = (page(more=form.format(name, "user")) for name in names)
    assert compare(old, new).kinds == ()
    assert compare(old, page(more=form.format(names[1], "mail"))).kinds == (ChangeKind.BEHAVIOR,)


def test_amounts_of_blocks_sum_to_the_amount_of_the_page() -> None:
    texts = [f"Paragraph {name} tells a story of its own." for name in ("one", "two", "three", "four")]
    old = "<main>" + "".join(f"<p>{text}</p>" for text in texts) + "</main>"
    found = compare(old, old.replace("two tells", "two told").replace("<p>Paragraph four", "<p>Then"))
    assert [block.action for block in found.paragraphs] == ["changed", "changed"]
    assert round(sum(block.amount for block in found.paragraphs), 3) == round(found.amount, 3)
