"""Full-text search with explained ranking, over an index that is updated page by page.

Each commit stores documents together with the number of their last visit batch, so an interrupted indexer knows where
to continue (`SearchIndex.last_batch`).

    indexer -> document -> tokenizer -> index       from stored visits to the index
    query -> query_compiler -> engine -> ranking    from a query to `SearchResults`
"""
