"""The URL organiser: one spelling per URL, and what may be asked for at all.

A raw string comes in; a `Url` (the key), its wire spelling and a verdict (in scope, trap, too long ...) go out.

    normalise.py   one spelling per URL            dust.py       what makes no difference on a site, learned or said
    scope.py       what belongs to a crawl         traps.py      what one URL tells of a trap
    domain.py      who registered a name           budget.py     what only many URLs tell

Which page is worth more: `coverage.py`, `popularity.py`, `pvalue.py`, `relevance.py`, `navigation.py`, `depth.py`.
"""
