"""Stages of the batch pipeline; `crawl/pipeline.py` defines their order.

Stages write to the transaction that the pipeline has opened:

* `visit_batch`: drop expired leases, detect missing pages, resolve redirects (`redirects`)
* `discovered_urls`, `requisites`, `sitemaps`, `tvi_stage`: enqueue new URLs and read lists that sites publish
* `archive_pages`: append WARC records, write catalog rows
* `change_detection`: classify changes, schedule the next visits
* `repeated_pages`: stop URL patterns whose pages repeat known content
* `rank_updates`: update the ordering, rerank the queue, evict pages
* `close_leases`: end leases, back off from hosts, count outcomes

`stage_services` lists the services that each stage may use.
"""
