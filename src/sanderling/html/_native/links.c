/* Where a page leads, as it goes home: each target once, in one spelling, packed (MessagePack).
 *
 * Most links are plain: joined to the folder of their page they are what a URL parser makes of them (normalise.py).
 * The others are asked for: who called has such a parser, and calls again with the answers. */

#include "native.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 8192     /* a power of two */
#define MAX_LINKS 4000 /* of a page; one that has more is for the caller */
#define MAX_URL 2083   /* normalise.LENGTH_LIMIT */
#define MAX_HEADS 16   /* bytes of a packed link that are no letters */

enum { IN_PATH = 1, IN_QUERY = 2, IN_SCHEME = 4, LETTER = 8 };
enum { NOT_PLAIN, PLAIN, NO_PAGE };
enum { GIVEN_BACK, PACKED, ASKED };

typedef struct {
    const uint8_t *start;
    size_t size;
} Text;

typedef struct {
    Text href, anchor, url, wire; /* url: NULL where it leads to no page; wire: empty where it is the same */
    int forbids;
} Link;

typedef struct {
    Text folder;   /* of the page: its address up to the last slash */
    size_t origin; /* letters of its scheme and host */
    Text answers;  /* that were not taken yet */
    Buffer urls, asked;
} Joining;

static uint8_t kinds[256];

static void know(const char *letters, int kind) {
    for (; *letters; letters++)
        kinds[(uint8_t)*letters] = (uint8_t)kind;
}

/* Learn which letters WHATWG parsing leaves as they are. */
void make_links(void) {
    memset(kinds, 0, sizeof kinds);
    know("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", IN_PATH | IN_QUERY | IN_SCHEME | LETTER);
    know("0123456789+.-", IN_PATH | IN_QUERY | IN_SCHEME);
    know("_~!$&()*,;=@", IN_PATH | IN_QUERY);
    know(":/?", IN_QUERY);
}

/* Take the text that ends with the next zero byte. */
static Text take(Text *from) {
    const uint8_t *end = memchr(from->start, 0, from->size);
    Text taken = {from->start, end ? (size_t)(end - from->start) : from->size};
    size_t gone = taken.size + (end != NULL);
    from->start += gone, from->size -= gone;
    return taken;
}

/* Find which link has this target, or where its number is to be written down; numbers count from one. */
static uint16_t *place_of(uint16_t *slots, const Link *links, Text target, int is_url) {
    uint32_t at = 0;
    for (size_t i = 0; i < target.size; i++)
        at = (at ^ target.start[i]) * 16777619u;
    for (at = (at ^ at >> 15) % SLOTS; slots[at]; at = (at + 1) % SLOTS) {
        const Link *link = &links[slots[at] - 1];
        Text known = is_url ? link->url : link->href;
        if (known.size == target.size && !memcmp(known.start, target.start, target.size))
            break;
    }
    return &slots[at];
}

/* Blanks of ASCII, as Python splits at them. */
static int is_space(uint8_t c) { return (c >= 9 && c <= 13) || (c >= 28 && c <= 32); }

/* Say whether a rel forbids to follow; -1 where other letters than those of ASCII may be blanks in it. */
static int is_forbidding(Text rel) {
    static const char WORD[] = "nofollow";
    int found = 0;
    for (size_t at = 0, end; at < rel.size; at = end + 1) {
        size_t same = 0;
        for (end = at; end < rel.size && !is_space(rel.start[end]); end++) {
            if (rel.start[end] >= 0x80)
                return -1;
            same += end - at < sizeof WORD - 1 && (rel.start[end] | 32) == (uint8_t)WORD[end - at];
        }
        found |= same == sizeof WORD - 1 && end - at == same;
    }
    return found;
}

/* Gather rows of target, rel and words: each target once, followed if one of its links may be, with the first words. */
static int gather(Text table, int forbids_all, Link *links, size_t *count) {
    uint16_t slots[SLOTS];
    memset(slots, 0, sizeof slots);
    while (table.size) {
        Text href = take(&table), rel = take(&table), anchor = take(&table);
        int forbids = is_forbidding(rel);
        if (forbids < 0)
            return 0;
        forbids |= forbids_all;
        uint16_t *known = place_of(slots, links, href, 0);
        if (!*known) {
            links[*count] = (Link){href, anchor, {NULL, 0}, {NULL, 0}, forbids};
            *known = (uint16_t)++*count;
            continue;
        }
        Link *link = &links[*known - 1];
        link->forbids &= forbids;
        if (!link->anchor.size)
            link->anchor = anchor;
    }
    return 1;
}

