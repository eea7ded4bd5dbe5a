"""Events of user behaviour, named as in User Behavior Insights, so that other tools can read them."""

from enum import StrEnum

from msgspec import Struct


class UserAction(StrEnum):
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
ACTION_NUMBERS = {action: number for number, action in enumerate(list(UserAction)[:13], 1)}
ACTIONS_BY_NUMBER = {number: action for action, number in ACTION_NUMBERS.items()}
STRONG_ACTIONS = frozenset({UserAction.COPY, UserAction.BOOKMARK, UserAction.PRINT, UserAction.SAVE})


class UserEvent(Struct, frozen=True):
    """One thing one user did."""

    client_id: str
    action_name: UserAction
    timestamp: float
    query_id: str = ""
    object_id: str = ""  # the URL it was done to
    object_id_field: str = "url"
    position: int = 0  # place in the ranking, from 1; 0 if it is none
    count: int = 1  # how often, since the last report
    value: float = 0.0  # seconds of dwell and active, stars of rating
    attributes: dict[str, str] = {}


class ShownRanking(Struct, frozen=True):
    """A ranking as a user saw it."""

    query_id: str
    client_id: str
    query: str
    timestamp: float
    urls: tuple[str, ...]
    first_position: int = 1
