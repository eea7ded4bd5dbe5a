"""Strip visitor counters from lines: views, comments, likes, downloads, in many languages.

A counter is in a short line that is not a sentence. It is stripped with its noun, because "1 comment" becomes "2
comments". Limits and dates are not counters: "12 of 40 rooms", "maximum 40 visitors", "Comments: 5 May".
"""

import re
from functools import cache

from sanderling.content.word_lists import compile_words, keep_groups, load_words

AMBIGUOUS_NOUNS = (  # counted of visitors, and of other things as well
    "stars?|shares?|votes?|ratings?|hits?|plays|reads|forks|likes?|posts|threads|topics|messages"
)
VISITOR_WORD_LIST = """
average avg overall total mean user users customer customers reader readers guest guests community product recipe forum
our your weekly monthly daily page all over about some than and on by from rated rating ratings review reviews views
comments likes shares votes stars forks based und et
"""  # context in which an ambiguous noun counts visitors
VISITOR_WORDS = frozenset(VISITOR_WORD_LIST.split())
QUALITY_NOUNS = frozenset(
    ("star", "stars", "share", "shares", "vote", "votes", "rating", "ratings", "hit", "hits", "plays")
)
MAX_LINE_LENGTH = 60  # characters
MAX_COUNTER_WORDS = 6  # a longer line that ends with a period is a sentence