/* Say whether a path with its query stands for itself: nothing to be escaped, no dots to be resolved; cut its
 * fragment off. */
static int is_plain(Text *path, int is_rooted) {
    const uint8_t *at = path->start;
    size_t first = (size_t)is_rooted, i = first, slashes = 0;
    for (; i < path->size && (kinds[at[i]] & IN_PATH || at[i] == '/' || (at[i] == ':' && slashes)); i++)
        if (at[i] == '/') {
            if (i == first || at[i - 1] == '.')
                return 0;
            slashes++;
        }
    if (i == 0 || at[i - 1] == '.')
        return 0;
    if (i < path->size && at[i] == '?')
        while (++i < path->size && kinds[at[i]] & IN_QUERY)
            ;
    if (i < path->size && at[i] != '#')
        return 0;
    path->size = i;
    return 1;
}

/* Say how many letters of a link are its scheme; 0 if it has none. */
static size_t scheme_of(Text href) {
    size_t size = 0;
    while (size < href.size && kinds[href.start[size]] & (size ? IN_SCHEME : LETTER))
        size++;
    return size < href.size && href.start[size] == ':' ? size : 0;
}

static int is_http(const uint8_t *scheme, size_t size) {
    static const char NAME[] = "https";
    size_t same = 0;
    while (same < size && same < sizeof NAME - 1 && (scheme[same] | 32) == (uint8_t)NAME[same])
        same++;
    return same == size && size >= 4;
}

/* Take one folder off the end of an address that ends with a slash; the first one stays. */
static size_t up(const Joining *joining, size_t size) {
    if (size > joining->origin + 1)
        while (joining->folder.start[--size - 1] != '/')
            ;
    return size;
}

/* Say how many letters of an absolute link are scheme and host, if a parser leaves them as they are: a name in small
 * letters that is no number and has no other alphabet in it. 0 says that one has to be asked. */
static size_t origin_of(Text href, size_t scheme) {
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
    return at < href.size && kinds[href.start[label]] & LETTER ? at : 0;
}

/* Join a link to the folder of its page, if it is plain. */
static int join(Joining *joining, Text href, Text *url) {
    Text whole = joining->folder;
    size_t scheme = scheme_of(href), origin = joining->origin, start = whole.size;
    if (scheme && !is_http(href.start, scheme))
        return NO_PAGE;
    if (href.size > MAX_URL)
        return NOT_PLAIN;
    if (scheme) {
        int is_ours = href.size > origin && !memcmp(href.start, whole.start, origin) && href.start[origin] == '/';
        whole = href;
        if (!is_ours && !(origin = origin_of(href, scheme)))
            return NOT_PLAIN;
        href.start += origin, href.size -= origin;
    }
    int is_rooted = href.size && *href.start == '/';
    for (; href.size > 3 && !memcmp(href.start, "../", 3); href.start += 3, href.size -= 3)
        start = up(joining, start);
    if (is_rooted)
        start = origin;
    if (!is_plain(&href, is_rooted) || start + href.size > MAX_URL)
        return NOT_PLAIN;
    *url = (Text){joining->urls.start + joining->urls.size, start + href.size};
    return put(&joining->urls, whole.start, start) && put(&joining->urls, href.start, href.size) ? PLAIN : NOT_PLAIN;
}

/* Say where a link leads, or ask; 0 if there is no room for it. */
static int spell(Joining *joining, Link *link) {
    int how = join(joining, link->href, &link->url);
    if (how != NOT_PLAIN)
        return 1;
    if (joining->answers.size) {
        Text url = take(&joining->answers), wire = take(&joining->answers);
        if (url.size)
            link->url = url, link->wire = wire;
        return 1;
    }
    return put(&joining->asked, link->href.start, link->href.size) && put(&joining->asked, (const uint8_t *)"", 1);
}

static int put_text(Buffer *to, Text text) {
    uint8_t head[3] = {0xDA, (uint8_t)(text.size >> 8), (uint8_t)text.size};
    size_t size = 3;
    if (text.size < 32)
        head[0] = (uint8_t)(0xA0 | text.size), size = 1;
    else if (text.size < 256)
        head[0] = 0xD9, head[1] = (uint8_t)text.size, size = 2;
    return text.size < 65536 && put(to, head, size) && put(to, text.start, text.size);
}

