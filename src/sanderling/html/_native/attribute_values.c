/* Skip the volatile parts of attribute values that no fingerprint depends on. */

#include "stable_hash.h"

#include <string.h>

static const char *const image_parameters[] = {IMAGE_ID_PARAMETERS};

/* Return the first of three bytes, or the end. */
static const uint8_t *find_any(Span value, uint8_t first, uint8_t second, uint8_t third) {
    const uint8_t *at = value.start;
    while (at < value.end && *at != first && *at != second && *at != third)
        at++;
    return at;
}

static int is_hex(uint8_t c) { return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }

/* Skip all runs of at least `min_length` matching bytes. */
static void skip_runs(Hasher *hasher, Span value, int (*matches)(uint8_t), int min_length) {
    for (const uint8_t *at = value.start, *from; at < value.end; at++) {
        for (from = at; at < value.end && matches(*at);)
            at++;
        if (at - from >= min_length)
            skip_span(hasher, (Span){from, at});
    }
}

/* Return whether a path segment matches only the last alternative of strip.BUILD_ID. */
static int is_token(Span name) {
    int has_digit = 0, has_capital = 0, hexes = 0, digits = 0;
    for (const uint8_t *at = name.start; at < name.end; at++) {
        if (!is_alpha(*at) && !is_digit(*at) && *at != '-' && *at != '_')
            return 0;
        has_digit |= is_digit(*at);
        has_capital |= *at >= 'A' && *at <= 'Z';
        hexes += hexes == at - name.start && is_hex(*at);
        digits += digits == at - name.start && is_digit(*at);
    }
    return has_digit && has_capital && hexes < 8 && digits < 5 && name.end - name.start >= 16;
}

/* Skip what strip.strip_build_id removes, except some build numbers: query, fragment, tokens in the path, and
 * content hashes in the file name. A URL with character references is kept whole. */
void strip_asset_url(Hasher *hasher, Span reference) {
    const uint8_t *query_start = find_any(reference, '&', '?', '#'), *from = reference.start, *slash;
    if (query_start < reference.end && *query_start == '&')
        return;
    for (; (slash = memchr(from, '/', (size_t)(query_start - from))); from = slash + 1)
        if (from > reference.start && is_token((Span){from, slash}))
            skip_span(hasher, (Span){from, slash});
    skip_runs(hasher, (Span){from, query_start}, is_hex, 8);
    skip_span(hasher, (Span){query_start, reference.end});
}

/* Skip the fragment of a link, unless it looks like a client-side route. */
void strip_link_target(Hasher *hasher, Span target) {
    const uint8_t *fragment = memchr(target.start, '#', length_of(target));
    if (!fragment || fragment == target.start || memchr(target.start, '&', (size_t)(fragment - target.start)))
        return;
    if (find_any((Span){fragment, target.end}, '&', '/', '?') == target.end)
        skip_span(hasher, (Span){fragment, target.end});
}

/* Skip the digits of an id: only its words are classified (class_names.classify_name). A hexadecimal id has no
 * words. */
void strip_id(Hasher *hasher, Span name) {
    const uint8_t *at = name.start;
    while (at < name.end && (is_hex(*at) || *at == '-'))
        at++;
    if (at == name.end)
        skip_span(hasher, name);
    else if (!memchr(name.start, '&', length_of(name)))
        skip_runs(hasher, name, is_digit, 1);
}

/* Skip a tooltip that cannot have an address (policy_notices.has_address): an address has "@", or a digit with a
 * letter or "+". Other characters than ASCII may be digits. */
void strip_tooltip(Hasher *hasher, Span text) {
    int has_digit = 0, has_letter = 0;
    for (const uint8_t *at = text.start; at < text.end; at++) {
        if (*at == '@' || *at == '&' || *at > 127)
            return;
        has_digit |= is_digit(*at);
        has_letter |= is_alpha(*at) || *at == '+';
    }
    if (!has_digit || !has_letter)
        skip_span(hasher, text);
}

/* Skip the query of an image URL, if no parameter may select the image (assets.IMAGE_ID_PARAMETER). */
void strip_image_url(Hasher *hasher, Span source) {
    Span query = {find_any(source, '?', '&', '#'), source.end};
    if (query.start == query.end || *query.start != '?')
        return;
    for (size_t i = 0; i < sizeof image_parameters / sizeof *image_parameters; i++)
        if (contains_word(query, image_parameters[i]))
            return;
    for (const uint8_t *at = query.start; at < query.end; at++)
        if (*at > 127 || (*at == '&' && (query.end - at < 5 || memcmp(at, "&amp;", 5))))
            return; /* Python's case-insensitive patterns match some non-ASCII characters as ASCII letters */
    skip_span(hasher, query);
}
