"""Detect the language of a page."""

from collections import Counter

from turbohtml.detect import detect_language

MIN_SAMPLE_CHARS, SAMPLE_CHARS = 120, 400  # enough for the detector; short enough to be in one language
MAX_SAMPLES = 32  # about 100 microseconds each
DECISIVE_LEAD = 8  # samples that a language is ahead of all others: the rest of the page is not read
UNANIMOUS_LEAD = 4  # if all samples agree
MIN_DETECTION_CONFIDENCE = 0.3  # a wrong stemmer is worse than none

# ISO 639-3, returned by the detector, to ISO 639-1, used in pages and queries.
_ISO_639_1 = {
    "ara": "ar", "bul": "bg", "cat": "ca", "ces": "cs", "cmn": "zh", "dan": "da", "deu": "de", "ell": "el",
    "eng": "en", "epo": "eo", "est": "et", "fin": "fi", "fra": "fr", "heb": "he", "hin": "hi", "hrv": "hr",
    "hun": "hu", "ind": "id", "ita": "it", "jpn": "ja", "kor": "ko", "lat": "la", "lav": "lv", "lit": "lt",
    "nld": "nl", "nob": "no", "pes": "fa", "pol": "pl", "por": "pt", "ron": "ro", "rus": "ru", "slk": "sk",
    "slv": "sl", "spa": "es", "srp": "sr", "swe": "sv", "tam": "ta", "tha": "th", "tur": "tr", "ukr": "uk",
    "urd": "ur", "vie": "vi",
}  # fmt: skip
_LANGUAGE_SYNONYMS = {"nb": "no", "nn": "no"}


def detect_page_language(declared: str, text: str) -> str:
    """Return the declared language, else that of most of the sampled text; "" if uncertain."""
    code = declared.replace("_", "-").split("-")[0].strip().lower()
    if len(code) == 2 and code.isascii() and code.isalpha():
        return _LANGUAGE_SYNONYMS.get(code, code)
    sizes: Counter[str] = Counter()
    leads: Counter[str] = Counter()
    for sample in take_samples(text):
        match = detect_language(sample)
        if match.language is None or match.confidence < MIN_DETECTION_CONFIDENCE:
            continue
        language = _ISO_639_1.get(match.language, "")
        sizes[language] += len(sample)
        leads[language] += 1
        lead = 2 * leads[language] - leads.total()
        if lead >= (UNANIMOUS_LEAD if lead == leads.total() else DECISIVE_LEAD):
            return language
    return max(sizes, key=lambda language: sizes[language]) if sizes else ""


def take_samples(text: str) -> list[str]:
    """Take equally spaced samples, first those far apart: a page may have parts in several languages.

    A sample starts with a line, and ends with one if it is long enough: quotations and captions are lines.
    """
    if len(text) <= SAMPLE_CHARS:
        return [text]
    count = min(MAX_SAMPLES, len(text) // MIN_SAMPLE_CHARS)
    step = (len(text) - MIN_SAMPLE_CHARS) / (count - 1)
    order = sorted(range(count), key=lambda number: f"{number:05b}"[::-1])
    starts = dict.fromkeys(_find_line_start(text, int(step * number)) for number in order)
    return [text[start : _find_sample_end(text, start)] for start in starts]


def _find_line_start(text: str, at: int) -> int:
    """Return the start of the line or, in a long one, the position itself."""
    start = text.rfind("\n", max(at - MIN_SAMPLE_CHARS, 0), at) + 1
    return start or (at if at > MIN_SAMPLE_CHARS else 0)


def _find_sample_end(text: str, start: int) -> int:
    end = text.find("\n", start + MIN_SAMPLE_CHARS, start + SAMPLE_CHARS)
    return end if end >= 0 else start + MIN_SAMPLE_CHARS
