/* Shared declarations of the C library. Plain C99 without Python: html/native.py loads it if it was compiled. Input
 * is untrusted: writes are checked against the capacity of buffers, reads against the end of the input. */

#ifndef SANDERLING_NATIVE_H
#define SANDERLING_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#ifndef SOURCE_CHECKSUM
#define SOURCE_CHECKSUM 0 /* CRC-32 of the sources; native.py rejects a stale library */
#endif

#define EXPORT __attribute__((visibility("default")))

/* XXH3-64 of bytes. */
EXPORT uint64_t sanderling_xxh3(const uint8_t *input, size_t length);

typedef struct {
    uint8_t *start;
    size_t size, capacity, fields; /* fields: number of fields, each ending with a zero byte */
} Buffer;

/* Append bytes; 0 if the buffer is full. */
int append_bytes(Buffer *to, const uint8_t *from, size_t length);

/* Append text with character references and line ends decoded; 0 if the parser is needed. */
int append_decoded(Buffer *to, const uint8_t *from, const uint8_t *end, int in_attribute);

int is_utf8(const uint8_t *from, const uint8_t *end);

#define FINGERPRINT_WORDS 5 /* a 64-bit hash and a 256-bit sketch */

EXPORT int sanderling_text_fingerprints(const uint8_t *text, size_t length, uint64_t *found);

/* Initialize the tables; once, before all other calls. */
void init_references(void);
void init_tags(void);
void init_text_tables(void);
void init_links(void);
void init_stable_hash(void);

#endif
