"""Tables hold, and say so when they do not."""

from pathlib import Path

import pytest
from experiments.frame import Figure, Series, Table, exact, lines, markdown, measured
from experiments.run import main, names, run, title

from sanderling.cli import main as sanderling

PURE = (
    *("ahp_criteria", "ahp_migrants", "ahp_ranking", "gpc_depth", "ipc_lists", "ipc_paragraphs", "ipc_sentences"),
    *(
        "ipc_trees",
        "mig_apriori",
        "mig_arithmetic",
        "mig_duplicates",
        "mig_ordering",
        "mig_precision",
        "mig_structure",
        "sar_cases",
    ),
)
CRAWLED = ("dps_scenarios", "mig_links")  # the quickest of those that crawl; make tables runs them all


@pytest.mark.parametrize("name", PURE + CRAWLED)
def test_a_table_holds(name: str) -> None:
    table = run(name)
    assert table.rows
    assert [row for row in table.rows if not row.holds] == []


def test_every_experiment_has_a_title_of_its_own() -> None:
    titles = [title(name) for name in names()]
    assert len(set(titles)) == len(titles)
    assert set(PURE) <= set(names())


def test_every_experiment_has_a_place_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs/papers.md").read_text(encoding="utf-8")
    assert [name for name in names() if f"<!-- {name} -->" not in page] == []


def test_a_number_outside_its_tolerance_does_not_hold() -> None:
    assert exact("x", 1, 2.0, 2.05, 0.1).holds
    assert not exact("x", 1, 2.0, 2.2, 0.1).holds
    assert not exact("x", 1, "yes", "no").holds
    assert measured("x", None, None, 5, 4, 6).holds
    assert not measured("x", None, None, 7, 4, 6).holds
    assert not Table("t", (), inputs="abc", pinned="abd").holds
    assert not Table("t", (exact("x", 1, 2, 3),)).holds


def test_a_table_that_does_not_hold_is_marked() -> None:
    text = "\n".join(lines(Table("t", (exact("x", 1, 2, 3), exact("y", None, "a", "a")), inputs="1")))
    assert "x        1          2     3           NO" in text
    assert "the inputs have digest 1" in text


def test_tables_are_written_for_the_documentation() -> None:
    assert markdown(Table("t", (exact("x", 1.50, 2, 2.0),))).endswith("| x | 1.5 | 2 | 2 |")


def test_the_command_lists_runs_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert sanderling(["experiment", "LIST"]) == 0
    assert "gpc_depth" in capsys.readouterr().out
    assert sanderling(["experiment", "gpc_depth", "sar_cases"]) == 0
    assert "2 of 2 tables hold" in capsys.readouterr().out
    assert sanderling(["experiment", "tea_leaves"]) == 4
    assert "sanderling: unknown experiment 'tea_leaves'" in capsys.readouterr().err


def test_the_exit_code_says_if_a_number_left_its_tolerance(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("experiments.gpc_depth.compute_poisson_depth", lambda mean: 7)
    assert main(["gpc_depth"]) == 1
    assert "0 of 1 tables hold; not: gpc_depth" in capsys.readouterr().out


def test_figures_are_drawn_as_bars_or_lines(tmp_path: Path) -> None:
    from experiments.draw import draw

    for labels in (("a", "b"), (1.0, 2.0)):
        draw(Figure("f", labels, (Series("one", (1, 2)), Series("two", (2, 1)))), tmp_path / "f.svg")
        assert "<svg" in (tmp_path / "f.svg").read_text()
