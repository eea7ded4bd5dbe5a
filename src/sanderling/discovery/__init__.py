"""Parse and write sitemaps and feeds.

bytes -> gunzip -> decode -> xml_scanner -> entry_builder -> `SitemapEntry`   (driver: sitemap_parser)
"""
