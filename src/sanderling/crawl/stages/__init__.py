"""What becomes of a batch that came home, step by step; `crawl/pipeline.py` says in which order.

Visits come in; ids, records, plans and ended leases go into the one transaction that `crawl/pipeline.py` has opened.

`house.py` holds the open rooms. `hops.py` follows redirects, `offers.py` judges what pages point at, `maps.py` reads
sitemaps and lists, `filing.py` tells graph and ordering, `planning.py` says what changed and when to come back,
`sides.py` patches stored copies, `uses.py` queues what pages use, `closing.py` ends the leases.
"""
