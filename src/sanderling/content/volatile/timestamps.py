"""Moments that a page tells of itself: when it was made, changed or looked at, and what time it is.

A time of day alone on its line is a clock, a date alone with "last updated" is a stamp. A time after a word such as
"updated" belongs to that word. Any other is content: opening hours, the end of a term, a departure, a hearing.
"""

import re

DAYS = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    *("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"),
    *("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    *("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
    *("lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"),
    *("maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"),
)
SHORT_DAYS = ("mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun")
MONTHS = (
    *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "january"),
    *("february", "march", "april", "june", "july", "august", "september", "october", "november", "december"),
    *("januar", "februar", "märz", "mai", "juni", "juli", "oktober", "dezember"),
    *("janvier", "février", "mars", "avril", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"),
    *("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre"),
    *("diciembre", "gennaio", "febbraio", "aprile", "maggio", "giugno", "luglio", "settembre", "ottobre", "dicembre"),
    *("januari", "februari", "maart", "mei", "augustus", "maj", "augusti", "marts"),
    *("janeiro", "fevereiro", "março", "maio", "junho", "julho", "setembro", "outubro", "novembro", "dezembro"),
    *("января", "февраля", "марта", "апреля", "мая", "июня", "июля", "августа", "сентября", "октября", "ноября"),
    *("декабря", "січня", "лютого", "березня", "квітня", "травня", "червня", "липня", "серпня", "вересня", "жовтня"),
    *("листопада", "грудня", "stycznia", "lutego", "marca", "kwietnia", "maja", "czerwca", "lipca", "sierpnia"),
    *("września", "października", "listopada", "grudnia", "ledna", "února", "března", "dubna", "května", "června"),
    *("července", "srpna", "září", "října", "listopadu", "prosince", "ocak", "şubat", "mart", "nisan", "mayıs"),
    *("haziran", "temmuz", "ağustos", "eylül", "ekim", "kasım", "aralık", "ιανουαρίου", "φεβρουαρίου", "μαρτίου"),
    *("απριλίου", "μαΐου", "ιουνίου", "ιουλίου", "αυγούστου", "σεπτεμβρίου", "οκτωβρίου", "νοεμβρίου", "δεκεμβρίου"),
    *("január", "február", "március", "április", "május", "június", "július", "augusztus", "szeptember", "október"),
    *("ianuarie", "februarie", "martie", "aprilie", "iunie", "iulie", "septembrie", "octombrie", "noiembrie"),
    *("decembrie", "tammikuuta", "helmikuuta", "maaliskuuta", "huhtikuuta", "toukokuuta", "kesäkuuta", "heinäkuuta"),
    *("elokuuta", "syyskuuta", "lokakuuta", "marraskuuta", "joulukuuta", "يناير", "فبراير", "مارس", "أبريل", "مايو"),
    *("يونيو", "يوليو", "أغسطس", "سبتمبر", "أكتوبر", "نوفمبر", "ديسمبر", "בינואר", "בפברואר", "במרץ", "באפריל", "במאי"),
    *("ביוני", "ביולי", "באוגוסט", "בספטמבר", "באוקטובר", "בנובמבר", "בדצמבר", "जनवरी", "फ़रवरी", "फरवरी", "मार्च"),
    *("अप्रैल", "मई", "जून", "जुलाई", "अगस्त", "सितंबर", "सितम्बर", "अक्टूबर", "नवंबर", "दिसंबर", "มกราคม", "กุมภาพันธ์"),
    *("มีนาคม", "เมษายน", "พฤษภาคม", "มิถุนายน", "กรกฎาคม", "สิงหาคม", "กันยายน", "ตุลาคม", "พฤศจิกายน", "ธันวาคม"),
    *("januari", "februari", "maret", "juni", "juli", "agustus", "desember", "tháng"),
    *(
        "mär",
        "okt",
        "dez",
        "janv",
        "févr",
        "avr",
        "juil",
        "déc",
        "ene",
        "abr",
        "dic",
        "gen",
        "mag",
        "giu",
        "lug",
        "ott",
    ),
    *("mrt", "янв", "фев", "мар", "апр", "июн", "июл", "авг", "сен", "окт", "ноя", "дек"),
)
TODAY = ("today", "heute", "aujourd'hui", "hoy")
MADE = (  # what a machine says of its work: a date alone will do
    *("generated", "rendered", "printed", "retrieved", "accessed", "served", "cached", "built", "compiled", "exported"),
    *TODAY,
    *("now", "generiert", "gedruckt", "abgerufen", "généré", "generado"),
)
REVISED = (  # what a page says of its last change: alone on its line a date will do
    *("updated", "update", "modified", "modification", "changed", "edited", "revised", "reviewed", "aktualisiert"),
    *("aktualisierung", "geändert", "änderung", "bearbeitet", "mis à jour", "mise à jour", "modifié", "actualisé"),
    *("actualizado", "actualización", "modificado", "modificación", "atualizado", "atualização", "aggiornato"),
    *("aggiornamento", "modificato", "modifica", "bijgewerkt", "gewijzigd", "uppdaterad", "ändrad", "opdateret"),
    *("ændret", "oppdatert", "endret", "päivitetty", "muokattu", "zaktualizowano", "aktualizacja", "modyfikacja"),
    *("aktualizováno", "aktualizace", "обновлено", "обновление", "изменено", "güncelleme", "güncellendi", "frissítve"),
    *("módosítva", "оновлено", "оновлення", "ενημέρωση", "ενημερώθηκε", "actualizat", "actualizare", "cập nhật"),
    *("diperbarui", "تحديث", "محدث", "به‌روزرسانی", "עודכן", "עדכון", "अपडेट", "अद्यतन", "ปรับปรุงล่าสุด", "อัปเดตล่าสุด"),
    *(
        "แก้ไขล่าสุด",
        "수정일",
        "최종",
        "更新",
        "更新日",
        "更新日時",
        "更新時間",
        "更新时间",
        "最終更新",
        "最終更新日",
        "最終更新日時",
    ),
    *("最后更新", "最后更新时间", "업데이트", "최종수정"),
    *("bearbeitet", "modifiée", "editó", "editado", "editada", "modificada", "modificata", "aggiornata", "bewerkt"),
    *("aangepast", "redigerades", "redigeret", "redigert", "edytowano", "edytowana", "edycja", "upraveno", "upravena"),
    *("отредактирована", "отредактировано", "изменена", "обновлена", "изменение", "редаговано", "düzenlenme"),
    *("düzenlendi", "szerkesztve", "modificat", "editat", "faite"),
)
TOLD = (  # what an author may say too: only a time of day or a day of the week tells a stamp
    *("saved", "refreshed", "synced", "checked", "posted", "published", "created", "as of", "as at", "quoted"),
    *("delayed", "seen", "visited", "viewed", "fetched", "captured", "requested", "loaded", "erstellt", "stand"),
    *("publié", "publicado"),
)
GLUE = (
    *("on", "at", "in", "by", "the", "of", "is", "was", "it", "date", "time", "day", "clock", "page", "this", "site"),
    *("document", "file", "last", "latest", "server", "local", "current", "currently", "online", "weather", "forecast"),
    *("am", "um", "uhr", "den", "der", "das", "die", "le", "la", "el", "il", "du", "de", "à", "a", "las", "às", "alle"),
    *("kl", "om", "op", "o", "em", "letzte", "zuletzt", "dernière", "última", "ultima", "ultimo", "laatst", "laatste"),
    *("senast", "sidst", "sist", "viimeksi", "ostatnia", "poslední", "последнее", "son", "utolsó", "ist", "est"),
    *("останнє", "τελευταία", "lần", "cuối", "ngày", "lúc", "terakhir", "pada", "آخر", "في", "לאחרונה", "אחרון", "ב"),
    *(
        "अंतिम",
        "को",
        "г",
        "года",
        "roku",
        "r",
        "ultimei",
        "κατά",
        "στις",
        "last",
        "per",
        "l",
        "volta",
        "è",
        "stata",
        "pela",
    ),
    *("vez", "por", "se", "foi", "voor", "het", "в", "последний", "раз", "была", "wurde", "a été", "bij"),
    *("diese", "seite", "cette", "esta", "página", "questa", "pagina", "deze", "denna", "sida", "эта", "страница"),
    *("yesterday", "gestern", "ayer", "ieri", "gisteren", "вчера", "wczoraj", "včera", "igår", "昨天", "昨日", "어제"),
)
BINDING = frozenset(  # a line with such a word binds somebody: its time is no stamp
    (
        *("effective", "valid", "deadline", "due", "until", "till", "expires", "closes", "closing", "before", "begins"),
        *("starts", "ends", "opens", "open", "closed", "gültig", "bis", "ab", "frist", "jusqu", "hasta", "fino"),
    )
)
LABELLING = BINDING.union(  # a short line with such a word says what the time below it is for
    ("departure", "departs", "arrival", "arrives", "start", "begin", "end", "doors", "check", "checkin", "checkout"),
    ("öffnet", "schließt", "beginn", "ende", "einlass", "abfahrt", "ankunft", "anreise", "abreise"),
    ("ouverture", "fermeture", "début", "fin", "départ", "arrivée", "apertura", "cierre", "inicio", "salida"),
    ("llegada", "chiusura", "inizio", "partenza", "arrivo", "abertura", "fecho", "partida", "chegada", "aanvang"),
    ("открытие", "закрытие", "начало", "отправление", "прибытие", "otwarcie", "zamknięcie", "odjazd"),
    ("when", "hearing", "meeting", "appointment", "session", "sitting", "performance", "tour", "boarding", "launch"),
    ("auction", "event", "next", "kick", "kickoff", "wann", "termin", "sitzung", "anhörung", "verhandlung", "anpfiff"),
    (
        "vorstellung",
        "nächste",
        "nächster",
        "nächstes",
        "quand",
        "audience",
        "séance",
        "réunion",
        "prochain",
        "prochaine",
    ),
    ("cuándo", "audiencia", "reunión", "próximo", "próxima", "quando", "udienza", "riunione", "prossimo", "prossima"),
    ("reunião", "wanneer", "zitting", "vergadering", "volgende", "когда", "заседание", "kiedy", "spotkanie"),
)
LABEL = 40  # characters of such a line

