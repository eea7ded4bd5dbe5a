"""Full-text search: an index updated page by page, a query language, and explained ranking.

Input: `Document`s, and the number of the batch they were stored with. One commit holds both, so after a crash
`SearchIndex.last_batch` tells which visits must be read again. Output: `SearchResults` with plain-text snippets,
facets, and the score parts of each hit.

    tokenizer    text to stems, by language          query            query syntax to `ParsedQuery`
    language     language of a page                  query_compiler   `ParsedQuery` to tantivy queries
    index        the index on disk                   ranking          combines text, link, freshness, behavior
    indexer      updates the index from the archive  snippets         text around the matches
    spelling     corrections for unknown words       query_expansion  related terms and aliases
    engine       one search, step by step            feedback         learned weights, unmet queries
"""
