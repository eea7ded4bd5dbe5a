/* What is left of a page when that is sifted out which no mark of pages/signatures.py sees: comments, attributes written
 * for scripts alone, hidden values, queries of references, the data in scripts. Two versions of which the same is left
 * differ in nothing that is ever told.
 *
 * More may be left than marks see, never less: in doubt something stays, and where tags may not be what they seem the
 * page is given back. Only of a script inside of an option more is taken out, for nobody reads what it says. */

#include "sieve.h"

#include <string.h>

#define SLOTS 256 /* a power of two */
#define MANY 32   /* attributes of a tag that are weighed together; of one with more all stay */
#define FOREVER (1 << 30)
#define NAMESPACE "http://www.w3.org/1999/xhtml" /* xhtml.NAMESPACE, in the first bytes of a page (xhtml.START) */
#define START 2048

/* Attributes that a mark may see, of whichever tag (tags.SEEN), those that a parser heeds, and those it reads a charset
 * from. */
enum { UNSEEN, SEEN, DRESS, ID, ASKED, HREF, SRC, ACTION, TYPE, REL, VALUE, CHARSET, CONTENT };

static const struct {
    const char *name;
    uint8_t sort;
} attributes[] = {
    {"id", ID},            {"class", DRESS},     {"style", DRESS},          {"role", DRESS},      {"hidden", DRESS},
    {"href", HREF},        {"src", SRC},         {"srcset", SEEN},          {"alt", SEEN},        {"width", SEEN},
    {"height", SEEN},      {"poster", SEEN},     {"rel", REL},              {"method", SEEN},     {"action", ACTION},
    {"name", SEEN},        {"type", TYPE},       {"value", VALUE},          {"placeholder", SEEN}, {"checked", SEEN},
    {"selected", SEEN},    {"bgcolor", SEEN},    {"background", SEEN},      {"color", SEEN},      {"face", SEEN},
    {"size", SEEN},        {"border", SEEN},     {"code", SEEN},            {"data", SEEN},       {"data-src", SEEN},
    {"data-original", SEEN}, {"data-lazy-src", SEEN}, {"data-srcset", SEEN}, {"d", SEEN},          {"xlink:href", SEEN},
    {"aria-controls", ASKED}, {"aria-expanded", ASKED}, {"encoding", SEEN},   {"xmlns", SEEN},      {"charset", CHARSET},
    {"http-equiv", CHARSET}, {"content", CONTENT},
};

static const uint8_t raw_tags[] = {
    T_script, T_style, T_title, T_textarea, T_iframe, T_xmp, T_noembed, T_noframes, T_plaintext};
static const uint8_t other_tags[] = {
    T_a,    T_img,   T_pre,    T_svg,    T_math,    T_meta,     T_link,   T_input,
    T_form, T_embed, T_object, T_applet, T_marquee, T_template, T_select, T_table, T_frameset};

/* Parts of drawings and formulas in which HTML stands. */
static const char *const inlets[] = {"foreignobject", "desc", "annotation-xml", "mi", "mo", "mn", "ms", "mtext"};

static uint8_t slots[SLOTS], is_raw[T_count];
static uint16_t lengths[32]; /* of names of tags that matter here, a bit each, by how they begin */

/* Where a name is looked for first: by its ends and its length, for most that come are none of these. */
static uint32_t slot_of(const uint8_t *name, size_t length) {
    return ((name[0] | 32u) * 5 + (name[length - 1] | 32u) * 3 + (uint32_t)length) % SLOTS;
}

/* Say whether some bytes are this word, in any case. */
int is_word(Value value, const char *word) {
    size_t length = length_of(value);
    for (size_t i = 0; i < length; i++)
        if (lower(value.start[i]) != (uint8_t)word[i]) /* no page has the zero byte that ends it */
            return 0;
    return !word[length];
}

int has_word(Value value, const char *word) {
    for (size_t length = strlen(word); length_of(value) >= length; value.start++)
        if (is_word((Value){value.start, value.start + length}, word))
            return 1;
    return 0;
}

