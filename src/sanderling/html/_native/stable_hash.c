/* Hash a page without the markup that no fingerprint depends on: comments, attributes for scripts, hidden values,
 * queries of asset URLs, data in scripts. Versions with equal hashes have no reportable change.
 *
 * The hash may cover more than the fingerprints, never less: in doubt, bytes are kept, and where tags are ambiguous,
 * hashing fails. The only exception is a script inside an option, which is never read. */

#include "stable_hash.h"

#include <string.h>

#define SLOTS 256         /* a power of two */
#define MAX_ATTRIBUTES 32 /* per tag; with more, all are kept */
#define UNKNOWN_DEPTH (1 << 30)
/* Roles of attributes that are relevant for fingerprints on some tag, for the parser, or for the charset. */
enum { IGNORED, VISIBLE, STYLING, ID, PRESENCE, HREF, SRC, ACTION, TYPE, REL, VALUE, TOOLTIP, CHARSET, CONTENT };

static const struct {
    const char *name;
    uint8_t role;
} attributes[] = {ATTRIBUTE_ROLES};

static const uint8_t relevant_tags[] = {
    T_a,    T_img,   T_pre,    T_svg,    T_math,    T_meta,     T_link,   T_input,
    T_form, T_embed, T_object, T_applet, T_marquee, T_template, T_select, T_table, T_frameset};

/* SVG and MathML elements with HTML content. */
static const char *const integration_points[] = {"foreignobject", "desc", "annotation-xml", "mi", "mo", "mn", "ms",
        "mtext"};

static uint8_t slots[SLOTS];
static uint16_t name_lengths[32]; /* bit set of the lengths of relevant tag names, by first letter */

/* Cheap hash of a name by its ends and length: most names are irrelevant. */
static uint32_t slot_of(const uint8_t *name, size_t length) {
    return ((name[0] | 32u) * 5 + (name[length - 1] | 32u) * 3 + (uint32_t)length) % SLOTS;
}

/* Compare with a lowercase word, ignoring case. */
int equals_word(Span value, const char *word) {
    size_t length = length_of(value);
    for (size_t i = 0; i < length; i++)
        if (lower(value.start[i]) != (uint8_t)word[i]) /* pages contain no zero bytes, so the end of `word` differs */
            return 0;
    return !word[length];
}

int contains_word(Span value, const char *word) {
    for (size_t length = strlen(word); length_of(value) >= length; value.start++)
        if (equals_word((Span){value.start, value.start + length}, word))
            return 1;
    return 0;
}

void init_stable_hash(void) {
    memset(slots, 0, sizeof slots);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        uint32_t at = slot_of((const uint8_t *)attributes[i].name, strlen(attributes[i].name));
        while (slots[at])
            at = (at + 1) % SLOTS;
        slots[at] = (uint8_t)(i + 1);
    }
    memset(name_lengths, 0, sizeof name_lengths);
    for (int tag = 1; tag < T_count; tag++)
        if (tag_kind(tag) & RAW_TEXT || memchr(relevant_tags, tag, sizeof relevant_tags))
            name_lengths[tags[tag].name[0] & 31] |= (uint16_t)(1 << strlen(tags[tag].name));
    init_script_code();
}

static int attribute_role(Span name) {
    size_t length = length_of(name);
    for (uint32_t at = slot_of(name.start, length); slots[at]; at = (at + 1) % SLOTS)
        if (equals_word(name, attributes[slots[at] - 1].name))
            return attributes[slots[at] - 1].role;
    return length > 2 && (name.start[0] | 32) == 'o' && (name.start[1] | 32) == 'n' ? STYLING : IGNORED;
}

static void update_state(Hasher *hasher, const uint8_t *bytes, size_t length) {
    hasher->state = (hasher->state ^ sanderling_xxh3(bytes, length)) * UINT64_C(0x9E3779B97F4A7C15);
    hasher->state ^= hasher->state >> 29;
}

void flush_pending(Hasher *hasher) {
    update_state(hasher, hasher->pending, hasher->size);
    hasher->size = 0;
}

