"""Main content of a page: regions, boilerplate rules, volatile text, prices."""