INTEGER = r"(?:\d{1,3}(?:[.,\s]\d{3})+|\d+)(?![.,]?\d)"
AMOUNT = rf"(?<![\w.,/$€£])(?:{INTEGER}\+?|\d+(?:[.,]\d+)?\s?[kmb]\b\+?|\d[.,]\d+(?=\s*(?:stars?|ratings?)))"
NOT_MONEY = r"(?!\s*(?:[$€£¥%]|eur|usd|gbp|chf)\b)"
WITHOUT_UNIT = (
    r"(?!\s+(?!(?:today|times)\b)[^\W\d]+\b(?!(?:\s+[^\W\d]+)?\s*[:：]))"  # "Comments: 30 days" is not a counter
)
QUANTIFIER = r"(?:over\s+|more than\s+|about\s+|some\s+|our\s+)?"
PERSON_NOUNS = "users?|guests?|members?|people|players|customers?|others|readers|subscribers|visitors|registered|hidden"
REVIEWER_ADJECTIVES = r"(?:(?:customer|user|verified|global|reader|guest|total|new)\s+)?"
RECENT_PERIOD = r"(?:in|over|within)\s+(?:the\s+)?(?:last|past)\b|today\b|recently\b"
APPROVAL_VERBS = "found|like|liked|love|bought|purchased|recommend|added|saved"
TIMES_DONE = "|".join(  # a verb and its word for "times"
    rf"(?:{done})\s+(?=\d\S*\s+(?:{times})\b)"
    for done, times in (
        ("seen|viewed|read|downloaded|played|thanked|liked", "times"),
        ("(?:lu|vu|téléchargé|consulté)e?", "fois"),
        ("leído|visto|visitado|descargado|lido|baixado", "veces|vezes"),
        ("letto|visto|scaricato", "volte"),
        ("gefällt", "mal"),
        ("прочитано|просмотрено|скачано", "раза?"),
    )
)
COUNTER_NOUNS, LABEL_NOUNS = "{volatile.counter_noun}", "{volatile.counter_noun}|{volatile.label_noun}"
COUNTER_PATTERNS = (
    rf"(\b(?:{LABEL_NOUNS})(?:\s+(?:{{volatile.counter_period}}))?\s*[:：(（]\s*|\bviewed\s+|\b조회수?\s+){INTEGER}"
    rf"{NOT_MONEY}{WITHOUT_UNIT}|(\brating:?\s+)\d[.,]\d+\b",
    rf"{AMOUNT}\s*{REVIEWER_ADJECTIVES}(?:{COUNTER_NOUNS})(?!\w)|{AMOUNT}\s+thoughts?(?=\s+on\b)",
    rf"(\busers browsing this \w+:.{{0,40}}?){AMOUNT}(?=\s+guests?\b)",
    rf"{AMOUNT}\s+(?=(?:{PERSON_NOUNS})\s+(?:(?:are|currently|have|also)\s+)*"
    rf"(?:online\b|viewing\b|watching\b|reacted\b|(?:{APPROVAL_VERBS})\s+(?:this|it)\b|this in their \w+))",
    rf"(\b(?:trusted|used|loved|liked|chosen|read|followed|enjoyed)\s+by\s+{QUANTIFIER}){AMOUNT}",
    rf"(\bjoin\s+(?:the\s+)?{QUANTIFIER}){AMOUNT}(?=\s+(?:\w+\s+)?(?:{PERSON_NOUNS})\b)",
    rf"(\bvisitors?\s+(?:number|no\.?|nr\.?|#)\s*:?\s*){INTEGER}",
    rf"{AMOUNT}\s+(?=(?:mal\s+(?:gelesen|aufgerufen|angesehen)|keer\s+(?:bekeken|gelezen)|sold)\s*$)",
    rf"{AMOUNT}\s+(?=(?:sold|viewed|bought|purchased|added)\s+(?:{RECENT_PERIOD}))|{AMOUNT}\s+(?=watching\s*(?:$|[|·•,]))",
    rf"(\bin\s+){AMOUNT}(?=\s+(?:carts|baskets)\b)|{AMOUNT}\s+items?(?=\s+in\s+your\s+(?:cart|basket|bag)\b)",
    rf"(\b(?:{TIMES_DONE})){AMOUNT}(?:\s+times\s+in\s+{INTEGER}\s+posts\b)?(?:\s+раза?\b)?",
    rf"(\btotal\s+(?:posts|topics|threads|messages|members|users)\s*:?\s*){INTEGER}",
)
ROW_LABELS = (
    "star|stars|forks?|watch|watchers|commits|contributors|comments?|kommentare|commentaires|views|likes|followers"
)
ROW_LABELS += "|replies|downloads"
COUNTER_ROW = rf"(?:\W*(?:{ROW_LABELS})\s+{AMOUNT})+\W*"  # only labels with numbers: "Stars 1,204 Forks 12"
ONLINE_USERS = rf"\W*(?:online\W+)?(?:{INTEGER}\s+(?:{PERSON_NOUNS})\b\W*(?:(?:and|und|et|y|e)\s+)?)+(?:online)?\W*"
ONLINE_RECORD = r"^(most users ever online was )(?=\d).*|^(in total there (?:are|is) )(?=\d+ users? online\b).*"
TIMES_VISITED = (
    rf"^(this (?:page|site|article|document|thread|topic|entry) (?:has been|was) \w+ ){AMOUNT}(?= times\W*$)"
)
STARS = "[★☆⭐✩✭✰]½?"
STAR_COUNT = (
    rf"(^(?:{STARS})+\s*){INTEGER}(?=\s*$)|({STARS}\s*\(\s*){INTEGER}(?=\s*\))"  # 120 in "Inn ★★★ 120" is a price
)
NON_COUNTER_SUFFIX = (  # a number followed by this is a time, date, or rate
    r"[-–:/.]\d|\s*(?:h|uhr|[ap]\.?m)\b|\s+(?:per|pro|par|por|je|a|at a)\b|\s*/\s*(?:{volatile.billing_period})\b"
)
BOUND_PREFIX = r"\b(?:{volatile.bound})\s+$"
AMBIGUOUS_NOUN = re.compile(rf"(?:{AMBIGUOUS_NOUNS})\b", re.IGNORECASE)
LAST_WORD = re.compile(r"(?<![^\W\d])([^\W\d]++)\s*+$")
AMOUNT_DIGITS = re.compile(r"\d[\d.,\s]*[kmb]?\b\+?", re.IGNORECASE)
NEXT_WORD = re.compile(r"\.?\s+(?:de\s+)?([^\W\d]+)")
# views, reads, clicks, comments, reviews
CJK_COUNTER_NOUNS = (
    r"[浏瀏][览覽]|阅读|閱讀|点击|點擊|播放|观看|觀看|評論|评论|閲覧|視聴|再生|回复|点赞|アクセス(?=数)|レビュー|口コミ"
)
CJK_COUNTER = rf"((?:{CJK_COUNTER_NOUNS})(?:次数|次數|回数|数|數|量)?\s*[:：(（]?\s*){INTEGER}"
CJK_COUNTER += rf"|{AMOUNT}\s*[次回件]?の?\s*(?:{CJK_COUNTER_NOUNS})"


