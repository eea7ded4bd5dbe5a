"""Test errors about `--order`."""

from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.errors import UsageError


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--order", "galaxy"], "unknown ordering 'galaxy'; choose from breadth, depth, pvalue"),
        (["--order", "pagerank+depth"], "depth cannot be mixed with other orderings; choose from: breadth"),
        (["--order", "fish"], "needs a topic: --query"),
        (["--order", "popularity"], "--access-log FILE"),
        (["--query", ""], "--query is empty"),
        (["--query", "of the"], "contains no usable word; write for example --query"),
        (["--like-text", "nowhere.txt"], "cannot read --like-text nowhere.txt"),
        (["--depth", "deep"], "give a number of levels such as 3, poisson:10"),
        (["--depth", "poisson:99"], "between 0 and 35, not 99: give a number of levels"),
        (["--keep", "many"], "not a whole number"),
    ],
)
def test_invalid_order_is_a_usage_error_with_the_alternatives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], sentence: str
) -> None:
    code = main(["crawl", "http://127.0.0.1:9/", "--allow-private", "-C", str(tmp_path / "c"), *flags])
    assert code == UsageError.exit_code
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert not (tmp_path / "c").exists()
