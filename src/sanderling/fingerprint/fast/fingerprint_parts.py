"""Parts of a fingerprint, and which of them a changed tag or attribute can affect."""

from collections.abc import Set
from enum import StrEnum

from turbohtml import Node

from sanderling.content.class_names import classify_name
from sanderling.content.collapsible import CONTROL_ATTRIBUTES
from sanderling.content.extract import TAGS_BY_LABEL
from sanderling.content.rules.share_links import is_share_link
from sanderling.fingerprint import assets, scripts
from sanderling.fingerprint.main_assets import BOILERPLATE_TAGS
from sanderling.fingerprint.tag_outline import INVISIBLE_TAGS
from sanderling.html.parser import Element

MAX_CACHED_KINDS = 10_000  # a site uses the same kinds of elements on every page
VALUE_DEPENDENT_ATTRIBUTES = ("id", "class", "style")


class FingerprintPart(StrEnum):
    """The value is the name of the field if the part is a single field."""

    TEXT = "text"
    STRUCTURE = "structure"  # tags; also affects which text is main content
    PRESENTATIONAL = "presentational"  # attributes of old pages, such as bgcolor
    STYLES = "styles"
    LINKS = "links"
    IMAGES = "images"
    SCRIPTS = "scripts"
    HANDLERS = "handlers"
    FORMS = "forms"
    FRAMES = "frames"
    TITLE = "title"


ALL_PARTS = frozenset(FingerprintPart)
PART_BY_TAG_ATTRIBUTE = {
    ("a", "href"): FingerprintPart.LINKS,
    ("link", "href"): FingerprintPart.STYLES,
    ("link", "rel"): FingerprintPart.STYLES,
    ("script", "src"): FingerprintPart.SCRIPTS,
    ("script", "type"): FingerprintPart.SCRIPTS,
    ("use", "href"): FingerprintPart.IMAGES,
    ("input", "type"): FingerprintPart.FORMS,
    **dict.fromkeys(scripts.FRAME_SOURCE_ATTRIBUTES.items(), FingerprintPart.FRAMES),
    **{(tag, "src"): FingerprintPart.IMAGES for tag in ("img", "video", "audio", "source")},
}  # attributes that matter on these tags only
PART_BY_ATTRIBUTE = {
    **dict.fromkeys(
        ("srcset", "alt", "width", "height", "poster", "d", "xlink:href", *assets.LAZY_SOURCE_ATTRIBUTES),
        FingerprintPart.IMAGES,
    ),
    **dict.fromkeys(("method", "action", "name", "value", "placeholder", "checked", "selected"), FingerprintPart.FORMS),
    **dict.fromkeys(("class", "style"), FingerprintPart.STYLES),
    **dict.fromkeys(assets.PRESENTATIONAL_ATTRIBUTES, FingerprintPart.PRESENTATIONAL),
}
CONTENT_DECIDING_TAGS = {*BOILERPLATE_TAGS, *(tag for tags in TAGS_BY_LABEL.values() for tag in tags)} - {
    "pre",
    "textarea",
}
"""Tags that determine which text is main content."""
PARTS_BY_TAG: dict[str, Set[FingerprintPart]] = {
    "script": {FingerprintPart.SCRIPTS},
    **dict.fromkeys(("style", "link"), frozenset((FingerprintPart.STYLES,))),
    **dict.fromkeys(("input", "option", "textarea"), frozenset((FingerprintPart.FORMS,))),
    "title": {FingerprintPart.TITLE},
    **dict.fromkeys((*CONTENT_DECIDING_TAGS, "template"), ALL_PARTS),
}  # affected if such an element is added or removed
PARTS_BY_ENCLOSING_TAG: dict[str, Set[FingerprintPart]] = {
    "pre": {FingerprintPart.TEXT},
    "textarea": {FingerprintPart.TEXT},
    "option": {FingerprintPart.TEXT, FingerprintPart.FORMS},
    "title": {FingerprintPart.TEXT, FingerprintPart.TITLE},
    "template": ALL_PARTS,
    "script": {FingerprintPart.SCRIPTS},
    "style": {FingerprintPart.STYLES},
}  # affected by any difference inside such an element, where white space or code counts


class _PartsByElementKind(dict[tuple[str, tuple[str, ...]], Set[FingerprintPart]]):
    """Cache of parts affected by an element with these attributes, whatever their values."""

    def __missing__(self, kind: tuple[str, tuple[str, ...]]) -> Set[FingerprintPart]:
        if len(self) >= MAX_CACHED_KINDS:
            self.clear()
        tag, names = kind
        parts = set(PARTS_BY_TAG.get(tag, frozenset())).union(
            *(_get_affected_parts(name, tag, "", "") for name in names)
        )
        value = self[kind] = parts if tag in INVISIBLE_TAGS else parts | {FingerprintPart.STRUCTURE}
        return value


_parts_by_element_kind = _PartsByElementKind()


def find_element_parts(element: Element) -> set[FingerprintPart]:
    """Return the parts affected by adding or removing an element, without its children."""
    names = tuple(element.attrs)
    parts = set(_parts_by_element_kind[element.tag, names])
    for name in names:
        if name in VALUE_DEPENDENT_ATTRIBUTES:
            parts |= _get_affected_parts(name, element.tag, "", element.attr(name) or "")
    return parts


def find_affected_parts(old: Node, new: Node) -> set[FingerprintPart]:
    """Return the parts affected by changed attributes, or by any change inside such an element."""
    if not isinstance(old, Element) or not isinstance(new, Element):
        return set()
    parts = set(PARTS_BY_ENCLOSING_TAG.get(old.tag, frozenset()))
    before, after = old.attrs, new.attrs
    for name in {name for name in (*before, *after) if before.get(name) != after.get(name)}:
        if name != "value" or not old.attr("type") == new.attr("type") == "hidden":
            parts |= _get_affected_parts(name, old.tag, old.attr(name) or "", new.attr(name) or "")
    return parts


def _get_affected_parts(attribute: str, tag: str, old_value: str, new_value: str) -> frozenset[FingerprintPart]:
    if attribute in ("id", "class") and classify_name(old_value) != classify_name(new_value):
        return ALL_PARTS
    if attribute == "href" and tag == "a" and is_share_link(old_value) != is_share_link(new_value):
        return ALL_PARTS
    if attribute in ("role", "hidden") or (attribute == "style" and "display" in old_value + new_value):
        return ALL_PARTS
    if attribute in CONTROL_ATTRIBUTES and not (old_value and new_value):
        return ALL_PARTS
    if attribute.startswith("on"):
        return frozenset((FingerprintPart.HANDLERS,))
    part = PART_BY_TAG_ATTRIBUTE.get((tag, attribute)) or PART_BY_ATTRIBUTE.get(attribute)
    return frozenset((part,)) if part is not None else frozenset()
