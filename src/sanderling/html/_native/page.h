/* State of the fast scan. Functions that can fail return 0: the page needs the parser. */

#ifndef SANDERLING_PAGE_H
#define SANDERLING_PAGE_H

#include "native.h"
#include "tags.h"

#define MAX_OPEN 200          /* nested elements */
#define TARGET_SLOTS 4096     /* a power of two */
#define MAX_UNIQUE_LINKS 2000 /* later links are not deduplicated: the caller counts those above its limit */
#define MAX_INLINE 250        /* unclosed inline elements; at 512 levels the parser flattens the tree */
#define SUSPENDED 255         /* depth of an inline element whose container was closed; the parser may reopen it */
#define MAX_BREAKS 250        /* line breaks inside a link */

enum { BEFORE_HEAD, IN_HEAD, AFTER_HEAD, IN_BODY };

typedef struct {
    const uint8_t *start, *end; /* NULL if missing */
} Span;

typedef struct {
    Span name, value; /* name.start is NULL after the last attribute */
    int is_empty;     /* after the last: whether the tag ended with "/>" */
} Attribute;

typedef struct {
    Span name;
    int tag, depth; /* number of enclosing containers */
} Inline;

typedef struct {
    Span name;
    int tag, is_empty;    /* ended with "/>" */
    Span values[A_count]; /* only of tags with relevant attributes */
} TagToken;

typedef struct {
    const uint8_t *at, *end;
    int mode, open_count, noscript_depth, has_form, has_html;
    int has_doctype, is_standards_mode;
    uint8_t open_elements[MAX_OPEN];
    int inline_count, inlines_before_link; /* open inline elements, and those opened before the current link */
    Inline inline_elements[MAX_INLINE];
    int link, has_href, heading; /* depth of the link and of the first h1, 0 if not open */
    size_t link_start, heading_start, heading_end;
    int has_line_break, break_count; /* whether the last tag broke the line; line breaks inside the current link */
    size_t break_offsets[MAX_BREAKS];
    int has_image, has_heading;
    Span image_alt;
    size_t href_offset; /* of the current link in `links` */
    /* offset + 1 in `links` of links that need no repetition, by hash of the target */
    uint32_t target_slots[TARGET_SLOTS];
    Buffer text, noscript_text, links, same_page_link, elements, blocks, language;
} Page;

static inline int is_alpha(uint8_t c) { return (uint8_t)((c | 32) - 'a') < 26; }

static inline int is_blank(uint8_t c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }

static inline int tag_kind(int tag) { return tags[tag].kind; }

/* `html` is at the bottom, so there always is a current element. */
static inline int current_tag(const Page *page) { return page->open_elements[page->open_count - 1]; }

static inline int is_line_breaking(int tag) { return tag_kind(tag) & LINE_BREAKING; }

static inline int is_in_svg(const Page *page) { return current_tag(page) == T_svg ||
        tag_kind(current_tag(page)) & SVG_ELEMENT; }

static inline Buffer *current_text(Page *page) { return page->noscript_depth ? &page->noscript_text : &page->text; }

/* scan_output.c */
int append_value(Buffer *to, Span value);
int start_link(Page *page, const TagToken *start);
int finish_link(Page *page);
int record_line_break(Page *page);
int record_image(Page *page, const TagToken *start);
int append_block(Page *page, const TagToken *start);
int append_element(Page *page, const TagToken *start, Span text);
int start_body(Page *page);

/* open_elements.c */
int push_element(Page *page, int tag);
int pop_elements(Page *page, int depth, int may_end_link);
int find_open(const Page *page, int tag, int stop, int other);
int close_element(Page *page, int tag, int stop, int other);
int close_heading(Page *page);
int close_form(Page *page);
int open_list_item(Page *page, int tag);
int open_inline(Page *page, const TagToken *start);
int close_inline(Page *page, const TagToken *start);
void truncate_stack(Page *page, int depth);
int find_cell(const Page *page);
int open_table_part(Page *page, int tag);
int close_table_part(Page *page, int tag);
int close_from_cell(Page *page, int tag);

static inline int close_paragraph(Page *page) { return close_element(page, T_p, T_button, T_button); }

/* markup.c */
const uint8_t *next_attribute(const uint8_t *at, const uint8_t *end, Attribute *found); /* NULL: the page ends in it */
int read_attributes(Page *page, TagToken *start, int keep_values);
int read_raw_text(Page *page, const TagToken *start);
const uint8_t *find_raw_text_end(const uint8_t *at, const uint8_t *end, const char *name);
int has_nested_script(const uint8_t *from, const uint8_t *end);
int has_noscript_end(const uint8_t *from, const uint8_t *end);
const uint8_t *find_comment_end(const uint8_t *at, const uint8_t *end);
int skip_comment(Page *page);
int skip_bogus_comment(Page *page);
int skip_declaration(Page *page);
int has_text(const uint8_t *from, const uint8_t *end);
int skip_line_end(Page *page);

/* tree_construction.c */
int process_start_tag(Page *page, const TagToken *start);
int process_end_tag(Page *page, const TagToken *start);

#endif
