"""Scrapy tuned for speed: one link extraction per page, no feed, no log, no extra middleware, 64 requests at a time."""

import os

import scrapy
from scrapy.linkextractors import LinkExtractor


class TunedSpider(scrapy.Spider):
    name = "tuned"
    allowed_domains = ["127.0.0.9"]
    start_urls = [os.environ["START_URL"]]
    extractor = LinkExtractor(unique=True, strip=False)
    custom_settings = {
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "REFERER_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_ENABLED": False,
        "STATS_DUMP": False,
        "EXTENSIONS": {
            "scrapy.extensions.logstats.LogStats": None,
            "scrapy.extensions.memusage.MemoryUsage": None,
            "scrapy.extensions.corestats.CoreStats": None,
        },
    }

    def parse(self, response):
        if hasattr(response, "text"):
            for link in self.extractor.extract_links(response):
                yield scrapy.Request(link.url)
