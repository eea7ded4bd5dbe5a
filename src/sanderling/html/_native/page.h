/* A page that is being read, and who does what with it. All that can fail say whether it went well: 0 gives the page
 * back to the parser. */

#ifndef SANDERLING_PAGE_H
#define SANDERLING_PAGE_H

#include "native.h"
#include "tags.h"

#define MAX_OPEN 200   /* parts inside one another */
#define TARGETS 4096   /* a power of two */
#define MAX_TOLD 2000  /* links after which they are told as often as they come: the caller counts those that are too many */
#define MAX_INLINE 250 /* spans and the like that nothing ended; at 512 levels the parser begins to flatten */
#define LOST 255       /* where one is that went with a part; it may come back */
#define MAX_BREAKS 250 /* of the line inside a link; more of them are for the parser */

enum { BEFORE_HEAD, IN_HEAD, AFTER_HEAD, IN_BODY };

typedef struct {
    const uint8_t *start, *end; /* NULL where it is not there */
} Value;

typedef struct {
    Value name, value; /* no name: there is no further one */
    int is_empty;      /* then: whether the tag ended by "/>" */
} Attribute;

typedef struct {
    Value name;
    int tag, place; /* how many parts it is in */
} Inline;

typedef struct {
    Value name;
    int tag, is_empty;     /* ended by "/>" */
    Value values[A_count]; /* only of tags whose attributes are asked for */
} Start;

typedef struct {
    const uint8_t *at, *end;
    int mode, opens, unscripted, has_form, has_html; /* unscripted: inside how many noscripts */
    int has_doctype, is_modern;                      /* of a kind that is surely read by today's rules */
    uint8_t open[MAX_OPEN];
    int inlines, unlinked; /* of those the ones that were open before the open link */
    Inline inlined[MAX_INLINE];
    int link, is_outward, heading;          /* place in `open` of the link and of the first h1, 0 if there is none */
    size_t link_start, heading_start, heading_end;
    int is_broken, breaks; /* whether a line ended with the last tag; how many ended inside the open link, and where */
    size_t broken[MAX_BREAKS];
    int has_image, has_heading;
    Value image;
    size_t href; /* where the open link begins in `links` */
    uint32_t targets[TARGETS]; /* where links are told that say all of their targets, by hash, plus one */
    Buffer text, unseen, links, bare, told, blocks, lang; /* unseen: what is for those without scripts */
} Page;

static inline int is_alpha(uint8_t c) { return (uint8_t)((c | 32) - 'a') < 26; }

static inline int is_blank(uint8_t c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }

static inline int kind_of(int tag) { return tags[tag].kind; }

/* What is open last; `html` is below all, so there always is something. */
static inline int top(const Page *page) { return page->open[page->opens - 1]; }

/* Say whether a line ends where an element begins and ends; text.BREAKS. */
static inline int is_breaking(int tag) {
    return kind_of(tag) & (ENDS_P | HEADING | ROW | CELL) || tag == T_br || tag == T_li || tag == T_dd || tag == T_dt;
}

static inline int is_drawn(const Page *page) { return top(page) == T_svg || kind_of(top(page)) & DRAWN; }

static inline Buffer *text_of(Page *page) { return page->unscripted ? &page->unseen : &page->text; }

/* told.c: what is said of a page. */
int put_value(Buffer *to, Value value);
int begin_link(Page *page, const Start *start);
int end_link(Page *page);
int break_link(Page *page);
int begin_image(Page *page, const Start *start);
int put_block(Page *page, const Start *start);
int tell(Page *page, const Start *start, Value text);
int begin_body(Page *page);

/* open.c: what is open, and what ends it. */
int push(Page *page, int tag);
int pop_from(Page *page, int place, int may_end_link);
int place_of(const Page *page, int tag, int stop, int other);
int end_part(Page *page, int tag, int stop, int other);
int end_heading(Page *page);
int end_form(Page *page);
int begin_item(Page *page, int tag);
int begin_inline(Page *page, const Start *start);
int end_inline(Page *page, const Start *start);
void pop_to(Page *page, int place);
int place_of_cell(const Page *page);
int begin_row(Page *page, int tag);
int end_row(Page *page, int tag);
int end_from_cell(Page *page, int tag);

static inline int end_paragraph(Page *page) { return end_part(page, T_p, T_button, T_button); }

/* markup.c: what stands between "<" and ">", and what is no markup. */
const uint8_t *next_attribute(const uint8_t *at, const uint8_t *end, Attribute *found); /* NULL: the page ends in it */
int read_attributes(Page *page, Start *start, int is_wanted);
int read_raw(Page *page, const Start *start);
const uint8_t *end_of_raw(const uint8_t *at, const uint8_t *end, const char *name);
int is_nested(const uint8_t *from, const uint8_t *end);
int has_noscript_end(const uint8_t *from, const uint8_t *end);
const uint8_t *after_comment(const uint8_t *at, const uint8_t *end);
int skip_comment(Page *page);
int skip_bogus(Page *page);
int skip_declared(Page *page);
int has_words(const uint8_t *from, const uint8_t *end);
int skip_line_end(Page *page);

/* rules.c: what a tag does. */
int begin(Page *page, const Start *start);
int end(Page *page, const Start *start);

#endif
