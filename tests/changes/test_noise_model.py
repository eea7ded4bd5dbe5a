from itertools import pairwise

import pytest
from tests.support.change_pages import TEXT, page

from sanderling.changes.classify import PRICE_SIGNIFICANCE, ChangeKind, classify_diff
from sanderling.changes.fingerprint_diff import FingerprintDiff, diff_fingerprints
from sanderling.changes.noise_model import MIN_PAGES, MIN_STREAK, NoiseModel
from sanderling.fingerprint.build import fingerprint_page
from sanderling.html.parser import parse_html


def diff_pages(old: str, new: str) -> FingerprintDiff:
    return diff_fingerprints(fingerprint_page(parse_html(old.encode())), fingerprint_page(parse_html(new.encode())))


def test_fragment_added_on_every_page_is_template() -> None:
    noise = NoiseModel()
    found = [
        diff_pages(page([f"Page {n}", *TEXT]), page([f"Page {n}", *TEXT, "Now on the fediverse."])) for n in range(9)
    ]
    assert ChangeKind.CONTENT in classify_diff(found[0], noise).kinds
    for number, diff in enumerate(found):
        noise.learn(number, diff)
    quiet = classify_diff(found[0], noise, 0)
    assert ChangeKind.CONTENT not in quiet.kinds
    assert quiet.noise == ("template",)


def test_model_without_templates_suppresses_only_what_a_page_always_changes() -> None:
    template, always_changing = NoiseModel(), NoiseModel()
    banner = diff_pages(page(TEXT), page([*TEXT, "Autumn sale!"]))
    quotes = [page([f"{word} harbour.", *TEXT]) for word in ("Old", "New", "Next", "Last", "Grand", "Little")]
    for number in range(9):
        template.learn(number, banner)
    for old, new in pairwise(quotes):
        always_changing.learn(1, diff_pages(old, new))
    assert ChangeKind.CONTENT not in classify_diff(banner, template, 1).kinds
    assert ChangeKind.CONTENT in classify_diff(banner, template.without_templates(), 1).kinds
    assert (
        ChangeKind.CONTENT not in classify_diff(diff_pages(*quotes[-2:]), always_changing.without_templates(), 1).kinds
    )


@pytest.mark.parametrize("words", ["The data is owned by those who call the method.", "New in version 3.1"])
def test_fragment_in_main_content_is_template_on_half_of_the_pages(words: str) -> None:
    found = [diff_pages(page([f"Page {n}", *TEXT]), page([f"Page {n}", *TEXT, words])) for n in range(30)]
    some, most = NoiseModel(), NoiseModel()
    for number, diff in enumerate(found):
        some.learn(number, diff if number < 14 else None)
        most.learn(number, diff if number < 15 else None)
    assert ChangeKind.CONTENT in classify_diff(found[0], some, 0).kinds
    assert ChangeKind.CONTENT not in classify_diff(found[0], most, 0).kinds


def test_fragment_in_main_content_is_significant_if_changed_pages_lack_it() -> None:
    phrase = [diff_pages(page([f"Page {n}", *TEXT]), page([f"Page {n}", *TEXT, "Method details"])) for n in range(30)]
    others = [diff_pages(page([f"Page {n}", *TEXT]), page([f"Page {n} of all", *TEXT])) for n in range(30)]
    most, first = NoiseModel(), NoiseModel()
    for number in range(30):
        most.learn(number, others[number] if number % 10 == 5 else phrase[number])
        first.learn(number, phrase[number])
    assert ChangeKind.CONTENT in classify_diff(phrase[0], most, 0).kinds
    for number in range(30):
        first.learn(number, others[number])
    assert (
        ChangeKind.CONTENT not in classify_diff(phrase[0], first, 0).kinds
    )  # later changes of other text do not matter


def test_list_shared_by_all_pages_is_noise() -> None:
    noise, significant = NoiseModel(), []
    items = [f"<li>Notice {number} of the harbour</li>" for number in range(12)]
    lists = [f"<h2>Notices</h2><ul>{''.join(reversed(items[n - 3 : n]))}</ul>" for n in range(3, 12)]
    for turn, (old, new) in enumerate(pairwise(lists)):
        texts = [([f"Page {n}", *TEXT], [f"Page {n}", *TEXT[turn == 6 and n == 4 :]]) for n in range(9)]
        found = [diff_pages(page(before, more=old), page(after, more=new)) for before, after in texts]
        for number, diff in enumerate(found):
            noise.learn(number, diff)
        significant.append(
            sum(ChangeKind.CONTENT in classify_diff(diff, noise, number).kinds for number, diff in enumerate(found))
        )
    assert significant == [0, 0, 0, 0, 0, 0, 1, 0]


