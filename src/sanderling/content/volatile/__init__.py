"""Rules that strip text which changes on its own: timestamps, relative times, counters, ratings.

`VOLATILE_RULES` in `strip.py` lists them; their words are in `content/data/<language>.toml`. A new word needs no code:
see CONTRIBUTING.
"""
