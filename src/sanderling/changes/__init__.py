"""The change detector: two versions of a page in, one typed report out.

Full marks (fingerprint/build.py) come in pairs; `difference.py` lists the bare facts (blocks laid side by side by
`align.py`, the tree by `tree.py`, assets as sets), `noise.py` remembers what is noise on this site, `detect.py` says
which kinds of change are left and how much they matter. `report.py` compares two bodies word by word for people;
`rms.py` has the papers' signatures. Changes go out as a feed (`feed.py`) or as messages (`alerts.py`).
"""
