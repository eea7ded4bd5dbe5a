"""Who registered a name: the domain above which nobody else decides."""

from functools import lru_cache

from publicsuffixlist import PublicSuffixList

from sanderling.urls.normalize import get_hostname


@lru_cache(maxsize=4096)
def get_registrable_domain(host: str) -> str:
    """Give the domain one owner registered (`example.co.uk`); an address or a single label stands for itself."""
    name = get_hostname(host) if "//" in host else host
    if ":" in name or name.rpartition(".")[2].isdigit():
        return name
    return _load_public_suffixes().privatesuffix(name) or name


@lru_cache(maxsize=1)
def _load_public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()
