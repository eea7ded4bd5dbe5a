"""Revisit scheduling: change rates, revisit policies, intervals and budgets.

* `planner`, `plan_store`, `schedule`: decide and store when each page is due
* `policies`: the default policy `learned`, and those of other crawlers
* `site_model`, `change_timing`, `announcements`: statistics of the default policy
* `intervals`: intervals and budgets, which users set
* `change_lists`: lists of changes that sites publish, and when to read sitemaps
* `missing_pages`: soft 404s, outages and notices
* `tvi`: files with the volatile parts of pages
"""
