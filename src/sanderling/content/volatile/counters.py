"""What a page counts of its visitors: views, comments, likes, downloads; in many languages.

A counter stands in a short line that is no sentence. It goes with the word that it counts, for one comment becomes two
comments; "12 of 40 rooms" is none, nor is "maximum 40 visitors" or "Comments: 5 May".
"""

import re
from collections.abc import Iterator
from functools import cache

from sanderling.content.volatile._regex import kept, made

COUNTED_WORDS = """
views? visits? visitors? hits? comments? reply replies likes? shares? followers? subscribers? downloads? reads readers
votes? upvotes? reactions? unread notifications? retweets stars? forks? karma ratings? reviews? plays reposts responses?
answers? watchers? applicants? commits contributors?
aufrufe kommentare? besucher bewertungen antworten bewerber abonnenten zugriffe
commentaires? vues? visites téléchargements réponses? avis abonnés?
visitas vistas comentarios? descargas reproducciones visualizaciones respuestas? opiniones seguidores suscriptores
visualizações comentários? acessos respostas? avaliações
visualizzazioni commenti risposte recensioni iscritti
weergaven reacties antwoorden beoordelingen bezoekers volgers
visningar visninger kommentarer svar följare følgere omdömen näyttökertaa kommenttia
wyświetleń wyświetlenia odsłon komentarzy odpowiedzi opinii odwiedzin obserwujących
zhlédnutí komentářů odpovědí megtekintés hozzászólás vizualizări comentarii
görüntülenme görüntüleme okunma yorum yanıt takipçi değerlendirme
просмотры? просмотра просмотров комментарий комментария комментариев ответ ответа ответов отзыв отзыва отзывов
подписчик подписчика подписчиков посетитель посетителя посетителей перегляд перегляди переглядів
преглед прегледа прегледи προβολές σχόλια
مشاهدات? مشاهدة تعليقات? زيارات? بازدید צפיות תגובות
조회수? 댓글 tayangan dilihat komentar
"""
COUNTED = (*COUNTED_WORDS.split(), "lượt xem", "bình luận")
HELD_WORDS = """
posts threads topics messages reputation
beiträge themen besucherzähler gelesen mensajes temas mensagens tópicos messaggi discussioni berichten onderwerpen
inlägg indlæg innlegg viestejä posty příspěvky сообщения сообщений темы повідомлень mesaj mesajlar
帖子 主题 主題 投稿 메시지
cart basket warenkorb panier carrito cesta carrinho carrello winkelwagen varukorg koszyk корзина
"""  # what a member of a forum has, or a visitor in a basket: the number stands behind the word
HELD = (*HELD_WORDS.split(), "likes received", "reaction score", "visitor counter", "hit counter")
TELLING_WORDS = """
browsing viewed viewing online watching found trusted used loved liked chosen read followed enjoyed join seen reacted
downloaded played accessed visited sold bought purchased added thought thoughts people customers carts baskets bag
thanked total watch fork visitor no nr gelesen aufgerufen angesehen gefällt bekeken gelezen lu vu lue vue téléchargé
consulté leído visto visitado descargado lido baixado letto scaricato прочитано просмотрено скачано 조회
"""  # of what else is counted of visitors: one of them stands beside the number
TELLING = tuple(TELLING_WORDS.split())
LIMITS_WORDS = """
maximum max minimum capacity limit limited allowed permitted required requires needed needs included includes include
each every
maximal höchstens mindestens kapazität erlaubt erforderlich enthalten jeder jede jedes
maximale capacité autorisés requis inclus chaque
máximo mínimo aforo capacidad permitidos requeridos incluye incluidos cada capacidade
massimo minimo capienza ogni inclusi
maximaal minimaal capaciteit toegestaan vereist elk elke
"""  # a line with such a word says how many there may be
LIMITS = frozenset(LIMITS_WORDS.split())
OTHERWISE = (  # such words are counted of visitors, and of other things as well
    "stars?|shares?|votes?|ratings?|hits?|plays|reads|forks|likes?|posts|threads|topics|messages"
)
OF_VISITORS_WORDS = """
average avg overall total mean user users customer customers reader readers guest guests community product recipe forum
our your weekly monthly daily page all over about some than and on by from rated rating ratings review reviews views
comments likes shares votes stars forks based und et
"""  # around those words these tell that they are visitors'
OF_VISITORS = frozenset(OF_VISITORS_WORDS.split())