def test_second_template_change_is_noise() -> None:
    noise = NoiseModel()
    texts = [TEXT, [*TEXT, "Now on the fediverse."], ["Open all day.", *TEXT, "Now on the fediverse."]]
    for old, new in pairwise(texts):
        found = [diff_pages(page([f"Page {n}", *old]), page([f"Page {n}", *new])) for n in range(30)]
        for number, diff in enumerate(found):
            noise.learn(number, diff)
        assert all(
            ChangeKind.CONTENT not in classify_diff(diff, noise, number).kinds for number, diff in enumerate(found)
        )


def test_template_is_recognized_after_counts_are_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.changes.noise_model.HALVING_VISITS", 29)
    noise = NoiseModel()
    found = [diff_pages(page([f"Page {n}", *TEXT]), page([f"Page {n}", *TEXT, "Method details"])) for n in range(30)]
    for number, diff in enumerate(found):
        noise.learn(number, diff)
    assert noise.visits == 15
    assert ChangeKind.CONTENT not in classify_diff(found[0], noise, 0).kinds


def test_sentence_in_boilerplate_is_template_on_some_pages() -> None:
    foot = "<footer>Rendered by {0}, with the help of many others.</footer>"
    found = diff_pages(page(foot=foot.format("gulls")), page(foot=foot.format("terns")))
    noise = NoiseModel()
    for number in range(30):
        noise.learn(number, found if number < MIN_PAGES else None)
    assert classify_diff(found, noise, 0).noise == ("template",)


def test_boilerplate_of_some_pages_is_template_on_all() -> None:
    head = "<div>The guide to birds of the shore, edition {0}</div>"
    outside = diff_pages(page(nav=head.format("1.1")), page(nav=head.format("1.2")))
    inside = diff_pages(page(more=head.format("1.1")), page(more=head.format("1.2")))
    noise = NoiseModel()
    for number in range(30):
        noise.learn(number, outside if number < MIN_PAGES else None)
    assert classify_diff(inside, noise, 40).noise == ("template",)


def test_menu_entry_listed_in_main_content_is_significant() -> None:
    old, new = ("".join(f"<p>{name} of the shore</p>" for name in names) for names in (("Terns", "Gulls"), ("Gulls",)))
    menu = diff_pages(page(nav=f"<nav>{old}</nav>"), page(nav=f"<nav>{new}</nav>"))
    listed = diff_pages(page(nav=f"<nav>{old}</nav>", more=old), page(nav=f"<nav>{new}</nav>", more=new))
    twice = diff_pages(page(nav=f"<nav>{old}</nav>" * 2), page(nav=f"<nav>{new}</nav>" * 2))
    once, again = NoiseModel(), NoiseModel()
    for number in range(30):
        once.learn(number, menu)
        again.learn(number, twice)
    assert ChangeKind.CONTENT in classify_diff(listed, once, 40).kinds
    assert (
        ChangeKind.CONTENT not in classify_diff(listed, again, 40).kinds
    )  # the second menu is misread as main content on this page


def diff_renamed_link(number: int) -> FingerprintDiff:
    text = '<p>See <a href="{0}{1}.html">the other page</a>.</p>'
    return diff_pages(*(page(more=text.format(letter, number)) for letter in "ab"))


def test_edited_texts_with_links_are_not_renamed_pages() -> None:
    story = '<p>What was seen on day {0} is written <a href="day{0}.html">in this story of {0} birds</a>.</p>'
    noise = NoiseModel()
    for number in range(40):
        edited = diff_pages(page(more=story.format(number)), page(more=story.format(number + 100)))
        noise.learn(number, edited if number % 4 == 0 else None)
    assert ChangeKind.CONTENT in classify_diff(diff_renamed_link(0), noise, 50).kinds


def test_retargeted_links_on_many_pages_are_renamed_pages() -> None:
    noise = NoiseModel()
    for number in range(40):
        noise.learn(number, diff_renamed_link(number) if number % 4 == 0 else None)
    quiet = classify_diff(diff_renamed_link(0), noise, 0)
    assert quiet.kinds == (ChangeKind.LINKS,)
    for number in range(40, 400):
        noise.learn(number, None)
    assert ChangeKind.CONTENT in classify_diff(diff_renamed_link(0), noise, 0).kinds


