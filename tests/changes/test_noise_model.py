"""What is noise on one site, learned from its own comparisons."""

from itertools import pairwise

import pytest
from tests.support.change_pages import TEXT, page

from sanderling.changes.classify import PRICE_SIGNIFICANCE, ChangeKind, classify_diff
from sanderling.changes.fingerprint_diff import FingerprintDiff, diff_fingerprints
from sanderling.changes.noise_model import MIN_PAGES, MIN_STREAK, NoiseModel
from sanderling.fingerprint.build import fingerprint_page
from sanderling.html.parser import parse_html


def differ(old: str, new: str) -> FingerprintDiff:
    return diff_fingerprints(fingerprint_page(parse_html(old.encode())), fingerprint_page(parse_html(new.encode())))


def test_a_fragment_that_comes_on_every_page_at_once_is_template() -> None:
    noise = NoiseModel()
    found = [differ(page([f"Page {n}", *TEXT]), page([f"Page {n}", *TEXT, "Now on the fediverse."])) for n in range(9)]
    assert ChangeKind.CONTENT in classify_diff(found[0], noise).kinds
    for number, one in enumerate(found):
        noise.learn(number, one)
    quiet = classify_diff(found[0], noise, 0)
    assert ChangeKind.CONTENT not in quiet.kinds
    assert quiet.noise == ("template",)


@pytest.mark.parametrize("words", ["The data is owned by those who call the method.", "New in version 3.1"])
def test_what_the_text_says_is_template_only_on_half_of_the_pages(words: str) -> None:
    found = [differ(page([f"Page {n}", *TEXT]), page([f"Page {n}", *TEXT, words])) for n in range(30)]
    some, most = NoiseModel(), NoiseModel()
    for number, one in enumerate(found):
        some.learn(number, one if number < 14 else None)
        most.learn(number, one if number < 15 else None)
    assert ChangeKind.CONTENT in classify_diff(found[0], some, 0).kinds
    assert ChangeKind.CONTENT not in classify_diff(found[0], most, 0).kinds


def test_what_the_text_says_is_news_where_some_pages_with_other_words_do_without() -> None:
    phrase = [differ(page([f"Page {n}", *TEXT]), page([f"Page {n}", *TEXT, "Method details"])) for n in range(30)]
    others = [differ(page([f"Page {n}", *TEXT]), page([f"Page {n} of all", *TEXT])) for n in range(30)]
    most, first = NoiseModel(), NoiseModel()
    for number in range(30):
        most.learn(number, others[number] if number % 10 == 5 else phrase[number])
        first.learn(number, phrase[number])
    assert ChangeKind.CONTENT in classify_diff(phrase[0], most, 0).kinds
    for number in range(30):
        first.learn(number, others[number])
    assert (
        ChangeKind.CONTENT not in classify_diff(phrase[0], first, 0).kinds
    )  # what else changes later says nothing of it


def test_a_list_that_all_pages_have_in_their_text_is_no_news_of_each() -> None:
    noise, heard = NoiseModel(), []
    items = [f"<li>Notice {number} of the harbour</li>" for number in range(12)]
    lists = [f"<h2>Notices</h2><ul>{''.join(reversed(items[n - 3 : n]))}</ul>" for n in range(3, 12)]
    for turn, (old, new) in enumerate(pairwise(lists)):
        texts = [([f"Page {n}", *TEXT], [f"Page {n}", *TEXT[turn == 6 and n == 4 :]]) for n in range(9)]
        found = [differ(page(before, more=old), page(after, more=new)) for before, after in texts]
        for number, one in enumerate(found):
            noise.learn(number, one)
        heard.append(
            sum(ChangeKind.CONTENT in classify_diff(one, noise, number).kinds for number, one in enumerate(found))
        )
    assert heard == [0, 0, 0, 0, 0, 0, 1, 0]


def test_a_second_change_of_the_template_is_none_of_the_text() -> None:
    noise = NoiseModel()
    texts = [TEXT, [*TEXT, "Now on the fediverse."], ["Open all day.", *TEXT, "Now on the fediverse."]]
    for old, new in pairwise(texts):
        found = [differ(page([f"Page {n}", *old]), page([f"Page {n}", *new])) for n in range(30)]
        for number, one in enumerate(found):
            noise.learn(number, one)
        assert all(
            ChangeKind.CONTENT not in classify_diff(one, noise, number).kinds for number, one in enumerate(found)
        )


