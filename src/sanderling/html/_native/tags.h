/* The tags that matter to who reads a page at a glance, and what each is. */

#ifndef SANDERLING_TAGS_H
#define SANDERLING_TAGS_H

#include <stddef.h>
#include <stdint.h>

enum {
    VOID = 1,       /* has no end */
    NAMED = 2,      /* one of structure.BLOCKS */
    PART = 4,       /* stays open until it is ended, and takes along what is open in it */
    ENDS_P = 8,     /* ends a paragraph */
    TOLD = 16,      /* says something about the page or of others */
    HEADING = 32,   /* of six sizes: the end of one ends any other */
    CLOSED = 64,    /* inside it ends nothing that is outside */
    ROW = 128,      /* part of a table, in which text may not stand */
    CELL = 256,     /* part of a table, in which it may */
    DRAWN = 512,    /* part of a drawing */
    HARD = 1024,    /* where it is, a parser has to say what the page is */
    LEADING = 2048, /* may stand in the head of a page */
    LOOSE = 4096,   /* ended by its like */
};

#define TAGS(X)                                                                                                        \
    X(a, 0) X(address, PART | ENDS_P) X(applet, HARD) X(area, VOID | TOLD) X(article, PART | ENDS_P | NAMED)           \
    X(aside, PART | ENDS_P | NAMED) X(base, VOID | TOLD | LEADING) X(basefont, HARD) X(bgsound, HARD)                  \
    X(blockquote, PART | ENDS_P | NAMED) X(body, NAMED) X(br, VOID) X(button, PART) X(caption, CELL | CLOSED)          \
    X(center, PART | ENDS_P) X(circle, DRAWN) X(clippath, DRAWN) X(col, VOID | ROW) X(colgroup, ROW)                    \
    X(command, HARD) X(dd, 0)                                                                                          \
    X(defs, DRAWN) X(desc, DRAWN) X(details, PART | ENDS_P) X(dialog, PART | ENDS_P) X(dir, PART | ENDS_P)             \
    X(div, PART | ENDS_P | NAMED) X(dl, PART | ENDS_P | NAMED) X(dt, 0) X(ellipse, DRAWN) X(embed, VOID)               \
    X(feblend, DRAWN) X(fecolormatrix, DRAWN) X(fecomposite, DRAWN) X(feflood, DRAWN) X(fegaussianblur, DRAWN)         \
    X(femerge, DRAWN) X(femergenode, DRAWN) X(feoffset, DRAWN)                                                         \
    X(fieldset, PART | ENDS_P | NAMED) X(figcaption, PART | ENDS_P) X(figure, PART | ENDS_P | NAMED)                   \
    X(filter, DRAWN) X(footer, PART | ENDS_P | NAMED) X(form, ENDS_P | NAMED) X(frame, HARD) X(frameset, HARD)         \
    X(g, DRAWN) X(h1, HEADING | NAMED) X(h2, HEADING | NAMED) X(h3, HEADING | NAMED) X(h4, HEADING | NAMED)            \
    X(h5, HEADING | NAMED) X(h6, HEADING | NAMED) X(head, 0) X(header, PART | ENDS_P | NAMED) X(hgroup, PART | ENDS_P) \
    X(hr, VOID | ENDS_P | NAMED) X(html, CLOSED) X(iframe, TOLD | NAMED) X(image, HARD) X(img, VOID) X(input, VOID)    \
    X(isindex, HARD)                                                                                                   \
    X(keygen, VOID) X(li, 0) X(line, DRAWN) X(lineargradient, DRAWN) X(link, VOID | TOLD | LEADING) X(listing, HARD)   \
    X(main, PART | ENDS_P | NAMED) X(marquee, HARD) X(mask, DRAWN) X(math, HARD) X(menu, PART | ENDS_P)                \
    X(meta, VOID | TOLD | LEADING) X(nav, PART | ENDS_P | NAMED) X(noembed, HARD) X(nobr, HARD) X(noframes, HARD) X(noscript, 0)     \
    X(object, PART | CLOSED) X(ol, PART | ENDS_P | NAMED) X(optgroup, LOOSE) X(option, LOOSE) X(p, ENDS_P) X(param, VOID)      \
    X(path, DRAWN) X(pattern, DRAWN) X(plaintext, HARD) X(polygon, DRAWN) X(polyline, DRAWN)                           \
    X(pre, PART | ENDS_P | NAMED) X(radialgradient, DRAWN) X(rb, LOOSE) X(rect, DRAWN) X(rp, LOOSE) X(rt, LOOSE)       \
    X(rtc, LOOSE) X(ruby, 0) X(script, LEADING) X(search, PART | ENDS_P)                                               \
    X(section, PART | ENDS_P | NAMED) X(select, 0) X(source, VOID) X(stop, DRAWN) X(style, LEADING)                    \
    X(summary, PART | ENDS_P) X(svg, NAMED | CLOSED) X(symbol, DRAWN) X(table, ROW | CLOSED | NAMED) X(tbody, ROW)     \
    X(td, CELL | CLOSED) X(template, HARD) X(text, DRAWN) X(textarea, 0) X(tfoot, ROW) X(th, CELL | CLOSED)            \
    X(thead, ROW) X(title, TOLD | LEADING) X(tr, ROW) X(track, VOID) X(tspan, DRAWN) X(ul, PART | ENDS_P | NAMED)      \
    X(use, DRAWN) X(wbr, VOID) X(xmp, HARD)

#define NUMBER(name, kind) T_##name,
enum { T_other, TAGS(NUMBER) T_count };

typedef struct {
    const char *name;
    uint16_t kind;
} Tag;

extern const Tag tags[T_count];

static inline uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 32) : c; }

/* Hash a name letter by letter, in any case. */
static inline uint32_t hashed(uint32_t hash, uint8_t letter) { return (hash ^ (letter | 32)) * 16777619u; }

/* Number a tag by its name, in any case, and the hash of that; T_other if nobody cares which it is. */
int tag_of(const uint8_t *name, size_t length, uint32_t hash);

/* Attributes somebody asks for, in the order pages/glance.py names them. */
#define ATTRIBUTES(X)                                                                                                  \
    X(href, "href") X(rel, "rel") X(type, "type") X(hreflang, "hreflang") X(media, "media") X(name, "name")            \
    X(content, "content") X(http_equiv, "http-equiv") X(src, "src") X(alt, "alt") X(class, "class") X(lang, "lang")
#define A_NUMBER(name, text) A_##name,
enum { ATTRIBUTES(A_NUMBER) A_count };
#define TOLD_ATTRIBUTES A_class /* those before it are told of what is TOLD */

int attribute_of(const uint8_t *name, size_t length);

#endif
