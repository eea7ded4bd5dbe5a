"""Strip timestamps from lines: when a page was generated, updated, or visited.

A time alone on its line is a clock; a date alone with "last updated" is a timestamp; a time after a word such as
"updated" belongs to that word. Any other time is content: opening hours, deadlines, departures, hearings.
"""

import re

WEEKDAYS = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    *("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"),
    *("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    *("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
    *("lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"),
    *("maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"),
)
SHORT_WEEKDAYS = ("mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun")
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
TODAY_WORDS = ("today", "heute", "aujourd'hui", "hoy")
GENERATED_PHRASES = (  # followed by any date or time
    *("generated", "rendered", "printed", "retrieved", "accessed", "served", "cached", "built", "compiled", "exported"),
    *TODAY_WORDS,
    *("now", "generiert", "gedruckt", "abgerufen", "généré", "generado"),
)
UPDATED_PHRASES = (  # followed by a date if nothing else is on the line
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
PUBLISHED_PHRASES = (  # also used in prose: must be followed by a clock time or weekday
    *("saved", "refreshed", "synced", "checked", "posted", "published", "created", "as of", "as at", "quoted"),
    *("delayed", "seen", "visited", "viewed", "fetched", "captured", "requested", "loaded", "erstellt", "stand"),
    *("publié", "publicado"),
)
FILLER_PHRASES = (
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
DEADLINE_WORDS = frozenset(  # a time on a line with such a word is content
    (
        *("effective", "valid", "deadline", "due", "until", "till", "expires", "closes", "closing", "before", "begins"),
        *("starts", "ends", "opens", "open", "closed", "gültig", "bis", "ab", "frist", "jusqu", "hasta", "fino"),
    )
)
TIME_LABEL_WORDS = DEADLINE_WORDS.union(  # a short line with such a word labels the time below it
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
MAX_LABEL_LENGTH = 40  # characters

CLOCK_MINUTES = (
    r":[0-5]\d(?::[0-5]\d)?(?:[.,]\d+)?(?![\d:/])|h[0-5]\d(?:min)?\b|\.[0-5]\d(?=\s*(?:[ap]\.?m\b|uhr))|\s?[ap]\.?m\b"
)
CLOCK_TIME = (
    rf"(?<![\d.:/])(?:[01]?\d|2[0-4])(?:{CLOCK_MINUTES})|\d{{1,2}}\s?[時时点]\s?\d{{1,2}}\s?分(?:\s?\d{{1,2}}\s?秒)?"
)
CLOCK_TIME += r"|(?<=kl\. )\d{1,2}\.[0-5]\d\b"
TIME_ZONE = (
    r"(?<![^\W\d])(?:[ap]\.?m\b\.?|uhr\b|h\b|utc\b|gmt\b|z\b|[cpem]e?[ds]t\b|bst\b|ist\b|jst\b|(?<=\d)[+-]\d\d:?\d\d\b)"
)
NUMERIC_DATE = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:t(?=\d))?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{4}\s?[年년]|"
NUMERIC_DATE += r"\d{1,2}\s?[月월日일]"
MONTH_OR_DAY_NAME = rf"(?:{'|'.join(sorted((*MONTHS, *WEEKDAYS, *SHORT_WEEKDAYS), key=len, reverse=True))})(?!\w)\.?"
DAY_OR_YEAR = r"(?<![\d.,])(?:\d{4}|\d{1,2}(?:st|nd|rd|th|er|º)?)(?![\d:%°]|[.,]\d)\b\.?"
CJK_WEEKDAY = "(?:星期|[周週])[一二三四五六日天]|(?<=[(（])[日月火水木金土](?=[)）])"
TIMESTAMP_PART = rf"(?:{CLOCK_TIME}|{NUMERIC_DATE}|\b{MONTH_OR_DAY_NAME}|{TIME_ZONE}|{DAY_OR_YEAR}|{CJK_WEEKDAY})"
JOINING_WORDS = r"at|on|um|à|kl\.?|om|op|den|le|de|of|the|t|alle|a las|às|в|о|o"
SEPARATORS = r"[\s,;|·@()（）\[\]–-]*+"
PART_SEPARATOR = rf"(?:{SEPARATORS}(?:\b(?:{JOINING_WORDS})\b{SEPARATORS})?)"
TIMESTAMP = re.compile(rf"{TIMESTAMP_PART}(?:{PART_SEPARATOR}{TIMESTAMP_PART})*")
CLOCK_TIME_PATTERN = re.compile(CLOCK_TIME)
TIME_RANGE = re.compile(
    rf"(?:{CLOCK_TIME})\s*+(?:(?:{TIME_ZONE})\s*+)?"
    rf"(?:[-–—]|to|bis|until|till|and|à|a|y|e|und|et|tot|至|~)\s*+(?:{CLOCK_TIME})"
)
WEEKDAY_PATTERN = re.compile(rf"\b(?:{'|'.join((*WEEKDAYS, *SHORT_WEEKDAYS))})\b")
NUMERIC_DATE_PATTERN = re.compile(NUMERIC_DATE)
MONTH_PATTERN = re.compile(rf"\b(?:{'|'.join(MONTHS)})(?!\w)")
CJK_UPDATED_PREFIX = re.compile(r"(?:最后|最後|最終|上次)\w{0,8}[\s:：(（]*$")  # last edited, changed, revised
TIMESTAMP_LABEL = re.compile(
    rf"(?:^|\b)(?:({'|'.join(GENERATED_PHRASES)})|({'|'.join(UPDATED_PHRASES)})|{'|'.join(PUBLISHED_PHRASES)})\b"
    rf"(?:[\s'’]+(?:{'|'.join(FILLER_PHRASES)})\b)*[\s:=(\[|,–-]*$"
)
TEMPERATURE = re.compile(r"[-−]?(?<!\d)\d++\s?°\s?(?:[cf]\b)?", re.IGNORECASE)
WORD = re.compile(r"[^\W\d]+")
TIMESTAMP_WORDS = frozenset(
    word
    for phrase in (*GENERATED_PHRASES, *UPDATED_PHRASES, *PUBLISHED_PHRASES, *FILLER_PHRASES)
    for word in WORD.findall(phrase)
)
UPDATED_WORDS = frozenset(word for phrase in UPDATED_PHRASES for word in WORD.findall(phrase)) - frozenset(
    ("mis", "mise", "à")
)
DATE_LABEL_WORDS = UPDATED_WORDS.union(GENERATED_PHRASES)
TRIGGER_WORDS = UPDATED_WORDS.union(WEEKDAYS, SHORT_WEEKDAYS, GENERATED_PHRASES, ("am", "pm", "m", "uhr", "分"))
CLOCK_TIME_HINT = re.compile(r"\d(?:[:h]\d\d|\s?[時时点]|[AaPp][Mm])")  # fast prefilter for clock times


def strip_timestamps(line: str, words: set[str]) -> str:
    """Return the line without timestamps; other times stay. `words`: its lowercase words."""
    if TRIGGER_WORDS.isdisjoint(words) and not CLOCK_TIME_HINT.search(line):
        return line
    stripped = TEMPERATURE.sub("", line) if "°" in line else line
    lowercase = stripped.lower()
    if len(lowercase) != len(stripped) or not DEADLINE_WORDS.isdisjoint(words) or TIME_RANGE.search(lowercase):
        return line
    matches = [match for match in TIMESTAMP.finditer(lowercase) if _has_time_or_date(match[0])]
    is_standalone = _is_standalone_timestamp(lowercase, matches)
    if is_standalone and not DATE_LABEL_WORDS.isdisjoint(words):
        return ""  # the label "updated" alone is no content either
    timestamps = matches if is_standalone else [match for match in matches if _has_timestamp_label(lowercase, match)]
    for match in reversed(timestamps):
        stripped = f"{stripped[: match.start()]}{stripped[match.end() :]}"
    return stripped if timestamps else line


def _has_time_or_date(timestamp: str) -> bool:
    return CLOCK_TIME_PATTERN.search(timestamp) is not None or _has_date(timestamp) or _has_weekday(timestamp)


def _has_date(timestamp: str) -> bool:
    return NUMERIC_DATE_PATTERN.search(timestamp) is not None or (
        MONTH_PATTERN.search(timestamp) is not None and any(map(str.isdecimal, timestamp))
    )


def _has_weekday(timestamp: str) -> bool:
    return WEEKDAY_PATTERN.search(timestamp) is not None and any(map(str.isdecimal, timestamp))


def _is_standalone_timestamp(lowercase_line: str, matches: list[re.Match[str]]) -> bool:
    """Return whether a line consists of a clock time, weekday, or update date, and words for it."""
    if len(matches) != 1:
        return False
    words = WORD.findall(f"{lowercase_line[: matches[0].start()]} {lowercase_line[matches[0].end() :]}")
    has_time = _has_weekday(matches[0][0]) or len(CLOCK_TIME_PATTERN.findall(matches[0][0])) == 1
    return TIMESTAMP_WORDS.issuperset(words) and (has_time or not UPDATED_WORDS.isdisjoint(words))


def _has_timestamp_label(lowercase_line: str, match: re.Match[str]) -> bool:
    """Return whether the preceding words label a timestamp; in prose, "updated" does not label a date."""
    before = lowercase_line[: match.start()]
    label = TIMESTAMP_LABEL.search(before)
    if label is None:
        return CLOCK_TIME_PATTERN.search(match[0]) is not None and CJK_UPDATED_PREFIX.search(before) is not None
    if label[1] in TODAY_WORDS and not _starts_new_phrase(before[: label.start()]):
        return False
    if label[1] or (label[2] and ":" in label[0]):
        return True
    return CLOCK_TIME_PATTERN.search(match[0]) is not None or _has_weekday(match[0])


def _starts_new_phrase(prefix: str) -> bool:
    """Return whether a new phrase starts after `prefix`: "Ann, today at 10:30", but not "tour: today at 10:30"."""
    return not prefix.strip() or (not prefix.rstrip().endswith(":") and not prefix.rstrip()[-1].isalnum())


def is_time_label(line: str) -> bool:
    """Return whether a line labels an event time on the next line."""
    return len(line) <= MAX_LABEL_LENGTH and not TIME_LABEL_WORDS.isdisjoint(WORD.findall(line.lower()))


def is_weekday_date(line: str) -> bool:
    match = TIMESTAMP.fullmatch(line.strip().lower())
    return match is not None and _has_weekday(match[0])
