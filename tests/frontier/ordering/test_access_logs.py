"""Popularity from access logs."""

import gzip
from pathlib import Path
from random import Random

import pytest

from sanderling.errors import UsageError
from sanderling.frontier.ordering.access_logs import (
    AccessCounts,
    RegressionTree,
    RequestCounts,
    build_learned_scorer,
    compute_accuracies,
    compute_weight_score,
    fit_nearest_neighbors,
    is_internal_host,
    read_access_logs,
    score_by_weight,
    split_into_classes,
)

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0"


def format_log_line(host: str, path: str, status: int = 200, agent: str = BROWSER) -> str:
    return f'{host} - - [10/Oct/2025:13:55:36 +0000] "GET {path} HTTP/1.1" {status} 123 "-" "{agent}"\n'


def test_requests_are_counted_by_network_and_client(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    lines = [
        format_log_line("8.8.8.8", "/a"),
        format_log_line("8.8.8.8", "/a#part"),
        format_log_line("9.9.9.9", "/a"),
        format_log_line("10.0.0.1", "/a"),
    ]
    others = [
        format_log_line("8.8.8.8", "/gone", 404),
        format_log_line("66.249.66.1", "/a", agent="Googlebot/2.1"),
        "nonsense\n",
    ]
    log.write_text("".join([*lines, *others]))
    assert read_access_logs([log]).counts == {"/a": RequestCounts(tec=3, uec=2, tic=1, uic=1)}
    assert RequestCounts(3, 2, 1, 1).total == 7


def test_paths_are_normalized_and_gzipped_logs_are_read(tmp_path: Path) -> None:
    log = tmp_path / "access.log.1.gz"
    log.write_bytes(
        gzip.compress(
            (format_log_line("8.8.8.8", "/%7Eme/./x") + format_log_line("8.8.8.8", "http://site.test/y")).encode()
        )
    )
    assert set(read_access_logs([log]).counts) == {"/~me/x", "/y"}


@pytest.mark.parametrize("content", [b"", b"no log at all\n" * 9, b"\x1f\x8b\x08 broken"])
def test_invalid_log_is_a_usage_error(tmp_path: Path, content: bytes) -> None:
    log = tmp_path / "access.log"
    log.write_bytes(content)
    with pytest.raises(UsageError, match="--access-log"):
        read_access_logs([log])
    with pytest.raises(UsageError, match="cannot read --access-log"):
        read_access_logs([tmp_path / "missing.log"])


def test_loopback_private_and_bare_names_are_internal() -> None:
    assert [is_internal_host(host) for host in ("127.0.0.1", "192.168.1.2", "intranet", "8.8.8.8", "a.example")] == [
        True, True, True, False, False,
    ]  # fmt: skip


def test_weight_score_follows_the_paper() -> None:
    counts = RequestCounts(tec=40, uec=20, tic=30, uic=10)
    assert compute_weight_score(counts, (0.9, 0.8, 0.2, 0.1)) == pytest.approx(
        (40 * 0.9 + 20 * 0.8 + 30 * 0.2 + 10 * 0.1) / 100
    )
    assert compute_weight_score(RequestCounts(), (1, 1, 1, 1)) == 0


def test_classes_keep_equal_values_together_and_zero_is_lowest() -> None:
    assert split_into_classes([1, 2, 3, 4, 5, 6]) == [0, 0, 1, 1, 2, 2]
    assert split_into_classes([0, 0, 0, 7]) == [0, 0, 0, 2]
    assert split_into_classes([]) == []


def logs_and_ranks() -> tuple[AccessCounts, dict[str, float]]:
    """Return counts where outside requests follow PageRank and the owner's requests are random."""
    draw = Random(5)
    ranks = {f"/{n}": float(n + 1) for n in range(90)}
    counts = {path: RequestCounts(int(rank * 3), int(rank), draw.randrange(400), draw.randrange(40))
              for path, rank in ranks.items()}  # fmt: skip
    return AccessCounts(counts), ranks


def test_accuracy_is_high_for_outside_counts_only() -> None:
    access_counts, ranks = logs_and_ranks()
    tec, uec, tic, uic = compute_accuracies(ranks, access_counts)
    assert min(tec, uec) > 0.9
    assert max(tic, uic) < 0.6


def compute_pair_accuracy(scores: dict[str, float], ranks: dict[str, float]) -> float:
    """Return the share of page pairs that the scores order like their ranks."""
    paths = list(ranks)
    pairs = [(a, b) for n, a in enumerate(paths) for b in paths[n + 20 :]]
    return sum(scores[b] > scores[a] for a, b in pairs) / len(pairs)


@pytest.mark.parametrize("by_tree", [True, False])
def test_four_counts_predict_better_than_the_total(by_tree: bool) -> None:
    access_counts, ranks = logs_and_ranks()
    some = {path: rank for n, (path, rank) in enumerate(ranks.items()) if n % 2}
    four, total = (
        build_learned_scorer(True, by_tree)(access_counts, some),
        build_learned_scorer(False, by_tree)(access_counts, some),
    )
    assert compute_pair_accuracy(four, ranks) > compute_pair_accuracy(total, ranks) + 0.1
    assert compute_pair_accuracy(four, ranks) > 0.8


def test_scores_without_pageranks_use_counts() -> None:
    access_counts, _ = logs_and_ranks()
    for score in (score_by_weight, build_learned_scorer(True), build_learned_scorer(False, False)):
        scores = score(access_counts, {})
        assert set(scores) == set(access_counts.counts)
        assert len(set(scores.values())) > 1


def test_tree_and_nearest_neighbors_find_the_threshold() -> None:
    samples = [(float(n), float(n % 7)) for n in range(60)]
    labels = [int(n >= 30) * 2 for n in range(60)]
    tree, neighbors = RegressionTree.fit(samples, labels).predict, fit_nearest_neighbors(samples, labels)
    for predict in (tree, neighbors):
        assert predict((5.0, 3.0)) == 0
        assert predict((55.0, 3.0)) == 2
