"""Questions widened by other names: `sanderling aliases NAME --widen` switches it on for a name, nothing else does."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import structs

from sanderling.index.aliases_mentions import fold
from sanderling.index.question import Question, Term

FILE = "aliases.json"  # beside the index: {name: [other names]}
PER_NAME = 3  # other names that are asked for too
LONGEST = 6  # words of a name

Names = Mapping[str, Sequence[str]]


def read_names(folder: Path) -> Names:
    """The names that are widened; a file that is none widens nothing."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def keep_names(folder: Path, names: Names) -> None:
    """Widen these names from now on; a name without others is widened no longer."""
    known = {**read_names(folder), **{fold(name): list(others)[:PER_NAME] for name, others in names.items()}}
    folder.mkdir(exist_ok=True)
    fresh = folder / f"{FILE}.new"
    fresh.write_text(json.dumps({name: others for name, others in known.items() if others}), encoding="utf-8")
    fresh.replace(folder / FILE)


def also(question: Question, names: Names) -> Question:
    """Let each word of a name be answered by another name of the same thing as well."""
    if not names:
        return question
    wanted = list(question.wanted)
    said = [group[0].text if len(group) == 1 and not group[0].field else "" for group in wanted]
    for start in range(len(said)):
        for end in range(start + 1, min(len(said), start + LONGEST) + 1):
            others = names.get(fold(" ".join(said[start:end])), ()) if all(said[start:end]) else ()
            for place in range(start, end) if others else ():
                wanted[place] += tuple(Term(other, " " in other) for other in others)
    return structs.replace(question, wanted=tuple(wanted))


class Also:
    """Widens questions by the names kept in a folder, as they are at the moment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: tuple[float, Names] = (0.0, {})

    def __call__(self, question: Question) -> Question:
        """Widen one question."""
        try:
            written = (self.folder / FILE).stat().st_mtime
        except OSError:
            return question
        if written != self._read[0]:
            self._read = (written, read_names(self.folder))
        return also(question, self._read[1])
