"""Rules that strip text which changes on its own: timestamps, relative times, counters, ratings."""
