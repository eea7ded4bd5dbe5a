"""User feedback: events in, page weights and unmet queries out.

A result page logs the ranking it showed under a query id; the tracker logs what users did with it, named as in User
Behavior Insights. `learn` computes weights from -1 to 1, which search applies and explains. A search without
satisfying results becomes an unmet query for workers to crawl. Network addresses of users are not recorded.

    events       events, rankings, actions              click_model    clicks without position bias, client trust
    event_log    database: retention, export, erasure   apriori        frequent action sets, page weights
    learn        from the log to weights to search      unmet_queries  queries to crawl more pages for
"""