QUALITIES = frozenset(
    ("star", "stars", "share", "shares", "vote", "votes", "rating", "ratings", "hit", "hits", "plays")
)


def spelled_out(words: tuple[str, ...]) -> frozenset[str]:
    """Name the single words that some of these are, or are made of."""
    return frozenset(part for one in _both(words) for part in one.split())


def is_label(line: str) -> bool:
    """Say whether a line is a word whose number, below it, is a counter: what a thing is like may be told so too."""
    return line.rstrip(" :：").lower() in _labels()


@cache
def _labels() -> frozenset[str]:
    return frozenset(_both((*COUNTED, *HELD))) - QUALITIES


def _both(words: tuple[str, ...]) -> Iterator[str]:
    """Spell words with the last letter that may be missing, and without it."""
    for word in words:
        yield from (word[:-1], word[:-2]) if word.endswith("?") else (word,)


LONGEST = 60  # characters of a line that may have a counter
SAID = 6  # words of a counter at most, if it ends like a sentence

WHOLE = r"(?:\d{1,3}(?:[.,\s]\d{3})+|\d+)(?![.,]?\d)"
SOME = rf"(?<![\w.,/$€£])(?:{WHOLE}\+?|\d+(?:[.,]\d+)?\s?[kmb]\b\+?|\d[.,]\d+(?=\s*(?:stars?|ratings?)))"
NOT_MONEY = r"(?!\s*(?:[$€£¥%]|eur|usd|gbp|chf)\b)"
WITHOUT_UNIT = r"(?!\s+(?!(?:today|times)\b)[^\W\d]+\b(?!(?:\s+[^\W\d]+)?\s*[:：]))"  # "Comments: 30 days" counts none
MANY = r"(?:over\s+|more than\s+|about\s+|some\s+|our\s+)?"
PERIOD = "today|yesterday|this week|this month|in total|heute|gestern|gesamt|aujourd'hui|hoy|oggi|hoje|сегодня"
OTHERS = "users?|guests?|members?|people|players|customers?|others|readers|subscribers|visitors|registered|hidden"
WHOSE = r"(?:(?:customer|user|verified|global|reader|guest|total|new)\s+)?"
LATELY = r"(?:in|over|within)\s+(?:the\s+)?(?:last|past)\b|today\b|recently\b"
GLADLY = "found|like|liked|love|bought|purchased|recommend|added|saved"
OFTEN = "|".join(  # what was done, and how many times
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
ANY, BEFORE_IT = ("|".join(words) for words in (COUNTED, (*COUNTED, *HELD)))
PATTERNS = (
    rf"(\b(?:{BEFORE_IT})(?:\s+(?:{PERIOD}))?\s*[:：(（]\s*|\bviewed\s+|\b조회수?\s+){WHOLE}"
    rf"{NOT_MONEY}{WITHOUT_UNIT}|(\brating:?\s+)\d[.,]\d+\b",
    rf"{SOME}\s*{WHOSE}(?:{ANY})(?!\w)|{SOME}\s+thoughts?(?=\s+on\b)",
    rf"(\busers browsing this \w+:.{{0,40}}?){SOME}(?=\s+guests?\b)",
    rf"{SOME}\s+(?=(?:{OTHERS})\s+(?:(?:are|currently|have|also)\s+)*"
    rf"(?:online\b|viewing\b|watching\b|reacted\b|(?:{GLADLY})\s+(?:this|it)\b|this in their \w+))",
    rf"(\b(?:trusted|used|loved|liked|chosen|read|followed|enjoyed)\s+by\s+{MANY}){SOME}",
    rf"(\bjoin\s+(?:the\s+)?{MANY}){SOME}(?=\s+(?:\w+\s+)?(?:{OTHERS})\b)",
    rf"(\bvisitors?\s+(?:number|no\.?|nr\.?|#)\s*:?\s*){WHOLE}",
    rf"{SOME}\s+(?=(?:mal\s+(?:gelesen|aufgerufen|angesehen)|keer\s+(?:bekeken|gelezen)|sold)\s*$)",
    rf"{SOME}\s+(?=(?:sold|viewed|bought|purchased|added)\s+(?:{LATELY}))|{SOME}\s+(?=watching\s*(?:$|[|·•,]))",
    rf"(\bin\s+){SOME}(?=\s+(?:carts|baskets)\b)|{SOME}\s+items?(?=\s+in\s+your\s+(?:cart|basket|bag)\b)",
    rf"(\b(?:{OFTEN})){SOME}(?:\s+times\s+in\s+{WHOLE}\s+posts\b)?(?:\s+раза?\b)?",
    rf"(\btotal\s+(?:posts|topics|threads|messages|members|users)\s*:?\s*){WHOLE}",
)
SHOWN = "star|stars|forks?|watch|watchers|commits|contributors|comments?|kommentare|commentaires|views|likes|followers"
SHOWN += "|replies|downloads"
ROW = rf"(?:\W*(?:{SHOWN})\s+{SOME})+\W*"  # labels with their numbers and nothing else: "Stars 1,204 Forks 12"
PRESENT = rf"\W*(?:online\W+)?(?:{WHOLE}\s+(?:{OTHERS})\b\W*(?:(?:and|und|et|y|e)\s+)?)+(?:online)?\W*"
RECORD = r"^(most users ever online was )(?=\d).*|^(in total there (?:are|is) )(?=\d+ users? online\b).*"
CLUES = spelled_out((*COUNTED, *HELD, *TELLING))
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
QUALITY = re.compile(rf"(?:{OTHERWISE})\b", re.IGNORECASE)
LAST = re.compile(r"(?<![^\W\d])([^\W\d]++)\s*+$")
DIGITS = re.compile(r"\d[\d.,\s]*[kmb]?\b\+?", re.IGNORECASE)
NEXT = re.compile(r"\.?\s+(?:de\s+)?([^\W\d]+)")
# views, reads, comments, reviews
HAN = (
    r"[浏瀏][览覽]|阅读|閱讀|点击|點擊|播放|观看|觀看|評論|评论|閲覧|視聴|再生|回复|点赞|アクセス(?=数)|レビュー|口コミ"
)
WRITTEN = rf"((?:{HAN})(?:次数|次數|回数|数|數|量)?\s*[:：(（]?\s*){WHOLE}|{SOME}\s*[次回件]?の?\s*(?:{HAN})"


def without_counters(line: str, words: set[str]) -> str:
    """Take the counters out of a line. `words`: its words, small."""
    if "online" in words:
        line = made(RECORD).sub(kept, line)
    if len(line) > LONGEST:
        return line
    left = line if line.isascii() else made(STARRED).sub(kept, made(WRITTEN).sub(kept, line))
    if CLUES.isdisjoint(words) or not LIMITS.isdisjoint(words):
        return left
    if _is_sentence(line):
        return made(TIMES).sub(kept, left)
    if made(ROW).fullmatch(left) or ("online" in words and made(PRESENT).fullmatch(left)):
        return DIGITS.sub("", left)
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
    if not QUALITY.search(counted):
        return False
    last = LAST.search(before)
    is_other = last is not None and last[1].lower() not in OF_VISITORS
    return is_other or (counted.endswith("star") and after is not None and after[1].lower() not in OF_VISITORS)


def _is_month(word: re.Match[str] | None) -> bool:
    from sanderling.content.volatile.timestamps import (
        MONTHS,  # its patterns take long to make, and a first crawl asks none
    )

    return word is not None and word[1].lower() in MONTHS


def _is_sentence(line: str) -> bool:
    """Say whether a line tells something: what is counted in it is no counter."""
    return line.rstrip().endswith((".", ";", "。")) and len(line.split()) > SAID
