/* Compute the hash and the MinHash sketch of a text. Must equal html/text.py and fingerprint/minhash.py bit by bit. */

#include "native.h"
#include "tables.h"

#include <stdlib.h>
#include <string.h>

#define EMPTY_BIN UINT64_MAX

enum { SEPARATOR, LETTER, LEAD }; /* LEAD: first byte of a UTF-8 sequence */
enum { SYMBOL, INVISIBLE, ALPHABETIC, UNSPACED };

static uint8_t is_visible[256], byte_kinds[256], lower[256];

static int is_blank(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static uint8_t classify_byte(uint8_t c) {
    if (c >= 0xC2)
        return LEAD;
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? LETTER : SEPARATOR;
}

void init_text_tables(void) {
    for (int c = 0; c < 256; c++) {
        lower[c] = (uint8_t)(c >= 'A' && c <= 'Z' ? c + 32 : c);
        byte_kinds[c] = classify_byte((uint8_t)c);
        is_visible[c] = (uint8_t)!is_blank((uint8_t)c);
    }
}

/* Return the length of an invisible character, or 0. */
static size_t match_invisible(const uint8_t *at, size_t remaining) {
    static const char *const invisible[] = {INVISIBLE_SEQUENCES};
    for (size_t i = 0; i < sizeof invisible / sizeof *invisible; i++) {
        size_t length = strlen(invisible[i]);
        if (*at == (uint8_t)invisible[i][0] && length <= remaining && !memcmp(at, invisible[i], length))
            return length;
    }
    return 0;
}

/* Remove invisible characters; return the new length. */
static size_t remove_invisible(uint8_t *text, size_t length) {
    size_t new_length = 0;
    for (size_t i = 0, skipped; i < length; i += skipped)
        if (!(skipped = match_invisible(text + i, length - i)))
            skipped = 1, text[new_length++] = text[i];
    return new_length;
}

/* Classify a UTF-8 sequence like minhash.WORD_PATTERN and minhash.INVISIBLE_CHARACTERS. The text is valid UTF-8, but
 * may end early. */
static int classify_sequence(const uint8_t *at, size_t remaining) {
    uint8_t lead = at[0], second = remaining > 1 ? at[1] : 0, third = remaining > 2 ? at[2] : 0;
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
    uint8_t *word;   /* current word */
    uint8_t *hashes; /* big-endian 64-bit hashes of the words so far */
    size_t size, words;
} Words;

static void end_word(Words *to) {
    if (!to->size)
        return;
    uint64_t value = sanderling_xxh3(to->word, to->size);
    uint8_t *slot = to->hashes + 8 * to->words++;
    for (int k = 0; k < 8; k++)
        slot[k] = (uint8_t)(value >> (56 - 8 * k));
    to->size = 0;
}

/* Add a UTF-8 sequence; return its length. */
static size_t add_sequence(Words *to, const uint8_t *at, size_t remaining) {
    size_t length = at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    if (length > remaining)
        length = remaining;
    int kind = classify_sequence(at, remaining);
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
        uint8_t c = text[i], kind = byte_kinds[c];
        if (kind == LETTER)
            to->word[to->size++] = lower[c];
        else if (kind == SEPARATOR)
            end_word(to);
        i += kind == LEAD ? add_sequence(to, text + i, length - i) : 1;
    }
    end_word(to);
}

/* Replace the hashes of words by those of shingles; return their number. */
static size_t hash_shingles(const Words *of) {
    size_t width = of->words < SHINGLE_WORDS ? of->words : SHINGLE_WORDS, count = of->words ? of->words - width + 1 : 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = sanderling_xxh3(of->hashes + 8 * i, 8 * width);
        memcpy(of->hashes + 8 * i, &value, 8); /* not part of the following shingles */
    }
    return count;
}

/* Finalizer of splitmix64. */
static uint64_t mix(uint64_t value) {
    value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
    return value ^ value >> 31;
}

/* Set each empty bin to the minimum of its values; return the number of empty bins. */
static int fill_bins(uint64_t *bins, const uint64_t *values, size_t count, uint64_t seed) {
    uint64_t least[BINS];
    int empty = 0;
    memset(least, 0xFF, sizeof least);
    for (size_t i = 0; i < count; i++) {
        uint64_t value = seed ? mix(values[i] + seed) : values[i], *bin = least + (value >> 56);
        *bin = value < *bin ? value : *bin;
    }
    for (int k = 0; k < BINS; k++) {
        if (bins[k] == EMPTY_BIN)
            bins[k] = least[k];
        empty += bins[k] == EMPTY_BIN;
    }
    return empty;
}

/* Move up to MAX_DISTINCT_SHINGLES distinct values to the front; return their number. */
static size_t keep_distinct(uint64_t *values, size_t count) {
    uint64_t table[2 * MAX_DISTINCT_SHINGLES];
    size_t kept = 0;
    memset(table, 0xFF, sizeof table);
    for (size_t i = 0; i < count && kept < MAX_DISTINCT_SHINGLES; i++) {
        size_t slot = values[i] % (2 * MAX_DISTINCT_SHINGLES);
        while (table[slot] != EMPTY_BIN && table[slot] != values[i])
            slot = (slot + 1) % (2 * MAX_DISTINCT_SHINGLES);
        if (table[slot] == EMPTY_BIN)
            table[slot] = values[kept++] = values[i];
    }
    return kept;
}

static void sketch(uint64_t *values, size_t count, uint64_t *output) {
    uint64_t bins[BINS], rehashes = 0, seed = 0;
    memset(output, 0, BINS / 8);
    memset(bins, 0xFF, sizeof bins);
    if (!count)
        return;
    int empty = fill_bins(bins, values, count, 0);
    count = empty ? keep_distinct(values, count) : 0;
    for (; empty && rehashes < MAX_REHASHES; rehashes += count)
        empty = fill_bins(bins, values, count, seed += GOLDEN_RATIO);
    for (int k = 0; k < BINS; k++)
        output[k / 64] |= (bins[k] & 1) << (k % 64);
}

static uint64_t hash_compacted(uint8_t *compacted, const uint8_t *text, size_t length) {
    uint8_t all_bits = 0;
    size_t size = 0;
    for (size_t i = 0; i < length; i++) {
        compacted[size] = text[i];
        size += is_visible[text[i]];
        all_bits |= text[i];
    }
    return sanderling_xxh3(compacted, all_bits & 0x80 ? remove_invisible(compacted, size) : size);
}

/* Fingerprint a UTF-8 text: output[0] is the hash, output[1..4] the sketch. Returns 1, or -1 if out of memory. */
EXPORT int sanderling_text_fingerprints(const uint8_t *text, size_t length, uint64_t *output) {
    uint64_t *hashes = malloc(8 * (length / 2 + 1)); /* a word takes at least two bytes, except the last */
    uint8_t *compacted = calloc(1, length + 1);
    int status = hashes && compacted ? 1 : -1;
    if (status == 1) {
        Words words = {compacted, (uint8_t *)hashes, 0, 0};
        output[0] = hash_compacted(compacted, text, length);
        split_words(&words, text, length);
        sketch(hashes, hash_shingles(&words), output + 1);
    }
    free(hashes);
    free(compacted);
    return status;
}