def test_retargeted_template_link_is_not_a_renamed_page() -> None:
    noise = NoiseModel()
    link = '<p>See <a href="/{0}.html">the terms</a>.</p>'
    for number in range(100):
        noise.learn(number, diff_pages(page(more=link.format("old")), page(more=link.format("new"))))
    assert ChangeKind.CONTENT in classify_diff(diff_renamed_link(0), noise, 0).kinds


def test_change_on_few_pages_is_significant() -> None:
    noise = NoiseModel()
    found = diff_pages(page(), page([*TEXT, "Now on the fediverse."]))
    for number in range(500):
        noise.learn(number, found if number < MIN_PAGES - 1 else None)
    assert ChangeKind.CONTENT in classify_diff(found, noise, 0).kinds


def test_place_that_changes_at_every_visit_is_noise() -> None:
    noise = NoiseModel()
    versions = [page([TEXT[0], f"Quotation {word}", *TEXT[1:]]) for word in ("a", "b", "c", "d", "e")]
    for number, (old, new) in enumerate(pairwise(versions)):
        found = diff_pages(old, new)
        assert (ChangeKind.CONTENT in classify_diff(found, noise, 7).kinds) == (number < MIN_STREAK)
        noise.learn(7, found)


def list_significant(versions: list[str], noise: NoiseModel, number: int = 7) -> list[bool]:
    """Visit the versions of a page in turn; return whether each change is significant."""
    significant = []
    for old, new in pairwise(versions):
        noise.learn(number, found := diff_pages(old, new) if old != new else None)
        significant.append(found is not None and ChangeKind.CONTENT in classify_diff(found, noise, number).kinds)
    return significant


def test_list_with_a_new_item_at_every_visit_is_significant() -> None:
    items = [f"<li>Notice {number} of the harbour</li>" for number in range(12)]
    added = [page(more=f"<h2>Notices</h2><ul>{''.join(reversed(items[:n]))}</ul>") for n in range(2, 12)]
    rolling = [page(more=f"<h2>Notices</h2><ul>{''.join(reversed(items[n - 3 : n]))}</ul>") for n in range(3, 12)]
    assert all(list_significant(added, NoiseModel()))
    assert all(list_significant(rolling, NoiseModel()))


def test_alternating_text_is_noise_and_a_third_variant_is_significant() -> None:
    first, second, third = (page([TEXT[0], word * 30, *TEXT[1:]]) for word in ("trial ", "other ", "fresh "))
    versions = [first, second, first, second, second, first, second, first, first, second, third]
    assert list_significant(versions, NoiseModel()) == [True, True, *[False] * 7, True]


def test_alternating_images_and_titles_are_noise() -> None:
    first, second = (
        page(head=f"<title>{word}</title>", more=f'<p>Look: <img src="/{word}.jpg"></p>') for word in ("Gulls", "Terns")
    )
    noise = NoiseModel()
    for number in range(200):
        noise.learn(number + 100, None)  # so that it is not shared by many pages
    assert list_significant([first, second, first, second, first], noise) == [True, True, False, False]


def test_notice_that_returns_after_unchanged_visits_is_significant() -> None:
    clear, outage = page(["All is well.", *TEXT]), page(["The ferry does not run.", *TEXT])
    versions = [clear, *([outage] + [clear] * 5) * 4]
    assert list_significant(versions, NoiseModel()) == [old != new for old, new in pairwise(versions)]


def test_two_recurring_notices_are_significant() -> None:
    calm, mail, web = ("Mail runs.", "Web runs."), ("Mail rests.", "Web runs."), ("Mail runs.", "Web rests.")
    versions = [page([*notices, *TEXT]) for notices in ([calm, *[mail, *[calm] * 4, web, *[calm] * 4] * 6])]
    assert list_significant(versions, NoiseModel()) == [old != new for old, new in pairwise(versions)]


def test_pages_rewritten_once_are_significant_and_rewritten_repeatedly_are_noise() -> None:
    noise = NoiseModel()
    rounds = [[page(["Limit", f"{turn}.{n}", *TEXT]) for n in range(9)] for turn in range(3)]
    for before, after in pairwise(rounds):
        found = [diff_pages(old, new) for old, new in zip(before, after, strict=True)]
        for number, diff in enumerate(found):
            noise.learn(number, diff)
        significant = [
            ChangeKind.CONTENT in classify_diff(diff, noise, number).kinds for number, diff in enumerate(found)
        ]
        assert significant == [before is rounds[0]] * 9


