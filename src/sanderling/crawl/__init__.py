"""A running crawl: context, pipeline, coordinator, session, refresh."""
