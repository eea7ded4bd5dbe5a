/* Scan a page without building a tree: links, metadata, block structure, and text.
 *
 * This data hardly depends on nesting, so tags are processed in order, and only the open elements that can make a
 * difference are tracked. Wherever a browser would move, repeat, or drop relevant content (text in a table outside
 * of cells, nested links, ...), the scan fails and the caller uses the parser. The result always equals that of the
 * parser's tree. */

#include "page.h"

#include <stdlib.h>
#include <string.h>

enum { FALLBACK, SCANNED };

static int needs_attributes(int tag) {
    return tag == T_a || tag == T_img || tag == T_html || tag_kind(tag) & (BLOCK | METADATA);
}

static int read_tag(Page *page, int is_end) {
    const uint8_t *name = page->at, *at = name;
    uint32_t hash = 0;
    while (at < page->end && (*at > '>' || (!is_blank(*at) && *at != '/' && *at != '>')))
        hash = hash_letter(hash, *at++);
    page->at = at;
    TagToken start;
    start.tag = find_tag(name, (size_t)(at - name), hash);
    start.name = (Span){name, at};
    int reads_attributes = !is_end && needs_attributes(start.tag);
    if (reads_attributes)
        memset(start.values, 0, sizeof start.values);
    if (!read_attributes(page, &start, reads_attributes))
        return 0;
    page->has_line_break = 0;
    if (!(is_end ? process_end_tag(page, &start) : process_start_tag(page, &start)))
        return 0;
    return !page->has_line_break || !page->link || record_line_break(page);
}

/* Process markup after its "<". */
static int read_markup(Page *page) {
    size_t remaining = (size_t)(page->end - page->at);
    const uint8_t *at = page->at;
    if (remaining < 2)
        return 0;
    if (is_alpha(*at))
        return read_tag(page, 0);
    if (*at == '/') {
        page->at++;
        return is_alpha(at[1]) ? read_tag(page, 1) : skip_bogus_comment(page);
    }
    if (remaining >= 3 && !memcmp(at, "!--", 3)) {
        page->at += 3;
        return skip_comment(page);
    }
    page->at += *at == '!';
    return !is_in_svg(page) && (*at == '!' ? skip_declaration(page) : skip_bogus_comment(page));
}

static int read_text(Page *page, const uint8_t *end) {
    const uint8_t *from = page->at;
    page->at = end;
    if (tag_kind(current_tag(page)) & TABLE_PART && has_text(from, end))
        return 0;
    if (page->mode != IN_BODY) {
        if (!has_text(from, end))
            return 1;
        if (page->noscript_depth || !start_body(page))
            return 0;
    }
    return append_decoded(current_text(page), from, end, 0);
}

static int read_page(Page *page) {
    while (page->at < page->end) {
        const uint8_t *next = memchr(page->at, '<', (size_t)(page->end - page->at));
        const uint8_t *tag_start = next;
        while (tag_start && tag_start + 1 < page->end && !is_alpha(tag_start[1]) && tag_start[1] != '/' &&
                tag_start[1] != '!' && tag_start[1] != '?')
            tag_start = memchr(tag_start + 1, '<', (size_t)(page->end - tag_start - 1)); /* a lone "<" is text */
        const uint8_t *end = tag_start ? tag_start : page->end;
        if (end > page->at && !read_text(page, end))
            return 0;
        if (!tag_start)
            break;
        page->at = tag_start + 1;
        if (!read_markup(page))
            return 0;
    }
    return (!page->link || finish_link(page)) && (page->mode == IN_BODY || start_body(page));
}

/* Result for the caller. */

typedef struct {
    uint8_t *memory, *fields, *text; /* `memory` owns all of it; release with sanderling_free */
    /* `fields` starts with the link rows (href, rel, anchor text) of `links_size` bytes */
    uint64_t links_size, fields_size, text_size, character_count;
    /* number of element and block fields after the links, in this order; then come language, h1, and rel and anchor
     * text of the first same-page link, if there is one */
    uint64_t element_fields, block_fields;
    uint64_t fingerprints[FINGERPRINT_WORDS];
    int32_t fingerprint_status; /* result of sanderling_text_fingerprints */
} ScanOutput;

static Buffer take_buffer(uint8_t **next, size_t size) {
    Buffer buffer = {*next, 0, size, 0};
    *next += size;
    return buffer;
}

static int append_buffer(Buffer *to, const Buffer *from) { return append_bytes(to, from->start, from->size); }

/* Append all other fields to the links. */
static int append_fields(Page *page) {
    Buffer *to = &page->links;
    size_t heading_end = page->heading ? page->text.size : page->heading_end;
    return append_buffer(to, &page->elements) && append_buffer(to, &page->blocks) &&
            append_buffer(to, &page->language) && append_bytes(to, (const uint8_t *)"", 1) &&
           append_bytes(to, page->text.start + page->heading_start, heading_end - page->heading_start) &&
           append_bytes(to, (const uint8_t *)"", 1) && append_buffer(to, &page->same_page_link);
}

/* Count characters without whitespace, of which a tree may have less, up to a maximum. */
static uint64_t count_characters(const Buffer *text) {
    uint64_t character_count = 0;
    for (size_t i = 0; i < text->size && character_count <= MAX_NOTICE_LENGTH; i++)
        character_count += ((text->start[i] & 0xC0) != 0x80) & (text->start[i] > ' ');
    return character_count;
}

/* Scan a UTF-8 page. Returns 1 and the output, to be released by the caller, or 0: use the parser. */
EXPORT int sanderling_fast_scan(const uint8_t *body, size_t length, ScanOutput *output) {
    if (memchr(body, 0, length) || !is_utf8(body, body + length))
        return FALLBACK;
    size_t capacity = length + 64;
    uint8_t *memory = malloc(14 * capacity), *next = memory;
    if (!memory)
        return FALLBACK;
    Page page;
    memset(&page, 0, sizeof page);
    page.at = body, page.end = body + length;
    page.open_elements[page.open_count++] = T_html;
    page.text = take_buffer(&next, capacity), page.noscript_text = take_buffer(&next, capacity),
            page.links = take_buffer(&next, 7 * capacity);
    page.elements = take_buffer(&next, 2 * capacity), page.blocks = take_buffer(&next, capacity),
            page.language = take_buffer(&next, capacity);
    page.same_page_link = take_buffer(&next, capacity);
    int is_scanned = read_page(&page);
    size_t links_size = page.links.size;
    if (!is_scanned || !append_fields(&page)) {
        free(memory);
        return FALLBACK;
    }
    *output = (ScanOutput){memory, page.links.start, page.text.start, links_size, page.links.size, page.text.size,
                      count_characters(&page.text), page.elements.fields, page.blocks.fields, {0}, 0};
    output->fingerprint_status = sanderling_text_fingerprints(page.text.start, page.text.size,
            output->fingerprints);
    return SCANNED;
}

EXPORT void sanderling_free(void *memory) { free(memory); }

EXPORT uint32_t sanderling_init(void) {
    init_references();
    init_tags();
    init_text_tables();
    init_links();
    init_stable_hash();
    return SOURCE_CHECKSUM;
}
