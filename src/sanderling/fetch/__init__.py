"""The trip: guard, robots, fetch, parse, pack. Itineraries come in, parcels go out; runs the same anywhere.

`trip.py` is the loop. `line.py` holds the stops of one host and its pace; `rulebook.py` asks for robots.txt and
`robots.py` reads it. `fetch.py` drives curl, `transfer.py` is one request with its limits, `guard.py` looks at every
address before it is connected to, `trust.py` finds certificates. `answer.py` says what an answer means, `head.py` and
`body.py` read it, `coding.py` undoes content codings (`codings.py`). `observe.py` makes a visit of it: digest, links
(`follow.py`), marks, and records for the archive (`pack.py`, `framing.py`). `resolve.py` turns names into addresses,
for the coordinator; `vitals.py` says how a migrant is.

A stop waits, is on its way, is looked at, goes home as a visit; or goes home untried, and the visit says why.
"""
