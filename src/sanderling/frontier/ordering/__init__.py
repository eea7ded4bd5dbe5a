"""Crawl orderings, selected with `--order`; `ordering_registry.py` parses the option.

simple.py        breadth first, depth first, backlinks, sitemap priority, largest site
pvalue.py        IPC: three lists in the ratio 4:2:1     coverage.py      MIG: pages that lead to most new links
pagerank.py      PageRank of the graph so far            opic.py          pages distribute cash over their links
hits.py          pages that good hubs link to            popularity.py    request counts from access logs
fish_search.py   neighbors of relevant pages only        shark_search.py  fish search with graded relevance
best_first.py    similarity to the topic                 weighted.py      weighted sum of orderings
"""