def test_what_all_pages_say_is_template_also_when_old_visits_count_half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.changes.noise_model.HALVING_VISITS", 29)
    noise = NoiseModel()
    found = [differ(page([f"Page {n}", *TEXT]), page([f"Page {n}", *TEXT, "Method details"])) for n in range(30)]
    for number, one in enumerate(found):
        noise.learn(number, one)
    assert noise.visits == 15
    assert ChangeKind.CONTENT not in classify_diff(found[0], noise, 0).kinds


def test_a_sentence_of_furniture_is_template_on_some_pages() -> None:
    foot = "<footer>Rendered by {0}, with the help of many others.</footer>"
    found = differ(page(foot=foot.format("gulls")), page(foot=foot.format("terns")))
    noise = NoiseModel()
    for number in range(30):
        noise.learn(number, found if number < MIN_PAGES else None)
    assert classify_diff(found, noise, 0).noise == ("template",)


def test_what_stands_beside_the_text_of_some_pages_does_so_on_all() -> None:
    head = "<div>The book of birds of the shore, edition {0}</div>"
    beside = differ(page(nav=head.format("1.1")), page(nav=head.format("1.2")))
    inside = differ(page(more=head.format("1.1")), page(more=head.format("1.2")))
    noise = NoiseModel()
    for number in range(30):
        noise.learn(number, beside if number < MIN_PAGES else None)
    assert classify_diff(inside, noise, 40).noise == ("template",)


def test_what_a_page_lists_in_its_text_and_in_the_menu_is_no_menu_alone() -> None:
    old, new = ("".join(f"<p>{name} of the shore</p>" for name in names) for names in (("Terns", "Gulls"), ("Gulls",)))
    menu = differ(page(nav=f"<nav>{old}</nav>"), page(nav=f"<nav>{new}</nav>"))
    listed = differ(page(nav=f"<nav>{old}</nav>", more=old), page(nav=f"<nav>{new}</nav>", more=new))
    twice = differ(page(nav=f"<nav>{old}</nav>" * 2), page(nav=f"<nav>{new}</nav>" * 2))
    once, again = NoiseModel(), NoiseModel()
    for number in range(30):
        once.learn(number, menu)
        again.learn(number, twice)
    assert ChangeKind.CONTENT in classify_diff(listed, once, 40).kinds
    assert ChangeKind.CONTENT not in classify_diff(listed, again, 40).kinds  # the other one is misread on this page


def renamed(number: int) -> FingerprintDiff:
    text = '<p>See <a href="{0}{1}.html">the other page</a>.</p>'
    return differ(*(page(more=text.format(letter, number)) for letter in "ab"))


def test_texts_that_are_edited_with_their_links_give_no_page_another_name() -> None:
    story = '<p>What was seen on day {0} is told <a href="day{0}.html">in this story of {0} birds</a>.</p>'
    noise = NoiseModel()
    for number in range(40):
        edited = differ(page(more=story.format(number)), page(more=story.format(number + 100)))
        noise.learn(number, edited if number % 4 == 0 else None)
    assert ChangeKind.CONTENT in classify_diff(renamed(0), noise, 50).kinds


def test_links_that_lead_elsewhere_on_many_pages_were_renamed() -> None:
    noise = NoiseModel()
    for number in range(40):
        noise.learn(number, renamed(number) if number % 4 == 0 else None)
    quiet = classify_diff(renamed(0), noise, 0)
    assert quiet.kinds == (ChangeKind.LINKS,)
    for number in range(40, 400):
        noise.learn(number, None)
    assert ChangeKind.CONTENT in classify_diff(renamed(0), noise, 0).kinds


def test_one_link_of_the_template_that_leads_elsewhere_renames_no_others() -> None:
    noise = NoiseModel()
    link = '<p>See <a href="/{0}.html">the terms</a>.</p>'
    for number in range(100):
        noise.learn(number, differ(page(more=link.format("old")), page(more=link.format("new"))))
    assert ChangeKind.CONTENT in classify_diff(renamed(0), noise, 0).kinds


