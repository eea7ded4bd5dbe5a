"""When to come back: change rates, policies, budget. Pure functions of what was seen and the time.

What visits found, and what sitemaps, feeds and lists announced, comes in; when each page is due goes out.

`planner.py` decides, `diary.py` keeps it in the database (`table.py`, behind the seam `shelf.py`). A policy is one file
behind `policy.py`, by name in `policies.py`; `learned.py`, the default, believes in `rates.py` per page and in groups
(`kin.py`, `habits.py`, `pulse.py`, `phase.py`), at a `price.py` that a `budget.py` steers. Whose word counts is in
`trust.py`, `signals.py`, `lists.py` and `maps.py`; pages that only seem to be there, in `gone.py` and `notices.py`;
side files with volatile parts (TVI), in `tvi.py` and `sides.py`.
"""
