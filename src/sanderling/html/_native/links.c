/* Resolve and deduplicate the links of a page, and pack them as MessagePack.
 *
 * Most links are simple: appended to the base folder, they are what a URL parser returns (urls/normalize.py). The
 * caller resolves the others with its URL parser and calls again. */

#include "native.h"
#include "tables.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 8192          /* a power of two */
#define MAX_LINKS 4000      /* per page; with more, the caller does it */
#define MAX_HEADER_BYTES 16 /* MessagePack headers of a link */

enum { IN_PATH = 1, IN_QUERY = 2, IN_SCHEME = 4, LETTER = 8 };
enum { NOT_SIMPLE, SIMPLE, NOT_HTTP };
enum { FALLBACK, PACKED, UNRESOLVED };

typedef struct {
    const uint8_t *start;
    size_t size;
} Bytes;

typedef struct {
    Bytes href, anchor, url, request_url; /* url.start: NULL if it is not a page; request_url: empty if equal to url */
    int nofollow;
} Link;

typedef struct {
    Bytes base_folder;  /* base URL up to its last slash */
    size_t origin_size; /* scheme and host of the base URL */
    Bytes resolved;     /* answers of the caller that are not consumed yet */
    Buffer urls, unresolved;
} Resolver;

static uint8_t char_flags[256];

static void set_flags(const char *letters, int kind) {
    for (; *letters; letters++)
        char_flags[(uint8_t)*letters] = (uint8_t)kind;
}

/* Set which characters a WHATWG URL parser leaves unchanged. */
void init_links(void) {
    memset(char_flags, 0, sizeof char_flags);
    set_flags("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", IN_PATH | IN_QUERY | IN_SCHEME | LETTER);
    set_flags("0123456789+.-", IN_PATH | IN_QUERY | IN_SCHEME);
    set_flags("_~!$&()*,;=@", IN_PATH | IN_QUERY);
    set_flags(":/?", IN_QUERY);
}

/* Take the field that ends with the next zero byte. */
static Bytes take_field(Bytes *from) {
    const uint8_t *end = memchr(from->start, 0, from->size);
    Bytes field = {from->start, end ? (size_t)(end - from->start) : from->size};
    size_t consumed = field.size + (end != NULL);
    from->start += consumed, from->size -= consumed;
    return field;
}

/* Return the slot of the link with this target (its number, from 1), or the free slot for it. */
static uint16_t *find_slot(uint16_t *slots, const Link *links, Bytes target, int is_url) {
    uint32_t at = 0;
    for (size_t i = 0; i < target.size; i++)
        at = (at ^ target.start[i]) * 16777619u;
    for (at = (at ^ at >> 15) % SLOTS; slots[at]; at = (at + 1) % SLOTS) {
        const Link *link = &links[slots[at] - 1];
        Bytes known = is_url ? link->url : link->href;
        if (known.size == target.size && !memcmp(known.start, target.start, target.size))
            break;
    }
    return &slots[at];
}

/* ASCII whitespace of Python's str.split. */
static int is_space(uint8_t c) { return (c >= 9 && c <= 13) || (c >= 28 && c <= 32); }

/* Return whether a rel has nofollow; -1 if it has non-ASCII characters, which may be whitespace. */
static int has_nofollow(Bytes rel) {
    static const char WORD[] = "nofollow";
    int output = 0;
    for (size_t at = 0, end; at < rel.size; at = end + 1) {
        size_t matching = 0;
        for (end = at; end < rel.size && !is_space(rel.start[end]); end++) {
            if (rel.start[end] >= 0x80)
                return -1;
            matching += end - at < sizeof WORD - 1 && (rel.start[end] | 32) == (uint8_t)WORD[end - at];
        }
        output |= matching == sizeof WORD - 1 && end - at == matching;
    }
    return output;
}

/* Collect rows of href, rel, and anchor text: each target once, with its first anchor text; nofollow only if all of
 * its links are. */
static int collect_links(Bytes table, int nofollow_all, Link *links, size_t *count) {
    uint16_t slots[SLOTS];
    memset(slots, 0, sizeof slots);
    while (table.size) {
        Bytes href = take_field(&table), rel = take_field(&table), anchor = take_field(&table);
        int nofollow = has_nofollow(rel);
        if (nofollow < 0)
            return 0;
        nofollow |= nofollow_all;
        uint16_t *slot = find_slot(slots, links, href, 0);
        if (!*slot) {
            links[*count] = (Link){href, anchor, {NULL, 0}, {NULL, 0}, nofollow};
            *slot = (uint16_t)++*count;
            continue;
        }
        Link *link = &links[*slot - 1];
        link->nofollow &= nofollow;
        if (!link->anchor.size)
            link->anchor = anchor;
    }
    return 1;
}

