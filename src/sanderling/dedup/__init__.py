"""Duplicates (MIG-10): near ones by MinHash sketches, and how many there are of each kind.

`near.py` finds pages that read nearly the same, `twins.py` keeps their pairs up to date, `tally.py` counts,
`spellings.py` tells which known URLs need no visit because of a learned rule. Copies to the byte are met where pages
are stored (`store.shelve`), links that are known where they are found (`frontier.known`).
"""
