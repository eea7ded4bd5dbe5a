"""Extraction of the main content of a page: regions, boilerplate rules, volatile text, and prices."""
