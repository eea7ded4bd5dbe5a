"""Detect the language of a page."""

from collections import Counter

from turbohtml.detect import detect_language

SAMPLE_CHARS = 400  # per sample: enough for the detector, short enough to be in one language
MAX_SAMPLES = 24  # about 150 microseconds each
DECISIVE_LEAD = 4  # samples that a language is ahead of all others: the rest of the page is not read
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
    """Return the declared language, else that of most samples; "" if uncertain."""
    code = declared.replace("_", "-").split("-")[0].strip().lower()
    if len(code) == 2 and code.isascii() and code.isalpha():
        return _LANGUAGE_SYNONYMS.get(code, code)
    votes: Counter[str] = Counter()
    for sample in take_samples(text):
        match = detect_language(sample)
        if match.language is not None and match.confidence >= MIN_DETECTION_CONFIDENCE:
            votes[language := _ISO_639_1.get(match.language, "")] += 1
            if 2 * votes[language] - votes.total() >= DECISIVE_LEAD:
                return language
    return max(votes, key=lambda language: votes[language]) if votes else ""


def take_samples(text: str) -> list[str]:
    """Take equally spaced samples, first those far apart: a page may have parts in several languages."""
    if len(text) <= SAMPLE_CHARS * 2:
        return [text]
    count = min(MAX_SAMPLES, len(text) // SAMPLE_CHARS)
    step = (len(text) - SAMPLE_CHARS) / (count - 1)
    order = sorted(range(count), key=lambda number: f"{number:05b}"[::-1])
    return [text[int(step * number) : int(step * number) + SAMPLE_CHARS] for number in order]
