/* Markup: attributes, comments, and the elements whose content is none. */

#include "page.h"

#include <string.h>

static const uint8_t *skip_blanks(const uint8_t *at, const uint8_t *end) {
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* Read a value that begins here; NULL where the page ends in it. */
static const uint8_t *read_value(const uint8_t *at, const uint8_t *end, Value *value) {
    at = skip_blanks(at, end);
    if (at == end)
        return NULL;
    if (*at == '"' || *at == '\'') {
        const uint8_t *close = memchr(at + 1, *at, (size_t)(end - at - 1));
        *value = (Value){at + 1, close};
        return close ? close + 1 : NULL;
    }
    const uint8_t *past = at;
    while (past < end && !is_blank(*past) && *past != '>')
        past++;
    *value = (Value){at, past};
    return past;
}

const uint8_t *next_attribute(const uint8_t *at, const uint8_t *end, Attribute *found) {
    const uint8_t *slash = NULL;
    for (; at < end && (is_blank(*at) || *at == '/'); at++)
        slash = *at == '/' ? at : slash;
    if (at == end)
        return NULL;
    if (*at == '>') {
        found->name = (Value){NULL, NULL};
        found->is_empty = slash && slash + 1 == at;
        return at + 1;
    }
    found->name.start = at++;
    while (at < end && !is_blank(*at) && *at != '/' && *at != '>' && *at != '=')
        at++;
    found->name.end = at;
    found->value = (Value){at, at};
    const uint8_t *equals = skip_blanks(at, end);
    return equals < end && *equals == '=' ? read_value(equals + 1, end, &found->value) : at;
}

/* Read the attributes of a tag up to and with its end; 0 where the page ends before. */
int read_attributes(Page *page, Start *start, int is_wanted) {
    Attribute found;
    while ((page->at = next_attribute(page->at, page->end, &found)) && found.name.start) {
        size_t length = (size_t)(found.name.end - found.name.start);
        int which = is_wanted ? attribute_of(found.name.start, length) : A_count;
        if (which != A_count && !start->values[which].start)
            start->values[which] = found.value;
    }
    start->is_empty = page->at && found.is_empty;
    return page->at != NULL;
}

static int is_same(const uint8_t *text, const char *name, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((text[i] | 32) != (uint8_t)name[i])
            return 0;
    return 1;
}

/* Find the end tag of an element whose content is no markup; NULL if there is none. */
const uint8_t *end_of_raw(const uint8_t *at, const uint8_t *end, const char *name) {
    size_t length = strlen(name);
    for (; (at = memchr(at, '<', (size_t)(end - at))); at++) {
        if ((size_t)(end - at) < length + 3)
            return NULL;
        uint8_t past = at[length + 2];
        if (at[1] == '/' && is_same(at + 2, name, length) && (is_blank(past) || past == '/' || past == '>'))
            return at;
    }
    return NULL;
}

/* A script that writes scripts into a comment ends elsewhere. */
int is_nested(const uint8_t *from, const uint8_t *end) {
    const uint8_t *at = from;
    int is_comment = 0;
    for (; (at = memchr(at, '<', (size_t)(end - at))); at++) {
        size_t left = (size_t)(end - at);
        is_comment |= left >= 4 && !memcmp(at, "<!--", 4);
        if (is_comment && left >= 7 && is_same(at + 1, "script", 6))
            return 1;
    }
    return 0;
}

/* What frames hold is one text; parse.py reads a page otherwise whose frames end the part for those without scripts. */
int has_noscript_end(const uint8_t *from, const uint8_t *end) {
    for (const uint8_t *at = from; (at = memchr(at, '<', (size_t)(end - at))); at++)
        if (end - at >= 10 && at[1] == '/' && is_same(at + 2, "noscript", 8))
            return 1;
    return 0;
}

/* Append a text without references. */
static int put_raw(Buffer *to, const uint8_t *from, const uint8_t *end) {
    return !memchr(from, '\r', (size_t)(end - from)) && put(to, from, (size_t)(end - from));
}

int has_words(const uint8_t *from, const uint8_t *end) {
    while (from < end && is_blank(*from))
        from++;
    return from < end;
}

/* Skip the line end a text may begin with; 0 where a reference may be one. */
int skip_line_end(Page *page) {
    page->at += page->at < page->end && *page->at == '\r';
    page->at += page->at < page->end && *page->at == '\n';
    return page->end - page->at < 2 || page->at[0] != '&' || (page->at[1] != '#' && page->at[1] != 'N');
}

int read_raw(Page *page, const Start *start) {
    int tag = start->tag;
    const uint8_t *end = end_of_raw(page->at, page->end, tags[tag].name);
    if (!end || start->is_empty) /* on pages written as XML that is its end */
        return 0;
    if (tag == T_textarea && !skip_line_end(page))
        return 0;
    const uint8_t *from = page->at;
    Start ignored;
    page->at = end + 2 + strlen(tags[tag].name);
    if (!read_attributes(page, &ignored, 0))
        return 0;
    Buffer *text = text_of(page);
    size_t before = text->size;
    switch (tag) {
    case T_script:
    case T_style:
        return !page->link && !page->heading && !(tag == T_script && is_nested(from, end));
    case T_iframe:
        return !has_noscript_end(from, end) && tell(page, start, (Value){from, from}) && put_block(page, start) &&
               put_raw(text, from, end);
    case T_title:
        return put_read(text, from, end, 0) && tell(page, start, (Value){text->start + before, text->start + text->size});
    default:
        return from <= end && put_read(text, from, end, 0);
    }
}

static int skip_to(Page *page, const uint8_t *past) {
    page->at = past;
    return past != NULL;
}

/* Skip to behind the next ">". */
int skip_bogus(Page *page) {
    const uint8_t *close = memchr(page->at, '>', (size_t)(page->end - page->at));
    return skip_to(page, close ? close + 1 : NULL);
}

/* Give what follows a word, in any case; NULL if it is not next. */
static const uint8_t *after(const uint8_t *at, const uint8_t *end, const char *word) {
    size_t length = strlen(word);
    while (at && at < end && is_blank(*at))
        at++;
    return at && (size_t)(end - at) >= length && is_same(at, word, length) ? at + length : NULL;
}

/* Say whether a doctype that begins so ends as it should: with the name of a kind, then perhaps an address of the W3C. */
static int is_whole(const uint8_t *id, const uint8_t *close) {
    const uint8_t *quote = memchr(id, '"', (size_t)(close - id));
    if (!quote)
        return 0;
    const uint8_t *address = after(quote + 1, close, "\"http://www.w3.org/");
    if (!address)
        return !has_words(quote + 1, close);
    quote = memchr(address, '"', (size_t)(close - address));
    return quote && !has_words(quote + 1, close);
}

/* Skip what begins with "<!"; the first doctype says by which rules a page is read, if it comes before all else. */
int skip_declared(Page *page) {
    const uint8_t *from = page->at;
    if (!skip_bogus(page))
        return 0;
    const uint8_t *close = page->at - 1, *word = is_blank(*from) ? NULL : after(from, close, "doctype");
    const uint8_t *name = after(word, close, "html");
    if (!word || page->has_doctype || page->has_html || page->mode != BEFORE_HEAD)
        return 1;
    const uint8_t *public = after(name, close, "public"), *id = after(public, close, "\"-//w3c//dtd xhtml 1.");
    page->is_modern = (name && !has_words(name, close)) || (id && is_whole(id, close));
    page->has_doctype = 1;
    return 1;
}

/* Find what follows a comment, from behind its "<!--"; NULL if it has no end. */
const uint8_t *after_comment(const uint8_t *at, const uint8_t *end) {
    if (at < end && *at == '>')
        return at + 1;
    if (end - at > 1 && at[0] == '-' && at[1] == '>')
        return at + 2;
    for (; (at = memchr(at, '-', (size_t)(end - at))); at++) {
        if (end - at > 2 && at[1] == '-' && at[2] == '>')
            return at + 3;
        if (end - at > 3 && at[1] == '-' && at[2] == '!' && at[3] == '>')
            return at + 4;
    }
    return NULL;
}

int skip_comment(Page *page) { return skip_to(page, after_comment(page->at, page->end)); }