/* Buffer bytes, or hash long runs in place. */
static void hash_bytes(Hasher *hasher, const uint8_t *bytes, size_t length) {
    if (length >= PENDING_SIZE - hasher->size)
        flush_pending(hasher);
    if (length >= PENDING_SIZE) {
        update_state(hasher, bytes, length);
        return;
    }
    memcpy(hasher->pending + hasher->size, bytes, length);
    hasher->size += length;
}

/* Skip bytes; a zero byte marks the gap. */
void skip_span(Hasher *hasher, Span bytes) {
    if (bytes.start == bytes.end)
        return;
    hash_bytes(hasher, hasher->hashed_to, (size_t)(bytes.start - hasher->hashed_to));
    hash_byte(hasher, 0, 1);
    hasher->hashed_to = bytes.end;
}

/* Attributes that decide which other attributes are relevant. */
typedef struct {
    int tag, count, is_hidden, is_stylesheet, is_charset;
    Span type, src;
} TagContext;

/* Return whether a fingerprint may depend on an attribute (tag_compare). */
static int is_visible(const TagContext *context, int role) {
    int may_be_visible = role != IGNORED && role != CONTENT && role != CHARSET;
    switch (context->tag) {
    case T_meta:
        return role == STYLING || (context->is_charset && (role == CHARSET || role == CONTENT));
    case T_script:
        return role == STYLING || role == SRC || role == TYPE;
    case T_link:
        return role == STYLING || role == REL || (may_be_visible && context->is_stylesheet);
    case T_input:
        return may_be_visible && !(context->is_hidden && role == VALUE);
    default:
        return may_be_visible;
    }
}

/* Skip the irrelevant part of an attribute. */
static void strip_attribute(Hasher *hasher, const TagContext *context, int role, Span value) {
    int tag = context->tag;
    if (!is_visible(context, role) || role == PRESENCE) { /* only their presence is relevant */
        skip_span(hasher, value);
        return;
    }
    switch (role) {
    case ID:
        strip_id(hasher, value);
        break;
    case HREF:
        if (tag == T_a)
            strip_link_target(hasher, value);
        else if (tag == T_link)
            strip_asset_url(hasher, value);
        break;
    case SRC:
        if (tag == T_img)
            strip_image_url(hasher, value);
        else if (tag == T_iframe || tag == T_embed || tag == T_script)
            strip_asset_url(hasher, value);
        break;
    case ACTION:
        if (tag == T_form)
            strip_asset_url(hasher, value);
        break;
    case TOOLTIP:
        strip_tooltip(hasher, value);
        break;
    default:
        break;
    }
}

static int needs_context(int tag) { return tag == T_meta || tag == T_script || tag == T_link || tag == T_input; }

/* Read the deciding attributes of a tag; of duplicates, the first counts. */
static TagContext read_context(int tag, const Attribute *found, const uint8_t *roles, int count) {
    TagContext context = {tag, count, 0, 0, 0, {NULL, NULL}, {NULL, NULL}};
    int has_rel = 0;
    for (int i = 0; i < count; i++) {
        Span value = found[i].value;
        if (roles[i] == TYPE && !context.type.start)
            context.type = value;
        else if (roles[i] == SRC && !context.src.start)
            context.src = value;
        else if (roles[i] == CHARSET)
            context.is_charset = 1;
        else if (roles[i] == REL && !has_rel++)
            context.is_stylesheet = contains_word(value, "stylesheet") || memchr(value.start, '&', length_of(value));
    }
    context.is_hidden = context.type.start && equals_word(context.type, "hidden");
    return context;
}

