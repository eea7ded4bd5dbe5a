"""What a page counts of its visitors: views, comments, likes, downloads; in many languages.

A counter stands in a short line that is no sentence. It goes with the word that it counts, for one comment becomes two
comments; "12 of 40 rooms" is none, nor is "maximum 40 visitors" or "Comments: 5 May".
"""

import re
from collections.abc import Iterator
from functools import cache

from sanderling.content.volatile._regex import compile_pattern, keep_groups

COUNTER_NOUN_LIST = """
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
COUNTER_NOUNS = (*COUNTER_NOUN_LIST.split(), "lượt xem", "bình luận")
LABEL_NOUN_LIST = """
posts threads topics messages reputation
beiträge themen besucherzähler gelesen mensajes temas mensagens tópicos messaggi discussioni berichten onderwerpen
inlägg indlæg innlegg viestejä posty příspěvky сообщения сообщений темы повідомлень mesaj mesajlar
帖子 主题 主題 投稿 메시지
cart basket warenkorb panier carrito cesta carrinho carrello winkelwagen varukorg koszyk корзина
"""  # what a member of a forum has, or a visitor in a basket: the number stands behind the word
LABEL_NOUNS = (*LABEL_NOUN_LIST.split(), "likes received", "reaction score", "visitor counter", "hit counter")
CONTEXT_WORD_LIST = """
browsing viewed viewing online watching found trusted used loved liked chosen read followed enjoyed join seen reacted
downloaded played accessed visited sold bought purchased added thought thoughts people customers carts baskets bag
thanked total watch fork visitor no nr gelesen aufgerufen angesehen gefällt bekeken gelezen lu vu lue vue téléchargé
consulté leído visto visitado descargado lido baixado letto scaricato прочитано просмотрено скачано 조회
"""  # of what else is counted of visitors: one of them stands beside the number
CONTEXT_WORDS = tuple(CONTEXT_WORD_LIST.split())
LIMIT_WORD_LIST = """
maximum max minimum capacity limit limited allowed permitted required requires needed needs included includes include
each every
maximal höchstens mindestens kapazität erlaubt erforderlich enthalten jeder jede jedes
maximale capacité autorisés requis inclus chaque
máximo mínimo aforo capacidad permitidos requeridos incluye incluidos cada capacidade
massimo minimo capienza ogni inclusi
maximaal minimaal capaciteit toegestaan vereist elk elke
"""  # a line with such a word says how many there may be
LIMIT_WORDS = frozenset(LIMIT_WORD_LIST.split())
AMBIGUOUS_NOUNS = (  # such words are counted of visitors, and of other things as well
    "stars?|shares?|votes?|ratings?|hits?|plays|reads|forks|likes?|posts|threads|topics|messages"
)
VISITOR_WORD_LIST = """
average avg overall total mean user users customer customers reader readers guest guests community product recipe forum
our your weekly monthly daily page all over about some than and on by from rated rating ratings review reviews views
comments likes shares votes stars forks based und et
"""  # around those words these tell that they are visitors'
VISITOR_WORDS = frozenset(VISITOR_WORD_LIST.split())


QUALITY_NOUNS = frozenset(
    ("star", "stars", "share", "shares", "vote", "votes", "rating", "ratings", "hit", "hits", "plays")
)


def split_phrases(phrases: tuple[str, ...]) -> frozenset[str]:
    """Name the single words that some of these are, or are made of."""
    return frozenset(part for one in _expand_optional_endings(phrases) for part in one.split())


def is_counter_label(line: str) -> bool:
    """Say whether a line is a word whose number, below it, is a counter: what a thing is like may be told so too."""
    return line.rstrip(" :：").lower() in _get_labels()


@cache
def _get_labels() -> frozenset[str]:
    return frozenset(_expand_optional_endings((*COUNTER_NOUNS, *LABEL_NOUNS))) - QUALITY_NOUNS


def _expand_optional_endings(words: tuple[str, ...]) -> Iterator[str]:
    """Spell words with the last letter that may be missing, and without it."""
    for word in words:
        yield from (word[:-1], word[:-2]) if word.endswith("?") else (word,)


MAX_LINE_LENGTH = 60  # characters of a line that may have a counter
MAX_COUNTER_WORDS = 6  # words of a counter at most, if it ends like a sentence

INTEGER = r"(?:\d{1,3}(?:[.,\s]\d{3})+|\d+)(?![.,]?\d)"
AMOUNT = rf"(?<![\w.,/$€£])(?:{INTEGER}\+?|\d+(?:[.,]\d+)?\s?[kmb]\b\+?|\d[.,]\d+(?=\s*(?:stars?|ratings?)))"
NOT_MONEY = r"(?!\s*(?:[$€£¥%]|eur|usd|gbp|chf)\b)"
WITHOUT_UNIT = r"(?!\s+(?!(?:today|times)\b)[^\W\d]+\b(?!(?:\s+[^\W\d]+)?\s*[:：]))"  # "Comments: 30 days" counts none
QUANTIFIER = r"(?:over\s+|more than\s+|about\s+|some\s+|our\s+)?"
PERIOD = "today|yesterday|this week|this month|in total|heute|gestern|gesamt|aujourd'hui|hoy|oggi|hoje|сегодня"
PERSON_NOUNS = "users?|guests?|members?|people|players|customers?|others|readers|subscribers|visitors|registered|hidden"
REVIEWER_ADJECTIVES = r"(?:(?:customer|user|verified|global|reader|guest|total|new)\s+)?"
RECENT_PERIOD = r"(?:in|over|within)\s+(?:the\s+)?(?:last|past)\b|today\b|recently\b"
APPROVAL_VERBS = "found|like|liked|love|bought|purchased|recommend|added|saved"
TIMES_DONE = "|".join(  # what was done, and how many times
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
COUNTER_NOUN_CHOICE, LABEL_NOUN_CHOICE = ("|".join(words) for words in (COUNTER_NOUNS, (*COUNTER_NOUNS, *LABEL_NOUNS)))
COUNTER_PATTERNS = (
    rf"(\b(?:{LABEL_NOUN_CHOICE})(?:\s+(?:{PERIOD}))?\s*[:：(（]\s*|\bviewed\s+|\b조회수?\s+){INTEGER}"
    rf"{NOT_MONEY}{WITHOUT_UNIT}|(\brating:?\s+)\d[.,]\d+\b",
    rf"{AMOUNT}\s*{REVIEWER_ADJECTIVES}(?:{COUNTER_NOUN_CHOICE})(?!\w)|{AMOUNT}\s+thoughts?(?=\s+on\b)",
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
COUNTER_ROW = (
    rf"(?:\W*(?:{ROW_LABELS})\s+{AMOUNT})+\W*"  # labels with their numbers and nothing else: "Stars 1,204 Forks 12"
)
ONLINE_USERS = rf"\W*(?:online\W+)?(?:{INTEGER}\s+(?:{PERSON_NOUNS})\b\W*(?:(?:and|und|et|y|e)\s+)?)+(?:online)?\W*"
ONLINE_RECORD = r"^(most users ever online was )(?=\d).*|^(in total there (?:are|is) )(?=\d+ users? online\b).*"
TRIGGER_WORDS = split_phrases((*COUNTER_NOUNS, *LABEL_NOUNS, *CONTEXT_WORDS))
TIMES_VISITED = (
    rf"^(this (?:page|site|article|document|thread|topic|entry) (?:has been|was) \w+ ){AMOUNT}(?= times\W*$)"
)
STARS = "[★☆⭐✩✭✰]½?"
STAR_COUNT = rf"(^(?:{STARS})+\s*){INTEGER}(?=\s*$)|({STARS}\s*\(\s*){INTEGER}(?=\s*\))"  # "Inn ★★★ 120" has a price
BILLING_PERIODS = (
    "month|mo|day|year|yr|week|hour|user|monat|tag|jahr|woche|stunde|mois|jour|an|semaine|mes|día|año|mese|giorno|anno"
)
NON_COUNTER_SUFFIX = re.compile(  # to a time or a date, or to what there may be so many of
    rf"[-–:/.]\d|\s*(?:h|uhr|[ap]\.?m)\b|\s+(?:per|pro|par|por|je|a|at a)\b|\s*/\s*(?:{BILLING_PERIODS})\b",
    re.IGNORECASE,
)
BOUND_WORDS = (
    "at least|at most|(?:no|not) more than|only|mindestens|höchstens|nicht mehr als|nur|au moins|au plus|seulement"
)
BOUND_WORDS += (
    "|al menos|como máximo|solo|sólo|almeno|al massimo|pelo menos|no máximo|minstens|hoogstens|slechts|не более"
)
BOUND_PREFIX = re.compile(rf"\b(?:up to|bis zu|jusqu.à|hasta|fino a|até|tot|{BOUND_WORDS})\s+$", re.IGNORECASE)
AMBIGUOUS_NOUN = re.compile(rf"(?:{AMBIGUOUS_NOUNS})\b", re.IGNORECASE)
LAST_WORD = re.compile(r"(?<![^\W\d])([^\W\d]++)\s*+$")
AMOUNT_DIGITS = re.compile(r"\d[\d.,\s]*[kmb]?\b\+?", re.IGNORECASE)
NEXT_WORD = re.compile(r"\.?\s+(?:de\s+)?([^\W\d]+)")
# views, reads, comments, reviews
CJK_COUNTER_NOUNS = (
    r"[浏瀏][览覽]|阅读|閱讀|点击|點擊|播放|观看|觀看|評論|评论|閲覧|視聴|再生|回复|点赞|アクセス(?=数)|レビュー|口コミ"
)
CJK_COUNTER = rf"((?:{CJK_COUNTER_NOUNS})(?:次数|次數|回数|数|數|量)?\s*[:：(（]?\s*){INTEGER}|{AMOUNT}\s*[次回件]?の?\s*(?:{CJK_COUNTER_NOUNS})"


def strip_counters(line: str, words: set[str]) -> str:
    """Take the counters out of a line. `words`: its words, small."""
    if "online" in words:
        line = compile_pattern(ONLINE_RECORD).sub(keep_groups, line)
    if len(line) > MAX_LINE_LENGTH:
        return line
    left = (
        line
        if line.isascii()
        else compile_pattern(STAR_COUNT).sub(keep_groups, compile_pattern(CJK_COUNTER).sub(keep_groups, line))
    )
    if TRIGGER_WORDS.isdisjoint(words) or not LIMIT_WORDS.isdisjoint(words):
        return left
    if _is_sentence(line):
        return compile_pattern(TIMES_VISITED).sub(keep_groups, left)
    if compile_pattern(COUNTER_ROW).fullmatch(left) or (
        "online" in words and compile_pattern(ONLINE_USERS).fullmatch(left)
    ):
        return AMOUNT_DIGITS.sub("", left)
    for pattern in COUNTER_PATTERNS:
        left = compile_pattern(pattern).sub(_strip_counter_match, left)
    return left


def _strip_counter_match(match: re.Match[str]) -> str:
    """Leave a counter out; a number that goes on to a date or a time is none, nor is what there may be."""
    before, rest = match.string[: match.start()], match.string[match.end() :]
    is_none = NON_COUNTER_SUFFIX.match(rest) or BOUND_PREFIX.search(before) or _is_month(NEXT_WORD.match(rest))
    return match[0] if is_none or _is_quality(match[0].lower(), before, NEXT_WORD.match(rest)) else keep_groups(match)


def _is_quality(match_text: str, before: str, after: re.Match[str] | None) -> bool:
    """Say whether it is told what a thing is like, not what visitors think of it: a "4 star hotel", its fire rating."""
    if not AMBIGUOUS_NOUN.search(match_text):
        return False
    last = LAST_WORD.search(before)
    is_other = last is not None and last[1].lower() not in VISITOR_WORDS
    return is_other or (match_text.endswith("star") and after is not None and after[1].lower() not in VISITOR_WORDS)


def _is_month(word: re.Match[str] | None) -> bool:
    from sanderling.content.volatile.timestamps import (
        MONTHS,  # its patterns take long to make, and a first crawl asks none
    )

    return word is not None and word[1].lower() in MONTHS


def _is_sentence(line: str) -> bool:
    """Say whether a line tells something: what is counted in it is no counter."""
    return line.rstrip().endswith((".", ";", "。")) and len(line.split()) > MAX_COUNTER_WORDS
