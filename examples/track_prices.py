"""Print the price in the JSON-LD of each stored version of a page: track_prices.py URL [FOLDER]."""

import sys

import sanderling

url, folder = sys.argv[1], (sys.argv[2:] or ["collection"])[0]
with sanderling.open(folder) as collection:
    for version in collection.versions(url):
        for item in version.data.get("json_ld", []):
            offer = item.get("offers", {})
            if "price" in offer:
                print(f"{version.fetched_at:%Y-%m-%d %H:%M}  {offer['price']} {offer.get('priceCurrency', '')}")
