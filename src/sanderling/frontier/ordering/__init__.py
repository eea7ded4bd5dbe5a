"""Orderings to choose from, one small file each; `choose.py` reads what `--order` says.

breadth.py     level by level                     depth.py        the newest page's links first
pvalue.py      IPC: three lists, 4:2:1            coverage.py     MIG: what leads to most new pages
pagerank.py    PageRank of the graph so far       opic.py         each page shares its cash among its links
hits.py        what good hubs point at            sites.py        larger sites first
sitemap.py     what sitemaps say                  popularity.py   what access logs say
fish.py        near relevant pages, or not at all shark.py        the same in shades
similarity.py  best first by words                mix.py          several at once, with weights
"""