/* Skip the irrelevant attributes of a tag; 0 if the page ends before the tag. */
static int strip_attributes(Hasher *hasher, TagContext *context, int is_end, int *is_empty) {
    Attribute found[MAX_ATTRIBUTES + 1];
    uint8_t roles[MAX_ATTRIBUTES + 1];
    int count = 0, tag = context->tag, is_streamed = !is_end && !needs_context(tag);
    const uint8_t *at = hasher->at;
    while ((at = next_attribute(at, hasher->end, &found[count])) && found[count].name.start) {
        roles[count] = (uint8_t)attribute_role(found[count].name);
        if (is_streamed)
            strip_attribute(hasher, context, roles[count], found[count].value);
        else
            count += count < MAX_ATTRIBUTES;
    }
    if (!at)
        return 0;
    *is_empty = found[count].is_empty;
    hasher->at = at;
    if (is_streamed || is_end)
        return 1;
    *context = read_context(tag, found, roles, count);
    for (int i = 0; i < count && count < MAX_ATTRIBUTES; i++)
        strip_attribute(hasher, context, roles[i], found[i].value);
    return 1;
}

/* Process a raw text element up to its end tag; 0 if its content may be markup. */
static int strip_raw_text(Hasher *hasher, const TagContext *context, int is_empty) {
    const uint8_t *end = context->tag == T_plaintext ? NULL
            : find_raw_text_end(hasher->at, hasher->end, tags[context->tag].name);
    Span inside = {hasher->at, end ? end : hasher->end};
    hasher->at = inside.end;
    if (is_empty || (context->tag == T_iframe && (hasher->foreign_depth || has_noscript_end(inside.start, inside.end))))
        return 0;
    if (hasher->is_xml && contains_word(inside, "/>")) /* may end an element, if the whole page is well-formed XML */
        return 0;
    /* markup in foreign content */
    if (hasher->foreign_depth && memchr(inside.start, '<', (size_t)(inside.end - inside.start)))
        return 0;
    if (context->tag != T_script || !end)
        return 1;
    int is_kept_whole = hasher->foreign_depth || hasher->pre_depth || context->count >= MAX_ATTRIBUTES ||
            length_of(context->src);
    if (!is_kept_whole)
        strip_script(hasher, context->type, inside);
    return !has_nested_script(inside.start, inside.end);
}

/* Return T_other for tags that need no special treatment. */
static int find_relevant_tag(Span name) {
    size_t length = length_of(name);
    if (length > 15 || !(name_lengths[name.start[0] & 31] >> length & 1))
        return T_other;
    uint32_t hash = 0;
    for (size_t i = 0; i < length; i++)
        hash = hash_letter(hash, name.start[i]);
    return find_tag(name.start, length, hash);
}

/* Return whether an element of foreign content contains more than text up to its end tag. */
static int is_integration_point(const Hasher *hasher, Span name) {
    size_t length = length_of(name);
    for (size_t i = 0; i < sizeof integration_points / sizeof *integration_points; i++) {
        if (!equals_word(name, integration_points[i]))
            continue;
        const uint8_t *next = memchr(hasher->at, '<', (size_t)(hasher->end - hasher->at));
        if (!next || (size_t)(hasher->end - next) < length + 3 || next[1] != '/')
            return 1;
        uint8_t after_end = next[length + 2];
        return !equals_word((Span){next + 2, next + 2 + length}, integration_points[i]) ||
                !(is_blank(after_end) || after_end == '/' || after_end == '>');
    }
    return 0;
}

/* Return whether a parser ignores the end tag of an outer pre inside this element. */
static int hides_pre_end(int tag) {
    switch (tag) {
    case T_applet:
    case T_marquee:
    case T_math:
    case T_object:
    case T_select:
    case T_svg:
    case T_table:
    case T_template:
        return 1;
    default:
        return 0;
    }
}

static int update_depth(int depth, int is_end) { return depth == UNKNOWN_DEPTH ? depth : is_end ? depth - (depth > 0)
        : depth + 1; }

