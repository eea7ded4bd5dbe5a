"""Registrable domains (eTLD+1), by the public suffix list."""

from functools import lru_cache

from publicsuffixlist import PublicSuffixList

from sanderling.urls.normalize import get_hostname


@lru_cache(maxsize=4096)
def get_registrable_domain(host: str) -> str:
    """Return the registrable domain, or the host itself without one."""
    name = get_hostname(host) if "//" in host else host
    if ":" in name or name.rpartition(".")[2].isdigit():
        return name
    return _load_public_suffixes().privatesuffix(name) or name


@lru_cache(maxsize=1)
def _load_public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()
