"""The web application: search, stored pages, changes, dashboard, user tracking.

server -> app -> middleware -> search_view, views, forms   pages
                            -> api, live, tracking         JSON, server-sent events
state: services of all handlers; crawl_view: reads the collection
"""