MINUTES = (
    r":[0-5]\d(?::[0-5]\d)?(?:[.,]\d+)?(?![\d:/])|h[0-5]\d(?:min)?\b|\.[0-5]\d(?=\s*(?:[ap]\.?m\b|uhr))|\s?[ap]\.?m\b"
)
CLOCK = rf"(?<![\d.:/])(?:[01]?\d|2[0-4])(?:{MINUTES})|\d{{1,2}}\s?[時时点]\s?\d{{1,2}}\s?分(?:\s?\d{{1,2}}\s?秒)?"
CLOCK += r"|(?<=kl\. )\d{1,2}\.[0-5]\d\b"
ZONE = (
    r"(?<![^\W\d])(?:[ap]\.?m\b\.?|uhr\b|h\b|utc\b|gmt\b|z\b|[cpem]e?[ds]t\b|bst\b|ist\b|jst\b|(?<=\d)[+-]\d\d:?\d\d\b)"
)
NUMERIC = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:t(?=\d))?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{4}\s?[年년]|"
NUMERIC += r"\d{1,2}\s?[月월日일]"
NAMES = rf"(?:{'|'.join(sorted((*MONTHS, *DAYS, *SHORT_DAYS), key=len, reverse=True))})(?!\w)\.?"
DAY = r"(?<![\d.,])(?:\d{4}|\d{1,2}(?:st|nd|rd|th|er|º)?)(?![\d:%°]|[.,]\d)\b\.?"
HAN_DAY = "(?:星期|[周週])[一二三四五六日天]|(?<=[(（])[日月火水木金土](?=[)）])"
ATOM = rf"(?:{CLOCK}|{NUMERIC}|\b{NAMES}|{ZONE}|{DAY}|{HAN_DAY})"
JOINED = r"at|on|um|à|kl\.?|om|op|den|le|de|of|the|t|alle|a las|às|в|о|o"
SEPARATORS = r"[\s,;|·@()（）\[\]–-]*+"
BETWEEN = rf"(?:{SEPARATORS}(?:\b(?:{JOINED})\b{SEPARATORS})?)"
MOMENT = re.compile(rf"{ATOM}(?:{BETWEEN}{ATOM})*")
TIMED = re.compile(CLOCK)
SPAN = re.compile(
    rf"(?:{CLOCK})\s*+(?:(?:{ZONE})\s*+)?(?:[-–—]|to|bis|until|till|and|à|a|y|e|und|et|tot|至|~)\s*+(?:{CLOCK})"
)
WEEKDAY = re.compile(rf"\b(?:{'|'.join((*DAYS, *SHORT_DAYS))})\b")
DATED = re.compile(NUMERIC)
MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})(?!\w)")
LATEST = re.compile(r"(?:最后|最後|最終|上次)\w{0,8}[\s:：(（]*$")  # edited, changed, revised
NAMED = re.compile(
    rf"(?:^|\b)(?:({'|'.join(MADE)})|({'|'.join(REVISED)})|{'|'.join(TOLD)})\b(?:[\s'’]+(?:{'|'.join(GLUE)})\b)*[\s:=(\[|,–-]*$"
)
WARMTH = re.compile(r"[-−]?(?<!\d)\d++\s?°\s?(?:[cf]\b)?", re.IGNORECASE)
WORD = re.compile(r"[^\W\d]+")
MINE = frozenset(word for said in (*MADE, *REVISED, *TOLD, *GLUE) for word in WORD.findall(said))
REVISING = frozenset(word for said in REVISED for word in WORD.findall(said)) - frozenset(("mis", "mise", "à"))
DATING = REVISING.union(MADE)
HINTS = REVISING.union(DAYS, SHORT_DAYS, MADE, ("am", "pm", "m", "uhr", "分"))
PAIR = re.compile(r"\d(?:[:h]\d\d|\s?[時时点]|[AaPp][Mm])")  # is part of nearly every time of day, and found at once


