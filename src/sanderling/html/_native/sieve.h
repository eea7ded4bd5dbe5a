/* A page that is being sifted: what is left of it is hashed as it comes, all else is left out (sieve.c). */

#ifndef SANDERLING_SIEVE_H
#define SANDERLING_SIEVE_H

#include "page.h"

#define ROOM 4096

typedef struct {
    const uint8_t *at, *end, *kept_to; /* all before `kept_to` is sifted */
    Hash hash;
    uint64_t left; /* hash of what is left so far, but for what is in the room */
    size_t size;   /* of that */
    int drawn;     /* drawings and formulas that are open, in which scripts and titles are tags like others */
    int drawing;   /* which of the two */
    int quoted;    /* preformatted texts that are open, of which scripts are read as a part */
    int is_xml;    /* it may be read as XML */
    uint8_t room[ROOM];
} Sieve;

static inline int is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static inline size_t length_of(Value value) { return (size_t)(value.end - value.start); }

/* sieve.c */
void leave_out(Sieve *sieve, Value some);
void empty(Sieve *sieve);
int is_word(Value value, const char *word);
int has_word(Value value, const char *word);

/* Keep a letter or not: without a question, for nothing tells beforehand. There always is room for one. */
static inline void keep_letter(Sieve *sieve, uint8_t letter, int is_kept) {
    sieve->room[sieve->size] = letter;
    sieve->size += (size_t)is_kept;
    if (sieve->size == ROOM)
        empty(sieve);
}

/* values.c: what is left of the values of attributes. */
void sift_reference(Sieve *sieve, Value reference);
void sift_target(Sieve *sieve, Value target);
void sift_picture(Sieve *sieve, Value source);
void sift_id(Sieve *sieve, Value name);

/* code.c: what is left of a script of some type. */
void make_code(void);
void sift_code(Sieve *sieve, Value type, Value code);

#endif
