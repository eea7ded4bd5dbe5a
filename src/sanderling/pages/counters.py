"""What a page counts of its visitors: views, comments, likes, downloads; in many languages.

A counter stands in a short line that is no sentence. It goes with the word that it counts, for one comment becomes two
comments; "12 of 40 rooms" is none, nor is "maximum 40 visitors" or "Comments: 5 May".
"""

import re

from sanderling.pages.patterns import kept, made

LONGEST = 60  # characters of a line that may have a counter
SAID = 6  # words of a counter at most, if it ends like a sentence

COUNTED = (
    *("views?", "visits?", "visitors?", "hits?", "comments?", "replies", "likes?", "shares?", "followers?"),
    *("subscribers?", "downloads?", "reads", "readers", "votes?", "upvotes?", "reactions?", "unread"),
    *("notifications?", "retweets", "stars?", "forks", "karma", "ratings?", "reviews?", "plays", "reposts"),
    *("aufrufe", "kommentare?", "besucher", "bewertungen", "commentaires?", "vues?", "visites", "téléchargements"),
    *("visitas", "vistas", "comentarios?", "descargas", "reproducciones", "visualizzazioni", "commenti"),
    *("visualizações", "visualizaciones", "comentários?", "acessos", "weergaven", "reacties", "visningar"),
    *("visninger", "kommentarer", "näyttökertaa", "kommenttia", "wyświetleń", "wyświetlenia", "odsłon", "komentarzy"),
    *("zhlédnutí", "komentářů", "megtekintés", "hozzászólás", "vizualizări", "comentarii", "görüntülenme"),
    *(
        "görüntüleme",
        "okunma",
        "yorum",
        "просмотры?",
        "просмотра",
        "просмотров",
        "комментари(?:й|я|ев)",
        "перегляд(?:и|ів)?",
    ),
    *(
        "преглед(?:а|и)?",
        "προβολές",
        "σχόλια",
        "مشاهدات?",
        "مشاهدة",
        "تعليقات?",
        "زيارات?",
        "بازدید",
        "צפיות",
        "תגובות",
    ),
    *("조회수?", "댓글", "lượt xem", "bình luận", "tayangan", "dilihat", "komentar"),
)
WHOLE = r"(?:\d{1,3}(?:[.,\s]\d{3})+|\d+)(?![.,]?\d)"
SOME = rf"(?<![\w.,/$€£])(?:{WHOLE}\+?|\d+(?:[.,]\d+)?\s?[kmb]\b\+?|\d[.,]\d+(?=\s*(?:stars?|ratings?)))"
NOT_MONEY = r"(?!\s*(?:[$€£¥%]|eur|usd|gbp|chf)\b)"
WITHOUT_UNIT = r"(?!\s+(?!(?:today|times)\b)[^\W\d]+\b(?!(?:\s+[^\W\d]+)?\s*[:：]))"  # "Comments: 30 days" counts none
MANY = r"(?:over\s+|more than\s+|about\s+|some\s+|our\s+)?"
PERIOD = "today|yesterday|this week|this month|in total|heute|gestern|gesamt|aujourd'hui|hoy|oggi|hoje|сегодня"
OTHERS = "users?|guests?|members?|people|players|customers?|others|readers|subscribers|visitors"
PATTERNS = (
    rf"(\b(?:{'|'.join(COUNTED)})(?:\s+(?:{PERIOD}))?\s*[:：(（]\s*|\bviewed\s+|\b조회수?\s+){WHOLE}{NOT_MONEY}{WITHOUT_UNIT}"
    r"|(\brating:?\s+)\d[.,]\d+\b",
    rf"{SOME}\s*(?:{'|'.join(COUNTED)})(?!\w)",
    rf"(\busers browsing this \w+:.{{0,40}}?){SOME}(?=\s+guests?\b)",
    rf"{SOME}\s+(?=(?:{OTHERS})\s+(?:(?:are|currently|have|also)\s+)*(?:online|viewing|watching|found this)\b)",
    rf"(\b(?:trusted|used|loved|chosen|read|followed|enjoyed)\s+by\s+{MANY}){SOME}",
    rf"(\bjoin\s+(?:the\s+)?{MANY}){SOME}(?=\s+(?:\w+\s+)?(?:{OTHERS})\b)",
    rf"(\b(?:seen|viewed|read|downloaded|played)\s+){SOME}(?=\s+times\b)",
    rf"(\bvisitors?\s+(?:number|no\.?|nr\.?|#)\s*:?\s*){WHOLE}",
    rf"{SOME}\s+(?=(?:mal\s+(?:gelesen|aufgerufen|angesehen)|keer\s+(?:bekeken|gelezen)|sold)\s*$)",
)
CLUES = frozenset(
    (
        *(
            "browsing",
            "viewed",
            "viewing",
            "online",
            "watching",
            "found",
            "trusted",
            "used",
            "loved",
            "chosen",
            "read",
            "followed",
        ),
        *(
            "enjoyed",
            "join",
            "seen",
            "downloaded",
            "played",
            "gelesen",
            "aufgerufen",
            "angesehen",
            "bekeken",
            "gelezen",
        ),
        *("accessed", "visited", "sold", "lượt", "bình", "комментарий", "комментария", "комментариев"),
        *("перегляди", "переглядів", "прегледа", "прегледи", "조회", "visitor", "no", "nr"),
        *(word.rstrip("?") for word in COUNTED),
        *(word[:-2] for word in COUNTED if "?" in word),
    )
)
LIMITS = frozenset(  # a line with such a word says how many there may be
    (
        *("maximum", "max", "minimum", "capacity", "limit", "limited", "allowed", "permitted", "required", "requires"),
        *(
            "needed",
            "needs",
            "included",
            "includes",
            "include",
            "each",
            "every",
            "erlaubt",
            "erforderlich",
            "enthalten",
        ),
        *("jeder", "jede", "jedes", "autorisés", "requis", "inclus", "chaque", "permitidos", "requeridos", "incluye"),
        *("incluidos", "cada", "ogni", "inclusi", "toegestaan", "vereist", "elk", "elke"),
        *("maximal", "höchstens", "mindestens", "kapazität", "maximale", "capacité", "máximo", "mínimo", "aforo"),
        *("capacidad", "massimo", "minimo", "capienza", "capacidade", "maximaal", "minimaal", "capaciteit"),
    )
)
TIMES = rf"^(this (?:page|site|article|document|thread|topic|entry) (?:has been|was) \w+ ){SOME}(?= times\W*$)"
STARS = "[★☆⭐✩✭✰]½?"
STARRED = rf"(^(?:{STARS})+\s*){WHOLE}(?=\s*$)|({STARS}\s*\(\s*){WHOLE}(?=\s*\))"  # "Inn ★★★ 120" has a price
TERM = (
    "month|mo|day|year|yr|week|hour|user|monat|tag|jahr|woche|stunde|mois|jour|an|semaine|mes|día|año|mese|giorno|anno"
)
GOES_ON = re.compile(  # to a time or a date, or to what there may be so many of
    rf"[-–:/.]\d|\s*(?:h|uhr|[ap]\.?m)\b|\s+(?:per|pro|par|por|je|a|at a)\b|\s*/\s*(?:{TERM})\b", re.IGNORECASE
)
LEAST = "at least|at most|(?:no|not) more than|only|mindestens|höchstens|nicht mehr als|nur|au moins|au plus|seulement"
LEAST += "|al menos|como máximo|solo|sólo|almeno|al massimo|pelo menos|no máximo|minstens|hoogstens|slechts|не более"
UP_TO = re.compile(rf"\b(?:up to|bis zu|jusqu.à|hasta|fino a|até|tot|{LEAST})\s+$", re.IGNORECASE)
OTHERWISE = re.compile(  # words that are counted of visitors, and of other things as well
    r"(?:stars?|shares?|votes?|ratings?|hits?|plays|reads|forks|likes?)\b", re.IGNORECASE
)
OF_VISITORS = frozenset(  # such words around them tell visitors' from others
    (
        *("average", "avg", "overall", "total", "mean", "user", "users", "customer", "customers", "reader", "readers"),
        *(
            "guest",
            "guests",
            "community",
            "product",
            "recipe",
            "our",
            "your",
            "weekly",
            "monthly",
            "daily",
            "page",
            "all",
        ),
        *("over", "about", "some", "than", "and", "on", "by", "from", "rated", "rating", "ratings", "review"),
        *("reviews", "views", "comments", "likes", "shares", "votes", "stars", "forks", "based", "und", "et"),
    )
)
LAST = re.compile(r"([^\W\d]+)\s*$")
NEXT = re.compile(r"\.?\s+(?:de\s+)?([^\W\d]+)")
HAN = r"[浏瀏][览覽]|阅读|閱讀|点击|點擊|播放|观看|觀看|評論|评论|閲覧|視聴|再生|回复|点赞"  # views, reads, comments
WRITTEN = rf"((?:{HAN})(?:次数|次數|回数|数|數|量)?\s*[:：(（]?\s*){WHOLE}|{SOME}\s*[次回]?\s*(?:{HAN})"


