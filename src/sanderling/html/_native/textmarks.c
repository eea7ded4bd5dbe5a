/* Compute the hash and the sketch of a text in one pass, to the bit as pages/text.py and pages/minhash.py do. The hash
 * function is the caller's. */

#include "native.h"

#include <stdlib.h>
#include <string.h>

#define SHINGLE 5 /* minhash.SHINGLE: words */
#define BINS 256  /* minhash.BINS: bits of a sketch */
#define MOST_REHASHES (1 << 16)
#define MOST_DISTINCT 4096 /* minhash.MOST_DISTINCT */
#define GOLDEN UINT64_C(0x9E3779B97F4A7C15)
#define EMPTY UINT64_MAX

enum { SEPARATOR, LETTER, LEAD }; /* LEAD: the first byte of a UTF-8 sequence */
enum { SYMBOL, INVISIBLE, ALPHABETIC, UNSPACED };

static uint8_t dense[256], kind_of[256], lower[256];

static int is_blank(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static uint8_t classify_byte(uint8_t c) {
    if (c >= 0xC2)
        return LEAD;
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? LETTER : SEPARATOR;
}

void make_letters(void) {
    for (int c = 0; c < 256; c++) {
        lower[c] = (uint8_t)(c >= 'A' && c <= 'Z' ? c + 32 : c);
        kind_of[c] = classify_byte((uint8_t)c);
        dense[c] = (uint8_t)!is_blank((uint8_t)c);
    }
}

/* Take out the blanks of text.UNSEEN, U+00A0 and U+200B; give the length that is left. */
static size_t without_unseen(uint8_t *text, size_t length) {
    size_t kept = 0;
    for (size_t i = 0; i < length;) {
        if (text[i] == 0xC2 && i + 1 < length && text[i + 1] == 0xA0)
            i += 2;
        else if (text[i] == 0xE2 && i + 2 < length && text[i + 1] == 0x80 && text[i + 2] == 0x8B)
            i += 3;
        else
            text[kept++] = text[i++];
    }
    return kept;
}

/* Classify a UTF-8 sequence as minhash.WORD and minhash.INVISIBLE do. The text is valid UTF-8 unless it ends early. */
static int classify_sequence(const uint8_t *at, size_t left) {
    uint8_t lead = at[0], second = left > 1 ? at[1] : 0, third = left > 2 ? at[2] : 0;
    if (lead < 0xE0)
        return lead > 0xC2 ? ALPHABETIC : second == 0xAD ? INVISIBLE : SYMBOL;
    if (lead == 0xE0)
        return second >= 0xB8 ? UNSPACED : ALPHABETIC;
    if (lead == 0xE1)
        return second <= 0x82 || second == 0x9E || second == 0x9F ? UNSPACED : ALPHABETIC;
    if (lead == 0xE2)
        return second == 0x80 && third >= 0x8B && third <= 0x8F ? INVISIBLE : SYMBOL;
    return lead == 0xEE || (lead == 0xE3 && second == 0x80) ? SYMBOL : UNSPACED;
}

typedef struct {
    Hash hash;
    uint8_t *word;    /* the letters of the word that is being read */
    uint8_t *hashed;  /* the hashes of the words before, eight bytes each, the highest first */
    size_t size, words;
} Words;

static void end_word(Words *to) {
    if (!to->size)
        return;
    uint64_t value = to->hash(to->word, to->size);
    uint8_t *place = to->hashed + 8 * to->words++;
    for (int k = 0; k < 8; k++)
        place[k] = (uint8_t)(value >> (56 - 8 * k));
    to->size = 0;
}

/* Add a UTF-8 sequence to the words; give its length. */
static size_t take_sequence(Words *to, const uint8_t *at, size_t left) {
    size_t length = at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    if (length > left)
        length = left;
    int kind = classify_sequence(at, left);
    if (kind == SYMBOL || kind == UNSPACED)
        end_word(to);
    if (kind == ALPHABETIC || kind == UNSPACED) {
        memcpy(to->word + to->size, at, length);
        to->size += length;
    }
    if (kind == UNSPACED)
        end_word(to);
    return length;
}

static void split_words(Words *to, const uint8_t *text, size_t length) {
    for (size_t i = 0; i < length;) {
        uint8_t c = text[i], kind = kind_of[c];
        if (kind == LETTER)
            to->word[to->size++] = lower[c];
        else if (kind == SEPARATOR)
            end_word(to);
        i += kind == LEAD ? take_sequence(to, text + i, length - i) : 1;
    }
    end_word(to);
}

/* Replace the hashes of words by those of shingles; give their number. */
static size_t hash_shingles(const Words *of) {
    size_t width = of->words < SHINGLE ? of->words : SHINGLE, count = of->words ? of->words - width + 1 : 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = of->hash(of->hashed + 8 * i, 8 * width);
        memcpy(of->hashed + 8 * i, &value, 8); /* which the shingles behind do not contain */
    }
    return count;
}

