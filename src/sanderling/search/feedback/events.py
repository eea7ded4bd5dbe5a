"""Events of user behaviour, named as in User Behavior Insights, so that other tools can read them."""

from enum import StrEnum

from msgspec import Struct


class Action(StrEnum):
    """What a user may do that we take note of."""

    SCROLL = "scroll"
    COPY = "copy"
    SEARCH_TEXT = "search_text"
    BACK = "back"
    OPEN_URL = "open_url"
    FORWARD = "forward"
    STOP = "stop"
    BOOKMARK = "bookmark"
    PRINT = "print"
    SAVE = "save"
    HYPERLINK = "hyperlink"
    HOME = "home"
    MOUSE_CLICK = "mouse_click"
    # beyond the thirteen of Table 6.1
    CLICK = "click"  # a result was chosen
    KEY = "key"
    RELOAD = "reload"
    SCROLLBAR = "scrollbar"
    DWELL = "dwell"  # seconds the page was open, in attributes
    ACTIVE = "active"  # seconds something was done on it
    RATING = "rating"  # stars, or found / not found


# MIG Table 6.1: the thirteen browsing indicators.
PIDS = {action: number for number, action in enumerate(list(Action)[:13], 1)}
NAMES = {number: action for action, number in PIDS.items()}
STRONG = frozenset({Action.COPY, Action.BOOKMARK, Action.PRINT, Action.SAVE})


class Event(Struct, frozen=True):
    """One thing one user did."""

    client_id: str
    action_name: Action
    timestamp: float
    query_id: str = ""
    object_id: str = ""  # the URL it was done to
    object_id_field: str = "url"
    position: int = 0  # place in the ranking, from 1; 0 if it is none
    count: int = 1  # how often, since the last report
    value: float = 0.0  # seconds of dwell and active, stars of rating
    attributes: dict[str, str] = {}


class Shown(Struct, frozen=True):
    """A ranking as a user saw it."""

    query_id: str
    client_id: str
    query: str
    timestamp: float
    urls: tuple[str, ...]
    first_position: int = 1
