"""Ranking quality on classic test collections, compared with the published plain BM25 results."""

import json
from pathlib import Path

import pytest
from benchmarks.lib.ranking_measures import compute_average_precision

from sanderling.search.engine import SearchEngine
from sanderling.search.index import open_search_index
from sanderling.search.search_types import Document, SearchRequest

# MAP of the reference (k1 1.2, b 0.75, small stop list, crude suffix stripping), as stated with the collections.
REFERENCE = {"cran": 0.286, "cran, source paper counted": 0.404, "med": 0.511, "cacm": 0.273}


def load_jsonl(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def load_grades(path: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    for line in path.read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        grades.setdefault(query, {})[document] = int(grade)
    return grades


@pytest.mark.parametrize("name", ["cran", "med", "cacm"])
def test_defaults_beat_plain_bm25(name: str, suites: Path, tmp_path: Path) -> None:
    folder = suites / "ir-collections" / name / "norm"
    index = open_search_index(tmp_path / "index", write=True)
    assert index is not None
    index.replace(
        Document(d["id"], d["title"], body=" ".join((d["text"], d.get("keywords", ""), d["author"])), language="en")
        for d in load_jsonl(folder / "docs.jsonl")
    )
    index.commit(1)
    engine, grades = SearchEngine(index), load_grades(folder / "qrels.tsv")
    precisions: dict[str, list[float]] = {name: [], f"{name}, source paper counted": []}
    for query in load_jsonl(folder / "queries.jsonl"):
        results = engine.search(SearchRequest(query["text"], limit=1000, include_facets=False, include_snippets=False))
        ranking = [hit.url for hit in results.hits]
        for label, min_grade in zip(precisions, (1, -1), strict=True):
            relevant = {d for d, grade in grades.get(query["id"], {}).items() if grade >= min_grade}
            if relevant:
                precisions[label].append(compute_average_precision(ranking, relevant))
    index.close()
    for label, values in precisions.items():
        if label in REFERENCE:
            assert sum(values) / len(values) > REFERENCE[label] * 1.05, label