void make_sieve(void) {
    memset(slots, 0, sizeof slots);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        uint32_t at = slot_of((const uint8_t *)attributes[i].name, strlen(attributes[i].name));
        while (slots[at])
            at = (at + 1) % SLOTS;
        slots[at] = (uint8_t)(i + 1);
    }
    memset(lengths, 0, sizeof lengths);
    for (size_t i = 0; i < sizeof raw_tags + sizeof other_tags; i++) {
        int tag = i < sizeof raw_tags ? raw_tags[i] : other_tags[i - sizeof raw_tags];
        is_raw[tag] = i < sizeof raw_tags;
        lengths[tags[tag].name[0] & 31] |= (uint16_t)(1 << strlen(tags[tag].name));
    }
    make_code();
}

static int sort_of(Value name) {
    size_t length = length_of(name);
    for (uint32_t at = slot_of(name.start, length); slots[at]; at = (at + 1) % SLOTS)
        if (is_word(name, attributes[slots[at] - 1].name))
            return attributes[slots[at] - 1].sort;
    return length > 2 && (name.start[0] | 32) == 'o' && (name.start[1] | 32) == 'n' ? DRESS : UNSEEN;
}

static void take_in(Sieve *sieve, const uint8_t *some, size_t length) {
    sieve->left = (sieve->left ^ sieve->hash(some, length)) * UINT64_C(0x9E3779B97F4A7C15);
    sieve->left ^= sieve->left >> 29;
}

void empty(Sieve *sieve) {
    take_in(sieve, sieve->room, sieve->size);
    sieve->size = 0;
}

/* Keep some bytes: many at once are hashed where they stand. */
static void keep(Sieve *sieve, const uint8_t *some, size_t length) {
    if (length >= ROOM - sieve->size)
        empty(sieve);
    if (length >= ROOM) {
        take_in(sieve, some, length);
        return;
    }
    memcpy(sieve->room + sieve->size, some, length);
    sieve->size += length;
}

/* Leave out a stretch, if there is one, and mark that something was there. */
void leave_out(Sieve *sieve, Value some) {
    if (some.start == some.end)
        return;
    keep(sieve, sieve->kept_to, (size_t)(some.start - sieve->kept_to));
    keep_letter(sieve, 0, 1);
    sieve->kept_to = some.end;
}

/* What decides which attributes of a tag are seen. */
typedef struct {
    int tag, count, is_hidden, is_sheet, is_charset;
    Value type, src;
} Sort;

/* Say whether a mark may see an attribute (tags.seen). */
static int is_seen(const Sort *of, int sort) {
    int may_be = sort != UNSEEN && sort != CONTENT && sort != CHARSET;
    switch (of->tag) {
    case T_meta:
        return sort == DRESS || (of->is_charset && (sort == CHARSET || sort == CONTENT));
    case T_script:
        return sort == DRESS || sort == SRC || sort == TYPE;
    case T_link:
        return sort == DRESS || sort == REL || (may_be && of->is_sheet);
    case T_input:
        return may_be && !(of->is_hidden && sort == VALUE);
    default:
        return may_be;
    }
}

/* Sift one attribute out, as far as no mark sees it. */
static void sift_attribute(Sieve *sieve, const Sort *of, int sort, Value value) {
    int tag = of->tag;
    if (!is_seen(of, sort) || sort == ASKED) { /* of some it is seen whether they are there */
        leave_out(sieve, value);
        return;
    }
    switch (sort) {
    case ID:
        sift_id(sieve, value);
        break;
    case HREF:
        if (tag == T_a)
            sift_target(sieve, value);
        else if (tag == T_link)
            sift_reference(sieve, value);
        break;
    case SRC:
        if (tag == T_img)
            sift_picture(sieve, value);
        else if (tag == T_iframe || tag == T_embed || tag == T_script)
            sift_reference(sieve, value);
        break;
    case ACTION:
        if (tag == T_form)
            sift_reference(sieve, value);
        break;
    default:
        break;
    }
}

static int is_weighed(int tag) { return tag == T_meta || tag == T_script || tag == T_link || tag == T_input; }

