"""Who goes: which migrant gets the next itinerary. AHP, and its rivals behind one seam.

How the migrants stand comes in (`Standing`, one each), with the host to visit; the id of one migrant goes out:

    choose(standings, host) -> id

`ahp.py` is the arithmetic (weights of a matrix of judgements, and whether they agree), `criteria.py` what is judged
and how it is measured, `verdict.py` the choice and its reasons, `rivals.py` the other ways to choose. `roster.py` keeps
the books of who is there and holds what, `member.py` is one of them.
"""
