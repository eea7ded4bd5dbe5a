"""Crawl a site with the HTTP API of `sanderling serve`, and print a page: crawl_over_http.py SERVER TOKEN URL."""

import json
import sys
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

server, token, url = sys.argv[1:]


def call(path: str, body: object = None, **parameters: str) -> Any:
    """Send a request with the token; with a body it is a POST."""
    address = f"{server}/api/v1/{path}" + (f"?{urlencode(parameters)}" if parameters else "")
    data = json.dumps(body).encode() if body is not None else None
    return urlopen(Request(address, data, {"Authorization": f"Bearer {token}"}))


job = json.load(call("crawls", {"urls": [url], "settings": {"limit": 100}}))
name = ""
for line in call(f"crawls/{job['id']}/events"):
    field, _, value = line.decode().strip().partition(": ")
    if field == "event":
        name = value
    elif field == "data" and name == "progress":
        print(f"{json.loads(value)['pages']} pages")
    elif field == "data":
        print(f"end: {json.loads(value)['finish_reason']}")

for page in json.load(call("pages"))["pages"]:
    print(page["title"], page["url"])
print(json.load(call("page/content", url=url))["untrusted_text"])