/* Read what decides about the others from the attributes of a tag; of two of one name the first counts. */
static Sort weigh(int tag, const Attribute *found, const uint8_t *sorts, int count) {
    Sort of = {tag, count, 0, 0, 0, {NULL, NULL}, {NULL, NULL}};
    int has_rel = 0;
    for (int i = 0; i < count; i++) {
        Value value = found[i].value;
        if (sorts[i] == TYPE && !of.type.start)
            of.type = value;
        else if (sorts[i] == SRC && !of.src.start)
            of.src = value;
        else if (sorts[i] == CHARSET)
            of.is_charset = 1;
        else if (sorts[i] == REL && !has_rel++)
            of.is_sheet = has_word(value, "stylesheet") || memchr(value.start, '&', length_of(value));
    }
    of.is_hidden = of.type.start && is_word(of.type, "hidden");
    return of;
}

/* Sift the attributes of a tag; 0 where the page ends before it does. */
static int sift_attributes(Sieve *sieve, Sort *of, int is_end, int *is_empty) {
    Attribute found[MANY + 1];
    uint8_t sorts[MANY + 1];
    int count = 0, tag = of->tag, is_first = !is_end && !is_weighed(tag);
    const uint8_t *at = sieve->at;
    while ((at = next_attribute(at, sieve->end, &found[count])) && found[count].name.start) {
        sorts[count] = (uint8_t)sort_of(found[count].name);
        if (is_first)
            sift_attribute(sieve, of, sorts[count], found[count].value);
        else
            count += count < MANY;
    }
    if (!at)
        return 0;
    *is_empty = found[count].is_empty;
    sieve->at = at;
    if (is_first || is_end)
        return 1;
    *of = weigh(tag, found, sorts, count);
    for (int i = 0; i < count && count < MANY; i++)
        sift_attribute(sieve, of, sorts[i], found[i].value);
    return 1;
}

/* Pass over what is no markup, up to its end tag; 0 where it may be some. */
static int sift_raw(Sieve *sieve, const Sort *of, int is_empty) {
    const uint8_t *end = of->tag == T_plaintext ? NULL : end_of_raw(sieve->at, sieve->end, tags[of->tag].name);
    Value inside = {sieve->at, end ? end : sieve->end};
    sieve->at = inside.end;
    if (is_empty || (of->tag == T_iframe && (sieve->drawn || has_noscript_end(inside.start, inside.end))))
        return 0;
    if (sieve->is_xml && has_word(inside, "/>")) /* which may be the end of an element: if it is, all other bytes say */
        return 0;
    if (sieve->drawn && memchr(inside.start, '<', (size_t)(inside.end - inside.start))) /* there that is markup */
        return 0;
    if (of->tag != T_script || !end)
        return 1;
    int is_read = sieve->drawn || sieve->quoted || of->count >= MANY || length_of(of->src);
    if (!is_read)
        sift_code(sieve, of->type, inside);
    return !is_nested(inside.start, inside.end);
}

/* Number a tag; those that do not matter here are all others. */
static int tag_named(Value name) {
    size_t length = length_of(name);
    if (length > 15 || !(lengths[name.start[0] & 31] >> length & 1))
        return T_other;
    uint32_t hash = 0;
    for (size_t i = 0; i < length; i++)
        hash = hashed(hash, name.start[i]);
    return tag_of(name.start, length, hash);
}

/* Say whether HTML stands in the part of a drawing that begins here: more than words up to its end. */
static int is_inlet(const Sieve *sieve, Value name) {
    size_t length = length_of(name);
    for (size_t i = 0; i < sizeof inlets / sizeof *inlets; i++) {
        if (!is_word(name, inlets[i]))
            continue;
        const uint8_t *next = memchr(sieve->at, '<', (size_t)(sieve->end - sieve->at));
        if (!next || (size_t)(sieve->end - next) < length + 3 || next[1] != '/')
            return 1;
        uint8_t past = next[length + 2];
        return !is_word((Value){next + 2, next + 2 + length}, inlets[i]) || !(is_blank(past) || past == '/' || past == '>');
    }
    return 0;
}

