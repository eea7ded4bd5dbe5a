/* The two marks of a text in one pass: what pages/text.py and pages/simhash.py say, to the bit, in a third of the time.
 * The hash is the caller's. */

#include "native.h"

#include <stdlib.h>

#define CUT 't'
#define RARE 48   /* simhash.RARE: letters between two cuts, above which a text is written in another script */
#define PLANES 48 /* bits of a counter: more than a text has pieces */

static uint8_t dense[256], letter[256], lower[256];

static int is_blank(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Digits and punctuation are no letters; all that is not ASCII is one. */
static int is_letter(uint8_t c) {
    return c >= 'a' ? c <= 'z' || c == 0x7f || c >= 0x80 : (c >= 'A' && c <= 'Z') || (c < '!' && !is_blank(c));
}

void make_letters(void) {
    for (int c = 0; c < 256; c++) {
        lower[c] = (uint8_t)(c >= 'A' && c <= 'Z' ? c + 32 : c);
        letter[c] = (uint8_t)is_letter((uint8_t)c);
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

/* Count a word bit by bit: plane k holds the bits worth 2**k of 64 counters. */
static void count(uint64_t *planes, uint64_t word) {
    for (int k = 0; word; k++) {
        uint64_t carry = planes[k] & word;
        planes[k] ^= word;
        word = carry;
    }
}

/* Say for each of the 64 bits whether it was set in more than half of the words. */
static uint64_t majority(const uint64_t *planes, uint64_t words) {
    uint64_t above = 0, level = ~UINT64_C(0);
    for (int k = PLANES - 1; k >= 0; k--) {
        if (words >> 1 >> k & 1) {
            level &= planes[k];
        } else {
            above |= level & planes[k];
            level &= ~planes[k];
        }
    }
    return above;
}

/* Mark a text in UTF-8: found[0] is the hash of what is read, found[1] the simhash, its bytes in the other order.
 * Give 1; 0 where the text is in another script, which simhash.py cuts in its own way; -1 where there is no memory. */
EXPORT int sanderling_text_marks(const uint8_t *text, size_t length, Hash hash, uint64_t *found) {
    uint8_t *bare = calloc(2, length + 1), *piece = bare + length + 1, seen = 0;
    if (!bare)
        return -1;
    size_t bares = 0, size = 0, letters = 0, cuts = 0;
    uint64_t planes[PLANES] = {0};
    for (size_t i = 0; i < length; i++) {
        uint8_t c = text[i];
        seen |= c;
        bare[bares] = c;
        bares += dense[c];
        if (lower[c] == CUT) {
            count(planes, hash(piece, size));
            letters += size;
            size = 0;
            cuts++;
        } else {
            piece[size] = lower[c];
            size += letter[c];
        }
    }
    count(planes, hash(piece, size));
    letters += size + cuts;
    found[0] = hash(bare, seen & 0x80 ? without_unseen(bare, bares) : bares);
    found[1] = letters ? majority(planes, cuts + 1) : 0;
    free(bare);
    return letters <= RARE * (cuts + 1);
}
