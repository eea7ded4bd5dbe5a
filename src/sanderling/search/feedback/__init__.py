"""User feedback: from events to page weights and unmet queries.

    events -> event_log -> click_model, apriori -> learn -> engine
    rating -> unmet_queries -> a crawl for similar pages
Network addresses are not recorded.
"""
