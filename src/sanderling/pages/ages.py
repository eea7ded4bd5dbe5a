"""How long ago something was: "3 hours ago", "vor einer Stunde", "3 часа назад", "3時間前"; in many languages.

In many of them the same words say "three days before": there they have to stand alone, or apart from what else the line
says.
"""

import re
from collections.abc import Sequence
from itertools import compress, count

from sanderling.pages.patterns import kept, made

SPANS = (
    *("secs?", "seconds?", "mins?", "minutes?", "hrs?", "hours?", "days?", "weeks?", "months?", "years?", "[smhd]"),
    *("sekunden?", "minuten?", "stunden?", "tag(?:en?)?", "wochen?", "monat(?:en?)?", "jahr(?:en?)?"),
    *("secondes?", "heures?", "jours?", "semaines?", "mois", "ans?", "segundos?", "minutos?", "horas?", "días?"),
    *("dias?", "semanas?", "mes(?:es)?", "años?", "anos?"),
)
SPAN = rf"(?:{'|'.join(SPANS)})"
DONE = "updated|modified|edited|posted|published|created|active|seen|checked|reviewed|asked|answered"
APART = r"|·•∙()\[\]/–—،"
ALONE = rf"(?=\s*$|\s*[{APART}]|\s+-\s|\s+by\b)"  # where no sentence goes on, nor ends
FIRST = rf"(?:^|(?<=[{APART}:])\s?)"
LATE = (
    *("yesterday", "just now", "gestern", "ayer", "ieri", "ontem", "gisteren", "wczoraj", "dün", "igår", "i går"),
    *("eilen", "včera", "вчера", "вчора", "χθες", "昨日", "昨天", "刚刚", "어제", "방금", "أمس", "אתמול"),
)

AGO = (
    rf"(?<!than )(?<!least )(?<!most )(?<!within )(?<!over )(?<!up to )\b(?:\d+|an?|one|few|a few)\s*{SPAN}\.?\s+ago\b"
)
LATELY = rf"(\b(?:{DONE})\W{{1,3}})(?:about|over|almost|nearly|more than|less than)\s+\d+\s*{SPAN}\.?\s+ago\b{ALONE}"
SINCE = rf"\b(?:il y a|vor|hace|há)\s+(?:\d+|eine[mr]|une?|uma?|una)\s+{SPAN}(?!\w)"
BACK = r"(?:fa|geleden|sedan|siden|temu|sitten|назад|тому|önce|atrás)\b"
BACK = rf"(?:\b(?:för|for)\s+)?\b(?:\d+|een|en|et|ett|un|una)\s+\w+\.?\s+{BACK}|\bun['’]ora fa\b"
BEFORE = r"acum|před|pred|преди|fa|πριν(?:\s+από)?|قبل|منذ|לפני|cách đây"
BEFORE = rf"{FIRST}(?:{BEFORE})\s+\d+\s+\S{{1,16}}{ALONE}"
AFTER = "पहले|আগে|ที่แล้ว|ที่ผ่านมา|trước|(?:yang )?lalu|پیش|قبل|전"
HUNGARIAN = ("másodperce", "perce", "órája", "napja", "hete", "hónapja", "éve")  # the span itself says it
AFTER = rf"{FIRST}\d+\s(?:{'|'.join(HUNGARIAN)}){ALONE}|{FIRST}\d+\s*(?:\S{{1,16}}\s*)?(?:{AFTER}){ALONE}"
EARLIER = r"\d+\s*(?:秒鐘?|秒钟|分[钟鐘]?|時間|小[时時]|日|天|[週周]間?|[か个個ヶカ]月|年)前"
EARLIER += rf"(?={ALONE}|\s*に?\s*(?:更新|投稿|公開|公开|发布|發布|发表|發表|编辑))"
ON = rf"^(?:{'|'.join(LATE)})$|(\b(?:{DONE})\W{{1,3}})yesterday{ALONE}"

WORDS = (  # each pattern with words one of which it needs: looking for the words is much cheaper
    (("ago",), LATELY),
    (("ago",), AGO),
    (("il", "vor", "hace", "há"), SINCE),
    (("fa", "geleden", "sedan", "siden", "temu", "sitten", "назад", "тому", "önce", "atrás"), BACK),
    (("fa", "acum", "před", "pred", "преди", "πριν", "قبل", "منذ", "לפני", "cách"), BEFORE),
    (("trước", "lalu", "پیش", "قبل", "전", *HUNGARIAN), AFTER),
    (tuple(word for one in LATE for word in one.split()), ON),
)
CLUES = frozenset(clue for clues, _ in WORDS for clue in clues)
SIGNS = (("前", EARLIER), ("पहले", AFTER), ("আগে", AFTER), ("แล้ว", AFTER), ("ที่ผ่านมา", AFTER))  # within words

ENDINGS = tuple(
    word.replace(" ", "").encode()
    for one in (*LATE, "ago", "geleden", "sedan", "siden", "sitten", "temu", "назад", "тому", "önce", "atrás", "fa")
    for word in {one, one.capitalize(), one.title()}
)
BEGINNINGS = tuple(
    word.encode() for word in ("vorein", "Vorein", "ilyaun", "Ilyaun", "haceun", "Haceun", "háum", "Háum")
)
SINGLE = (  # what the lines with those beginnings end with
    *("Sekunde", "Minute", "Stunde", "Tag", "Woche", "Monat", "Jahr", "heure", "jour", "semaine", "mois", "minuto"),
    *("hora", "día", "dia", "semana", "mes", "mês", "año", "ano"),
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
