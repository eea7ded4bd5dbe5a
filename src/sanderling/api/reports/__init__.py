"""Reports on a collection and its crawl, which may be running: status, rates, hosts, history, changes."""