/* Return whether path and query need no escaping and no dot resolution; cut off the fragment. */
static int is_simple_path(Bytes *path, int is_rooted) {
    const uint8_t *at = path->start;
    size_t first = (size_t)is_rooted, i = first, slashes = 0;
    for (; i < path->size && (char_flags[at[i]] & IN_PATH || at[i] == '/' || (at[i] == ':' && slashes)); i++)
        if (at[i] == '/') {
            if (i == first || at[i - 1] == '.')
                return 0;
            slashes++;
        }
    if (i == 0 || at[i - 1] == '.')
        return 0;
    if (i < path->size && at[i] == '?')
        while (++i < path->size && char_flags[at[i]] & IN_QUERY)
            ;
    if (i < path->size && at[i] != '#')
        return 0;
    path->size = i;
    return 1;
}

/* Return the length of the scheme, or 0 if there is none. */
static size_t find_scheme(Bytes href) {
    size_t size = 0;
    while (size < href.size && char_flags[href.start[size]] & (size ? IN_SCHEME : LETTER))
        size++;
    return size < href.size && href.start[size] == ':' ? size : 0;
}

static int is_http(const uint8_t *scheme, size_t size) {
    static const char NAME[] = "https";
    size_t matching = 0;
    while (matching < size && matching < sizeof NAME - 1 && (scheme[matching] | 32) == (uint8_t)NAME[matching])
        matching++;
    return matching == size && size >= 4;
}

/* Return the length of the parent of a folder URL; the root is its own parent. */
static size_t parent_folder(const Resolver *resolver, size_t size) {
    if (size > resolver->origin_size + 1)
        while (resolver->base_folder.start[--size - 1] != '/')
            ;
    return size;
}

/* Return the length of scheme and host of an absolute URL, if a URL parser leaves them unchanged: a lowercase ASCII
 * host that is neither an IP address nor punycode. 0: use the URL parser. */
