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
AGREED, ASKED_AGAIN, MOST_SITES = 10, 25, 100_000
_SAME = {"nb": "no", "nn": "no"}


class Languages:
    """Remembers what the silent pages of a site are written in, so that not each is put to the detector."""

    def __init__(self) -> None:
        self.sites: dict[str, tuple[str, int]] = {}

    def of(self, declared: str, text: str, site: str) -> str:
        """Give two letters; a site whose last pages all agreed is asked again only now and then."""
        language, agreed = self.sites.get(site, ("", 0))
        if declared or agreed < AGREED or agreed % ASKED_AGAIN == 0:
            found = language_of(declared, text)
            if not declared and len(self.sites) < MOST_SITES:
                self.sites[site] = found, agreed + 1 if found == language else 1
            return found
        self.sites[site] = language, agreed + 1
        return language


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
