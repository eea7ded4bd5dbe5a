/* Names of tags and attributes, looked up in any case. */

#include "native.h"
#include "tags.h"

#include <string.h>

#define SLOTS 1024 /* a power of two */

#define ENTRY(name, kind) {#name, kind},
const Tag tags[T_count] = {{"", 0}, TAGS(ENTRY)};

#define TEXT(name, text) text,
static const char *const attributes[] = {ATTRIBUTES(TEXT)};

static uint8_t slots[SLOTS];

/* Compare with a name in small letters. */
static int is_named(const char *known, const uint8_t *name, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((uint8_t)known[i] != lower(name[i])) /* a name that is shorter ends with 0, which no page has */
            return 0;
    return !known[length];
}

static size_t slot_of(uint32_t hash) { return (hash ^ hash >> 15) % SLOTS; }

void make_tags(void) {
    memset(slots, 0, sizeof slots);
    for (int tag = 1; tag < T_count; tag++) {
        uint32_t hash = 0;
        for (const char *name = tags[tag].name; *name; name++)
            hash = hashed(hash, (uint8_t)*name);
        size_t at = slot_of(hash);
        while (slots[at])
            at = (at + 1) % SLOTS;
        slots[at] = (uint8_t)tag;
    }
}

int tag_of(const uint8_t *name, size_t length, uint32_t hash) {
    for (size_t at = slot_of(hash); slots[at]; at = (at + 1) % SLOTS)
        if (is_named(tags[slots[at]].name, name, length))
            return slots[at];
    return T_other;
}

int attribute_of(const uint8_t *name, size_t length) {
    for (int i = 0; i < A_count; i++)
        if ((uint8_t)attributes[i][0] == lower(name[0]) && is_named(attributes[i], name, length))
            return i;
    return A_count;
}