/* Say whether the end of a preformatted text is passed over inside of this. */
static int is_closed(int tag) {
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

static int counted(int open, int is_end) { return open == FOREVER ? open : is_end ? open - (open > 0) : open + 1; }

/* Follow what is open and makes others of tags or scripts. Where a parser may pass over its end it stays open here. */
static void follow(Sieve *sieve, Value name, int tag, int is_end, int is_empty) {
    int is_drawing = tag == T_svg || tag == T_math, is_begun = !is_end && !is_empty;
    if (sieve->drawn && is_begun && (is_drawing ? tag != sieve->drawing : is_inlet(sieve, name)))
        sieve->drawn = FOREVER;
    if (is_drawing && !sieve->drawn)
        sieve->drawing = tag;
    if (is_drawing && tag == sieve->drawing && (is_end || is_begun))
        sieve->drawn = counted(sieve->drawn, is_end);
    if (tag == T_pre)
        sieve->quoted = counted(sieve->quoted, is_end);
    else if (sieve->quoted && !is_end && is_closed(tag))
        sieve->quoted = FOREVER;
}

static int sift_tag(Sieve *sieve, int is_end) {
    Value name = {sieve->at, sieve->at};
    while (name.end < sieve->end && !is_blank(*name.end) && *name.end != '/' && *name.end != '>')
        name.end++;
    sieve->at = name.end;
    Sort of = {tag_named(name), 0, 0, 0, 0, {NULL, NULL}, {NULL, NULL}};
    int is_empty = 0, is_bare = sieve->at < sieve->end && *sieve->at == '>';
    if (of.tag == T_link && sieve->drawn) /* there it is no other than all, and words may stand in it */
        of.tag = T_other;
    sieve->at += is_bare;
    if (!is_bare && !sift_attributes(sieve, &of, is_end, &is_empty))
        return 0;
    if (of.tag == T_frameset) /* in which a parser knows frames alone */
        return 0;
    follow(sieve, name, of.tag, is_end, is_empty);
    return is_end || !is_raw[of.tag] || sift_raw(sieve, &of, is_empty);
}

/* Sift markup from behind its "<". */
static int sift_markup(Sieve *sieve) {
    const uint8_t *at = sieve->at, *end = sieve->end;
    if (at == end)
        return 1;
    if (is_alpha(*at))
        return sift_tag(sieve, 0);
    if (*at == '/' && end - at > 1 && is_alpha(at[1])) {
        sieve->at++;
        return sift_tag(sieve, 1);
    }
    if (end - at >= 3 && !memcmp(at, "!--", 3)) {
        const uint8_t *past = after_comment(at + 3, end);
        if (past)
            leave_out(sieve, (Value){at + 3, past});
        sieve->at = past;
        return past != NULL;
    }
    if (*at != '!' && *at != '?' && *at != '/') /* a lone "<" is text */
        return 1;
    if (end - at >= 8 && !memcmp(at, "![CDATA[", 8))
        return 0;
    const uint8_t *close = memchr(at, '>', (size_t)(end - at));
    sieve->at = close ? close + 1 : end;
    return 1;
}

/* Hash what is left of a page in UTF-8; 0 where that is not sure. */
EXPORT int sanderling_sift(const uint8_t *body, size_t length, Hash hash, uint64_t *found) {
    if (memchr(body, 0, length) || !is_utf8(body, body + length))
        return 0;
    Sieve sieve;
    sieve.at = sieve.kept_to = body;
    sieve.end = body + length;
    sieve.hash = hash;
    sieve.left = sieve.size = 0;
    sieve.drawn = sieve.drawing = sieve.quoted = 0;
    sieve.is_xml = has_word((Value){body, body + (length < START ? length : START)}, NAMESPACE);
    while (sieve.at < sieve.end) {
        const uint8_t *next = memchr(sieve.at, '<', (size_t)(sieve.end - sieve.at));
        sieve.at = next ? next + 1 : sieve.end;
        if (next && !sift_markup(&sieve))
            return 0;
    }
    keep(&sieve, sieve.kept_to, (size_t)(sieve.end - sieve.kept_to));
    empty(&sieve);
    *found = sieve.left;
    return 1;
}
