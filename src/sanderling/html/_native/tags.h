/* Tags that are relevant for the fast scan. */

#ifndef SANDERLING_TAGS_H
#define SANDERLING_TAGS_H

#include "tables.h"

#include <stddef.h>
#include <stdint.h>

/* tables.h has the kinds of tags, and the relevant attributes in the order of ScannedElement. */

#define NUMBER(name, kind) T_##name,
enum { T_other, TAGS(NUMBER) T_count };

typedef struct {
    const char *name;
    uint16_t kind;
} Tag;

extern const Tag tags[T_count];

static inline uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 32) : c; }

static inline uint32_t hash_letter(uint32_t hash, uint8_t letter) { return (hash ^ (letter | 32)) * 16777619u; }

/* Return the number of a tag, ignoring case, given the hash of its name; T_other if it is not relevant. */
int find_tag(const uint8_t *name, size_t length, uint32_t hash);

#define A_NUMBER(name, text) A_##name,
enum { ATTRIBUTES(A_NUMBER) A_count };

int find_attribute(const uint8_t *name, size_t length);

#endif
