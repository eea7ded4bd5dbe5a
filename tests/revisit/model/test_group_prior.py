"""What is usual in a group is learned from its pages, and a new page is thought of as its kin are."""

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.group_prior import MOST, Habits, Kin, kin_of


def page(path: str) -> Kin:
    return kin_of(f"http://a.org/{path}")


def teach(habits: Habits, kin: Kin, changed: bool, looks: int = 6) -> None:
    """A page that was found changed, or not, every ten days."""
    table = change_rate.changed_table() if changed else change_rate.quiet_table()
    evidence: change_rate.Row = change_rate.BLANK
    for _ in range(looks):
        habits.judge(kin, evidence, table[change_rate.slot(10.0)])
        evidence = change_rate.learn(evidence, habits.of(kin), table[change_rate.slot(10.0)], 0.0)
        habits.learn(kin, evidence, 1.0)


def rate(habits: Habits, path: str) -> float:
    return change_rate.mean(habits.of(page(path)), sum(habits.of(page(path))))


def taught() -> Habits:
    habits = Habits()
    paths = [f"{folder}/{n}.html" for folder in ("news", "legal") for n in range(30)]
    for path in paths:
        habits.enter(page(path))
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
    place, ending, name = taught().weights
    assert place > ending
    assert place > name


def test_a_group_of_one_page_speaks_with_the_words_of_the_site() -> None:
    habits = Habits()
    habits.enter(page("only.html"))
    teach(habits, page("only.html"), True)
    assert habits.of(page("x/y.pdf")) == habits.of(page("only.html"))


def test_groups_are_bounded_and_go_with_their_pages() -> None:
    habits = Habits()
    for number in range(MOST):
        habits.enter(page(f"d{number}/p{number}.html"))
        habits.enter(page(f"d{number}/q{number}.html"))
    assert 1 < len(habits.groups) <= MOST
    assert 1 < len(habits.single) <= MOST
    for number in range(MOST):
        habits.leave(page(f"d{number}/p{number}.html"))
        habits.leave(page(f"d{number}/q{number}.html"))
    assert habits.pages == 0
    assert not habits.groups
    assert not habits.single


def test_a_page_with_a_name_of_its_own_takes_little_memory() -> None:
    habits = Habits()
    habits.enter(page("tide.html"))
    habits.enter(page("wave.html"))
    assert habits.groups.keys() == {"*.html"}
    habits.enter(page("old/wave.html"))
    assert habits.groups.keys() == {"*.html", "wave.*"}
    assert habits.groups["wave.*"].pages == 2
