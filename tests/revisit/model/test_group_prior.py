"""What is usual in a group is learned from its pages, and a new page is thought of as its kin are."""

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.group_prior import MAX_SITE_GROUPS, SitePriors, UrlGroups, parse_url_groups


def page(path: str) -> UrlGroups:
    return parse_url_groups(f"http://a.org/{path}")


def teach(habits: SitePriors, kin: UrlGroups, changed: bool, looks: int = 6) -> None:
    """A page that was found changed, or not, every ten days."""
    table = change_rate.get_changed_table() if changed else change_rate.get_unchanged_table()
    evidence: change_rate.RateVector = change_rate.NO_EVIDENCE
    for _ in range(looks):
        habits.update_weights(kin, evidence, table[change_rate.get_slot(10.0)])
        evidence = change_rate.update_evidence(evidence, habits.get_prior(kin), table[change_rate.get_slot(10.0)], 0.0)
        habits.update_priors(kin, evidence, 1.0)


def rate(habits: SitePriors, path: str) -> float:
    return change_rate.compute_mean_rate(habits.get_prior(page(path)), sum(habits.get_prior(page(path))))


def taught() -> SitePriors:
    habits = SitePriors()
    paths = [f"{folder}/{n}.html" for folder in ("news", "legal") for n in range(30)]
    for path in paths:
        habits.add_page(page(path))
    for path in paths:
        teach(habits, page(path), path.startswith("news"))
    return habits


def test_a_new_page_is_thought_of_as_the_pages_of_its_folder_are() -> None:
    habits = taught()
    assert rate(habits, "news/new.html") > 3 * rate(habits, "legal/new.html")


def test_a_folder_nothing_is_known_of_is_as_the_whole_site() -> None:
    habits = taught()
    assert rate(habits, "legal/new.html") < rate(habits, "other/new.html") < rate(habits, "news/new.html")


def test_the_kind_of_group_that_foretold_best_weighs_most() -> None:
    place, ending, name = taught().kind_weights
    assert place > ending
    assert place > name


def test_a_group_of_one_page_speaks_with_the_words_of_the_site() -> None:
    habits = SitePriors()
    habits.add_page(page("only.html"))
    teach(habits, page("only.html"), True)
    assert habits.get_prior(page("x/y.pdf")) == habits.get_prior(page("only.html"))


def test_groups_are_bounded_and_go_with_their_pages() -> None:
    habits = SitePriors()
    for number in range(MAX_SITE_GROUPS):
        habits.add_page(page(f"d{number}/p{number}.html"))
        habits.add_page(page(f"d{number}/q{number}.html"))
    assert 1 < len(habits.groups) <= MAX_SITE_GROUPS
    assert 1 < len(habits.single_page_groups) <= MAX_SITE_GROUPS
    for number in range(MAX_SITE_GROUPS):
        habits.remove_page(page(f"d{number}/p{number}.html"))
        habits.remove_page(page(f"d{number}/q{number}.html"))
    assert habits.page_count == 0
    assert not habits.groups
    assert not habits.single_page_groups


def test_a_page_with_a_name_of_its_own_takes_little_memory() -> None:
    habits = SitePriors()
    habits.add_page(page("tide.html"))
    habits.add_page(page("wave.html"))
    assert habits.groups.keys() == {"*.html"}
    habits.add_page(page("old/wave.html"))
    assert habits.groups.keys() == {"*.html", "wave.*"}
    assert habits.groups["wave.*"].page_count == 2
