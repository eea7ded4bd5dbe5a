"""The web application: search page, stored pages, changes, dashboard, behavior tracking; one process, one port.

Requests come in over HTTP; HTML, JSON and server-sent events go out. The application reads the crawl through
`CollectionCrawlView`. Changing settings and starting or stopping a crawl require a login.

    app          routes, middleware, lifespan          search_view   the search page
    crawl_view   reads a collection on disk            api           the same as JSON
    sanitize     stored pages without active content   views         dashboard, changes, history, schedule, statistics
    tracking     behavior events                       auth, forms   login, settings, privacy
    middleware   security headers, hosts, rate limits  live          server-sent events, metrics
"""
