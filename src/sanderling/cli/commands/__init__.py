"""Command modules, one per command, in a package per group of `sanderling --help`.

`cli/__init__.py` says what a command module defines; `look_closer/export.py` is a short example.
"""

COMMAND_GROUPS = {
    "everyday": {
        "crawl": "crawl sites into a collection, or resume an interrupted crawl",
        "archive": "crawl sites with everything their pages need to be shown",
        "refresh": "revisit pages that are due, once or continuously (--follow)",
        "watch": "watch pages or sites, and get notified of each change",
        "changes": "list changes: kind, significance, changed words; feeds and alerts",
        "search": "full-text search of the stored pages",
        "serve": "web interface: search, stored pages, diffs, dashboard, API",
        "status": "size and state of a collection, result of the last crawl",
    },
    "look closer": {
        "pages": "list stored pages, or skipped URLs with the reason",
        "show": "print a stored page: body, text, Markdown, or structured data",
        "history": "all visits of a page, with a plot",
        "diff": "compare two versions of a page word by word",
        "links": "outgoing and incoming links of a page",
        "explain": "why a URL is queued, skipped, or scheduled as it is",
        "similar": "find pages built from the same template as a sample page",
        "templates": "list the page templates of a site",
        "export": "write pages, versions, links, or changes as JSON lines, CSV, Parquet; or all records as WACZ",
        "import": "read WARC and WACZ files of other programs in, as history",
        "sink": "send pages to files, PostgreSQL, or a webhook, and follow the collection",
        "delete": "delete pages permanently and keep them out",
        "prune": "erase old versions that a retention rule does not keep",
        "seal": "record digests of the WARC files, so that verify finds modifications",
        "verify": "check a collection for damage, and repair it",
        "plugins": "list installed plugins: URL filters, extractors, sinks, orderings, and so on",
        "settings": "list all settings with value, flag, and environment variable",
    },
    "specialists": {
        "check": "test how a URL, robots.txt, sitemap, or page is interpreted",
        "sitemap": "write a sitemap of a crawled site",
        "url-rules": "learn which URL variants return the same page (DUST rules)",
        "aliases": "find alternative names of a term in the stored pages",
        "shards": "divide a collection into shards with a coordinator each, or join them",
        "workers": "list, move, pause, or stop the workers of a running crawl",
        "schedule": "show how workers are assigned to hosts",
        "identity": "create the key that signs requests, and the directory to publish (Web Bot Auth)",
        "migrant": "run a worker beside a web server that sends only what changed",
        "token": "create, list, and revoke tokens of the HTTP API",
        "mcp": "serve a collection to language models (Model Context Protocol)",
        "publish": "publish the changes of your own site for crawlers",
        "experiment": "reproduce the tables of the papers",
        "man": "print the manual page of a command, or write all pages into a folder",
        "completion": "print a completion script for bash, zsh, fish, or tcsh",
    },
}
COMMANDS = {name: text for commands in COMMAND_GROUPS.values() for name, text in commands.items()}
