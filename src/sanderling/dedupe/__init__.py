"""The duplicate eliminator (MIG-10): exact by digest, near by simhash, links by an occurrence cache before the disk.

`matcher.py` says what becomes of a downloaded page and of a found link, `cache.py` counts how often URLs are met,
`near.py` finds pages that read nearly the same, `twins.py` keeps their pairs up to date.
"""