def without_counters(line: str, words: set[str]) -> str:
    """Take the counters out of a line. `words`: its words, small."""
    if len(line) > LONGEST:
        return line
    left = line if line.isascii() else made(STARRED).sub(kept, made(WRITTEN).sub(kept, line))
    if CLUES.isdisjoint(words) or not LIMITS.isdisjoint(words):
        return left
    if _is_sentence(line):
        return made(TIMES).sub(kept, left)
    for pattern in PATTERNS:
        left = made(pattern).sub(_kept, left)
    return left


def _kept(match: re.Match[str]) -> str:
    """Leave a counter out; a number that goes on to a date or a time is none, nor is what there may be."""
    before, rest = match.string[: match.start()], match.string[match.end() :]
    is_none = GOES_ON.match(rest) or UP_TO.search(before) or _is_month(NEXT.match(rest))
    return match[0] if is_none or _is_quality(match[0].lower(), before, NEXT.match(rest)) else kept(match)


def _is_quality(counted: str, before: str, after: re.Match[str] | None) -> bool:
    """Say whether it is told what a thing is like, not what visitors think of it: a "4 star hotel", its fire rating."""
    if not OTHERWISE.search(counted):
        return False
    last = LAST.search(before)
    is_other = last is not None and last[1].lower() not in OF_VISITORS
    return is_other or (counted.endswith("star") and after is not None and after[1].lower() not in OF_VISITORS)


def _is_month(word: re.Match[str] | None) -> bool:
    from sanderling.pages.moments import MONTHS  # its patterns take long to make, and a first crawl asks none

    return word is not None and word[1].lower() in MONTHS


def _is_sentence(line: str) -> bool:
    """Say whether a line tells something: what is counted in it is no counter."""
    return line.rstrip().endswith((".", ";", "。")) and len(line.split()) > SAID
