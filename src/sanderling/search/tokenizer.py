"""Tokenize text: split, fold accents, stem by language.

Stemming here lets each page use its language within a single field.
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
LANGUAGES_WITHOUT_STOP_WORDS = frozenset(("ar", "el", "ro", "ta", "tr"))  # tantivy has a stemmer but no stop words
MAX_WORD_LENGTH = 40  # a longer word is a hash or an encoded blob
MAX_CACHED_STEMS = 100_000  # per language; a full cache is cleared
UNSTEMMED = ""
# Function words of English queries, in addition to the few dozen that tantivy has.
_ENGLISH_STOP_WORDS = (
    "about after again all also am another any anyone anything because been before being between both can cannot could"
    " did do does doing done during each either else ever every few find from further get give given go had has have"
    " having he her here him his how however i its itself just know let like me might more most much must my need"
    " neither nor now off once one only other others our out over own please same she should since so some something"
    " still than them themselves those through too under until up upon us use used using very want we were what when"
    " where whether which while who whom whose why would you your"
)
ENGLISH_STOP_WORDS = frozenset(_ENGLISH_STOP_WORDS.split())

# Keeps letters (lower case), digits, and characters of words such as c++, c#, o'clock; other ASCII separates words.
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
    """Return the stems of a text, joined by blanks."""
    return " ".join(filter(None, map(get_stemmer(language), split_tokens(text))))


def split_tokens(text: str) -> list[str]:
    """Split at ASCII separators. A token of another script may contain several words."""
    # Translating bytes is much faster than characters.
    return text.encode("utf-8", "ignore").translate(_ASCII_TABLE).decode("utf-8").split()


def get_stemmer(language: str) -> Callable[[str], str]:
    return _get_stem_cache(language if language in STEMMERS else UNSTEMMED).__getitem__


def remove_surrogates(text: str) -> str:
    """Remove lone surrogates, which UTF-8 cannot encode."""
    return text if text.isascii() else _SURROGATES.sub("", text)


def is_stop_word(word: str, language: str) -> bool:
    if language == "en" and word.lower() in ENGLISH_STOP_WORDS:
        return True
    stop_filter = _build_stop_filter(language)
    return stop_filter is not None and not stop_filter.analyze(word.lower())


def is_unspaced(word: str) -> bool:
    """Return whether a word is of a script written without spaces."""
    return _UNSPACED.search(word) is not None


def split_scripts(word: str) -> list[str]:
    """Split at unspaced scripts: iPhone手机 is two words."""
    return _SCRIPT_RUN.findall(word) if is_unspaced(word) else [word]


class _StemCache(dict[str, str]):
    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language

    def __missing__(self, word: str) -> str:
        stems = self.stem_token(word)
        if len(word) <= MAX_WORD_LENGTH:
            if len(self) >= MAX_CACHED_STEMS:
                self.clear()
            self[word] = stems
        return stems

    def stem_token(self, token: str) -> str:
        """Stem a token, which may contain several words."""
        if token.isascii() and token.isalnum():  # most tokens: a single word
            return " ".join(self.stem_word(token.lower()))
        words = _WORD.findall(token.lower().replace("’", "'"))
        return " ".join(stem for word in words for stem in self.stem_word_parts(word))

    def stem_word_parts(self, word: str) -> list[str]:
        """Split and stem a word. Names such as c++ stay whole."""
        if _SYMBOL_NAME.fullmatch(word):
            return [word]
        parts = _ALPHANUMERIC.findall(word.removesuffix("'s").replace("'", ""))
        runs = [run for part in parts for run in split_scripts(part)]
        return [stem for run in runs for stem in (split_bigrams(run) if is_unspaced(run) else self.stem_word(run))]

    def stem_word(self, word: str) -> list[str]:
        """Fold accents first, so that a word typed without accents matches."""
        if len(word) > MAX_WORD_LENGTH:
            return []
        return _build_stemmer(self.language).analyze(word) or [word]


def split_bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))]


@cache
def _get_stem_cache(language: str) -> _StemCache:
    return _StemCache(language)


@cache
def _build_stemmer(language: str) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.ascii_fold())
    if language:
        builder = builder.filter(tantivy.Filter.stemmer(STEMMERS[language]))
    return builder.build()


@cache
def _build_stop_filter(language: str) -> tantivy.TextAnalyzer | None:
    if language not in STEMMERS or language in LANGUAGES_WITHOUT_STOP_WORDS:
        return None
    stop_filter = tantivy.Filter.stopword(STEMMERS[language])
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(stop_filter).build()
