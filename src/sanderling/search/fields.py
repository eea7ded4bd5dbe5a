"""Index values derived from URLs and media types. Does not import tantivy."""

from urllib.parse import urlsplit

import xxhash


def compute_page_id(url: str) -> int:
    """Hash a URL, so that candidates can be weighted without loading documents."""
    return xxhash.xxh3_64_intdigest(url.encode("utf-8", "replace")) >> 1


def get_host_with_port(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2].lower()


def list_domain_suffixes(site: str) -> list[str]:
    """List a site and its parent domains: site:example.org matches docs.example.org."""
    if site.startswith("["):  # an IPv6 address has no parent domain
        return list(dict.fromkeys((site, site.partition("]")[0] + "]")))
    host = site.partition(":")[0]
    labels = host.split(".")
    found = [".".join(labels[i:]) for i in range(min(len(labels), 8))]
    return [site, *found] if ":" in site else found
