"""Worker side of a crawl: fetch batches in, worker reports out. Runs the same in every kind of worker."""
