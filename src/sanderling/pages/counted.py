"""Words of counters: what a page counts of its visitors and members, in many languages.

They are written as they are read, one row for a language or a few; a last letter with a question mark may be missing.
"""

from collections.abc import Iterator
from functools import cache

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