def test_a_page_that_changes_among_quiet_ones_is_news() -> None:
    noise = NoiseModel()
    found = differ(page(), page([*TEXT, "Now on the fediverse."]))
    for number in range(500):
        noise.learn(number, found if number < MIN_PAGES - 1 else None)
    assert ChangeKind.CONTENT in classify_diff(found, noise, 0).kinds


def test_a_place_that_differs_at_every_visit_is_restless() -> None:
    noise = NoiseModel()
    versions = [page([TEXT[0], f"Quotation {word}", *TEXT[1:]]) for word in ("a", "b", "c", "d", "e")]
    for number, (old, new) in enumerate(pairwise(versions)):
        found = differ(old, new)
        assert (ChangeKind.CONTENT in classify_diff(found, noise, 7).kinds) == (number < MIN_STREAK)
        noise.learn(7, found)


def told(versions: list[str], noise: NoiseModel, number: int = 7) -> list[bool]:
    """Visit one page in turn and say of each visit but the first whether it is news."""
    heard = []
    for old, new in pairwise(versions):
        noise.learn(number, found := differ(old, new) if old != new else None)
        heard.append(found is not None and ChangeKind.CONTENT in classify_diff(found, noise, number).kinds)
    return heard


def test_a_list_that_gets_an_item_at_each_visit_is_news_each_time() -> None:
    items = [f"<li>Notice {number} of the harbour</li>" for number in range(12)]
    added = [page(more=f"<h2>Notices</h2><ul>{''.join(reversed(items[:n]))}</ul>") for n in range(2, 12)]
    rolling = [page(more=f"<h2>Notices</h2><ul>{''.join(reversed(items[n - 3 : n]))}</ul>") for n in range(3, 12)]
    assert all(told(added, NoiseModel()))
    assert all(told(rolling, NoiseModel()))


def test_what_is_shown_in_turn_is_no_news_and_a_third_thing_is() -> None:
    first, second, third = (page([TEXT[0], word * 30, *TEXT[1:]]) for word in ("trial ", "other ", "fresh "))
    turns = [first, second, first, second, second, first, second, first, first, second, third]
    assert told(turns, NoiseModel()) == [True, True, *[False] * 7, True]


def test_pictures_and_titles_that_are_shown_in_turn_are_no_news() -> None:
    first, second = (
        page(head=f"<title>{word}</title>", more=f'<p>Look: <img src="/{word}.jpg"></p>') for word in ("Gulls", "Terns")
    )
    noise = NoiseModel()
    for number in range(200):
        noise.learn(number + 100, None)  # so it is nothing of many pages
    assert told([first, second, first, second, first], noise) == [True, True, False, False]


def test_a_notice_that_comes_back_after_quiet_visits_is_news() -> None:
    clear, outage = page(["All is well.", *TEXT]), page(["The ferry does not run.", *TEXT])
    versions = [clear, *([outage] + [clear] * 5) * 4]
    assert told(versions, NoiseModel()) == [old != new for old, new in pairwise(versions)]


def test_two_notices_of_one_page_that_come_back_now_and_then_are_news_each_time() -> None:
    calm, mail, web = ("Mail runs.", "Web runs."), ("Mail rests.", "Web runs."), ("Mail runs.", "Web rests.")
    versions = [page([*said, *TEXT]) for said in ([calm, *[mail, *[calm] * 4, web, *[calm] * 4] * 6])]
    assert told(versions, NoiseModel()) == [old != new for old, new in pairwise(versions)]


def test_pages_that_are_all_rewritten_once_are_news_and_those_rewritten_each_time_are_restless() -> None:
    noise = NoiseModel()
    rounds = [[page(["Limit", f"{turn}.{n}", *TEXT]) for n in range(9)] for turn in range(3)]
    for before, after in pairwise(rounds):
        found = [differ(old, new) for old, new in zip(before, after, strict=True)]
        for number, one in enumerate(found):
            noise.learn(number, one)
        told = [ChangeKind.CONTENT in classify_diff(one, noise, number).kinds for number, one in enumerate(found)]
        assert told == [before is rounds[0]] * 9


