/* Hash the code of a script without its volatile data (scripts._hash_code_skeleton). */

#include "stable_hash.h"

#include <string.h>

static const char *const data_script_types[] = {DATA_SCRIPT_TYPES};

static uint8_t is_punctuation[256], is_identifier[256];

void init_script_code(void) {
    for (int c = 1; c < 256; c++) {
        is_punctuation[c] = strchr(CODE_PUNCTUATION, c) != NULL;
        is_identifier[c] = !strchr(NUMBER_CHARACTERS, c);
    }
    is_identifier[0] = 1;
}

/* Skip a string literal; NULL if it has no end. */
static const uint8_t *skip_string(const uint8_t *at, const uint8_t *end) {
    for (const uint8_t *next = at + 1; next < end; next++) {
        if (*next == '\\')
            next++;
        else if (*next == *at)
            return next + 1;
    }
    return NULL;
}

static void hash_selected(Hasher *hasher, Span code, const uint8_t *is_hashed) {
    for (const uint8_t *at = code.start; at < code.end; at++)
        hash_byte(hasher, *at, is_hashed[*at]);
}

/* Return whether all string literals end and the code between them has punctuation; other code is not fingerprinted. */
static int has_identifiers(Span code) {
    int found = 0;
    for (const uint8_t *at = code.start; at < code.end;) {
        if (*at == '"' || *at == '\'') {
            if (!(at = skip_string(at, code.end)))
                return 0;
        } else {
            found |= is_identifier[*at] & is_punctuation[*at];
            at++;
        }
    }
    return found;
}

/* Hash code without string literals, numbers, and whitespace. */
static void hash_identifiers(Hasher *hasher, Span code) {
    for (const uint8_t *at = code.start, *from = at; at < code.end; from = at) {
        while (at < code.end && *at != '"' && *at != '\'')
            at++;
        hash_selected(hasher, (Span){from, at}, is_identifier);
        at = at < code.end ? skip_string(at, code.end) : at;
    }
}

static size_t length_without_returns(Span code) {
    size_t returns = 0;
    for (const uint8_t *at = code.start; (at = memchr(at, '\r', (size_t)(code.end - at))); at++)
        returns += at + 1 < code.end && at[1] == '\n';
    return length_of(code) - returns;
}

static int is_data_script(Span type) {
    for (size_t i = 0; type.start && i < sizeof data_script_types / sizeof *data_script_types; i++)
        if (equals_word(type, data_script_types[i]))
            return 1;
    return 0;
}

/* Hash a script: data not at all, long code by its punctuation, short code by its identifiers. If unsure, keep all
 * of it. */
void strip_script(Hasher *hasher, Span type, Span code) {
    size_t length = length_of(code), read_length = length > MAX_IDENTIFIER_CODE_SIZE &&
            length <= 2 * MAX_IDENTIFIER_CODE_SIZE ? length_without_returns(code) : length;
    if (is_data_script(type)) {
        skip_span(hasher, code);
    } else if (read_length > MAX_IDENTIFIER_CODE_SIZE && length <= MAX_SCRIPT_LENGTH) {
        skip_span(hasher, code);
        hash_selected(hasher, code, is_punctuation);
        hash_byte(hasher, 0, 1);
    } else if (read_length <= MAX_IDENTIFIER_CODE_SIZE && has_identifiers(code)) {
        skip_span(hasher, code);
        hash_identifiers(hasher, code);
        hash_byte(hasher, 0, 1);
        hash_byte(hasher, 0, 1);
    }
}
