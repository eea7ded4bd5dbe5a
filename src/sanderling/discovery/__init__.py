"""Where URLs come from beyond links: sitemaps and feeds. Bytes in, hints out; and the same written again.

sitemap.py     a file as it streams in: unpack, decode, scan; entries and problems out
gunzip.py      files packed with gzip          values.py     what the fields of an entry mean
markup.py      tags and text, however broken   gather.py     entries from tags
feeds.py       which address is an entry's     jsonfeed.py   feeds in JSON
extensions.py  images, videos, news
dates.py       dates as the web writes them    changefreq.py always, hourly ... never
entries.py     the records                     write.py      sitemaps of what we know
"""
