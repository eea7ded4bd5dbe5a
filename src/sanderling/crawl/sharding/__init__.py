"""Crawl a set of shards: a coordinator per shard; they exchange links, page quotas, and addresses."""
