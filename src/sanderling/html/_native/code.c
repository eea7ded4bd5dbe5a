/* What is left of the code of a script: its data may change by itself (behaviour._bones). */

#include "sieve.h"

#include <string.h>

#define SMALL 4000        /* behaviour.SMALL */
#define MAX_SCRIPT 200000 /* behaviour.MAX_SCRIPT */

static const char *const data_types[] = {
    "application/json", "application/ld+json", "text/json", "importmap", "speculationrules"}; /* behaviour.DATA_TYPES */

static uint8_t is_bone[256], is_name[256];

void make_code(void) {
    for (int c = 0; c < 256; c++) {
        is_bone[c] = c > 32 && c < 127 && !is_alpha((uint8_t)c) && !is_digit((uint8_t)c) && !strchr("+/=-_%", c);
        is_name[c] = !is_digit((uint8_t)c) && !(c && strchr(". \t\r\n\f", c));
    }
}

/* Skip a text in code, from its quote; NULL if it has no end. */
static const uint8_t *after_text(const uint8_t *at, const uint8_t *end) {
    for (const uint8_t *next = at + 1; next < end; next++) {
        if (*next == '\\')
            next++;
        else if (*next == *at)
            return next + 1;
    }
    return NULL;
}

static void keep_some(Sieve *sieve, Value code, const uint8_t *is_kept) {
    for (const uint8_t *at = code.start; at < code.end; at++)
        keep_letter(sieve, *at, is_kept[*at]);
}

/* Say whether code has names with bones among them, without which it counts for nothing, and all its texts an end. */
static int has_names(Value code) {
    int found = 0;
    for (const uint8_t *at = code.start; at < code.end;) {
        if (*at == '"' || *at == '\'') {
            if (!(at = after_text(at, code.end)))
                return 0;
        } else {
            found |= is_name[*at] & is_bone[*at];
            at++;
        }
    }
    return found;
}

/* Keep the names of some code, without its texts, numbers and blanks. */
static void keep_names(Sieve *sieve, Value code) {
    for (const uint8_t *at = code.start, *from = at; at < code.end; from = at) {
        while (at < code.end && *at != '"' && *at != '\'')
            at++;
        keep_some(sieve, (Value){from, at}, is_name);
        at = at < code.end ? after_text(at, code.end) : at;
    }
}

static size_t without_returns(Value code) {
    size_t returns = 0;
    for (const uint8_t *at = code.start; (at = memchr(at, '\r', (size_t)(code.end - at))); at++)
        returns += at + 1 < code.end && at[1] == '\n';
    return length_of(code) - returns;
}

static int is_data(Value type) {
    for (size_t i = 0; type.start && i < sizeof data_types / sizeof *data_types; i++)
        if (is_word(type, data_types[i]))
            return 1;
    return 0;
}

/* Sift a script: of data nothing stays, of much code its bones, of some its names; where that is not sure, all of it. */
void sift_code(Sieve *sieve, Value type, Value code) {
    size_t length = length_of(code), read = length > SMALL && length <= 2 * SMALL ? without_returns(code) : length;
    if (is_data(type)) {
        leave_out(sieve, code);
    } else if (read > SMALL && length <= MAX_SCRIPT) {
        leave_out(sieve, code);
        keep_some(sieve, code, is_bone);
        keep_letter(sieve, 0, 1);
    } else if (read <= SMALL && has_names(code)) {
        leave_out(sieve, code);
        keep_names(sieve, code);
        keep_letter(sieve, 0, 1);
        keep_letter(sieve, 0, 1);
    }
}
