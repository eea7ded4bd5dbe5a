"""The tantivy schema. A new schema needs a new INDEX_VERSION."""

from functools import cache

import tantivy

INDEX_VERSION = 2

# BM25 field weights, measured on Cranfield, MED and CACM (benchmarks/search/search_quality.py); anchors and address
# by analogy.
FIELD_WEIGHTS = {"title": 0.8, "headings": 0.4, "anchors": 0.5, "body": 1.0, "address": 0.3}
TEXT_FIELDS = tuple(FIELD_WEIGHTS)


@cache
def get_schema() -> tantivy.Schema:
    """Build the schema. Text fields hold stems."""
    builder = tantivy.SchemaBuilder()
    for name in ("key", "sites", "mark"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("site", "type", "language"):
        builder.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    for name in TEXT_FIELDS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    for name in ("changed", "modified", "until"):  # modified: 0 for the first version of a page
        builder.add_integer_field(name, fast=True, indexed=True)
    builder.add_integer_field("id", fast=True)
    builder.add_float_field("link", fast=True)
    builder.add_unsigned_field("batch", stored=True)
    builder.add_bytes_field("page", stored=True)
    return builder.build()
