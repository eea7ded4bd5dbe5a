/* Decode character references and line ends, and validate UTF-8. */

#include "native.h"

#include <string.h>

#define SLOTS 1024 /* a power of two, about four times the number of names */
#define FIRST_LATIN 160
#define MAX_LEGACY_NAME 6 /* longest name that needs no semicolon */

/* Names of HTML 4: the characters from 160 on in order, and all others. The 2,000 later names are rare; a page with
 * one needs the parser. */
static const char LATIN[] =
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro "
    "para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil "
    "Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave "
    "Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml "
    "igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute "
    "thorn yuml ";
static const struct {
    const char *name;
    uint32_t character;
} LEGACY[] = {{"quot", 34}, {"amp", 38}, {"lt", 60},   {"gt", 62},    {"QUOT", 34},
           {"AMP", 38},  {"LT", 60},  {"GT", 62},   {"COPY", 169}, {"REG", 174}},
  MODERN[] = {
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

/* Numbers 128 to 159 mean windows-1252 characters (WHATWG). */
static const uint16_t WINDOWS_1252[32] = {8364, 129,  8218, 402,  8222, 8230, 8224, 8225, 710, 8240, 352,
                                     8249, 338,  141,  381,  143,  144,  8216, 8217, 8220, 8221, 8226,
                                     8211, 8212, 732,  8482, 353,  8250, 339,  157,  382, 376};

typedef struct {
    const char *name;
    uint32_t character;
    uint8_t length, is_legacy;
} Slot;

static Slot slots[SLOTS];

static Slot *find_slot(const uint8_t *name, size_t length) {
    uint32_t at = 2166136261u;
    for (size_t i = 0; i < length; i++)
        at = (at ^ name[i]) * 16777619u;
    Slot *slot = &slots[(at ^ at >> 15) % SLOTS];
    while (slot->name && (slot->length != length || memcmp(slot->name, name, length)))
        slot = slot + 1 == slots + SLOTS ? slots : slot + 1;
    return slot;
}

static void add_reference(const char *name, size_t length, uint32_t character, int is_legacy) {
    Slot *slot = find_slot((const uint8_t *)name, length);
    *slot = (Slot){name, character, (uint8_t)length, (uint8_t)is_legacy};
}

void init_references(void) {
    memset(slots, 0, sizeof slots);
    uint32_t character = FIRST_LATIN;
    for (const char *name = LATIN, *end; (end = strchr(name, ' ')); name = end + 1)
        add_reference(name, (size_t)(end - name), character++, 1);
    for (size_t i = 0; i < sizeof LEGACY / sizeof *LEGACY; i++)
        add_reference(LEGACY[i].name, strlen(LEGACY[i].name), LEGACY[i].character, 1);
    for (size_t i = 0; i < sizeof MODERN / sizeof *MODERN; i++)
        add_reference(MODERN[i].name, strlen(MODERN[i].name), MODERN[i].character, 0);
}

int append_bytes(Buffer *to, const uint8_t *from, size_t length) {
    if (length > to->capacity - to->size)
        return 0;
    if (length)
        memcpy(to->start + to->size, from, length);
    to->size += length;
    return 1;
}

static int append_character(Buffer *to, uint32_t c) {
    uint8_t out[4];
    size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t LEAD[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length - 1; i > 0; i--, c >>= 6)
        out[i] = (uint8_t)(0x80 | (c & 0x3F));
    out[0] = (uint8_t)(LEAD[length] | c);
    return append_bytes(to, out, length);
}

static int is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static int is_alnum(uint8_t c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static int hex_value(uint8_t c) {
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Append the character of a number after "&#"; return what follows it, or NULL if it is not a character. */
static const uint8_t *append_numeric(Buffer *to, const uint8_t *at, const uint8_t *end) {
    uint32_t c = 0, base = 10;
    const uint8_t *digits = at;
    if (at < end && (*at | 32) == 'x')
        base = 16, digits++;
    const uint8_t *after_end = digits;
    for (; after_end < end && hex_value(*after_end) >= 0 && (base == 16 || is_digit(*after_end)); after_end++)
        if ((c = c * base + (uint32_t)hex_value(*after_end)) > 0x10FFFF)
            return NULL;
    if (after_end == digits)
        return append_bytes(to, (const uint8_t *)"&#", 2) ? at : NULL;
    if (c == 0 || (c >= 0xD800 && c < 0xE000))
        return NULL;
    if (c >= 0x80 && c < 0xA0)
        c = WINDOWS_1252[c - 0x80];
    return append_character(to, c) ? after_end + (after_end < end && *after_end == ';') : NULL;
}

/* Append the character of a reference after "&"; return what follows it, or NULL if the parser must decide. */
static const uint8_t *append_reference(Buffer *to, const uint8_t *at, const uint8_t *end, int in_attribute) {
    if (at < end && *at == '#')
        return append_numeric(to, at + 1, end);
    const uint8_t *after_end = at;
    while (after_end < end && is_alnum(*after_end))
        after_end++;
    size_t length = (size_t)(after_end - at);
    const Slot *reference = find_slot(at, length);
    if (after_end < end && *after_end == ';' && length)
        return reference->name && append_character(to, reference->character) ? after_end + 1 : NULL;
    if (in_attribute) {
        if (reference->name && reference->is_legacy && (after_end == end || *after_end != '='))
            return append_character(to, reference->character) ? after_end : NULL;
    } else {
        for (size_t n = 2; n <= MAX_LEGACY_NAME && n <= length; n++) {
            const Slot *legacy = find_slot(at, n);
            if (legacy->name && legacy->is_legacy)
                return NULL;
        }
    }
    return append_bytes(to, (const uint8_t *)"&", 1) ? at : NULL;
}

/* Append bytes up to the next special byte. Most runs are short, so a byte loop is fastest. */
static const uint8_t *append_plain(Buffer *to, const uint8_t *from, const uint8_t *end) {
    uint8_t *out = to->start + to->size;
    while (from < end && *from != '&' && *from != '\r')
        *out++ = *from++;
    to->size = (size_t)(out - to->start);
    return from;
}

int append_decoded(Buffer *to, const uint8_t *from, const uint8_t *end, int in_attribute) {
    for (;;) {
        if ((size_t)(end - from) > to->capacity - to->size)
            return 0;
        from = append_plain(to, from, end);
        if (from == end)
            return 1;
        if (*from++ == '&') {
            if (!(from = append_reference(to, from, end, in_attribute)))
                return 0;
        } else {
            from += from < end && *from == '\n';
            if (!append_bytes(to, (const uint8_t *)"\n", 1))
                return 0;
        }
    }
}

/* Return the length of the UTF-8 sequence, or 0 if it is invalid. */
static size_t sequence_length(const uint8_t *s, size_t remaining) {
    uint8_t c = s[0];
    size_t length = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4
            : 0;
    if (!length || length > remaining)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((c == 0xE0 && s[1] < 0xA0) || (c == 0xED && s[1] > 0x9F) || (c == 0xF0 && s[1] < 0x90) ||
            (c == 0xF4 && s[1] > 0x8F))
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
        size_t length = sequence_length(from, (size_t)(end - from));
        if (!length)
            return 0;
        from += length;
    }
    return 1;
}
