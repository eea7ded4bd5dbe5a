"""Which of several pages is the original: what they say themselves, then what they have in common."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

MAX_STEPS = 5  # from one canonical to the next


class Claim(Struct, frozen=True):
    """What a page says of itself."""

    url: str
    canonical: str  # empty if it says nothing
    digest: bytes = b""
    indexable: bool = True  # it answered 200 and does not say noindex


def resolve(url: str, claims: Mapping[str, Claim]) -> str:
    """Follow rel=canonical to the end; a claim on a page that is not there, or a circle, is not followed."""
    seen = [url]
    while len(seen) <= MAX_STEPS:
        claim = claims.get(seen[-1])
        target = claim.canonical if claim is not None else ""
        if not target or target == seen[-1]:
            return seen[-1]
        if target in seen or target not in claims or not claims[target].indexable:
            return url
        seen.append(target)
    return url


def original(claims: Iterable[Claim]) -> str:
    """Choose one of several pages with the same body: the one they point at, else the plainest spelling."""
    pages = {claim.url: claim for claim in claims}
    votes: dict[str, int] = {}
    for url, claim in pages.items():
        target = resolve(url, pages)
        if claim.canonical and target in pages:
            votes[target] = votes.get(target, 0) + 1
    ranked = sorted(pages, key=lambda url: (-votes.get(url, 0), url.count("/"), len(url), url))
    return ranked[0] if ranked else ""
