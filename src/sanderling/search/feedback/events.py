"""User events, named as in User Behavior Insights."""

from enum import StrEnum

from msgspec import Struct


class UserAction(StrEnum):
    """User actions; the first thirteen are those of MIG Table 6.1."""

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
    # Not in Table 6.1.
    CLICK = "click"  # on a search result
    KEY = "key"
    RELOAD = "reload"
    SCROLLBAR = "scrollbar"
    DWELL = "dwell"  # value: seconds the page was open
    ACTIVE = "active"  # value: seconds with user activity
    RATING = "rating"  # value: stars, or found / not found


# Numbers of the browsing indicators in MIG Table 6.1.
ACTION_NUMBERS = {action: number for number, action in enumerate(list(UserAction)[:13], 1)}
ACTIONS_BY_NUMBER = {number: action for action, number in ACTION_NUMBERS.items()}
STRONG_ACTIONS = frozenset({UserAction.COPY, UserAction.BOOKMARK, UserAction.PRINT, UserAction.SAVE})


class UserEvent(Struct, frozen=True):
    client_id: str
    action_name: UserAction
    timestamp: float
    query_id: str = ""
    object_id: str = ""  # the URL acted on
    object_id_field: str = "url"
    position: int = 0  # in the ranking, from 1; 0: not in a ranking
    count: int = 1  # repetitions since the last report
    value: float = 0.0  # seconds (dwell, active) or stars (rating)
    attributes: dict[str, str] = {}


class ShownRanking(Struct, frozen=True):
    query_id: str
    client_id: str
    query: str
    timestamp: float
    urls: tuple[str, ...]
    first_position: int = 1
