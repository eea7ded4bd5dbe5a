/* State of the stable hash: relevant bytes are hashed in order, all others are skipped. */

#ifndef SANDERLING_STABLE_HASH_H
#define SANDERLING_STABLE_HASH_H

#include "page.h"

#define PENDING_SIZE 4096

typedef struct {
    const uint8_t *at, *end, *hashed_to; /* everything before `hashed_to` is processed */
    uint64_t state;    /* hash of everything before the pending bytes */
    size_t size;       /* of the pending bytes */
    int foreign_depth; /* open SVG or MathML elements, in which script and title are ordinary tags */
    int foreign_root;  /* T_svg or T_math */
    int pre_depth;     /* open pre elements, in which scripts are part of the text */
    int is_xml;        /* the page may be parsed as XHTML */
    uint8_t pending[PENDING_SIZE];
} Hasher;

static inline int is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static inline size_t length_of(Span value) { return (size_t)(value.end - value.start); }

/* stable_hash.c */
void skip_span(Hasher *hasher, Span bytes);
void flush_pending(Hasher *hasher);
int equals_word(Span value, const char *word);
int contains_word(Span value, const char *word);

/* Branch-free, because `is_hashed` is unpredictable. The buffer always has space for a byte. */
static inline void hash_byte(Hasher *hasher, uint8_t letter, int is_hashed) {
    hasher->pending[hasher->size] = letter;
    hasher->size += (size_t)is_hashed;
    if (hasher->size == PENDING_SIZE)
        flush_pending(hasher);
}

/* attribute_values.c */
void strip_asset_url(Hasher *hasher, Span reference);
void strip_link_target(Hasher *hasher, Span target);
void strip_image_url(Hasher *hasher, Span source);
void strip_id(Hasher *hasher, Span name);
void strip_tooltip(Hasher *hasher, Span text);

/* script_code.c */
void init_script_code(void);
void strip_script(Hasher *hasher, Span type, Span code);

#endif