static size_t find_simple_origin(Bytes href, size_t scheme) {
    size_t at = scheme + 3, label = at;
    if (href.size < at || memcmp(href.start, "https", scheme) || memcmp(href.start + scheme, "://", 3))
        return 0;
    for (; at < href.size && href.start[at] != '/'; at++) {
        uint8_t c = href.start[at];
        if (c == '.')
            label = at + 1;
        else if (c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z'))
            return 0;
        else if (c == 'x' && href.size - at > 3 && !memcmp(href.start + at, "xn--", 4))
            return 0;
    }
    return at < href.size && char_flags[href.start[label]] & LETTER ? at : 0;
}

/* Resolve a simple link against the base folder. */
static int resolve_simple(Resolver *resolver, Bytes href, Bytes *url) {
    Bytes prefix = resolver->base_folder;
    size_t scheme = find_scheme(href), origin_size = resolver->origin_size, start = prefix.size;
    if (scheme && !is_http(href.start, scheme))
        return NOT_HTTP;
    if (href.size > MAX_URL_LENGTH)
        return NOT_SIMPLE;
    if (scheme) {
        int is_same_origin = href.size > origin_size && !memcmp(href.start, prefix.start, origin_size) &&
                href.start[origin_size] == '/';
        prefix = href;
        if (!is_same_origin && !(origin_size = find_simple_origin(href, scheme)))
            return NOT_SIMPLE;
        href.start += origin_size, href.size -= origin_size;
    }
    int is_rooted = href.size && *href.start == '/';
    for (; href.size > 3 && !memcmp(href.start, "../", 3); href.start += 3, href.size -= 3)
        start = parent_folder(resolver, start);
    if (is_rooted)
        start = origin_size;
    if (!is_simple_path(&href, is_rooted) || start + href.size > MAX_URL_LENGTH)
        return NOT_SIMPLE;
    *url = (Bytes){resolver->urls.start + resolver->urls.size, start + href.size};
    return append_bytes(&resolver->urls, prefix.start, start) && append_bytes(&resolver->urls, href.start, href.size)
            ? SIMPLE : NOT_SIMPLE;
}

/* Resolve a link, or add it to the unresolved ones; 0 if the buffer is full. */
static int resolve_link(Resolver *resolver, Link *link) {
    int status = resolve_simple(resolver, link->href, &link->url);
    if (status != NOT_SIMPLE)
        return 1;
    if (resolver->resolved.size) {
        Bytes url = take_field(&resolver->resolved), request_url = take_field(&resolver->resolved);
        if (url.size)
            link->url = url, link->request_url = request_url;
        return 1;
    }
    return append_bytes(&resolver->unresolved, link->href.start, link->href.size) &&
            append_bytes(&resolver->unresolved, (const uint8_t *)"", 1);
}

static int append_text(Buffer *to, Bytes text) {
    uint8_t header[3] = {0xDA, (uint8_t)(text.size >> 8), (uint8_t)text.size};
    size_t size = 3;
    if (text.size < 32)
        header[0] = (uint8_t)(0xA0 | text.size), size = 1;
    else if (text.size < 256)
        header[0] = 0xD9, header[1] = (uint8_t)text.size, size = 2;
    return text.size < 65536 && append_bytes(to, header, size) && append_bytes(to, text.start, text.size);
}

/* Drop links to a URL that is linked already; return the number of remaining links. */
static size_t merge_duplicates(Link *links, size_t count) {
    uint16_t slots[SLOTS];
    memset(slots, 0, sizeof slots);
    size_t remaining = 0;
    for (Link *link = links; link < links + count; link++) {
        if (!link->url.start)
            continue;
        uint16_t *slot = find_slot(slots, links, link->url, 1);
        if (!*slot) {
            *slot = (uint16_t)(link - links + 1), remaining++;
            continue;
        }
        Link *first = &links[*slot - 1];
        if (first->nofollow && !link->nofollow) {
            first->nofollow = 0;
            if (!first->anchor.size)
                first->anchor = link->anchor;
        }
        link->url.start = NULL;
    }
    return remaining;
}

static int pack_links(Buffer *to, const Link *links, size_t count, size_t remaining) {
    uint8_t header[] = {0xDC, (uint8_t)(remaining >> 8), (uint8_t)remaining};
    int is_ok = append_bytes(to, header, sizeof header);
    for (const Link *link = links; is_ok && link < links + count; link++) {
        if (!link->url.start)
            continue;
        uint8_t fields = (uint8_t)(0x93 + link->nofollow); /* further fields have their defaults */
        is_ok = append_bytes(to, &fields, 1) && append_text(to, link->url) && append_text(to, link->request_url) &&
                append_text(to, link->anchor) &&
                  (!link->nofollow || append_bytes(to, (const uint8_t *)"\xC3", 1));
    }
    return is_ok;
}

typedef struct {
    uint8_t *memory, *data; /* `memory` owns all of it; release with sanderling_free */
    uint64_t size;
} PackedLinks;

/* Find the folder of the base URL: everything up to the last slash of its path. */
static int find_base_folder(Bytes base, Resolver *resolver) {
    const uint8_t *end = base.start + base.size, *scheme = memchr(base.start, ':', base.size);
    const uint8_t *root = scheme && end - scheme > 3 ? memchr(scheme + 3, '/', (size_t)(end - scheme) - 3) : NULL;
    if (!root)
        return 0;
    const uint8_t *query = memchr(root, '?', (size_t)(end - root)), *last = query ? query : end;
    while (last[-1] != '/')
        last--;
    resolver->base_folder = (Bytes){base.start, (size_t)(last - base.start)};
    resolver->origin_size = (size_t)(root - base.start);
    return 1;
}

/* Allocate all output buffers at their maximum size. */
static uint8_t *allocate_buffers(Resolver *resolver, Buffer *out, size_t table, size_t rows) {
    size_t urls = table + rows * resolver->base_folder.size, unresolved = table + rows;
    size_t packed = urls + table + resolver->resolved.size + (rows + 1) * MAX_HEADER_BYTES;
    uint8_t *memory = malloc(rows * sizeof(Link) + urls + unresolved + packed), *next = memory + rows * sizeof(Link);
    if (memory) {
        resolver->urls = (Buffer){next, 0, urls, 0};
        resolver->unresolved = (Buffer){next + urls, 0, unresolved, 0};
        *out = (Buffer){next + urls + unresolved, 0, packed, 0};
    }
    return memory;
}

static int resolve_all(Resolver *resolver, Link *links, size_t count) {
    size_t done = 0;
    while (done < count && resolve_link(resolver, &links[done]))
        done++;
    return done == count;
}

/* Pack the links of a page. `table` has rows of href, rel, and anchor text, each ending with a zero byte. Returns 1
 * and the packed links, 2 and the unresolved hrefs, or 0: the caller must do it. */
EXPORT int sanderling_links(const uint8_t *table, size_t size, const uint8_t *base, size_t base_size,
        const uint8_t *resolved,
                            size_t resolved_size, int nofollow_all, PackedLinks *output) {
    Resolver resolver = {.resolved = {resolved, resolved_size}};
    Buffer out;
    size_t rows = 0, count = 0;
    for (size_t i = 0; i < size; i++)
        rows += !table[i];
    if (rows % 3 || (rows /= 3) > MAX_LINKS || (size && table[size - 1]) ||
            !find_base_folder((Bytes){base, base_size}, &resolver))
        return FALLBACK;
    uint8_t *memory = allocate_buffers(&resolver, &out, size, rows);
    Link *links = (Link *)(void *)memory;
    if (!memory)
        return FALLBACK;
    if (collect_links((Bytes){table, size}, nofollow_all, links, &count) && resolve_all(&resolver, links, count)) {
        int is_unresolved = resolver.unresolved.size > 0;
        if (is_unresolved || pack_links(&out, links, count, merge_duplicates(links, count))) {
            const Buffer *data = is_unresolved ? &resolver.unresolved : &out;
            *output = (PackedLinks){memory, data->start, data->size};
            return is_unresolved ? UNRESOLVED : PACKED;
        }
    }
    free(memory);
    return FALLBACK;
}