def test_a_quiet_visit_ends_a_streak() -> None:
    noise = NoiseModel()
    found = differ(page([TEXT[0], "one"]), page([TEXT[0], "two"]))
    for _ in range(MIN_STREAK):
        noise.learn(7, found)
    assert not classify_diff(found, noise, 7).is_significant
    noise.learn(7, None)
    assert classify_diff(found, noise, 7).is_significant


def test_what_takes_turns_is_restless_though_it_happens_to_be_the_same_once() -> None:
    noise = NoiseModel()
    shown = [page([TEXT[0], f"Quotation {number}"]) for number in range(2 * MIN_STREAK + 1)]
    found = [differ(old, new) for old, new in pairwise(shown)]
    for one in (*found, None):
        noise.learn(7, one)
        noise.learn(8, None)  # so it is no place of many pages
    assert not classify_diff(found[-1], noise, 7).is_significant
    for _ in range(MIN_STREAK):
        noise.learn(7, None)
    assert classify_diff(found[-1], noise, 7).is_significant


def test_a_streak_that_was_stored_without_an_end_is_forgotten_as_soon_as_others() -> None:
    noise = NoiseModel(fragment_counts={5: 9.0}, streaks={7: {2: 40}})
    for _ in range(2 * MIN_STREAK):
        noise.learn(7, None)
    assert not noise.is_always_changing(7, 2)


def test_news_in_a_restless_place_is_still_news_if_it_is_long() -> None:
    noise = NoiseModel()
    short = differ(page([TEXT[0], "one"]), page([TEXT[0], "two"]))
    for _ in range(MIN_STREAK):
        noise.learn(7, short)
    assert classify_diff(differ(page([TEXT[0], "one"]), page([TEXT[0], "two " * 100])), noise, 7).is_significant


def test_the_memory_is_bounded_and_survives_storing() -> None:
    noise = NoiseModel()
    found = differ(page(), page([*TEXT, "Now on the fediverse."]))
    for number in range(5000):
        noise.learn(number, found if number % 3 == 0 else None)
    assert noise.visits <= 2001
    assert NoiseModel.from_bytes(noise.to_bytes()) == noise
    assert NoiseModel.from_bytes(b"") == NoiseModel()


def test_a_price_that_changes_at_every_visit_is_news_each_time() -> None:
    noise = NoiseModel()
    versions = [page([TEXT[0], f"Price: {price}.50 EUR", *TEXT[1:]]) for price in range(1, 8)]
    for old, new in pairwise(versions):
        noise.learn(7, differ(old, new))
        assert classify_diff(differ(old, new), noise, 7).counts == {"changed": 1}


def test_another_price_is_significant_however_long_the_page_is() -> None:
    price, colour = (differ(page([*TEXT * 40, old]), page([*TEXT * 40, new]))
                     for old, new in (("5 EUR", "6 EUR"), ("red", "blue")))  # fmt: skip
    assert classify_diff(price).significance == PRICE_SIGNIFICANCE > classify_diff(colour).significance


def test_what_is_sold_out_on_many_pages_is_no_template() -> None:
    noise = NoiseModel()
    found = [differ(page([f"Bird {n}", "In stock", *TEXT]), page([f"Bird {n}", "Sold out", *TEXT])) for n in range(9)]
    for number, one in enumerate(found):
        noise.learn(number, one)
    assert all(ChangeKind.CONTENT in classify_diff(one, noise, number).kinds for number, one in enumerate(found))


def quoted(number: int, *more: str) -> str:
    return page([TEXT[0], *more, f"Quote {number}: nothing stays as it is, said number {number * 7}.", *TEXT[1:]])


def test_a_paragraph_that_comes_beside_what_never_rests_is_news() -> None:
    noise = NoiseModel()
    for number in range(2 * MIN_STREAK):
        noise.learn(1, differ(quoted(number), quoted(number + 1)))
    assert classify_diff(differ(quoted(20), quoted(21)), noise, 1).noise == ("restless",)
    came = differ(quoted(20), quoted(21, "The pier is closed on Sundays from now on."))
    went = differ(quoted(21, "The pier is closed on Sundays from now on."), quoted(22))
    for found in (came, went):
        noise.learn(1, found)
        assert ChangeKind.CONTENT in classify_diff(found, noise, 1).kinds


