"""Finding: a full-text index that is updated page by page, a query language, and ranking with its reasons.

In come `Document`s and the number of the batch they were stored with; one commit holds both, so that after a crash
the index says itself where it stands (`Index.missing_since`) and the catalogue's later visits are read again.
Out come `Results`: hits with safe snippets, facets, and for each hit the parts of its score.

    words      text to stems, by language          question   what the user typed, understood
    language   which language a page is in         compile    a question as tantivy queries
    store      the index on disk                   rank       text, links, freshness, behaviour: one score
    finder     the whole search, step by step      snippet    the piece of text that shows why
    spelling   what the user may have meant        aliases    other names of the same thing
    widen      related words for long questions    follow     the index kept in step with the crawl
"""
