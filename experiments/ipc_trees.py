"""IPC Tables 4 to 8: the document tree and the fingerprint of two versions of a page, and how they compare."""

from experiments.frame import Table, exact
from experiments.paper_methods import build_tree_levels as level_table
from experiments.paper_methods import compare_outlines, fingerprint_tags
from sanderling.fingerprint.tag_outline import TagOutline
from sanderling.fingerprint.tag_outline import build_outline as outline_of
from sanderling.html.parser import parse_html

TITLE = "IPC Tables 4 to 8: document tree and fingerprint"

# nested lists stand for the trees of the paper's figures: tag and depth
INITIAL = "html1 head2 title3 body2 center3 h14 center3 b4 br4 center3 center3 h34 p3 br4 br4 center4 b5 h23"
CHANGED = "html1 head2 title3 body2 center3 h14 center3 b4 br4 center3 center3 b4 center3 h34 p3 h23"


def _tags(text: str) -> list[str]:
    return text.split()


TAGS = _tags("""
html head title body table tr td p img tr td td tr td td img p b font p font br font br br br br font br ul ul li p font
b font a font li p font a font p
""")
CHANGED_TAGS = [*TAGS[:19], *_tags("ul ul li p font b font a font"), *(_tags("li p font b font a font") * 3)]
PRINTED_FIRST = "hhtbtttpitttttipbfpfbfbbbbfbuulpfbfaflpfafp"  # 43 letters: the t of one tr is missing
PRINTED_LAST = "ldeyerdpgrddrddgpbtptrtrrrrtrlliptbtatiptatp"


def outline(text: str) -> TagOutline:
    """Read tags with their depth as the last digit."""
    words = text.split()
    return TagOutline([word[:-1] for word in words], bytes(int(word[-1]) for word in words))


def table() -> Table:
    """Compare the two versions both ways."""
    old, new = outline(INITIAL), outline(CHANGED)
    found = compare_outlines(old, new, frozenset())
    first, last = fingerprint_tags(TAGS), fingerprint_tags(CHANGED_TAGS)
    rows = (
        exact("nodes per level, initial", "1 2 7 7 1", "1 2 7 7 1", _counts(old)),
        exact("nodes per level, changed", "1 2 8 5 0", "1 2 8 5", _counts(new)),
        exact("nodes in all, initial (Level_no row)", 20, 18, len(old.tags)),
        exact("nodes in all, changed (Level_no row)", 17, 16, len(new.tags)),
        exact("verdict", "major", "major", str(found.severity)),
        exact("Table 6: nothing added or deleted", "none", "none", _verdict("div1 p2", "div1 p2")),
        exact("Table 6: a leaf added", "minor", "minor", _verdict("div1 p2", "div1 p2 img2")),
        exact("Table 6: a sibling with children deleted", "major", "major", _verdict("div1 p2 b3 p2", "div1 p2")),
        exact(
            "Table 8: where, by the tree (levels)", "located", "3 4 5", " ".join(str(one.level) for one in found.levels)
        ),
        exact("Table 8: a swap with equal counts, by the tree", "-", "seen", _swap(OLD_ORDER, NEW_ORDER)),
        exact(
            "Table 8: title and table swapped, by FP1 and FP2", "-", "the same", _letters("title table", "table title")
        ),
        exact(
            "Table 8: the same with our guard, a hash of the tags",
            "-",
            "differ",
            _guarded("title table", "table title"),
        ),
        exact("FP1, initial: letters", 43, 44, len(first.first_letters)),
        exact(
            "FP1, initial, without the lost t",
            PRINTED_FIRST,
            PRINTED_FIRST,
            first.first_letters[:9] + first.first_letters[10:],
        ),
        exact("FP2, initial", PRINTED_LAST, PRINTED_LAST, first.last_letters),
        exact("FP1, changed: letters", 48, 49, len(last.first_letters)),
        exact("a parsed page gives the same kind of outline", None, "html head body", _parsed()),
    )
    return Table(TITLE, rows, "Level_no rows and FP1 lost entries in print (E33, E34).")


OLD_ORDER, NEW_ORDER = "div1 p2 img2", "div1 img2 p2"


def _verdict(old: str, new: str) -> str:
    return str(compare_outlines(outline(old), outline(new), frozenset()).severity)


def _swap(old: str, new: str) -> str:
    return "seen" if compare_outlines(outline(old), outline(new), frozenset()).reordered else "missed"


def _letters(old: str, new: str) -> str:
    one, other = fingerprint_tags(old.split()), fingerprint_tags(new.split())
    return (
        "the same" if (one.first_letters, one.last_letters) == (other.first_letters, other.last_letters) else "differ"
    )


def _guarded(old: str, new: str) -> str:
    return "differ" if fingerprint_tags(old.split()) != fingerprint_tags(new.split()) else "the same"


def _counts(skeleton: TagOutline) -> str:
    return " ".join(map(str, level_table(skeleton).sibling_counts))


def _parsed() -> str:
    tree = parse_html(b"<p>")
    return " ".join(outline_of(tree, list(tree.iter_elements(("html", "head", "body")))).tags)