/* The finalizer of splitmix64. */
static uint64_t mix(uint64_t value) {
    value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
    return value ^ value >> 31;
}

/* Set each bin that is empty to the least of the values that fall into it; give the number of bins left empty. */
static int fill_bins(uint64_t *bins, const uint64_t *values, size_t count, uint64_t seed) {
    uint64_t least[BINS];
    int empty = 0;
    memset(least, 0xFF, sizeof least);
    for (size_t i = 0; i < count; i++) {
        uint64_t value = seed ? mix(values[i] + seed) : values[i], *bin = least + (value >> 56);
        *bin = value < *bin ? value : *bin;
    }
    for (int k = 0; k < BINS; k++) {
        if (bins[k] == EMPTY)
            bins[k] = least[k];
        empty += bins[k] == EMPTY;
    }
    return empty;
}

/* Move the first distinct values to the front, at most MOST_DISTINCT; give their number. */
static size_t keep_distinct(uint64_t *values, size_t count) {
    uint64_t table[2 * MOST_DISTINCT];
    size_t kept = 0;
    memset(table, 0xFF, sizeof table);
    for (size_t i = 0; i < count && kept < MOST_DISTINCT; i++) {
        size_t place = values[i] % (2 * MOST_DISTINCT);
        while (table[place] != EMPTY && table[place] != values[i])
            place = (place + 1) % (2 * MOST_DISTINCT);
        if (table[place] == EMPTY)
            table[place] = values[kept++] = values[i];
    }
    return kept;
}

static void sketch(uint64_t *values, size_t count, uint64_t *found) {
    uint64_t bins[BINS], spent = 0, seed = 0;
    memset(found, 0, BINS / 8);
    memset(bins, 0xFF, sizeof bins);
    if (!count)
        return;
    int empty = fill_bins(bins, values, count, 0);
    count = empty ? keep_distinct(values, count) : 0;
    for (; empty && spent < MOST_REHASHES; spent += count)
        empty = fill_bins(bins, values, count, seed += GOLDEN);
    for (int k = 0; k < BINS; k++)
        found[k / 64] |= (bins[k] & 1) << (k % 64);
}

static uint64_t hash_dense(uint8_t *bare, const uint8_t *text, size_t length, Hash hash) {
    uint8_t seen = 0;
    size_t size = 0;
    for (size_t i = 0; i < length; i++) {
        bare[size] = text[i];
        size += dense[text[i]];
        seen |= text[i];
    }
    return hash(bare, seen & 0x80 ? without_unseen(bare, size) : size);
}

/* Mark a text in UTF-8: found[0] is the hash of what is read, the four numbers behind it are its sketch.
 * Give 1; -1 where there is no memory. */
EXPORT int sanderling_text_marks(const uint8_t *text, size_t length, Hash hash, uint64_t *found) {
    uint64_t *hashed = malloc(8 * (length / 2 + 1)); /* a word takes two bytes, but for the last one */
    uint8_t *bare = calloc(1, length + 1);
    int is_made = hashed && bare ? 1 : -1;
    if (is_made == 1) {
        Words words = {hash, bare, (uint8_t *)hashed, 0, 0};
        found[0] = hash_dense(bare, text, length, hash);
        split_words(&words, text, length);
        sketch(hashed, hash_shingles(&words), found + 1);
    }
    free(hashed);
    free(bare);
    return is_made;
}
