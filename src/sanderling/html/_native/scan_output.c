/* Write the output of the fast scan: link rows, metadata elements, and block names. */

#include "page.h"

#include <string.h>

static const char *const ignored_meta_names[] = {IGNORED_META_NAMES};

static int end_field(Buffer *to) { return to->fields++, append_bytes(to, (const uint8_t *)"", 1); }

int append_value(Buffer *to, Span value) { return !value.start || append_decoded(to, value.start, value.end, 1); }

/* Whitespace of Python's str.strip. */
static int is_python_whitespace(uint32_t c) {
    return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/* Decode a UTF-8 character; return its length. */
static size_t decode_character(const uint8_t *s, uint32_t *c) {
    if (s[0] < 0x80)
        return *c = s[0], 1;
    if (s[0] < 0xE0)
        return *c = (uint32_t)(s[0] & 31) << 6 | (s[1] & 63), 2;
    if (s[0] < 0xF0)
        return *c = (uint32_t)(s[0] & 15) << 12 | (uint32_t)(s[1] & 63) << 6 | (s[2] & 63), 3;
    return *c = 0x10000, 4;
}

/* Strip whitespace, and truncate to MAX_ANCHOR characters. */
static Span trim_anchor(Span value) {
    uint32_t c;
    size_t length;
    while (value.start < value.end && (length = decode_character(value.start, &c), is_python_whitespace(c)))
        value.start += length;
    while (value.start < value.end) {
        const uint8_t *last = value.end - 1;
        while (last > value.start && (*last & 0xC0) == 0x80)
            last--;
        decode_character(last, &c);
        if (!is_python_whitespace(c))
            break;
        value.end = last;
    }
    const uint8_t *at = value.start;
    for (int letters = 0; at < value.end && letters < MAX_ANCHOR; letters++)
        at += decode_character(at, &c);
    return (Span){value.start, at};
}

int start_link(Page *page, const TagToken *start) {
    page->link = page->open_count;
    page->link_start = current_text(page)->size;
    page->has_image = page->has_href = page->break_count = 0;
    page->inlines_before_link = page->inline_count;
    if (!start->values[A_href].start)
        return 1;
    page->has_href = 1;
    page->href_offset = page->links.size;
    if (!append_value(&page->links, start->values[A_href]))
        return 0;
    const uint8_t *href = page->links.start + page->href_offset;
    const uint8_t *fragment = memchr(href, '#', page->links.size - page->href_offset);
    if (fragment)
        page->links.size = (size_t)(fragment - page->links.start);
    return end_field(&page->links) && append_value(&page->links, start->values[A_rel]) && end_field(&page->links);
}

/* Return the slot of a link target: its offset + 1, or 0 if it is free. */
static uint32_t *find_target_slot(Page *page, const uint8_t *href, size_t length) {
    uint32_t at = 0;
    for (size_t i = 0; i < length; i++)
        at = (at ^ href[i]) * 16777619u;
    for (at = (at ^ at >> 15) % TARGET_SLOTS;; at = (at + 1) % TARGET_SLOTS) {
        uint32_t *slot = &page->target_slots[at];
        if (!*slot || !memcmp(page->links.start + *slot - 1, href, length + 1))
            return slot;
    }
}

/* Finish the row of a link. The first same-page link is stored separately. A link is dropped if an earlier one to
 * the same target has anchor text and no rel. */
static int finish_link_row(Page *page) {
    Buffer *links = &page->links;
    uint8_t *href = links->start + page->href_offset;
    size_t length = strlen((char *)href);
    if (!length) {
        if (!page->same_page_link.fields && !append_bytes(&page->same_page_link, href + 1,
                links->size - page->href_offset - 1))
            return 0;
        page->same_page_link.fields = 1;
    }
    uint32_t *slot = length ? find_target_slot(page, href, length) : NULL;
    if (!slot || *slot) {
        links->size = page->href_offset;
        links->fields -= 3;
        return 1;
    }
    if (!href[length + 1] && href[length + 2] && links->fields <= 3 * MAX_UNIQUE_LINKS) /* no rel, but anchor text */
        *slot = (uint32_t)page->href_offset + 1;
    return 1;
}

/* Record a line break inside the current link, unless whitespace precedes it. */
int record_line_break(Page *page) {
    const Buffer *text = current_text(page);
    size_t last = page->break_count ? page->break_offsets[page->break_count - 1] : page->link_start;
    if (text->size == last || is_blank(text->start[text->size - 1]))
        return 1;
    if (page->break_count == MAX_BREAKS)
        return 0;
    page->break_offsets[page->break_count++] = text->size;
    return 1;
}

/* Append the text of the current link, with a space at each line break. */
static int append_anchor_text(Page *page, Buffer *to) {
    const Buffer *text = current_text(page);
    size_t from = page->link_start, end = text->size; /* of `text`, which may be `to` itself */
    for (int i = 0; i < page->break_count; from = page->break_offsets[i++])
        if (!append_bytes(to, text->start + from, page->break_offsets[i] - from) ||
                !append_bytes(to, (const uint8_t *)" ", 1))
            return 0;
    return append_bytes(to, text->start + from, end - from);
}

int finish_link(Page *page) {
    page->link = 0;
    if (!page->has_href)
        return 1;
    const Buffer *text = current_text(page);
    Span anchor = trim_anchor((Span){text->start + page->link_start, text->start + text->size});
    if (anchor.start == anchor.end ? page->image_alt.start && page->has_image : page->break_count) {
        size_t before = page->noscript_text.size; /* used as scratch space */
        if (!(anchor.start == anchor.end ? append_value(&page->noscript_text, page->image_alt)
                : append_anchor_text(page, &page->noscript_text)))
            return 0;
        anchor = trim_anchor((Span){page->noscript_text.start + before,
                page->noscript_text.start + page->noscript_text.size});
        page->noscript_text.size = before;
    }
    return append_bytes(&page->links, anchor.start, (size_t)(anchor.end - anchor.start)) && end_field(&page->links) &&
            finish_link_row(page);
}

int record_image(Page *page, const TagToken *start) {
    if (page->link && !page->has_image) {
        page->has_image = 1;
        page->image_alt = start->values[A_alt];
    }
    return 1;
}

int append_block(Page *page, const TagToken *start) {
    size_t before = page->blocks.size;
    if (!append_value(&page->blocks, start->values[A_class]))
        return 0;
    if (page->blocks.size == before) {
        const char *name = tags[start->tag].name;
        if (!append_bytes(&page->blocks, (const uint8_t *)name, strlen(name)))
            return 0;
    }
    return end_field(&page->blocks);
}

/* Compare with a lowercase word, ignoring case. */
static int equals_word(Span value, const char *word) {
    const uint8_t *at = value.start;
    for (; at && at < value.end && *word && lower(*at) == (uint8_t)*word; at++)
        word++;
    return at && at == value.end && !*word;
}

static int is_ignored_meta(Span name) {
    for (size_t i = 0; i < sizeof ignored_meta_names / sizeof *ignored_meta_names; i++)
        if (equals_word(name, ignored_meta_names[i]))
            return 1;
    return 0;
}

/* Return whether an element is irrelevant: a base without href, a style sheet, the viewport. */
static int is_skipped(const TagToken *start) {
    const Span *values = start->values;
    switch (start->tag) {
    case T_base:
        return !values[A_href].start;
    case T_link:
        return equals_word(values[A_rel], "stylesheet");
    case T_meta:
        if (values[A_http_equiv].start)
            return !values[A_name].start &&
                   (equals_word(values[A_http_equiv], "content-type") ||
                           equals_word(values[A_http_equiv], "x-ua-compatible"));
        return !values[A_name].start || is_ignored_meta(values[A_name]);
    default:
        return 0;
    }
}

/* Append an element: tag, whether it is in noscript, text, and attributes. */
int append_element(Page *page, const TagToken *start, Span text) {
    if (is_skipped(start))
        return 1;
    const char *name = tags[start->tag].name;
    int is_ok = append_bytes(&page->elements, (const uint8_t *)name, strlen(name)) && end_field(&page->elements) &&
                  append_bytes(&page->elements, (const uint8_t *)"n", page->noscript_depth > 0) &&
                          end_field(&page->elements) &&
                  append_bytes(&page->elements, text.start, (size_t)(text.end - text.start)) &&
                          end_field(&page->elements);
    for (int i = 0; is_ok && i < METADATA_ATTRIBUTES; i++)
        is_ok = append_value(&page->elements, start->values[i]) && end_field(&page->elements);
    return is_ok;
}

int start_body(Page *page) {
    TagToken body = {.tag = T_body};
    page->mode = IN_BODY;
    return append_block(page, &body);
}
