"""How long ago something was: "3 hours ago", "vor einer Stunde", "3 часа назад", "3時間前"; in many languages.

In many of them the same words say "three days before": there they have to stand alone, or apart from what else the line
says.
"""

import re
from collections.abc import Sequence
from itertools import compress, count

from sanderling.content.volatile._regex import kept, made

SPANS = (
    *("secs?", "seconds?", "mins?", "minutes?", "hrs?", "hours?", "days?", "weeks?", "months?", "years?", "[smhdwy]"),
    *("wks?", "mos?", "yrs?"),
    *("sekunden?", "minuten?", "stunden?", "tag(?:en?)?", "wochen?", "monat(?:en?)?", "jahr(?:en?)?", "std"),
    *("secondes?", "heures?", "jours?", "semaines?", "mois", "ans?", "segundos?", "minutos?", "horas?", "días?"),
    *("dias?", "semanas?", "mes(?:es)?", "años?", "anos?"),
)
SPAN = rf"(?:{'|'.join(SPANS)})"
DONE = "updated|modified|edited|posted|published|created|active|seen|checked|reviewed|asked|answered"
APART = r"|·•∙()\[\]/–—،"
ALONE = rf"(?=\s*$|\s*[{APART}]|\s+-\s|\s+by\b)"  # where no sentence goes on, nor ends
FIRST = rf"(?:^|(?<=[{APART}:])\s?)"
WORD = re.compile(r"[^\W\d_]+")
LATE = (  # each alone on its line, or with a time of day
    *("yesterday", "just now", "today", "moments ago", "a moment ago", "gestern", "heute", "gerade eben", "vorgestern"),
    *("hier", "aujourd'hui", "à l'instant", "ayer", "hoy", "ahora mismo", "ontem", "hoje", "ieri", "oggi", "poco fa"),
    *(
        "gisteren",
        "vandaag",
        "zojuist",
        "igår",
        "idag",
        "i går",
        "i dag",
        "nyss",
        "eilen",
        "tänään",
        "wczoraj",
        "dzisiaj",
    ),
    *("dziś", "przed chwilą", "včera", "dnes", "вчера", "сегодня", "только что", "вчора", "сьогодні", "щойно", "χθες"),
    *(
        "σήμερα",
        "dün",
        "bugün",
        "az önce",
        "tegnap",
        "昨日",
        "今日",
        "昨天",
        "今天",
        "刚刚",
        "剛剛",
        "어제",
        "오늘",
        "방금",
    ),
    *("방금 전", "hôm qua", "hôm nay", "vừa xong", "kemarin", "أمس", "اليوم", "الآن", "אתמול", "היום", "עכשיו"),
)

LIMIT = "(?<!than )(?<!least )(?<!most )(?<!within )(?<!over )(?<!up to )"
SOME = r"(?:\b|(?<=[a-z]))\d+\+?|\b(?:an?|one|few|a few)"  # right behind a name, where nothing but looks parts them
AGO = rf"{LIMIT}(?:\b\d+\s*{SPAN},?\s+(?:and\s+)?)?(?:{SOME})\s*{SPAN}\.?\s+ago\b"
ABOUT = rf"{FIRST}(?:about|over|almost|nearly|around|less than|more than)\s+(?:\d+|an?|one)\s*{SPAN}\.?\s+ago\b{ALONE}"
LATELY = rf"(\b(?:{DONE})\W{{1,3}})(?:about|over|almost|nearly|more than|less than)\s+\d+\s*{SPAN}\.?\s+ago\b{ALONE}"
FEW = "wenigen|einigen|ein paar|quelques|unos|unas|algunos|alguns|poucos"
SINCE = rf"\b(?:il y a|vor|hace|há)\s+(?:\d+|eine[mr]|une?|uma?|una|{FEW})\s+(?:{SPAN}|instante?s)(?!\w)\.?"
BACK = r"(?:fa|geleden|sedan|siden|temu|sitten|назад|тому|önce|atrás)\b"
BACK = rf"(?:\b(?:för|for)\s+)?\b(?:\d+|een|en|et|ett|un|una)\s+\w+\.?\s+{BACK}|\bun['’]ora fa\b"
ONCE = rf"{FIRST}[^\W\d]{{2,10}}\s+(?:назад|тому|temu|sedan|siden|geleden){ALONE}"  # "час назад"
BEFORE = r"acum|před|pred|преди|fa|πριν(?:\s+από)?|قبل|منذ|לפני|cách đây"
BEFORE = rf"{FIRST}(?:{BEFORE})\s+\d+\s+\S{{1,16}}{ALONE}"
AFTER = "पहले|আগে|ที่แล้ว|ที่ผ่านมา|trước|(?:yang )?lalu|پیش|قبل|전"
HUNGARIAN = ("másodperce", "perce", "órája", "napja", "hete", "hónapja", "éve")  # the span itself says it
AFTER = rf"{FIRST}\d+\s(?:{'|'.join(HUNGARIAN)}){ALONE}|{FIRST}\d+\s*(?:\S{{1,16}}\s*)?(?:{AFTER}){ALONE}"
EARLIER = r"\d+\s*(?:秒鐘?|秒钟|分[钟鐘]?|時間|小[时時]|日|天|[週周]間?|[か个個ヶカ]月|年)前"
EARLIER += rf"(?={ALONE}|\s*に?\s*(?:更新|投稿|公開|公开|发布|發布|发表|發表|编辑))"
AT = r"[\s,]+(?:(?:at|um|à|a las|alle|às|om|kl\.?|о|в|o)\s+)?\d{1,2}[:.h]\d\d(?:\s*(?:uhr|[ap]\.?m\.?|h))?"
REPORTED = "aktualisiert|geändert|mise? à jour|modifié|actualizado|modificado|atualizado|aggiornato|bijgewerkt"
RECENTLY = (  # a relative day, week or month, as it follows "updated"
    *("yesterday", "today", "just now", "recently", "this week", "last week", "this month", "last month"),
    *("this year", "last year", "earlier today", "earlier this week", "earlier this month", "earlier this year"),
    *("gestern", "heute", "vorgestern", "diese Woche", "letzte Woche", "diesen Monat", "letzten Monat"),
    *("hier", "aujourd'hui", "cette semaine", "la semaine dernière", "ce mois-ci", "le mois dernier"),
    *("ayer", "hoy", "esta semana", "la semana pasada", "este mes", "el mes pasado", "ontem", "hoje"),
    *("a semana passada", "ieri", "oggi", "questa settimana", "la settimana scorsa", "questo mese"),
    *("gisteren", "vandaag", "deze week", "vorige week", "deze maand", "vorige maand"),
)
ON = rf"^(?:{'|'.join(LATE)})(?:{AT})?$|(\b(?:{DONE}|{REPORTED})\W{{1,3}})(?:{'|'.join(RECENTLY)}){ALONE}"

