"""The web app: search page, stored pages, changes, dashboard, behaviour tracker; one process, one port.

Questions and events come in over HTTP; pages, JSON and server-sent events go out. What the app knows of the crawl it
sees through a `Window`; what it changes (settings, the crawl's start and stop) needs a login.

    window     what can be seen of a crawl                 app        routes, middleware, start and end
    crawl      the window onto a collection on disk        results    the search page        api    the same as JSON
    stored     a crawled page, made harmless               views      dashboard, changes, history, due, statistics
    tracking   events of behaviour, privacy                login      who may change things
    guard      headers, hosts, rates                       live       numbers as they change, metrics
"""