/* Let go of links to a page that is linked to already; count those that stay. */
static size_t unite(Link *links, size_t count) {
    uint16_t slots[SLOTS];
    memset(slots, 0, sizeof slots);
    size_t left = 0;
    for (Link *link = links; link < links + count; link++) {
        if (!link->url.start)
            continue;
        uint16_t *known = place_of(slots, links, link->url, 1);
        if (!*known) {
            *known = (uint16_t)(link - links + 1), left++;
            continue;
        }
        Link *first = &links[*known - 1];
        if (first->forbids && !link->forbids) {
            first->forbids = 0;
            if (!first->anchor.size)
                first->anchor = link->anchor;
        }
        link->url.start = NULL;
    }
    return left;
}

static int pack(Buffer *to, const Link *links, size_t count, size_t left) {
    uint8_t head[] = {0xDC, (uint8_t)(left >> 8), (uint8_t)left};
    int is_fine = put(to, head, sizeof head);
    for (const Link *link = links; is_fine && link < links + count; link++) {
        if (!link->url.start)
            continue;
        uint8_t fields = (uint8_t)(0x93 + link->forbids); /* the others have their defaults */
        is_fine = put(to, &fields, 1) && put_text(to, link->url) && put_text(to, link->wire) && put_text(to, link->anchor) &&
                  (!link->forbids || put(to, (const uint8_t *)"\xC3", 1));
    }
    return is_fine;
}

typedef struct {
    uint8_t *room, *said; /* `room` is all there is, to be given back */
    uint64_t size;
} Packed;

/* Find the folder of a page: all of its address up to the last slash of its path. */
static int find_folder(Text base, Joining *joining) {
    const uint8_t *end = base.start + base.size, *scheme = memchr(base.start, ':', base.size);
    const uint8_t *root = scheme && end - scheme > 3 ? memchr(scheme + 3, '/', (size_t)(end - scheme) - 3) : NULL;
    if (!root)
        return 0;
    const uint8_t *query = memchr(root, '?', (size_t)(end - root)), *last = query ? query : end;
    while (last[-1] != '/')
        last--;
    joining->folder = (Text){base.start, (size_t)(last - base.start)};
    joining->origin = (size_t)(root - base.start);
    return 1;
}

/* Share out the room for what is written, before anything is. */
static uint8_t *make_room(Joining *joining, Buffer *out, size_t table, size_t rows) {
    size_t urls = table + rows * joining->folder.size, asked = table + rows;
    size_t packed = urls + table + joining->answers.size + (rows + 1) * MAX_HEADS;
    uint8_t *room = malloc(rows * sizeof(Link) + urls + asked + packed), *next = room + rows * sizeof(Link);
    if (room) {
        joining->urls = (Buffer){next, 0, urls, 0};
        joining->asked = (Buffer){next + urls, 0, asked, 0};
        *out = (Buffer){next + urls + asked, 0, packed, 0};
    }
    return room;
}

static int spell_all(Joining *joining, Link *links, size_t count) {
    size_t done = 0;
    while (done < count && spell(joining, &links[done]))
        done++;
    return done == count;
}

/* Pack the links of a page at `base`; the rows of `table` say target, rel and words, each with a zero byte behind it.
 * Give 1 and them; 2 and the targets that have to be asked for; or 0: this page is for the caller. */
EXPORT int sanderling_links(const uint8_t *table, size_t size, const uint8_t *base, size_t base_size, const uint8_t *answers,
                            size_t answers_size, int forbids_all, Packed *found) {
    Joining joining = {.answers = {answers, answers_size}};
    Buffer out;
    size_t rows = 0, count = 0;
    for (size_t i = 0; i < size; i++)
        rows += !table[i];
    if (rows % 3 || (rows /= 3) > MAX_LINKS || (size && table[size - 1]) || !find_folder((Text){base, base_size}, &joining))
        return GIVEN_BACK;
    uint8_t *room = make_room(&joining, &out, size, rows);
    Link *links = (Link *)(void *)room;
    if (!room)
        return GIVEN_BACK;
    if (gather((Text){table, size}, forbids_all, links, &count) && spell_all(&joining, links, count)) {
        int is_asked = joining.asked.size > 0;
        if (is_asked || pack(&out, links, count, unite(links, count))) {
            const Buffer *said = is_asked ? &joining.asked : &out;
            *found = (Packed){room, said->start, said->size};
            return is_asked ? ASKED : PACKED;
        }
    }
    free(room);
    return GIVEN_BACK;
}