def test_a_paragraph_that_is_edited_beside_what_never_rests_is_news() -> None:
    texts = [[TEXT[0], f"Quotation {number}", TEXT[1]] for number in range(8)]
    texts += [[TEXT[0], f"Quotation {number}", "The pier is closed."] for number in range(8, 10)]
    assert told([page(text) for text in texts], NoiseModel())[MIN_STREAK - 1 :] == [False] * 5 + [True, False]


def test_paragraphs_that_come_now_and_then_beside_what_never_rests_are_news_each() -> None:
    noise = NoiseModel()
    shown = [quoted(n, *[f"The pier is closed on day {n}."] * (n % 12 == 0)) for n in range(1, 60)]
    found = [differ(old, new) for old, new in pairwise(shown)]
    for one in found:
        noise.learn(1, one)
    told = [number for number, one in enumerate(found, 1) if ChangeKind.CONTENT in classify_diff(one, noise, 1).kinds]
    assert told == [11, 12, 23, 24, 35, 36, 47, 48]


def test_what_comes_and_goes_all_the_time_is_no_news() -> None:
    noise = NoiseModel()
    shown = [quoted(number, *[f"Storm {number} is on its way."] * (number % 2)) for number in range(3 * MIN_STREAK)]
    found = [differ(old, new) for old, new in pairwise(shown)]
    for one in found:
        noise.learn(1, one)
    assert classify_diff(found[-1], noise, 1).noise == ("restless",)


def photographed(number: int, more: str = "") -> str:
    shown = f'<p><a href="/seen/{number}">Seen today</a> <img src="/photos/{number}.jpg"></p>'
    return page(more=f'{shown}<p><a href="/rules">Rules</a>{more}</p>')


def test_links_and_pictures_that_are_others_at_every_visit_are_restless() -> None:
    noise = NoiseModel()
    for number in range(MIN_STREAK):
        found = differ(photographed(number), photographed(number + 1))
        assert ChangeKind.CONTENT in classify_diff(found, noise, 1).kinds
        noise.learn(1, found)
    quiet = classify_diff(found, noise, 1)
    assert (quiet.kinds, quiet.noise, quiet.suppressed_count) == ((), ("restless",), 2)
    assert ChangeKind.CONTENT in classify_diff(found, noise, 2).kinds


def test_links_and_pictures_that_come_beside_such_as_never_rest_are_news() -> None:
    noise = NoiseModel()
    for number in range(MIN_STREAK):
        noise.learn(1, differ(photographed(number), photographed(number + 1)))
    more = differ(photographed(8), photographed(9, '<img src="/a.png"><img src="/b.png"><img src="/c.png">'))
    assert classify_diff(more, noise, 1).kinds == (ChangeKind.CONTENT, ChangeKind.STRUCTURE, ChangeKind.MEDIA)


def voted(number: int, words: str) -> str:
    return page([TEXT[0], f"{number * 7}", words, *TEXT[1:]])


def test_a_sentence_that_is_edited_beside_a_number_that_never_rests_is_news() -> None:
    noise, words = NoiseModel(), "The old pier is open on every day of the week, and so is the tower beside it."
    for number in range(2 * MIN_STREAK):
        noise.learn(1, differ(voted(number, words), voted(number + 1, words)))
    assert classify_diff(differ(voted(20, words), voted(21, words)), noise, 1).noise == ("restless",)
    edited = differ(voted(21, words), voted(22, words.replace("open", "closed")))
    noise.learn(1, edited)
    assert ChangeKind.CONTENT in classify_diff(edited, noise, 1).kinds


def test_a_link_of_the_text_that_leads_elsewhere_is_told_beside_links_that_never_rest() -> None:
    related = '<p><a href="/{}.pdf">Report</a></p></main><nav><a href="/{}">Related</a></nav><main>'
    noise = NoiseModel()
    for number in range(MIN_STREAK):
        noise.learn(1, differ(page(more=related.format("a", number)), page(more=related.format("a", number + 1))))
    quiet = differ(page(more=related.format("a", 8)), page(more=related.format("a", 9)))
    told = differ(page(more=related.format("a", 8)), page(more=related.format("b", 9)))
    assert [classify_diff(one, noise, 1).kinds for one in (quiet, told)] == [(), (ChangeKind.CONTENT, ChangeKind.LINKS)]
