/* Look up tag and attribute names, ignoring case. */

#include "native.h"
#include "tags.h"

#include <string.h>

#define SLOTS 1024 /* a power of two */

#define ENTRY(name, kind) {#name, kind},
const Tag tags[T_count] = {{"", 0}, TAGS(ENTRY)};

#define TEXT(name, text) text,
static const char *const attributes[] = {ATTRIBUTES(TEXT)};

static uint8_t slots[SLOTS];

/* Compare with a lowercase name, ignoring case. */
static int equals_name(const char *known, const uint8_t *name, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((uint8_t)known[i] != lower(name[i])) /* pages contain no zero bytes, so a shorter name differs */
            return 0;
    return !known[length];
}

static size_t first_slot(uint32_t hash) { return (hash ^ hash >> 15) % SLOTS; }

void init_tags(void) {
    memset(slots, 0, sizeof slots);
    for (int tag = 1; tag < T_count; tag++) {
        uint32_t hash = 0;
        for (const char *name = tags[tag].name; *name; name++)
            hash = hash_letter(hash, (uint8_t)*name);
        size_t slot = first_slot(hash);
        while (slots[slot])
            slot = (slot + 1) % SLOTS;
        slots[slot] = (uint8_t)tag;
    }
}

int find_tag(const uint8_t *name, size_t length, uint32_t hash) {
    for (size_t slot = first_slot(hash); slots[slot]; slot = (slot + 1) % SLOTS)
        if (equals_name(tags[slots[slot]].name, name, length))
            return slots[slot];
    return T_other;
}

int find_attribute(const uint8_t *name, size_t length) {
    for (int i = 0; i < A_count; i++)
        if ((uint8_t)attributes[i][0] == lower(name[0]) && equals_name(attributes[i], name, length))
            return i;
    return A_count;
}
