"""Worker side of a crawl: fetch batches in, worker reports out. Runs the same in every kind of worker.

fetch_loop.py       schedules requests of many hosts        report_buffer.py   collects visits for the next report
host_queue.py       tasks and crawl delay of a host         robots.py          robots.txt parsing and caching
transport.py        requests, responses, Transport protocol curl_client.py     transport over libcurl (curl_transfer.py)
address_guard.py    blocks private addresses                dns.py             cached lookups (for the coordinator)
response.py         classifies responses and errors         process.py         response -> Visit
link_resolution.py  resolves links (link_header.py, native_links.py, topic_score.py)
record_packer.py    WARC records of an exchange             stored_body.py     last stored version of a page
sitemap_response.py sitemaps, feeds and change lists        template_filter.py parks pages that match no template
heartbeat.py        status of a worker                      fetch_settings.py  settings of a crawl
"""
