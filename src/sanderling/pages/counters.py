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
MANY = r"(?:over\s+|more than\s+|about\s+|some\s+|our\s+)?"
PERIOD = "today|yesterday|this week|this month|in total|heute|gestern|gesamt|aujourd'hui|hoy|oggi|hoje|сегодня"
OTHERS = "users?|guests?|members?|people|players|customers?|others|readers|subscribers|visitors"
PATTERNS = (
    rf"{SOME}\s*(?:{'|'.join(COUNTED)})(?!\w)",
    rf"(\b(?:{'|'.join(COUNTED)})(?:\s+(?:{PERIOD}))?\s*[:：(（]\s*|\bviewed\s+|\b조회수?\s+){WHOLE}{NOT_MONEY}"
    r"|(\brating:?\s+)\d[.,]\d+\b",
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
        *("maximum", "max", "minimum", "capacity", "limit", "limited"),
        *("maximal", "höchstens", "mindestens", "kapazität", "maximale", "capacité", "máximo", "mínimo", "aforo"),
        *("capacidad", "massimo", "minimo", "capienza", "capacidade", "maximaal", "minimaal", "capaciteit"),
    )
)
TIMES = rf"^(this (?:page|site|article|document|thread|topic|entry) (?:has been|was) \w+ ){SOME}(?= times\W*$)"
STARS = "[★☆⭐✩✭✰]½?"
STARRED = rf"(^(?:{STARS})+\s*){WHOLE}(?=\s*$)|({STARS}\s*\(\s*){WHOLE}(?=\s*\))"  # "Inn ★★★ 120" has a price
GOES_ON = re.compile(  # to a time or a date, or to what there may be so many of
    r"[-–:/.]\d|\s*(?:h|uhr|[ap]\.?m)\b|\s+(?:per|pro|par|por|je)\b", re.IGNORECASE
)
UP_TO = re.compile(r"\b(?:up to|bis zu|jusqu.à|hasta|fino a|até|tot)\s+$", re.IGNORECASE)
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
    rest = match.string[match.end() :]
    is_none = GOES_ON.match(rest) or UP_TO.search(match.string[: match.start()]) or _is_month(NEXT.match(rest))
    return match[0] if is_none else kept(match)


def _is_month(word: re.Match[str] | None) -> bool:
    from sanderling.pages.moments import MONTHS  # its patterns take long to make, and a first crawl asks none

    return word is not None and word[1].lower() in MONTHS


def _is_sentence(line: str) -> bool:
    """Say whether a line tells something: what is counted in it is no counter."""
    return line.rstrip().endswith((".", ";", "。")) and len(line.split()) > SAID
