/* Tags that are relevant for the fast scan, and their kinds. */

#ifndef SANDERLING_TAGS_H
#define SANDERLING_TAGS_H

#include <stddef.h>
#include <stdint.h>

enum {
    VOID = 1,            /* no end tag */
    BLOCK = 2,           /* structure.BLOCK_TAGS */
    CONTAINER = 4,       /* stays open until its end tag, which also closes the elements in it */
    ENDS_P = 8,          /* closes a paragraph */
    METADATA = 16,       /* part of the metadata or a link */
    HEADING = 32,        /* any heading end tag closes it */
    SCOPE_BOUNDARY = 64, /* end tags inside do not close elements outside */
    TABLE_PART = 128,    /* table part without text */
    TABLE_CELL = 256,    /* table part with text */
    SVG_ELEMENT = 512,
    NEEDS_PARSER = 1024,      /* the page needs the parser */
    HEAD_ELEMENT = 2048,      /* allowed in the head */
    CLOSED_BY_SIBLING = 4096, /* closed by an element of its kind */
};

#define TAGS(X)                                                                                                        \
    X(a, 0) X(address, CONTAINER | ENDS_P) X(applet, NEEDS_PARSER) X(area, VOID | METADATA)                            \
    X(article, CONTAINER | ENDS_P | BLOCK) X(aside, CONTAINER | ENDS_P | BLOCK)                                        \
    X(base, VOID | METADATA | HEAD_ELEMENT) X(basefont, NEEDS_PARSER) X(bgsound, NEEDS_PARSER)                         \
    X(blockquote, CONTAINER | ENDS_P | BLOCK) X(body, BLOCK) X(br, VOID) X(button, CONTAINER)                          \
    X(caption, TABLE_CELL | SCOPE_BOUNDARY) X(center, CONTAINER | ENDS_P) X(circle, SVG_ELEMENT)                       \
    X(clippath, SVG_ELEMENT) X(col, VOID | TABLE_PART) X(colgroup, TABLE_PART) X(command, NEEDS_PARSER) X(dd, 0)       \
    X(defs, SVG_ELEMENT) X(desc, SVG_ELEMENT) X(details, CONTAINER | ENDS_P) X(dialog, CONTAINER | ENDS_P)             \
    X(dir, CONTAINER | ENDS_P) X(div, CONTAINER | ENDS_P | BLOCK) X(dl, CONTAINER | ENDS_P | BLOCK) X(dt, 0)           \
    X(ellipse, SVG_ELEMENT) X(embed, VOID) X(feblend, SVG_ELEMENT) X(fecolormatrix, SVG_ELEMENT)                       \
    X(fecomposite, SVG_ELEMENT) X(feflood, SVG_ELEMENT) X(fegaussianblur, SVG_ELEMENT) X(femerge, SVG_ELEMENT)         \
    X(femergenode, SVG_ELEMENT) X(feoffset, SVG_ELEMENT) X(fieldset, CONTAINER | ENDS_P | BLOCK)                       \
    X(figcaption, CONTAINER | ENDS_P) X(figure, CONTAINER | ENDS_P | BLOCK) X(filter, SVG_ELEMENT)                     \
    X(footer, CONTAINER | ENDS_P | BLOCK) X(form, ENDS_P | BLOCK) X(frame, NEEDS_PARSER) X(frameset, NEEDS_PARSER)     \
    X(g, SVG_ELEMENT) X(h1, HEADING | BLOCK) X(h2, HEADING | BLOCK) X(h3, HEADING | BLOCK) X(h4, HEADING | BLOCK)      \
    X(h5, HEADING | BLOCK) X(h6, HEADING | BLOCK) X(head, 0) X(header, CONTAINER | ENDS_P | BLOCK)                     \
    X(hgroup, CONTAINER | ENDS_P) X(hr, VOID | ENDS_P | BLOCK) X(html, SCOPE_BOUNDARY) X(iframe, METADATA | BLOCK)     \
    X(image, NEEDS_PARSER) X(img, VOID) X(input, VOID) X(isindex, NEEDS_PARSER) X(keygen, VOID) X(li, 0)               \
    X(line, SVG_ELEMENT) X(lineargradient, SVG_ELEMENT) X(link, VOID | METADATA | HEAD_ELEMENT)                        \
    X(listing, NEEDS_PARSER) X(main, CONTAINER | ENDS_P | BLOCK) X(marquee, NEEDS_PARSER) X(mask, SVG_ELEMENT)         \
    X(math, NEEDS_PARSER) X(menu, CONTAINER | ENDS_P) X(meta, VOID | METADATA | HEAD_ELEMENT)                          \
    X(nav, CONTAINER | ENDS_P | BLOCK) X(noembed, NEEDS_PARSER) X(nobr, NEEDS_PARSER) X(noframes, NEEDS_PARSER)        \
    X(noscript, 0) X(object, CONTAINER | SCOPE_BOUNDARY) X(ol, CONTAINER | ENDS_P | BLOCK)                             \
    X(optgroup, CLOSED_BY_SIBLING) X(option, CLOSED_BY_SIBLING) X(p, ENDS_P) X(param, VOID) X(path, SVG_ELEMENT)       \
    X(pattern, SVG_ELEMENT) X(plaintext, NEEDS_PARSER) X(polygon, SVG_ELEMENT) X(polyline, SVG_ELEMENT)                \
    X(pre, CONTAINER | ENDS_P | BLOCK) X(radialgradient, SVG_ELEMENT) X(rb, CLOSED_BY_SIBLING) X(rect, SVG_ELEMENT)    \
    X(rp, CLOSED_BY_SIBLING) X(rt, CLOSED_BY_SIBLING) X(rtc, CLOSED_BY_SIBLING) X(ruby, 0) X(script, HEAD_ELEMENT)     \
    X(search, CONTAINER | ENDS_P) X(section, CONTAINER | ENDS_P | BLOCK) X(select, 0) X(source, VOID)                  \
    X(stop, SVG_ELEMENT) X(style, HEAD_ELEMENT) X(summary, CONTAINER | ENDS_P) X(svg, BLOCK | SCOPE_BOUNDARY)          \
    X(symbol, SVG_ELEMENT) X(table, TABLE_PART | SCOPE_BOUNDARY | BLOCK) X(tbody, TABLE_PART)                          \
    X(td, TABLE_CELL | SCOPE_BOUNDARY) X(template, NEEDS_PARSER) X(text, SVG_ELEMENT) X(textarea, 0)                   \
    X(tfoot, TABLE_PART) X(th, TABLE_CELL | SCOPE_BOUNDARY) X(thead, TABLE_PART) X(title, METADATA | HEAD_ELEMENT)     \
    X(tr, TABLE_PART) X(track, VOID) X(tspan, SVG_ELEMENT) X(ul, CONTAINER | ENDS_P | BLOCK) X(use, SVG_ELEMENT)       \
    X(wbr, VOID) X(xmp, NEEDS_PARSER)

#define NUMBER(name, kind) T_##name,
enum { T_other, TAGS(NUMBER) T_count };

typedef struct {
    const char *name;
    uint16_t kind;
} Tag;

extern const Tag tags[T_count];

static inline uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 32) : c; }

static inline uint32_t hash_letter(uint32_t hash, uint8_t letter) { return (hash ^ (letter | 32)) * 16777619u; }

/* Return the number of a tag, ignoring case, given the hash of its name; T_other if it is not relevant. */
int find_tag(const uint8_t *name, size_t length, uint32_t hash);

/* Relevant attributes, in the order of scanned_page.ScannedElement. */
#define ATTRIBUTES(X)                                                                                                  \
    X(href, "href") X(rel, "rel") X(type, "type") X(hreflang, "hreflang") X(media, "media") X(name, "name")            \
    X(content, "content") X(http_equiv, "http-equiv") X(src, "src") X(alt, "alt") X(class, "class") X(lang, "lang")
#define A_NUMBER(name, text) A_##name,
enum { ATTRIBUTES(A_NUMBER) A_count };
#define METADATA_ATTRIBUTES A_class /* the attributes before it are part of METADATA elements */

int find_attribute(const uint8_t *name, size_t length);

#endif
