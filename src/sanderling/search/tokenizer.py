"""Text to index words: split, fold accents, stem by language; one function for pages and for questions.

The stems are made here and not by tantivy's own tokenizers, so that each page is stemmed in its own language within
one field, and so that a word seen before costs one dictionary look-up (a third of the time of stemming it again).
"""

import re
from collections.abc import Callable
from functools import cache

import tantivy

STEMMERS = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "fi": "finnish", "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
LANGUAGES_WITHOUT_STOP_WORDS = frozenset(("ar", "el", "ro", "ta", "tr"))  # of which tantivy knows the stems alone
MAX_WORD_LENGTH = 40  # anything longer is a hash or an encoded blob
MAX_CACHED_STEMS = 100_000  # words kept per language, then the memory starts afresh
UNSTEMMED = ""
# Words of English questions that say nothing of what is asked for, beside the few dozen that tantivy knows.
_ENGLISH_STOP_WORDS = (
    "about after again all also am another any anyone anything because been before being between both can cannot could"
    " did do does doing done during each either else ever every few find from further get give given go had has have"
    " having he her here him his how however i its itself just know let like me might more most much must my need"
    " neither nor now off once one only other others our out over own please same she should since so some something"
    " still than them themselves those through too under until up upon us use used using very want we were what when"
    " where whether which while who whom whose why would you your"
)
ENGLISH_STOP_WORDS = frozenset(_ENGLISH_STOP_WORDS.split())

# Small letters, digits, and the marks that may belong to a word (c++, c#, o'clock); the rest of ASCII divides words.
_ASCII_TABLE = bytes(c if c >= 128 or chr(c).isalnum() or chr(c) in "+#'" else 32 for c in range(256)).lower()
_WORD = re.compile(r"(?:[^\W_]|[+#'])+")
_ALPHANUMERIC = re.compile(r"[^\W_]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SYMBOL_NAME = re.compile(r"[^\W\d_]{1,8}(?:\+\+|#)")
# Scripts written without spaces: Han with its iteration mark and extensions, kana (half-width too), hangul, Thai, Lao,
# Khmer, Myanmar.
_UNSPACED_SCRIPTS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{_UNSPACED_SCRIPTS}]")
_SCRIPT_RUN = re.compile(f"[{_UNSPACED_SCRIPTS}]+|[^{_UNSPACED_SCRIPTS}]+")


def stem_text(text: str, language: str) -> str:
    """Give the text as it is indexed: stems in order, with one blank between."""
    # Bytes are translated many times faster than characters; what is not ASCII is sorted out once, in the memory.
    rough = text.encode("utf-8", "ignore").translate(_ASCII_TABLE).decode("utf-8").split()
    return " ".join(filter(None, map(get_stemmer(language), rough)))


def get_stemmer(language: str) -> Callable[[str], str]:
    """A function from single words in small letters to their stems; for many words at once."""
    return _get_stem_cache(language if language in STEMMERS else UNSTEMMED).__getitem__


def remove_surrogates(text: str) -> str:
    """Drop lone surrogates: they are no characters and no encoding holds them."""
    return text if text.isascii() else _SURROGATES.sub("", text)


def is_stop_word(word: str, language: str) -> bool:
    """Say whether a word carries no meaning of its own in that language."""
    if language == "en" and word.lower() in ENGLISH_STOP_WORDS:
        return True
    stops = _build_stop_filter(language)
    return stops is not None and not stops.analyze(word.lower())


def is_unspaced(word: str) -> bool:
    """Say whether a word is of a script written without spaces."""
    return _UNSPACED.search(word) is not None


def split_scripts(word: str) -> list[str]:
    """Split a word where a script written without spaces begins or ends: iPhone手机 is two words."""
    return _SCRIPT_RUN.findall(word) if is_unspaced(word) else [word]


class _StemCache(dict[str, str]):
    """Stems of one language, remembered."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language

    def __missing__(self, word: str) -> str:
        made = self.stem_token(word)
        if len(word) <= MAX_WORD_LENGTH:
            if len(self) >= MAX_CACHED_STEMS:
                self.clear()
            self[word] = made
        return made

    def stem_token(self, token: str) -> str:
        """Stem what stood between two blanks; it may fall into several words, or into none."""
        found = _WORD.findall(token.lower().replace("’", "'"))
        return " ".join(stem for word in found for stem in self.stem_word_parts(word))

    def stem_word_parts(self, word: str) -> list[str]:
        """Keep names such as c++ whole, divide the rest where it must be."""
        if _SYMBOL_NAME.fullmatch(word):
            return [word]
        plain = _ALPHANUMERIC.findall(word.removesuffix("'s").replace("'", ""))
        runs = [run for part in plain for run in split_scripts(part)]
        return [stem for run in runs for stem in (split_bigrams(run) if is_unspaced(run) else self.stem_word(run))]

    def stem_word(self, word: str) -> list[str]:
        """Fold accents, then stem, so that a word typed without its accents is still found."""
        if len(word) > MAX_WORD_LENGTH:
            return []
        return _build_stemmer(self.language).analyze(word) or [word]


def split_bigrams(run: str) -> list[str]:
    """Cut a run of a script without spaces into overlapping pairs of characters."""
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))]


@cache
def _get_stem_cache(language: str) -> _StemCache:
    return _StemCache(language)


@cache
def _build_stemmer(language: str) -> tantivy.TextAnalyzer:
    build = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.ascii_fold())
    if language:
        build = build.filter(tantivy.Filter.stemmer(STEMMERS[language]))
    return build.build()


@cache
def _build_stop_filter(language: str) -> tantivy.TextAnalyzer | None:
    if language not in STEMMERS or language in LANGUAGES_WITHOUT_STOP_WORDS:
        return None
    stop = tantivy.Filter.stopword(STEMMERS[language])
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(stop).build()
