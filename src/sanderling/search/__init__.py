"""Full-text search with explained ranking, over an index that is updated page by page.

    indexer -> document -> tokenizer -> index       from stored visits to the index
    query -> query_compiler -> engine -> ranking    from a query to `SearchResults`
Each commit stores the number of its last visit batch, where an interrupted indexer continues.
"""
