/* Decode character references and line ends, and validate UTF-8. */

#include "native.h"
#include "tables.h"

#include <string.h>

#define SLOTS 1024 /* a power of two, about four times the number of names */
#define MAX_LEGACY_NAME 6 /* longest name that needs no semicolon */

static const struct {
    const char *name;
    uint32_t character;
    int is_legacy; /* needs no semicolon */
} references[] = {CHARACTER_REFERENCES};

/* Numbers 128 to 159 mean windows-1252 characters (WHATWG). */
static const uint16_t windows_1252[] = {WINDOWS_1252};

typedef struct {
    const char *name;
    uint32_t character;
    uint8_t length, is_legacy;
} Slot;

static Slot slots[SLOTS];

static Slot *find_slot(const uint8_t *name, size_t length) {
    uint32_t at = 2166136261u;
    for (size_t i = 0; i < length; i++)
        at = (at ^ name[i]) * 16777619u;
    Slot *slot = &slots[(at ^ at >> 15) % SLOTS];
    while (slot->name && (slot->length != length || memcmp(slot->name, name, length)))
        slot = slot + 1 == slots + SLOTS ? slots : slot + 1;
    return slot;
}

void init_references(void) {
    memset(slots, 0, sizeof slots);
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        const char *name = references[i].name;
        size_t length = strlen(name);
        *find_slot((const uint8_t *)name, length) =
                (Slot){name, references[i].character, (uint8_t)length, (uint8_t)references[i].is_legacy};
    }
}

int append_bytes(Buffer *to, const uint8_t *from, size_t length) {
    if (length > to->capacity - to->size)
        return 0;
    if (length)
        memcpy(to->start + to->size, from, length);
    to->size += length;
    return 1;
}

static int append_character(Buffer *to, uint32_t c) {
    uint8_t out[4];
    size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t LEAD[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length - 1; i > 0; i--, c >>= 6)
        out[i] = (uint8_t)(0x80 | (c & 0x3F));
    out[0] = (uint8_t)(LEAD[length] | c);
    return append_bytes(to, out, length);
}

static int is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static int is_alnum(uint8_t c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static int hex_value(uint8_t c) {
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Append the character of a number after "&#"; return what follows it, or NULL if it is not a character. */
static const uint8_t *append_numeric(Buffer *to, const uint8_t *at, const uint8_t *end) {
    uint32_t c = 0, base = 10;
    const uint8_t *digits = at;
    if (at < end && (*at | 32) == 'x')
        base = 16, digits++;
    const uint8_t *after_end = digits;
    for (; after_end < end && hex_value(*after_end) >= 0 && (base == 16 || is_digit(*after_end)); after_end++)
        if ((c = c * base + (uint32_t)hex_value(*after_end)) > 0x10FFFF)
            return NULL;
    if (after_end == digits)
        return append_bytes(to, (const uint8_t *)"&#", 2) ? at : NULL;
    if (c == 0 || (c >= 0xD800 && c < 0xE000))
        return NULL;
    if (c >= 0x80 && c < 0xA0)
        c = windows_1252[c - 0x80];
    return append_character(to, c) ? after_end + (after_end < end && *after_end == ';') : NULL;
}

/* Append the character of a reference after "&"; return what follows it, or NULL if the parser must decide. */
static const uint8_t *append_reference(Buffer *to, const uint8_t *at, const uint8_t *end, int in_attribute) {
    if (at < end && *at == '#')
        return append_numeric(to, at + 1, end);
    const uint8_t *after_end = at;
    while (after_end < end && is_alnum(*after_end))
        after_end++;
    size_t length = (size_t)(after_end - at);
    const Slot *reference = find_slot(at, length);
    if (after_end < end && *after_end == ';' && length)
        return reference->name && append_character(to, reference->character) ? after_end + 1 : NULL;
    if (in_attribute) {
        if (reference->name && reference->is_legacy && (after_end == end || *after_end != '='))
            return append_character(to, reference->character) ? after_end : NULL;
    } else {
        for (size_t n = 2; n <= MAX_LEGACY_NAME && n <= length; n++) {
            const Slot *legacy = find_slot(at, n);
            if (legacy->name && legacy->is_legacy)
                return NULL;
        }
    }
    return append_bytes(to, (const uint8_t *)"&", 1) ? at : NULL;
}

/* Append bytes up to the next special byte. Most runs are short, so a byte loop is fastest. */
static const uint8_t *append_plain(Buffer *to, const uint8_t *from, const uint8_t *end) {
    uint8_t *out = to->start + to->size;
    while (from < end && *from != '&' && *from != '\r')
        *out++ = *from++;
    to->size = (size_t)(out - to->start);
    return from;
}

int append_decoded(Buffer *to, const uint8_t *from, const uint8_t *end, int in_attribute) {
    for (;;) {
        if ((size_t)(end - from) > to->capacity - to->size)
            return 0;
        from = append_plain(to, from, end);
        if (from == end)
            return 1;
        if (*from++ == '&') {
            if (!(from = append_reference(to, from, end, in_attribute)))
                return 0;
        } else {
            from += from < end && *from == '\n';
            if (!append_bytes(to, (const uint8_t *)"\n", 1))
                return 0;
        }
    }
}

/* Return the length of the UTF-8 sequence, or 0 if it is invalid. */
static size_t sequence_length(const uint8_t *s, size_t remaining) {
    uint8_t c = s[0];
    size_t length = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4
            : 0;
    if (!length || length > remaining)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((c == 0xE0 && s[1] < 0xA0) || (c == 0xED && s[1] > 0x9F) || (c == 0xF0 && s[1] < 0x90) ||
            (c == 0xF4 && s[1] > 0x8F))
        return 0;
    return length;
}

int is_utf8(const uint8_t *from, const uint8_t *end) {
    while (from < end) {
        uint64_t eight;
        while (end - from >= 8 && (memcpy(&eight, from, 8), !(eight & UINT64_C(0x8080808080808080))))
            from += 8;
        if (from == end)
            break;
        size_t length = sequence_length(from, (size_t)(end - from));
        if (!length)
            return 0;
        from += length;
    }
    return 1;
}
