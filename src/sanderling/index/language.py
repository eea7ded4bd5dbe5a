"""Which language a page is written in: what it says of itself if that can be, else what its letters say."""

from turbohtml.detect import detect_language

SAMPLE = 600  # characters looked at; the detector's cost grows with the text
SURE = 0.3  # below this the detector guesses, and a wrong stemmer is worse than none

# ISO 639-3, as the detector answers, to the two letters pages and people use.
_SHORT = {
    "ara": "ar", "bul": "bg", "cat": "ca", "ces": "cs", "cmn": "zh", "dan": "da", "deu": "de", "ell": "el",
    "eng": "en", "epo": "eo", "est": "et", "fin": "fi", "fra": "fr", "heb": "he", "hin": "hi", "hrv": "hr",
    "hun": "hu", "ind": "id", "ita": "it", "jpn": "ja", "kor": "ko", "lat": "la", "lav": "lv", "lit": "lt",
    "nld": "nl", "nob": "no", "pes": "fa", "pol": "pl", "por": "pt", "ron": "ro", "rus": "ru", "slk": "sk",
    "slv": "sl", "spa": "es", "srp": "sr", "swe": "sv", "tam": "ta", "tha": "th", "tur": "tr", "ukr": "uk",
    "urd": "ur", "vie": "vi",
}  # fmt: skip
_SAME = {"nb": "no", "nn": "no"}


def language_of(declared: str, text: str) -> str:
    """Give two letters, or an empty string where nothing is sure."""
    said = declared.replace("_", "-").split("-")[0].strip().lower()
    if len(said) == 2 and said.isascii() and said.isalpha():
        return _SAME.get(said, said)
    middle = max(0, len(text) // 2 - SAMPLE // 2)  # the top of a page is often menus and names
    match = detect_language(text[middle : middle + SAMPLE])
    if match.language is None or match.confidence < SURE:
        return ""
    return _SHORT.get(match.language, "")