def without_moments(line: str, words: set[str]) -> str:
    """Take out of a line when it was made, changed or looked at; any other time stays. `words`: its words, small."""
    if HINTS.isdisjoint(words) and not PAIR.search(line):
        return line
    bare = WARMTH.sub("", line) if "°" in line else line
    small = bare.lower()
    if len(small) != len(bare) or not BINDING.isdisjoint(words) or SPAN.search(small):
        return line
    found = [match for match in MOMENT.finditer(small) if _tells(match[0])]
    is_clock = _is_clock(small, found)
    if is_clock and not DATING.isdisjoint(words):
        return ""  # that a page says when it changed is no more news than when that was
    told = found if is_clock else [match for match in found if _is_named(small, match)]
    for match in reversed(told):
        bare = f"{bare[: match.start()]}{bare[match.end() :]}"
    return bare if told else line


def _tells(moment: str) -> bool:
    return TIMED.search(moment) is not None or _has_date(moment) or _has_weekday(moment)


def _has_date(moment: str) -> bool:
    """Tell whether a moment has a date in digits, or a month beside a number."""
    return DATED.search(moment) is not None or (MONTH.search(moment) is not None and any(map(str.isdecimal, moment)))


def _has_weekday(moment: str) -> bool:
    return WEEKDAY.search(moment) is not None and any(map(str.isdecimal, moment))


