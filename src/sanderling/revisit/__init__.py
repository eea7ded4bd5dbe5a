"""Revisit scheduling: change rates, revisit policies and budgets.

* `planner`, `plan_store`, `schedule`: decide and store when each page is due
* `policies`: one module per policy; `model`: the statistics of the default policy
* `change_lists`, `sitemap_schedule`: lists of changes that sites publish
* `missing_pages`, `notice_clusters`: soft 404s and outages
* `tvi`, `tvi_files`: files with the volatile parts of pages
"""
