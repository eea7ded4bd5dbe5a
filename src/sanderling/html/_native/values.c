/* What is left of the values of attributes, as far as a mark sees them. */

#include "sieve.h"

#include <string.h>

static const char *const choosing[] = {
    "id=", "file=", "src=", "url=", "img=", "image=", "photo=", "picture=", "pic=", "path="}; /* assets.CHOSEN */

/* Find the first of three letters; the end if there is none. */
static const uint8_t *find_any(Value value, uint8_t one, uint8_t two, uint8_t three) {
    const uint8_t *at = value.start;
    while (at < value.end && *at != one && *at != two && *at != three)
        at++;
    return at;
}

static int is_hex(uint8_t c) { return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }

/* Leave out all runs of so many letters of a kind, or more. */
static void leave_runs_out(Sieve *sieve, Value value, int (*is_one)(uint8_t), int least) {
    for (const uint8_t *at = value.start, *from; at < value.end; at++) {
        for (from = at; at < value.end && is_one(*at);)
            at++;
        if (at - from >= least)
            leave_out(sieve, (Value){from, at});
    }
}

/* Say whether a name in a path is surely a token of the last kind of stamps.BUILD, and begins like none of the others. */
static int is_token(Value name) {
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

/* Leave out what stamps.steady does of a reference, but for some numbers of builds: its query and fragment, tokens that
 * are names in its path, digests in its last name. One with references of HTML in it stays. */
void sift_reference(Sieve *sieve, Value reference) {
    const uint8_t *past = find_any(reference, '&', '?', '#'), *from = reference.start, *slash;
    if (past < reference.end && *past == '&')
        return;
    for (; (slash = memchr(from, '/', (size_t)(past - from))); from = slash + 1)
        if (from > reference.start && is_token((Value){from, slash}))
            leave_out(sieve, (Value){from, slash});
    leave_runs_out(sieve, (Value){from, past}, is_hex, 8);
    leave_out(sieve, (Value){past, reference.end});
}

/* Leave out where on a page a link leads, unless it reads like an address. */
void sift_target(Sieve *sieve, Value target) {
    const uint8_t *past = memchr(target.start, '#', length_of(target));
    if (!past || past == target.start || memchr(target.start, '&', (size_t)(past - target.start)))
        return;
    if (find_any((Value){past, target.end}, '&', '/', '?') == target.end)
        leave_out(sieve, (Value){past, target.end});
}

/* Leave out what a name has of numbers: only its words are heard (hints.sound); none has digits of base 16 alone. */
void sift_id(Sieve *sieve, Value name) {
    const uint8_t *at = name.start;
    while (at < name.end && (is_hex(*at) || *at == '-'))
        at++;
    if (at == name.end)
        leave_out(sieve, name);
    else if (!memchr(name.start, '&', length_of(name)))
        leave_runs_out(sieve, name, is_digit, 1);
}

/* Leave out the query of a picture, if nothing in it may choose the picture (assets.CHOSEN). */
void sift_picture(Sieve *sieve, Value source) {
    Value query = {find_any(source, '?', '&', '#'), source.end};
    if (query.start == query.end || *query.start != '?')
        return;
    for (size_t i = 0; i < sizeof choosing / sizeof *choosing; i++)
        if (has_word(query, choosing[i]))
            return;
    for (const uint8_t *at = query.start; at < query.end; at++)
        if (*at > 127 || (*at == '&' && (query.end - at < 5 || memcmp(at, "&amp;", 5))))
            return; /* some letters beyond ASCII are others of it in capitals, as patterns see them */
    leave_out(sieve, query);
}
