/* What the few files of C share. Plain C99 without Python: pages/native.py loads it, and does without where it was not
 * compiled. Everything comes from the web: what is written is checked against the room there is, what is read against
 * its end. */

#ifndef SANDERLING_NATIVE_H
#define SANDERLING_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#ifndef MADE_OF
#define MADE_OF 0 /* the checksum of these files; native.py loads no library of others */
#endif

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t (*Hash)(const void *, size_t);

typedef struct {
    uint8_t *start;
    size_t size, room, fields; /* of which each ends with a zero byte, where there are any */
} Buffer;

/* Append some bytes; say whether there was room. */
int put(Buffer *to, const uint8_t *from, size_t length);

/* Append what a stretch of a page reads as, references and line ends resolved; 0 where that takes a parser. */
int put_read(Buffer *to, const uint8_t *from, const uint8_t *end, int in_attribute);

int is_utf8(const uint8_t *from, const uint8_t *end);

#define MARKS 5 /* numbers that mark a text: its hash, and 256 bits of its sketch */

EXPORT int sanderling_text_marks(const uint8_t *text, size_t length, Hash hash, uint64_t *found);

/* Make the tables, once and before all else. */
void make_references(void);
void make_tags(void);
void make_letters(void);
void make_links(void);
void make_sieve(void);

#endif
