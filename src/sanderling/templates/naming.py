"""Templates as people see them: named by what the paths of their pages share."""

from collections.abc import Iterable, Sequence
from math import log

from msgspec import Struct

from sanderling.templates.template_views import PageView
from sanderling.urls.tokens import split_path


class Named(Struct, frozen=True):
    """A template as people see it."""

    number: int
    pattern: str
    pages: int
    rarity: float  # ln(N / n), the IDF of SPEC section 9
    example: str


def name(number: int, looks: Sequence[PageView], known: int) -> Named:
    """Describe a template by what its pages share."""
    ordered = sorted(looks, key=lambda look: (len(look.url), look.url))
    return Named(
        number=number,
        pattern=pattern(look.url for look in ordered),
        pages=len(ordered),
        rarity=log(known / len(ordered)) if ordered else 0.0,
        example=ordered[len(ordered) // 2].url,
    )


def pattern(urls: Iterable[str]) -> str:
    """Write the paths of these URLs as one: `*` where a name varies, `**` where the depth does."""
    paths = [split_path(url) for url in urls]
    if not paths:
        return ""
    names = [name for _, name, _ in paths]
    front, back = _shared([folders for folders, _, _ in paths])
    deepest = {len(folders) for folders, _, _ in paths}
    varied = min(deepest) - len(front) - len(back)
    middle = ["**"] if len(deepest) > 1 else ["*"] * varied
    return "/" + "/".join([*front, *middle, *back, _name_pattern(names)])


def _shared(folders: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """Directories all paths begin with, and those all end with."""
    least = min(len(path) for path in folders)
    front = []
    for level in range(least):
        if len({path[level] for path in folders}) > 1:
            break
        front.append(folders[0][level])
    back: list[str] = []
    for level in range(1, least - len(front) + 1):
        if len({path[-level] for path in folders}) > 1:
            break
        back.insert(0, folders[0][-level])
    return front, back


def _name_pattern(names: Sequence[str]) -> str:
    """What file names share at either end."""
    if len(set(names)) == 1:
        return names[0]
    least = min(map(len, names))
    front = next((n for n in range(least) if len({name[n] for name in names}) > 1), least)
    back = next((n for n in range(least - front) if len({name[-1 - n] for name in names}) > 1), least - front)
    return f"{names[0][:front]}*{names[0][len(names[0]) - back :]}"
