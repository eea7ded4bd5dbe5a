"""The fields of the index. A changed shape gets a new VERSION and so a new folder; the old one is never wiped."""

from functools import cache

import tantivy

INDEX_VERSION = 2

# Weights of the BM25 sum, measured on Cranfield, MED and CACM (benchmarks/search/search_quality.py); anchors and URL
# by analogy.
FIELD_WEIGHTS = {"title": 0.8, "headings": 0.4, "anchors": 0.5, "body": 1.0, "address": 0.3}
TEXT_FIELDS = tuple(FIELD_WEIGHTS)


@cache
def get_schema() -> tantivy.Schema:
    """Build the one schema; text fields hold stems, so they are only split at blanks."""
    build = tantivy.SchemaBuilder()
    for name in ("key", "sites", "mark"):
        build.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("site", "type", "language"):
        build.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    for name in TEXT_FIELDS:
        build.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    for name in ("changed", "modified", "until"):  # modified: 0 for the first version of a page
        build.add_integer_field(name, fast=True, indexed=True)
    build.add_integer_field("id", fast=True)
    build.add_float_field("link", fast=True)
    build.add_unsigned_field("batch", stored=True)
    build.add_bytes_field("page", stored=True)
    return build.build()
