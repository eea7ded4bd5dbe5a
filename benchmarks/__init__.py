"""Speed, measured side by side: crawl.py against other crawlers, frontier.py at scale. Never part of the tests."""
