/* Read a page at a glance: its links, what it says of itself, what it is built of and its text, without a tree.
 *
 * What is asked of a new page hardly depends on how its elements are nested; so its tags are read in order, and of what
 * is open only that is remembered which can make a difference. Wherever a browser would move, repeat or drop something
 * that is asked for (text in a table outside of its cells, links inside links, ...) the page is given back: who called
 * has a parser. What is said is what the parser's tree says, or nothing. */

#include "page.h"

#include <stdlib.h>
#include <string.h>

#define ENOUGH 4096 /* letters; more than pretence.LONGEST */

enum { GIVEN_BACK, READ };

/* Whether attributes of a tag are asked for. */
static int is_wanted(int tag) {
    return tag == T_a || tag == T_img || tag == T_html || kind_of(tag) & (NAMED | TOLD);
}

static int read_tag(Page *page, int is_end) {
    const uint8_t *name = page->at, *at = name;
    uint32_t hash = 0;
    while (at < page->end && (*at > '>' || (!is_blank(*at) && *at != '/' && *at != '>')))
        hash = hashed(hash, *at++);
    page->at = at;
    Start start;
    start.tag = tag_of(name, (size_t)(at - name), hash);
    start.name = (Value){name, at};
    int wanted = !is_end && is_wanted(start.tag);
    if (wanted)
        memset(start.values, 0, sizeof start.values);
    if (!read_attributes(page, &start, wanted))
        return 0;
    page->is_broken = 0;
    if (!(is_end ? end(page, &start) : begin(page, &start)))
        return 0;
    return !page->is_broken || !page->link || break_link(page);
}

/* Read markup from behind its "<". */
static int read_markup(Page *page) {
    size_t left = (size_t)(page->end - page->at);
    const uint8_t *at = page->at;
    if (left < 2)
        return 0;
    if (is_alpha(*at))
        return read_tag(page, 0);
    if (*at == '/') {
        page->at++;
        return is_alpha(at[1]) ? read_tag(page, 1) : skip_bogus(page);
    }
    if (left >= 3 && !memcmp(at, "!--", 3)) {
        page->at += 3;
        return skip_comment(page);
    }
    page->at += *at == '!';
    return !is_drawn(page) && (*at == '!' ? skip_declared(page) : skip_bogus(page));
}

static int read_text(Page *page, const uint8_t *end) {
    const uint8_t *from = page->at;
    page->at = end;
    if (kind_of(top(page)) & ROW && has_words(from, end))
        return 0;
    if (page->mode != IN_BODY) {
        if (!has_words(from, end))
            return 1;
        if (page->unscripted || !begin_body(page))
            return 0;
    }
    return put_read(text_of(page), from, end, 0);
}

static int read_page(Page *page) {
    while (page->at < page->end) {
        const uint8_t *next = memchr(page->at, '<', (size_t)(page->end - page->at));
        const uint8_t *mark = next;
        while (mark && mark + 1 < page->end && !is_alpha(mark[1]) && mark[1] != '/' && mark[1] != '!' && mark[1] != '?')
            mark = memchr(mark + 1, '<', (size_t)(page->end - mark - 1)); /* a lone one is text */
        const uint8_t *end = mark ? mark : page->end;
        if (end > page->at && !read_text(page, end))
            return 0;
        if (!mark)
            break;
        page->at = mark + 1;
        if (!read_markup(page))
            return 0;
    }
    return (!page->link || end_link(page)) && (page->mode == IN_BODY || begin_body(page));
}

/* What the caller gets. */

typedef struct {
    uint8_t *room, *said, *text; /* `room` is all there is, to be given back */
    uint64_t links_size, said_size, text_size, letters; /* links: rows of target, rel and words, with which `said` begins */
    uint64_t told, blocks; /* how many of the fields that follow are of these, in this order; then come language and h1, and
                              rel and words of the first link to a place of the page alone, if there is one */
    uint64_t marks[MARKS];
    int32_t is_marked; /* what sanderling_text_marks said */
} Glance;

static Buffer part(uint8_t **room, size_t size) {
    Buffer made = {*room, 0, size, 0};
    *room += size;
    return made;
}

static int add(Buffer *to, const Buffer *from) { return put(to, from->start, from->size); }

/* Put all that was said behind the links. */
static int gather(Page *page) {
    Buffer *to = &page->links;
    size_t heading_end = page->heading ? page->text.size : page->heading_end;
    return add(to, &page->told) && add(to, &page->blocks) && add(to, &page->lang) && put(to, (const uint8_t *)"", 1) &&
           put(to, page->text.start + page->heading_start, heading_end - page->heading_start) &&
           put(to, (const uint8_t *)"", 1) && add(to, &page->bare);
}

/* Count letters, without the blanks, of which a tree may have fewer; no further than anybody asks for. */
static uint64_t letters_of(const Buffer *text) {
    uint64_t letters = 0;
    for (size_t i = 0; i < text->size && letters <= ENOUGH; i++)
        letters += ((text->start[i] & 0xC0) != 0x80) & (text->start[i] > ' ');
    return letters;
}

/* Read a page that is UTF-8. Give 1 and what was found, to be given back; or 0: this page is for the parser. */
EXPORT int sanderling_glance(const uint8_t *body, size_t length, Hash hash, Glance *found) {
    if (memchr(body, 0, length) || !is_utf8(body, body + length))
        return GIVEN_BACK;
    size_t room = length + 64;
    uint8_t *all = malloc(14 * room), *next = all;
    if (!all)
        return GIVEN_BACK;
    Page page;
    memset(&page, 0, sizeof page);
    page.at = body, page.end = body + length;
    page.open[page.opens++] = T_html;
    page.text = part(&next, room), page.unseen = part(&next, room), page.links = part(&next, 7 * room);
    page.told = part(&next, 2 * room), page.blocks = part(&next, room), page.lang = part(&next, room);
    page.bare = part(&next, room);
    int is_read = read_page(&page);
    size_t links_size = page.links.size;
    if (!is_read || !gather(&page)) {
        free(all);
        return GIVEN_BACK;
    }
    *found = (Glance){all, page.links.start, page.text.start, links_size, page.links.size, page.text.size,
                      letters_of(&page.text), page.told.fields, page.blocks.fields, {0}, 0};
    found->is_marked = sanderling_text_marks(page.text.start, page.text.size, hash, found->marks);
    return READ;
}

EXPORT void sanderling_give_back(void *room) { free(room); }

EXPORT uint32_t sanderling_ready(void) {
    make_references();
    make_tags();
    make_letters();
    make_links();
    make_sieve();
    return MADE_OF;
}
