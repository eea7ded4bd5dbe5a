/* What a page writes for other letters: character references, line ends, UTF-8. */

#include "native.h"

#include <string.h>

#define SLOTS 1024 /* a power of two, some four times the names */
#define FIRST_LATIN 160
#define MAX_OLD 6 /* letters of the longest name that needs no semicolon */

/* The names of HTML 4: the letters from 160 on, in order, and all others. Of the two thousand that came later hardly one
 * is ever written; a page that does is for the parser. */
static const char LATIN[] =
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro "
    "para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil "
    "Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave "
    "Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml "
    "igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute "
    "thorn yuml ";
static const struct {
    const char *name;
    uint32_t letter;
} OLD[] = {{"quot", 34}, {"amp", 38}, {"lt", 60},   {"gt", 62},    {"QUOT", 34},
           {"AMP", 38},  {"LT", 60},  {"GT", 62},   {"COPY", 169}, {"REG", 174}},
  NEW[] = {
      {"apos", 39},       {"lsqb", 91},      {"rsqb", 93},      {"OElig", 338},    {"oelig", 339},    {"Scaron", 352},
      {"scaron", 353},    {"Yuml", 376},     {"fnof", 402},     {"circ", 710},     {"tilde", 732},    {"Alpha", 913},
      {"Beta", 914},      {"Gamma", 915},    {"Delta", 916},    {"Epsilon", 917},  {"Zeta", 918},     {"Eta", 919},
      {"Theta", 920},     {"Iota", 921},     {"Kappa", 922},    {"Lambda", 923},   {"Mu", 924},       {"Nu", 925},
      {"Xi", 926},        {"Omicron", 927},  {"Pi", 928},       {"Rho", 929},      {"Sigma", 931},    {"Tau", 932},
      {"Upsilon", 933},   {"Phi", 934},      {"Chi", 935},      {"Psi", 936},      {"Omega", 937},    {"alpha", 945},
      {"beta", 946},      {"gamma", 947},    {"delta", 948},    {"epsilon", 949},  {"zeta", 950},     {"eta", 951},
      {"theta", 952},     {"iota", 953},     {"kappa", 954},    {"lambda", 955},   {"mu", 956},       {"nu", 957},
      {"xi", 958},        {"omicron", 959},  {"pi", 960},       {"rho", 961},      {"sigmaf", 962},   {"sigma", 963},
      {"tau", 964},       {"upsilon", 965},  {"phi", 966},      {"chi", 967},      {"psi", 968},      {"omega", 969},
      {"thetasym", 977},  {"upsih", 978},    {"piv", 982},      {"ensp", 8194},    {"emsp", 8195},    {"thinsp", 8201},
      {"zwnj", 8204},     {"zwj", 8205},     {"lrm", 8206},     {"rlm", 8207},     {"ndash", 8211},   {"mdash", 8212},
      {"lsquo", 8216},    {"rsquo", 8217},   {"sbquo", 8218},   {"ldquo", 8220},   {"rdquo", 8221},   {"bdquo", 8222},
      {"dagger", 8224},   {"Dagger", 8225},  {"bull", 8226},    {"hellip", 8230},  {"permil", 8240},  {"prime", 8242},
      {"Prime", 8243},    {"lsaquo", 8249},  {"rsaquo", 8250},  {"oline", 8254},   {"frasl", 8260},   {"euro", 8364},
      {"image", 8465},    {"weierp", 8472},  {"real", 8476},    {"trade", 8482},   {"alefsym", 8501}, {"larr", 8592},
      {"uarr", 8593},     {"rarr", 8594},    {"darr", 8595},    {"harr", 8596},    {"crarr", 8629},   {"lArr", 8656},
      {"uArr", 8657},     {"rArr", 8658},    {"dArr", 8659},    {"hArr", 8660},    {"forall", 8704},  {"part", 8706},
      {"exist", 8707},    {"empty", 8709},   {"nabla", 8711},   {"isin", 8712},    {"notin", 8713},   {"ni", 8715},
      {"prod", 8719},     {"sum", 8721},     {"minus", 8722},   {"lowast", 8727},  {"radic", 8730},   {"prop", 8733},
      {"infin", 8734},    {"ang", 8736},     {"and", 8743},     {"or", 8744},      {"cap", 8745},     {"cup", 8746},
      {"int", 8747},      {"there4", 8756},  {"sim", 8764},     {"cong", 8773},    {"asymp", 8776},   {"ne", 8800},
      {"equiv", 8801},    {"le", 8804},      {"ge", 8805},      {"sub", 8834},     {"sup", 8835},     {"nsub", 8836},
      {"sube", 8838},     {"supe", 8839},    {"oplus", 8853},   {"otimes", 8855},  {"perp", 8869},    {"sdot", 8901},
      {"lceil", 8968},    {"rceil", 8969},   {"lfloor", 8970},  {"rfloor", 8971},  {"lang", 10216},   {"rang", 10217},
      {"loz", 9674},      {"spades", 9824},  {"clubs", 9827},   {"hearts", 9829},  {"diams", 9830}};

/* What the numbers from 128 to 159 stand for: pages are written as if they were windows-1252. */
static const uint16_t WINDOWS[32] = {8364, 129,  8218, 402,  8222, 8230, 8224, 8225, 710, 8240, 352,
                                     8249, 338,  141,  381,  143,  144,  8216, 8217, 8220, 8221, 8226,
                                     8211, 8212, 732,  8482, 353,  8250, 339,  157,  382, 376};

typedef struct {
    const char *name;
    uint32_t letter;
    uint8_t length, is_old;
} Slot;

static Slot slots[SLOTS];