@cache
def load_counter_triggers() -> frozenset[str]:
    """Return the trigger words of counters."""
    phrases = load_words("volatile.counter_noun", "volatile.label_noun", "volatile.counter_context")
    return frozenset(word for phrase in phrases for word in phrase.split())


@cache
def _load_word_set(group: str) -> frozenset[str]:
    return frozenset(load_words(f"volatile.{group}"))


def is_counter_label(line: str) -> bool:
    """Return whether a line labels a counter on the next line. "Stars" and the like may be a quality."""
    label = line.rstrip(" :：").lower()
    return (label in _load_word_set("counter_noun") or label in _load_word_set("label_noun")) and (
        label not in QUALITY_NOUNS
    )


def strip_counters(line: str, words: set[str]) -> str:
    """Return the line without counters. `words`: its lowercase words."""
    if "online" in words:
        line = compile_words(ONLINE_RECORD).sub(keep_groups, line)
    if len(line) > MAX_LINE_LENGTH:
        return line
    stripped = (
        line
        if line.isascii()
        else compile_words(STAR_COUNT).sub(keep_groups, compile_words(CJK_COUNTER).sub(keep_groups, line))
    )
    if load_counter_triggers().isdisjoint(words) or not _load_word_set("limit").isdisjoint(words):
        return stripped
    if _is_sentence(line):
        return compile_words(TIMES_VISITED).sub(keep_groups, stripped)
    if compile_words(COUNTER_ROW).fullmatch(stripped) or (
        "online" in words and compile_words(ONLINE_USERS).fullmatch(stripped)
    ):
        return AMOUNT_DIGITS.sub("", stripped)
    for pattern in COUNTER_PATTERNS:
        stripped = compile_words(pattern).sub(_strip_counter_match, stripped)
    return stripped


def _strip_counter_match(match: re.Match[str]) -> str:
    """Return the text without the counter, or unchanged if the number is a date, time, price, or limit."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    is_other_number = (
        compile_words(NON_COUNTER_SUFFIX).match(after)
        or compile_words(BOUND_PREFIX).search(before)
        or _is_month(NEXT_WORD.match(after))
    )
    return (
        match[0]
        if is_other_number or _is_quality(match[0].lower(), before, NEXT_WORD.match(after))
        else keep_groups(match)
    )


def _is_quality(match_text: str, before: str, after: re.Match[str] | None) -> bool:
    """Return whether a number describes the thing itself: a "4 star hotel", a fire rating."""
    if not AMBIGUOUS_NOUN.search(match_text):
        return False
    last_word = LAST_WORD.search(before)
    describes_thing = last_word is not None and last_word[1].lower() not in VISITOR_WORDS
    return describes_thing or (
        match_text.endswith("star") and after is not None and after[1].lower() not in VISITOR_WORDS
    )


def _is_month(word: re.Match[str] | None) -> bool:
    return word is not None and word[1].lower() in _load_word_set("months")


def _is_sentence(line: str) -> bool:
    return line.rstrip().endswith((".", ";", "。")) and len(line.split()) > MAX_COUNTER_WORDS