/* Track foreign content and pre. Where a parser may ignore an end tag, the depth becomes unknown. */
static void track_nesting(Hasher *hasher, Span name, int tag, int is_end, int is_empty) {
    int is_foreign_root = tag == T_svg || tag == T_math, is_start = !is_end && !is_empty;
    if (hasher->foreign_depth && is_start && (is_foreign_root ? tag != hasher->foreign_root
            : is_integration_point(hasher, name)))
        hasher->foreign_depth = UNKNOWN_DEPTH;
    if (is_foreign_root && !hasher->foreign_depth)
        hasher->foreign_root = tag;
    if (is_foreign_root && tag == hasher->foreign_root && (is_end || is_start))
        hasher->foreign_depth = update_depth(hasher->foreign_depth, is_end);
    if (tag == T_pre)
        hasher->pre_depth = update_depth(hasher->pre_depth, is_end);
    else if (hasher->pre_depth && !is_end && hides_pre_end(tag))
        hasher->pre_depth = UNKNOWN_DEPTH;
}

static int process_tag(Hasher *hasher, int is_end) {
    Span name = {hasher->at, hasher->at};
    while (name.end < hasher->end && !is_blank(*name.end) && *name.end != '/' && *name.end != '>')
        name.end++;
    hasher->at = name.end;
    TagContext context = {find_relevant_tag(name), 0, 0, 0, 0, {NULL, NULL}, {NULL, NULL}};
    int is_empty = 0, has_no_attributes = hasher->at < hasher->end && *hasher->at == '>';
    if (context.tag == T_link && hasher->foreign_depth) /* in foreign content, an ordinary element with text */
        context.tag = T_other;
    hasher->at += has_no_attributes;
    if (!has_no_attributes && !strip_attributes(hasher, &context, is_end, &is_empty))
        return 0;
    if (context.tag == T_frameset) /* inside, a parser accepts only frames */
        return 0;
    track_nesting(hasher, name, context.tag, is_end, is_empty);
    return is_end || !(tag_kind(context.tag) & RAW_TEXT) || strip_raw_text(hasher, &context, is_empty);
}

/* Process markup after its "<". */
static int process_markup(Hasher *hasher) {
    const uint8_t *at = hasher->at, *end = hasher->end;
    if (at == end)
        return 1;
    if (is_alpha(*at))
        return process_tag(hasher, 0);
    if (*at == '/' && end - at > 1 && is_alpha(at[1])) {
        hasher->at++;
        return process_tag(hasher, 1);
    }
    if (end - at >= 3 && !memcmp(at, "!--", 3)) {
        const uint8_t *after_end = find_comment_end(at + 3, end);
        if (after_end)
            skip_span(hasher, (Span){at + 3, after_end});
        hasher->at = after_end;
        return after_end != NULL;
    }
    if (*at != '!' && *at != '?' && *at != '/') /* a lone "<" is text */
        return 1;
    if (end - at >= 8 && !memcmp(at, "![CDATA[", 8))
        return 0;
    const uint8_t *close = memchr(at, '>', (size_t)(end - at));
    hasher->at = close ? close + 1 : end;
    return 1;
}

/* Compute the stable hash of a UTF-8 page; returns 0 if it is ambiguous. */
EXPORT int sanderling_stable_hash(const uint8_t *body, size_t length, uint64_t *found) {
    if (memchr(body, 0, length) || !is_utf8(body, body + length))
        return 0;
    Hasher hasher;
    hasher.at = hasher.hashed_to = body;
    hasher.end = body + length;
    hasher.state = hasher.size = 0;
    hasher.foreign_depth = hasher.foreign_root = hasher.pre_depth = 0;
    hasher.is_xml = contains_word((Span){body, body + (length < NAMESPACE_SEARCH_BYTES ? length
            : NAMESPACE_SEARCH_BYTES)}, XHTML_NAMESPACE);
    while (hasher.at < hasher.end) {
        const uint8_t *next = memchr(hasher.at, '<', (size_t)(hasher.end - hasher.at));
        hasher.at = next ? next + 1 : hasher.end;
        if (next && !process_markup(&hasher))
            return 0;
    }
    hash_bytes(&hasher, hasher.hashed_to, (size_t)(hasher.end - hasher.hashed_to));
    flush_pending(&hasher);
    *found = hasher.state;
    return 1;
}
