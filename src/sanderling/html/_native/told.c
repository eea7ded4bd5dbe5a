/* What is said of a page: its links with their words, elements that speak of it or of others, names of its blocks. */

#include "page.h"

#include <string.h>

#define MAX_ANCHOR 200 /* links.MAX_ANCHOR */

static int put_end(Buffer *to) { return to->fields++, put(to, (const uint8_t *)"", 1); }

int put_value(Buffer *to, Value value) { return !value.start || put_read(to, value.start, value.end, 1); }

/* Blanks as Python strips them. */
static int is_stripped(uint32_t c) {
    return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/* Read the letter that begins here, of a text that is UTF-8; give its length. */
static size_t letter(const uint8_t *s, uint32_t *c) {
    if (s[0] < 0x80)
        return *c = s[0], 1;
    if (s[0] < 0xE0)
        return *c = (uint32_t)(s[0] & 31) << 6 | (s[1] & 63), 2;
    if (s[0] < 0xF0)
        return *c = (uint32_t)(s[0] & 15) << 12 | (uint32_t)(s[1] & 63) << 6 | (s[2] & 63), 3;
    return *c = 0x10000, 4;
}

/* Cut blanks off both ends, then all beyond the letters an anchor may have. */
static Value trimmed(Value value) {
    uint32_t c;
    size_t length;
    while (value.start < value.end && (length = letter(value.start, &c), is_stripped(c)))
        value.start += length;
    while (value.start < value.end) {
        const uint8_t *last = value.end - 1;
        while (last > value.start && (*last & 0xC0) == 0x80)
            last--;
        letter(last, &c);
        if (!is_stripped(c))
            break;
        value.end = last;
    }
    const uint8_t *at = value.start;
    for (int letters = 0; at < value.end && letters < MAX_ANCHOR; letters++)
        at += letter(at, &c);
    return (Value){value.start, at};
}

int begin_link(Page *page, const Start *start) {
    page->link = page->opens;
    page->link_start = text_of(page)->size;
    page->has_image = page->is_outward = page->breaks = 0;
    page->unlinked = page->inlines;
    if (!start->values[A_href].start)
        return 1;
    page->is_outward = 1;
    page->href = page->links.size;
    if (!put_value(&page->links, start->values[A_href]))
        return 0;
    const uint8_t *href = page->links.start + page->href;
    const uint8_t *fragment = memchr(href, '#', page->links.size - page->href);
    if (fragment)
        page->links.size = (size_t)(fragment - page->links.start);
    return put_end(&page->links) && put_value(&page->links, start->values[A_rel]) && put_end(&page->links);
}

/* Find where a target was told before, or where it is to be written down. */
static uint32_t *place_of_target(Page *page, const uint8_t *href, size_t length) {
    uint32_t at = 0;
    for (size_t i = 0; i < length; i++)
        at = (at ^ href[i]) * 16777619u;
    for (at = (at ^ at >> 15) % TARGETS;; at = (at + 1) % TARGETS) {
        uint32_t *known = &page->targets[at];
        if (!*known || !memcmp(page->links.start + *known - 1, href, length + 1))
            return known;
    }
}

/* Tell a link that is complete. The first that leads to a place of the page alone is told apart; one whose target was
 * told with words, and not forbidden to follow, says nothing new. */
static int tell_link(Page *page) {
    Buffer *links = &page->links;
    uint8_t *href = links->start + page->href;
    size_t length = strlen((char *)href);
    if (!length) {
        if (!page->bare.fields && !put(&page->bare, href + 1, links->size - page->href - 1))
            return 0;
        page->bare.fields = 1;
    }
    uint32_t *known = length ? place_of_target(page, href, length) : NULL;
    if (!known || *known) {
        links->size = page->href;
        links->fields -= 3;
        return 1;
    }
    if (!href[length + 1] && href[length + 2] && links->fields <= 3 * MAX_TOLD) /* no rel, but words */
        *known = (uint32_t)page->href + 1;
    return 1;
}

/* Note that a line ended inside the open link, unless a blank is there anyway. */
int break_link(Page *page) {
    const Buffer *text = text_of(page);
    size_t last = page->breaks ? page->broken[page->breaks - 1] : page->link_start;
    if (text->size == last || is_blank(text->start[text->size - 1]))
        return 1;
    if (page->breaks == MAX_BREAKS)
        return 0;
    page->broken[page->breaks++] = text->size;
    return 1;
}

/* Write the words of the open link, with a blank where a line ended. */
static int put_words(Page *page, Buffer *to) {
    const Buffer *text = text_of(page);
    size_t from = page->link_start, end = text->size; /* which may be what is written to */
    for (int i = 0; i < page->breaks; from = page->broken[i++])
        if (!put(to, text->start + from, page->broken[i] - from) || !put(to, (const uint8_t *)" ", 1))
            return 0;
    return put(to, text->start + from, end - from);
}

int end_link(Page *page) {
    page->link = 0;
    if (!page->is_outward)
        return 1;
    const Buffer *text = text_of(page);
    Value words = trimmed((Value){text->start + page->link_start, text->start + text->size});
    if (words.start == words.end ? page->image.start && page->has_image : page->breaks) {
        size_t before = page->unseen.size; /* written there for a moment */
        if (!(words.start == words.end ? put_value(&page->unseen, page->image) : put_words(page, &page->unseen)))
            return 0;
        words = trimmed((Value){page->unseen.start + before, page->unseen.start + page->unseen.size});
        page->unseen.size = before;
    }
    return put(&page->links, words.start, (size_t)(words.end - words.start)) && put_end(&page->links) && tell_link(page);
}

int begin_image(Page *page, const Start *start) {
    if (page->link && !page->has_image) {
        page->has_image = 1;
        page->image = start->values[A_alt];
    }
    return 1;
}

int put_block(Page *page, const Start *start) {
    size_t before = page->blocks.size;
    if (!put_value(&page->blocks, start->values[A_class]))
        return 0;
    if (page->blocks.size == before) {
        const char *name = tags[start->tag].name;
        if (!put(&page->blocks, (const uint8_t *)name, strlen(name)))
            return 0;
    }
    return put_end(&page->blocks);
}

/* Say whether a value is this word, in small letters or capitals. */
static int is_word(Value value, const char *word) {
    const uint8_t *at = value.start;
    for (; at && at < value.end && *word && lower(*at) == (uint8_t)*word; at++)
        word++;
    return at && at == value.end && !*word;
}

/* Say whether an element has nothing to say to us: a base that leads nowhere, a style sheet, how wide a window is. */
static int is_mute(const Start *start) {
    const Value *values = start->values;
    switch (start->tag) {
    case T_base:
        return !values[A_href].start;
    case T_link:
        return is_word(values[A_rel], "stylesheet");
    case T_meta:
        if (values[A_http_equiv].start)
            return !values[A_name].start &&
                   (is_word(values[A_http_equiv], "content-type") || is_word(values[A_http_equiv], "x-ua-compatible"));
        return !values[A_name].start || is_word(values[A_name], "viewport") || is_word(values[A_name], "generator");
    default:
        return 0;
    }
}

/* Tell an element: its tag, whether it is for those without scripts, its text, its attributes. */
int tell(Page *page, const Start *start, Value text) {
    if (is_mute(start))
        return 1;
    const char *name = tags[start->tag].name;
    int is_fine = put(&page->told, (const uint8_t *)name, strlen(name)) && put_end(&page->told) &&
                  put(&page->told, (const uint8_t *)"n", page->unscripted > 0) && put_end(&page->told) &&
                  put(&page->told, text.start, (size_t)(text.end - text.start)) && put_end(&page->told);
    for (int i = 0; is_fine && i < TOLD_ATTRIBUTES; i++)
        is_fine = put_value(&page->told, start->values[i]) && put_end(&page->told);
    return is_fine;
}

int begin_body(Page *page) {
    Start body = {.tag = T_body};
    page->mode = IN_BODY;
    return put_block(page, &body);
}