def test_unchanged_visit_ends_a_streak() -> None:
    noise = NoiseModel()
    found = diff_pages(page([TEXT[0], "one"]), page([TEXT[0], "two"]))
    for _ in range(MIN_STREAK):
        noise.learn(7, found)
    assert not classify_diff(found, noise, 7).is_significant
    noise.learn(7, None)
    assert classify_diff(found, noise, 7).is_significant


def test_rotating_text_is_noise_despite_a_repetition() -> None:
    noise = NoiseModel()
    shown = [page([TEXT[0], f"Quotation {number}"]) for number in range(2 * MIN_STREAK + 1)]
    found = [diff_pages(old, new) for old, new in pairwise(shown)]
    for diff in (*found, None):
        noise.learn(7, diff)
        noise.learn(8, None)  # so that the place is not shared by many pages
    assert not classify_diff(found[-1], noise, 7).is_significant
    for _ in range(MIN_STREAK):
        noise.learn(7, None)
    assert classify_diff(found[-1], noise, 7).is_significant


def test_unlimited_streak_of_an_old_collection_expires() -> None:
    noise = NoiseModel(fragment_counts={5: 9.0}, streaks={7: {2: 40}})
    for _ in range(2 * MIN_STREAK):
        noise.learn(7, None)
    assert not noise.is_always_changing(7, 2)


def test_long_text_in_an_always_changing_place_is_significant() -> None:
    noise = NoiseModel()
    short = diff_pages(page([TEXT[0], "one"]), page([TEXT[0], "two"]))
    for _ in range(MIN_STREAK):
        noise.learn(7, short)
    assert classify_diff(diff_pages(page([TEXT[0], "one"]), page([TEXT[0], "two " * 100])), noise, 7).is_significant


def test_model_is_bounded_and_can_be_stored() -> None:
    noise = NoiseModel()
    found = diff_pages(page(), page([*TEXT, "Now on the fediverse."]))
    for number in range(5000):
        noise.learn(number, found if number % 3 == 0 else None)
    assert noise.visits <= 2001
    assert NoiseModel.from_bytes(noise.to_bytes()) == noise
    assert NoiseModel.from_bytes(b"") == NoiseModel()


def test_price_that_changes_at_every_visit_is_significant() -> None:
    noise = NoiseModel()
    versions = [page([TEXT[0], f"Price: {price}.50 EUR", *TEXT[1:]]) for price in range(1, 8)]
    for old, new in pairwise(versions):
        noise.learn(7, diff_pages(old, new))
        assert classify_diff(diff_pages(old, new), noise, 7).counts == {"changed": 1}


def test_price_significance_does_not_depend_on_page_length() -> None:
    price, color = (diff_pages(page([*TEXT * 40, old]), page([*TEXT * 40, new]))
                     for old, new in (("5 EUR", "6 EUR"), ("red", "blue")))  # fmt: skip
    assert classify_diff(price).significance == PRICE_SIGNIFICANCE > classify_diff(color).significance


def test_sold_out_on_many_pages_is_not_template() -> None:
    noise = NoiseModel()
    found = [
        diff_pages(page([f"Bird {n}", "In stock", *TEXT]), page([f"Bird {n}", "Sold out", *TEXT])) for n in range(9)
    ]
    for number, diff in enumerate(found):
        noise.learn(number, diff)
    assert all(ChangeKind.CONTENT in classify_diff(diff, noise, number).kinds for number, diff in enumerate(found))


def build_quote_page(number: int, *more: str) -> str:
    return page([TEXT[0], *more, f"Quote {number}: nothing stays as it is, wrote number {number * 7}.", *TEXT[1:]])


def test_paragraph_added_at_an_always_changing_place_is_significant() -> None:
    noise = NoiseModel()
    for number in range(2 * MIN_STREAK):
        noise.learn(1, diff_pages(build_quote_page(number), build_quote_page(number + 1)))
    assert classify_diff(diff_pages(build_quote_page(20), build_quote_page(21)), noise, 1).noise == ("always changing",)
    added = diff_pages(build_quote_page(20), build_quote_page(21, "The pier is closed on Sundays from now on."))
    removed = diff_pages(build_quote_page(21, "The pier is closed on Sundays from now on."), build_quote_page(22))
    for found in (added, removed):
        noise.learn(1, found)
        assert ChangeKind.CONTENT in classify_diff(found, noise, 1).kinds