static Slot *slot_of(const uint8_t *name, size_t length) {
    uint32_t at = 2166136261u;
    for (size_t i = 0; i < length; i++)
        at = (at ^ name[i]) * 16777619u;
    Slot *slot = &slots[(at ^ at >> 15) % SLOTS];
    while (slot->name && (slot->length != length || memcmp(slot->name, name, length)))
        slot = slot + 1 == slots + SLOTS ? slots : slot + 1;
    return slot;
}

static void learn(const char *name, size_t length, uint32_t letter, int is_old) {
    Slot *slot = slot_of((const uint8_t *)name, length);
    *slot = (Slot){name, letter, (uint8_t)length, (uint8_t)is_old};
}

void make_references(void) {
    memset(slots, 0, sizeof slots);
    uint32_t letter = FIRST_LATIN;
    for (const char *name = LATIN, *end; (end = strchr(name, ' ')); name = end + 1)
        learn(name, (size_t)(end - name), letter++, 1);
    for (size_t i = 0; i < sizeof OLD / sizeof *OLD; i++)
        learn(OLD[i].name, strlen(OLD[i].name), OLD[i].letter, 1);
    for (size_t i = 0; i < sizeof NEW / sizeof *NEW; i++)
        learn(NEW[i].name, strlen(NEW[i].name), NEW[i].letter, 0);
}

int put(Buffer *to, const uint8_t *from, size_t length) {
    if (length > to->room - to->size)
        return 0;
    if (length)
        memcpy(to->start + to->size, from, length);
    to->size += length;
    return 1;
}

static int put_letter(Buffer *to, uint32_t c) {
    uint8_t out[4];
    size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t LEAD[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length - 1; i > 0; i--, c >>= 6)
        out[i] = (uint8_t)(0x80 | (c & 0x3F));
    out[0] = (uint8_t)(LEAD[length] | c);
    return put(to, out, length);
}

static int is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static int is_alnum(uint8_t c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static int hex(uint8_t c) {
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Read a number behind "&#"; give what follows it, NULL where it is no letter. */
static const uint8_t *numbered(Buffer *to, const uint8_t *at, const uint8_t *end) {
    uint32_t c = 0, base = 10;
    const uint8_t *digits = at;
    if (at < end && (*at | 32) == 'x')
        base = 16, digits++;
    const uint8_t *past = digits;
    for (; past < end && hex(*past) >= 0 && (base == 16 || is_digit(*past)); past++)
        if ((c = c * base + (uint32_t)hex(*past)) > 0x10FFFF)
            return NULL;
    if (past == digits)
        return put(to, (const uint8_t *)"&#", 2) ? at : NULL;
    if (c == 0 || (c >= 0xD800 && c < 0xE000))
        return NULL;
    if (c >= 0x80 && c < 0xA0)
        c = WINDOWS[c - 0x80];
    return put_letter(to, c) ? past + (past < end && *past == ';') : NULL;
}

/* Read what stands behind an ampersand; give what follows it, NULL where a parser has to say. */
static const uint8_t *referred(Buffer *to, const uint8_t *at, const uint8_t *end, int in_attribute) {
    if (at < end && *at == '#')
        return numbered(to, at + 1, end);
    const uint8_t *past = at;
    while (past < end && is_alnum(*past))
        past++;
    size_t length = (size_t)(past - at);
    const Slot *known = slot_of(at, length);
    if (past < end && *past == ';' && length)
        return known->name && put_letter(to, known->letter) ? past + 1 : NULL;
    if (in_attribute) {
        if (known->name && known->is_old && (past == end || *past != '='))
            return put_letter(to, known->letter) ? past : NULL;
    } else {
        for (size_t n = 2; n <= MAX_OLD && n <= length; n++) {
            const Slot *old = slot_of(at, n);
            if (old->name && old->is_old)
                return NULL;
        }
    }
    return put(to, (const uint8_t *)"&", 1) ? at : NULL;
}

/* Append bytes up to the next that is odd: most stretches are short, so they are copied one by one. */
static const uint8_t *put_plain(Buffer *to, const uint8_t *from, const uint8_t *end) {
    uint8_t *out = to->start + to->size;
    while (from < end && *from != '&' && *from != '\r')
        *out++ = *from++;
    to->size = (size_t)(out - to->start);
    return from;
}

int put_read(Buffer *to, const uint8_t *from, const uint8_t *end, int in_attribute) {
    for (;;) {
        if ((size_t)(end - from) > to->room - to->size)
            return 0;
        from = put_plain(to, from, end);
        if (from == end)
            return 1;
        if (*from++ == '&') {
            if (!(from = referred(to, from, end, in_attribute)))
                return 0;
        } else {
            from += from < end && *from == '\n';
            if (!put(to, (const uint8_t *)"\n", 1))
                return 0;
        }
    }
}

/* Say how many bytes the letter at this place has; 0 where there is none. */
static size_t letter_at(const uint8_t *s, size_t left) {
    uint8_t c = s[0];
    size_t length = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    if (!length || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((c == 0xE0 && s[1] < 0xA0) || (c == 0xED && s[1] > 0x9F) || (c == 0xF0 && s[1] < 0x90) || (c == 0xF4 && s[1] > 0x8F))
        return 0;
    return length;
}

int is_utf8(const uint8_t *from, const uint8_t *end) {
    while (from < end) {
        uint64_t eight;
        while (end - from >= 8 && (memcpy(&eight, from, 8), !(eight & UINT64_C(0x8080808080808080))))
            from += 8;
        if (from == end)
            break;
        size_t length = letter_at(from, (size_t)(end - from));
        if (!length)
            return 0;
        from += length;
    }
    return 1;
}
