"""Scrapy as its documentation shows it: a CrawlSpider with a rule, items into a feed, default settings."""

import os

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class DocumentedSpider(CrawlSpider):
    name = "documented"
    allowed_domains = ["127.0.0.9"]
    start_urls = [os.environ["START_URL"]]
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def parse_page(self, response):
        if not hasattr(response, "text"):
            return
        yield {
            "url": response.url,
            "title": response.css("title::text").get(),
            "text": " ".join(response.css("body ::text").getall()),
            "links": [link.url for link in LinkExtractor().extract_links(response)],
        }
