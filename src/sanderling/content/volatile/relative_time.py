"""Strip relative times from lines: "3 hours ago", "vor einer Stunde", "3 часа назад", "3時間前".

In many languages the same words also mean "three days before". There they must be alone on the line, or separated from
the rest of it.
"""

import re
from collections.abc import Sequence
from itertools import compress, count

from sanderling.content.volatile._regex import compile_pattern, keep_groups

UNIT_WORDS = (
    *("secs?", "seconds?", "mins?", "minutes?", "hrs?", "hours?", "days?", "weeks?", "months?", "years?", "[smhdwy]"),
    *("wks?", "mos?", "yrs?"),
    *("sekunden?", "minuten?", "stunden?", "tag(?:en?)?", "wochen?", "monat(?:en?)?", "jahr(?:en?)?", "std"),
    *("secondes?", "heures?", "jours?", "semaines?", "mois", "ans?", "segundos?", "minutos?", "horas?", "días?"),
    *("dias?", "semanas?", "mes(?:es)?", "años?", "anos?"),
)
UNIT = rf"(?:{'|'.join(UNIT_WORDS)})"
UPDATE_VERBS = "updated|modified|edited|posted|published|created|active|seen|checked|reviewed|asked|answered"
SEPARATORS = r"|·•∙()\[\]/–—،"
END_OF_PHRASE = rf"(?=\s*$|\s*[{SEPARATORS}]|\s+-\s|\s+by\b)"  # not inside or at the end of a sentence
START_OF_PHRASE = rf"(?:^|(?<=[{SEPARATORS}:])\s?)"
WORD = re.compile(r"[^\W\d_]+")
RELATIVE_DAYS = (  # alone on a line, or with a time of day
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

NOT_A_LIMIT = "(?<!than )(?<!least )(?<!most )(?<!within )(?<!over )(?<!up to )"
AMOUNT = r"(?:\b|(?<=[a-z]))\d+\+?|\b(?:an?|one|few|a few)"  # may directly follow a name: "Ann3 days ago"
AMOUNT_AGO = rf"{NOT_A_LIMIT}(?:\b\d+\s*{UNIT},?\s+(?:and\s+)?)?(?:{AMOUNT})\s*{UNIT}\.?\s+ago\b"
ABOUT_AGO = rf"{START_OF_PHRASE}(?:about|over|almost|nearly|around|less than|more than)\s+(?:\d+|an?|one)\s*{UNIT}"
ABOUT_AGO += rf"\.?\s+ago\b{END_OF_PHRASE}"
UPDATED_ABOUT_AGO = rf"(\b(?:{UPDATE_VERBS})\W{{1,3}})(?:about|over|almost|nearly|more than|less than)\s+\d+\s*{UNIT}"
UPDATED_ABOUT_AGO += rf"\.?\s+ago\b{END_OF_PHRASE}"
FEW_WORDS = "wenigen|einigen|ein paar|quelques|unos|unas|algunos|alguns|poucos"
PREFIX_AGO = rf"\b(?:il y a|vor|hace|há)\s+(?:\d+|eine[mr]|une?|uma?|una|{FEW_WORDS})\s+(?:{UNIT}|instante?s)(?!\w)\.?"
SUFFIX_AGO = r"(?:fa|geleden|sedan|siden|temu|sitten|назад|тому|önce|atrás)\b"
SUFFIX_AGO = rf"(?:\b(?:för|for)\s+)?\b(?:\d+|een|en|et|ett|un|una)\s+\w+\.?\s+{SUFFIX_AGO}|\bun['’]ora fa\b"
UNIT_AGO = rf"{START_OF_PHRASE}[^\W\d]{{2,10}}\s+(?:назад|тому|temu|sedan|siden|geleden){END_OF_PHRASE}"  # "час назад"
STANDALONE_PREFIX_AGO = r"acum|před|pred|преди|fa|πριν(?:\s+από)?|قبل|منذ|לפני|cách đây"
STANDALONE_PREFIX_AGO = rf"{START_OF_PHRASE}(?:{STANDALONE_PREFIX_AGO})\s+\d+\s+\S{{1,16}}{END_OF_PHRASE}"
STANDALONE_SUFFIX_AGO = "पहले|আগে|ที่แล้ว|ที่ผ่านมา|trước|(?:yang )?lalu|پیش|قبل|전"
HUNGARIAN_UNITS = ("másodperce", "perce", "órája", "napja", "hete", "hónapja", "éve")  # "ago" is part of the unit
STANDALONE_SUFFIX_AGO = (
    rf"{START_OF_PHRASE}\d+\s(?:{'|'.join(HUNGARIAN_UNITS)}){END_OF_PHRASE}"
    rf"|{START_OF_PHRASE}\d+\s*(?:\S{{1,16}}\s*)?(?:{STANDALONE_SUFFIX_AGO}){END_OF_PHRASE}"
)
CJK_AGO = r"\d+\s*(?:秒鐘?|秒钟|分[钟鐘]?|時間|小[时時]|日|天|[週周]間?|[か个個ヶカ]月|年)前"
CJK_AGO += rf"(?={END_OF_PHRASE}|\s*に?\s*(?:更新|投稿|公開|公开|发布|發布|发表|發表|编辑))"
TIME_SUFFIX = r"[\s,]+(?:(?:at|um|à|a las|alle|às|om|kl\.?|о|в|o)\s+)?\d{1,2}[:.h]\d\d(?:\s*(?:uhr|[ap]\.?m\.?|h))?"
UPDATE_PHRASES = "aktualisiert|geändert|mise? à jour|modifié|actualizado|modificado|atualizado|aggiornato|bijgewerkt"
RECENT_PHRASES = (  # a relative day, week or month, as it follows "updated"
    *("yesterday", "today", "just now", "recently", "this week", "last week", "this month", "last month"),
    *("this year", "last year", "earlier today", "earlier this week", "earlier this month", "earlier this year"),
    *("gestern", "heute", "vorgestern", "diese Woche", "letzte Woche", "diesen Monat", "letzten Monat"),
    *("hier", "aujourd'hui", "cette semaine", "la semaine dernière", "ce mois-ci", "le mois dernier"),
    *("ayer", "hoy", "esta semana", "la semana pasada", "este mes", "el mes pasado", "ontem", "hoje"),
    *("a semana passada", "ieri", "oggi", "questa settimana", "la settimana scorsa", "questo mese"),
    *("gisteren", "vandaag", "deze week", "vorige week", "deze maand", "vorige maand"),
)
RELATIVE_DAY = rf"^(?:{'|'.join(RELATIVE_DAYS)})(?:{TIME_SUFFIX})?$"
RELATIVE_DAY += rf"|(\b(?:{UPDATE_VERBS}|{UPDATE_PHRASES})\W{{1,3}})(?:{'|'.join(RECENT_PHRASES)}){END_OF_PHRASE}"

PATTERNS_BY_WORDS = (  # a pattern needs one of its words; looking up words is much cheaper
    (("ago",), ABOUT_AGO),
    (("ago",), UPDATED_ABOUT_AGO),
    (("ago",), AMOUNT_AGO),
    (("il", "vor", "hace", "há"), PREFIX_AGO),
    (("fa", "geleden", "sedan", "siden", "temu", "sitten", "назад", "тому", "önce", "atrás"), SUFFIX_AGO),
    (("geleden", "sedan", "siden", "temu", "назад", "тому"), UNIT_AGO),
    (("fa", "acum", "před", "pred", "преди", "πριν", "قبل", "منذ", "לפני", "cách"), STANDALONE_PREFIX_AGO),
    (("trước", "lalu", "پیش", "قبل", "전", *HUNGARIAN_UNITS), STANDALONE_SUFFIX_AGO),
    (tuple(max(WORD.findall(one.lower()), key=len) for one in (*RELATIVE_DAYS, *RECENT_PHRASES)), RELATIVE_DAY),
)
TRIGGER_WORDS = frozenset(word for words, _ in PATTERNS_BY_WORDS for word in words)
PATTERNS_BY_SUBSTRING = (
    ("前", CJK_AGO),
    ("पहले", STANDALONE_SUFFIX_AGO),
    ("আগে", STANDALONE_SUFFIX_AGO),
    ("แล้ว", STANDALONE_SUFFIX_AGO),
    ("ที่ผ่านมา", STANDALONE_SUFFIX_AGO),
)  # scripts without spaces

AGO_WORDS = ("ago", "geleden", "sedan", "siden", "sitten", "temu", "назад", "тому", "önce", "atrás", "fa")
COMPACT_ENDINGS = tuple(
    word.replace(" ", "").encode()
    for one in (*RELATIVE_DAYS, *RECENT_PHRASES, *AGO_WORDS)
    for word in {one, one.capitalize(), one.title()}
)
COMPACT_BEGINNINGS = tuple(
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
SINGULAR_UNITS = (  # endings of lines with `COMPACT_BEGINNINGS`
    *("Sekunde", "Minute", "Stunde", "Tag", "Woche", "Monat", "Jahr", "heure", "jour", "semaine", "mois", "minuto"),
    *("hora", "día", "dia", "semana", "mes", "mês", "año", "ano", "Sekunden", "Tagen", "secondes", "minutos"),
)
LAST_BYTES = frozenset((*(word[-2:] for word in COMPACT_ENDINGS), *(word.encode()[-2:] for word in SINGULAR_UNITS)))
search_non_ascii_digit = re.compile(  # Arabic, Persian, Devanagari, Bengali, Thai
    rb"\xd9[\xa0-\xa9]|\xdb[\xb0-\xb9]|\xe0(?:[\xa5\xa7][\xa6-\xaf]|\xb9[\x90-\x99])"
).search
NON_ASCII_DIGIT_LEAD_BYTES = (b"\xd9", b"\xdb", b"\xe0")
MAX_LINE_BYTES = 60  # of a line without digits


def strip_relative_times(line: str, words: set[str]) -> str:
    """Return the line without relative times. `words`: its lowercase words."""
    stripped = line
    if not TRIGGER_WORDS.isdisjoint(words):
        for triggers, pattern in PATTERNS_BY_WORDS:
            stripped = stripped if words.isdisjoint(triggers) else compile_pattern(pattern).sub(keep_groups, stripped)
    for substring, pattern in () if line.isascii() else PATTERNS_BY_SUBSTRING:
        stripped = compile_pattern(pattern).sub("", stripped) if substring in stripped else stripped
    return stripped


def find_relative_time_lines(lines: Sequence[bytes], content: bytes) -> set[int]:
    """Return lines that may have a relative time without ASCII digits. `lines` have no whitespace."""
    has_ending = map(LAST_BYTES.__contains__, [line[-2:] for line in lines])  # cheap prefilter
    line_indexes = {n for n in compress(count(), has_ending) if _may_be_relative_time(lines[n])}
    if not any(map(content.__contains__, NON_ASCII_DIGIT_LEAD_BYTES)):
        return line_indexes
    return line_indexes.union(n for n, line in enumerate(lines) if search_non_ascii_digit(line))


def _may_be_relative_time(line: bytes) -> bool:
    return len(line) <= MAX_LINE_BYTES and (line.endswith(COMPACT_ENDINGS) or line.startswith(COMPACT_BEGINNINGS))
