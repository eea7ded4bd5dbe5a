"""Who registered a name: the domain above which nobody else decides."""

from functools import lru_cache

from publicsuffixlist import PublicSuffixList

from sanderling.urls.normalize import hostname


@lru_cache(maxsize=4096)
def registrable_domain(host: str) -> str:
    """Give the domain one owner registered (`example.co.uk`); an address or a single label stands for itself."""
    name = hostname(host) if "//" in host else host
    if ":" in name or name.rpartition(".")[2].isdigit():
        return name
    return _suffixes().privatesuffix(name) or name


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()