WORDS = (  # each pattern with words one of which it needs: looking for the words is much cheaper
    (("ago",), ABOUT),
    (("ago",), LATELY),
    (("ago",), AGO),
    (("il", "vor", "hace", "há"), SINCE),
    (("fa", "geleden", "sedan", "siden", "temu", "sitten", "назад", "тому", "önce", "atrás"), BACK),
    (("geleden", "sedan", "siden", "temu", "назад", "тому"), ONCE),
    (("fa", "acum", "před", "pred", "преди", "πριν", "قبل", "منذ", "לפני", "cách"), BEFORE),
    (("trước", "lalu", "پیش", "قبل", "전", *HUNGARIAN), AFTER),
    (tuple(max(WORD.findall(one.lower()), key=len) for one in (*LATE, *RECENTLY)), ON),
)
CLUES = frozenset(clue for clues, _ in WORDS for clue in clues)
SIGNS = (("前", EARLIER), ("पहले", AFTER), ("আগে", AFTER), ("แล้ว", AFTER), ("ที่ผ่านมา", AFTER))  # within words

BACKWARDS = ("ago", "geleden", "sedan", "siden", "sitten", "temu", "назад", "тому", "önce", "atrás", "fa")
ENDINGS = tuple(
    word.replace(" ", "").encode()
    for one in (*LATE, *RECENTLY, *BACKWARDS)
    for word in {one, one.capitalize(), one.title()}
)
BEGINNINGS = tuple(
    word.encode()
    for one in (
        "vorein",
        "vorwenigen",
        "voreinigen",
        "ilyaun",
        "ilyaquelques",
        "haceun",
        "haceunos",
        "háum",
        "háalguns",
    )
    for word in (one, one.capitalize())
)
SINGLE = (  # what the lines with those beginnings end with
    *("Sekunde", "Minute", "Stunde", "Tag", "Woche", "Monat", "Jahr", "heure", "jour", "semaine", "mois", "minuto"),
    *("hora", "día", "dia", "semana", "mes", "mês", "año", "ano", "Sekunden", "Tagen", "secondes", "minutos"),
)
TAILS = frozenset((*(word[-2:] for word in ENDINGS), *(word.encode()[-2:] for word in SINGLE)))
STRANGE = re.compile(  # digits of Arabic, Persian, Devanagari, Bengali and Thai
    rb"\xd9[\xa0-\xa9]|\xdb[\xb0-\xb9]|\xe0(?:[\xa5\xa7][\xa6-\xaf]|\xb9[\x90-\x99])"
).search
LEADS = (b"\xd9", b"\xdb", b"\xe0")  # with which they begin
LONGEST = 60  # bytes of a line without digits that may tell an age


def without_ages(line: str, words: set[str]) -> str:
    """Take out of a line how long ago something was. `words`: its words, small."""
    left = line
    if not CLUES.isdisjoint(words):
        for clues, pattern in WORDS:
            left = left if words.isdisjoint(clues) else made(pattern).sub(kept, left)
    for sign, pattern in () if line.isascii() else SIGNS:
        left = made(pattern).sub("", left) if sign in left else left
    return left


def aged(lines: Sequence[bytes], whole: bytes) -> set[int]:
    """Number the lines, blanks taken out, that may tell an age without plain digits: in words, or in other digits."""
    ends = map(TAILS.__contains__, [line[-2:] for line in lines])  # each line costs little, and there are many
    found = {place for place in compress(count(), ends) if _ends_or_begins(lines[place])}
    if not any(map(whole.__contains__, LEADS)):
        return found
    return found.union(place for place, line in enumerate(lines) if STRANGE(line))


def _ends_or_begins(line: bytes) -> bool:
    return len(line) <= LONGEST and (line.endswith(ENDINGS) or line.startswith(BEGINNINGS))