def test_paragraph_edited_at_an_always_changing_place_is_significant() -> None:
    texts = [[TEXT[0], f"Quotation {number}", TEXT[1]] for number in range(8)]
    texts += [[TEXT[0], f"Quotation {number}", "The pier is closed."] for number in range(8, 10)]
    assert list_significant([page(text) for text in texts], NoiseModel())[MIN_STREAK - 1 :] == [False] * 5 + [
        True,
        False,
    ]


def test_paragraphs_added_occasionally_at_an_always_changing_place_are_significant() -> None:
    noise = NoiseModel()
    shown = [build_quote_page(n, *[f"The pier is closed on day {n}."] * (n % 12 == 0)) for n in range(1, 60)]
    found = [diff_pages(old, new) for old, new in pairwise(shown)]
    for diff in found:
        noise.learn(1, diff)
    significant = [n for n, diff in enumerate(found, 1) if ChangeKind.CONTENT in classify_diff(diff, noise, 1).kinds]
    assert significant == [11, 12, 23, 24, 35, 36, 47, 48]


def test_text_added_and_removed_all_the_time_is_noise() -> None:
    noise = NoiseModel()
    shown = [
        build_quote_page(number, *[f"Storm {number} is on its way."] * (number % 2)) for number in range(3 * MIN_STREAK)
    ]
    found = [diff_pages(old, new) for old, new in pairwise(shown)]
    for diff in found:
        noise.learn(1, diff)
    assert classify_diff(found[-1], noise, 1).noise == ("always changing",)


def build_photo_page(number: int, more: str = "") -> str:
    shown = f'<p><a href="/seen/{number}">Seen today</a> <img src="/photos/{number}.jpg"></p>'
    return page(more=f'{shown}<p><a href="/rules">Rules</a>{more}</p>')


def test_links_and_images_that_always_change_are_noise() -> None:
    noise = NoiseModel()
    for number in range(MIN_STREAK):
        found = diff_pages(build_photo_page(number), build_photo_page(number + 1))
        assert ChangeKind.CONTENT in classify_diff(found, noise, 1).kinds
        noise.learn(1, found)
    quiet = classify_diff(found, noise, 1)
    assert (quiet.kinds, quiet.noise, quiet.suppressed_count) == ((), ("always changing",), 2)
    assert ChangeKind.CONTENT in classify_diff(found, noise, 2).kinds


def test_images_added_to_always_changing_ones_are_significant() -> None:
    noise = NoiseModel()
    for number in range(MIN_STREAK):
        noise.learn(1, diff_pages(build_photo_page(number), build_photo_page(number + 1)))
    more = diff_pages(
        build_photo_page(8), build_photo_page(9, '<img src="/a.png"><img src="/b.png"><img src="/c.png">')
    )
    assert classify_diff(more, noise, 1).kinds == (ChangeKind.CONTENT, ChangeKind.STRUCTURE, ChangeKind.MEDIA)


def build_vote_page(number: int, words: str) -> str:
    return page([TEXT[0], f"{number * 7}", words, *TEXT[1:]])


def test_sentence_edited_next_to_an_always_changing_number_is_significant() -> None:
    noise, words = NoiseModel(), "The old pier is open on every day of the week, and so is the tower next to it."
    for number in range(2 * MIN_STREAK):
        noise.learn(1, diff_pages(build_vote_page(number, words), build_vote_page(number + 1, words)))
    assert classify_diff(diff_pages(build_vote_page(20, words), build_vote_page(21, words)), noise, 1).noise == (
        "always changing",
    )
    edited = diff_pages(build_vote_page(21, words), build_vote_page(22, words.replace("open", "closed")))
    noise.learn(1, edited)
    assert ChangeKind.CONTENT in classify_diff(edited, noise, 1).kinds


def test_retargeted_main_link_is_significant_next_to_always_changing_links() -> None:
    related = '<p><a href="/{}.pdf">Report</a></p></main><nav><a href="/{}">Related</a></nav><main>'
    noise = NoiseModel()
    for number in range(MIN_STREAK):
        noise.learn(1, diff_pages(page(more=related.format("a", number)), page(more=related.format("a", number + 1))))
    quiet = diff_pages(page(more=related.format("a", 8)), page(more=related.format("a", 9)))
    retargeted = diff_pages(page(more=related.format("a", 8)), page(more=related.format("b", 9)))
    assert [classify_diff(diff, noise, 1).kinds for diff in (quiet, retargeted)] == [
        (),
        (ChangeKind.CONTENT, ChangeKind.LINKS),
    ]