def _is_clock(small: str, found: list[re.Match[str]]) -> bool:
    """Say whether a line has one time, today's date or that of its last change, and only words that go with it."""
    if len(found) != 1:
        return False
    said = WORD.findall(f"{small[: found[0].start()]} {small[found[0].end() :]}")
    timed = _has_weekday(found[0][0]) or len(TIMED.findall(found[0][0])) == 1
    return MINE.issuperset(said) and (timed or not REVISING.isdisjoint(said))


def _is_named(small: str, match: re.Match[str]) -> bool:
    """Say whether the word before a moment claims it; in running text "updated" claims no date."""
    before = small[: match.start()]
    said = NAMED.search(before)
    if said is None:
        return TIMED.search(match[0]) is not None and LATEST.search(before) is not None
    if said[1] in TODAY and not _is_apart(before[: said.start()]):
        return False
    if said[1] or (said[2] and ":" in said[0]):
        return True
    return TIMED.search(match[0]) is not None or _has_weekday(match[0])


def _is_apart(before: str) -> bool:
    """Say whether a line begins anew behind some words of it: "Ann, today at 10:30" is no "tour: today at 10:30"."""
    return not before.strip() or (not before.rstrip().endswith(":") and not before.rstrip()[-1].isalnum())


def binds(label: str) -> bool:
    """Say whether a line is a label that tells what the time below it is for."""
    return len(label) <= LABEL and not LABELLING.isdisjoint(WORD.findall(label.lower()))


def is_day(line: str) -> bool:
    """Say whether a line is a day of the week with its date, and nothing else."""
    found = MOMENT.fullmatch(line.strip().lower())
    return found is not None and _has_weekday(found[0])
