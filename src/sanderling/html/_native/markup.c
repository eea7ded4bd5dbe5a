/* Parse attributes, comments, declarations, and raw text elements. */

#include "page.h"

#include <string.h>

static const uint8_t *skip_blanks(const uint8_t *at, const uint8_t *end) {
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* Read an attribute value; NULL if the page ends in it. */
static const uint8_t *read_value(const uint8_t *at, const uint8_t *end, Span *value) {
    at = skip_blanks(at, end);
    if (at == end)
        return NULL;
    if (*at == '"' || *at == '\'') {
        const uint8_t *close = memchr(at + 1, *at, (size_t)(end - at - 1));
        *value = (Span){at + 1, close};
        return close ? close + 1 : NULL;
    }
    const uint8_t *after_end = at;
    while (after_end < end && !is_blank(*after_end) && *after_end != '>')
        after_end++;
    *value = (Span){at, after_end};
    return after_end;
}

const uint8_t *next_attribute(const uint8_t *at, const uint8_t *end, Attribute *found) {
    const uint8_t *slash = NULL;
    for (; at < end && (is_blank(*at) || *at == '/'); at++)
        slash = *at == '/' ? at : slash;
    if (at == end)
        return NULL;
    if (*at == '>') {
        found->name = (Span){NULL, NULL};
        found->is_empty = slash && slash + 1 == at;
        return at + 1;
    }
    found->name.start = at++;
    while (at < end && !is_blank(*at) && *at != '/' && *at != '>' && *at != '=')
        at++;
    found->name.end = at;
    found->value = (Span){at, at};
    const uint8_t *equals = skip_blanks(at, end);
    return equals < end && *equals == '=' ? read_value(equals + 1, end, &found->value) : at;
}

/* Read the attributes of a tag up to its end; 0 if the page ends before. */
int read_attributes(Page *page, TagToken *start, int keep_values) {
    Attribute found;
    while ((page->at = next_attribute(page->at, page->end, &found)) && found.name.start) {
        size_t length = (size_t)(found.name.end - found.name.start);
        int index = keep_values ? find_attribute(found.name.start, length) : A_count;
        if (index != A_count && !start->values[index].start)
            start->values[index] = found.value;
    }
    start->is_empty = page->at && found.is_empty;
    return page->at != NULL;
}

static int equals_ignoring_case(const uint8_t *text, const char *name, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((text[i] | 32) != (uint8_t)name[i])
            return 0;
    return 1;
}

/* Return the end tag of a raw text element, or NULL. */
const uint8_t *find_raw_text_end(const uint8_t *at, const uint8_t *end, const char *name) {
    size_t length = strlen(name);
    for (; (at = memchr(at, '<', (size_t)(end - at))); at++) {
        if ((size_t)(end - at) < length + 3)
            return NULL;
        uint8_t after_end = at[length + 2];
        if (at[1] == '/' && equals_ignoring_case(at + 2, name, length) &&
                (is_blank(after_end) || after_end == '/' || after_end == '>'))
            return at;
    }
    return NULL;
}

/* Return whether a script contains a comment with a script tag, which changes where it ends (WHATWG, script data
 * double escaped). */
int has_nested_script(const uint8_t *from, const uint8_t *end) {
    const uint8_t *at = from;
    int is_comment = 0;
    for (; (at = memchr(at, '<', (size_t)(end - at))); at++) {
        size_t remaining = (size_t)(end - at);
        is_comment |= remaining >= 4 && !memcmp(at, "<!--", 4);
        if (is_comment && remaining >= 7 && equals_ignoring_case(at + 1, "script", 6))
            return 1;
    }
    return 0;
}

/* The content of an iframe is text. parser.parse_html parses a page again if an iframe contains the end of a
 * noscript. */
int has_noscript_end(const uint8_t *from, const uint8_t *end) {
    for (const uint8_t *at = from; (at = memchr(at, '<', (size_t)(end - at))); at++)
        if (end - at >= 10 && at[1] == '/' && equals_ignoring_case(at + 2, "noscript", 8))
            return 1;
    return 0;
}

/* Append text without character references. */
static int append_raw(Buffer *to, const uint8_t *from, const uint8_t *end) {
    return !memchr(from, '\r', (size_t)(end - from)) && append_bytes(to, from, (size_t)(end - from));
}

int has_text(const uint8_t *from, const uint8_t *end) {
    while (from < end && is_blank(*from))
        from++;
    return from < end;
}

/* Skip the initial line feed of pre and textarea; 0 if it may be a character reference. */
int skip_line_end(Page *page) {
    page->at += page->at < page->end && *page->at == '\r';
    page->at += page->at < page->end && *page->at == '\n';
    return page->end - page->at < 2 || page->at[0] != '&' || (page->at[1] != '#' && page->at[1] != 'N');
}

int read_raw_text(Page *page, const TagToken *start) {
    int tag = start->tag;
    const uint8_t *end = find_raw_text_end(page->at, page->end, tags[tag].name);
    if (!end || start->is_empty) /* in XHTML, the element ends here */
        return 0;
    if (tag == T_textarea && !skip_line_end(page))
        return 0;
    const uint8_t *from = page->at;
    TagToken ignored;
    page->at = end + 2 + strlen(tags[tag].name);
    if (!read_attributes(page, &ignored, 0))
        return 0;
    Buffer *text = current_text(page);
    size_t before = text->size;
    switch (tag) {
    case T_script:
    case T_style:
        return !page->link && !page->heading && !(tag == T_script && has_nested_script(from, end));
    case T_iframe:
        return !has_noscript_end(from, end) && append_element(page, start, (Span){from, from}) &&
                append_block(page, start) &&
               append_raw(text, from, end);
    case T_title:
        return append_decoded(text, from, end, 0) &&
                append_element(page, start, (Span){text->start + before, text->start + text->size});
    default:
        return from <= end && append_decoded(text, from, end, 0);
    }
}

static int skip_to(Page *page, const uint8_t *after_end) {
    page->at = after_end;
    return after_end != NULL;
}

/* Skip to after the next ">". */
int skip_bogus_comment(Page *page) {
    const uint8_t *close = memchr(page->at, '>', (size_t)(page->end - page->at));
    return skip_to(page, close ? close + 1 : NULL);
}

/* Return what follows a word, ignoring case and leading whitespace, or NULL. */
static const uint8_t *match_word(const uint8_t *at, const uint8_t *end, const char *word) {
    size_t length = strlen(word);
    while (at && at < end && is_blank(*at))
        at++;
    return at && (size_t)(end - at) >= length && equals_ignoring_case(at, word, length) ? at + length : NULL;
}

/* Return whether an XHTML 1 doctype is complete: the rest of the public id, then optionally a W3C URL. */
static int is_valid_doctype(const uint8_t *id, const uint8_t *close) {
    const uint8_t *quote = memchr(id, '"', (size_t)(close - id));
    if (!quote)
        return 0;
    const uint8_t *address = match_word(quote + 1, close, "\"http://www.w3.org/");
    if (!address)
        return !has_text(quote + 1, close);
    quote = memchr(address, '"', (size_t)(close - address));
    return quote && !has_text(quote + 1, close);
}

/* Skip a declaration after "<!". The first doctype before all else selects standards mode. */
int skip_declaration(Page *page) {
    const uint8_t *from = page->at;
    if (!skip_bogus_comment(page))
        return 0;
    const uint8_t *close = page->at - 1, *word = is_blank(*from) ? NULL : match_word(from, close, "doctype");
    const uint8_t *name = match_word(word, close, "html");
    if (!word || page->has_doctype || page->has_html || page->mode != BEFORE_HEAD)
        return 1;
    const uint8_t *public = match_word(name, close, "public"),
            *id = match_word(public, close, "\"-//w3c//dtd xhtml 1.");
    page->is_standards_mode = (name && !has_text(name, close)) || (id && is_valid_doctype(id, close));
    page->has_doctype = 1;
    return 1;
}

/* Return what follows a comment, given the position after its "<!--", or NULL if it has no end. */
const uint8_t *find_comment_end(const uint8_t *at, const uint8_t *end) {
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

int skip_comment(Page *page) { return skip_to(page, find_comment_end(page->at, page->end)); }
