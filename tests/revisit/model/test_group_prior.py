"""Priors of groups of pages."""

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.group_prior import MAX_SITE_GROUPS, SitePriors, UrlGroups, parse_url_groups


def page(path: str) -> UrlGroups:
    return parse_url_groups(f"http://a.org/{path}")


def teach(priors: SitePriors, url_groups: UrlGroups, changed: bool, visits: int = 6) -> None:
    """Record visits of a page every ten days, all changed or all unchanged."""
    table = change_rate.get_changed_table() if changed else change_rate.get_unchanged_table()
    evidence: change_rate.RateVector = change_rate.NO_EVIDENCE
    for _ in range(visits):
        priors.update_weights(url_groups, evidence, table[change_rate.get_slot(10.0)])
        evidence = change_rate.update_evidence(
            evidence, priors.get_prior(url_groups), table[change_rate.get_slot(10.0)], 0.0
        )
        priors.update_priors(url_groups, evidence, 1.0)


def rate(priors: SitePriors, path: str) -> float:
    return change_rate.compute_mean_rate(priors.get_prior(page(path)), sum(priors.get_prior(page(path))))


def build_priors() -> SitePriors:
    priors = SitePriors()
    paths = [f"{folder}/{n}.html" for folder in ("blog", "legal") for n in range(30)]
    for path in paths:
        priors.add_page(page(path))
    for path in paths:
        teach(priors, page(path), path.startswith("blog"))
    return priors


def test_new_page_has_prior_of_its_directory() -> None:
    priors = build_priors()
    assert rate(priors, "blog/new.html") > 3 * rate(priors, "legal/new.html")


def test_unknown_directory_has_prior_of_site() -> None:
    priors = build_priors()
    assert rate(priors, "legal/new.html") < rate(priors, "other/new.html") < rate(priors, "blog/new.html")


def test_best_predicting_group_kind_has_most_weight() -> None:
    directory, extension, name = build_priors().kind_weights
    assert directory > extension
    assert directory > name


def test_single_page_group_has_prior_of_site() -> None:
    priors = SitePriors()
    priors.add_page(page("only.html"))
    teach(priors, page("only.html"), True)
    assert priors.get_prior(page("x/y.pdf")) == priors.get_prior(page("only.html"))


def test_groups_are_limited_and_removed_with_pages() -> None:
    priors = SitePriors()
    for number in range(MAX_SITE_GROUPS):
        priors.add_page(page(f"d{number}/p{number}.html"))
        priors.add_page(page(f"d{number}/q{number}.html"))
    assert 1 < len(priors.groups) <= MAX_SITE_GROUPS
    assert 1 < len(priors.single_page_groups) <= MAX_SITE_GROUPS
    for number in range(MAX_SITE_GROUPS):
        priors.remove_page(page(f"d{number}/p{number}.html"))
        priors.remove_page(page(f"d{number}/q{number}.html"))
    assert priors.page_count == 0
    assert not priors.groups
    assert not priors.single_page_groups


def test_unique_file_names_are_stored_as_hashes() -> None:
    priors = SitePriors()
    priors.add_page(page("tide.html"))
    priors.add_page(page("wave.html"))
    assert priors.groups.keys() == {"*.html"}
    priors.add_page(page("old/wave.html"))
    assert priors.groups.keys() == {"*.html", "wave.*"}
    assert priors.groups["wave.*"].page_count == 2
