/* What is open, and what ends it. Only parts are remembered whose end can make a difference to what is said. */

#include "page.h"

#include <string.h>

int push(Page *page, int tag) {
    if (page->opens == MAX_OPEN)
        return 0;
    page->is_broken |= is_breaking(tag);
    page->open[page->opens++] = (uint8_t)tag;
    return 1;
}

/* End parts down to a place, and what is open in them. */
void pop_to(Page *page, int place) {
    for (int i = place; i < page->opens; i++)
        page->is_broken |= is_breaking(page->open[i]);
    page->opens = place;
    for (int i = page->inlines; i > 0 && page->inlined[i - 1].place > place; i--)
        page->inlined[i - 1].place = LOST;
}

/* End all that is open from a place on. A link may only go with its cell: elsewhere it would be opened again. */
int pop_from(Page *page, int place, int may_end_link) {
    if (page->link >= place && page->link && !(may_end_link && end_link(page)))
        return 0;
    for (int i = place; i < page->opens; i++) {
        if (page->open[i] == T_form || (page->open[i] == T_object && i > place))
            return 0; /* a form stays, and where an object goes with its cell, links of the cell go on behind the table */
        page->unscripted -= page->open[i] == T_noscript;
    }
    pop_to(page, place);
    if (page->heading >= place && page->heading) {
        page->heading_end = page->text.size;
        page->heading = 0;
    }
    return 1;
}

/* Find what is open and ends, without looking beyond what is closed; 0 if there is none. */
int place_of(const Page *page, int tag, int stop, int other) {
    for (int place = page->opens - 1; place > 0; place--) {
        int found = page->open[place];
        if (found == tag)
            return place;
        if (kind_of(found) & CLOSED || found == stop || found == other)
            return 0;
    }
    return 0;
}

int end_part(Page *page, int tag, int stop, int other) {
    int place = place_of(page, tag, stop, other);
    return !place || pop_from(page, place, 0);
}

int end_heading(Page *page) {
    for (int place = page->opens - 1; place > 0 && !(kind_of(page->open[place]) & CLOSED); place--)
        if (kind_of(page->open[place]) & HEADING)
            return pop_from(page, place, 0);
    return 1;
}

static int ends_by_itself(int tag) { return tag == T_p || tag == T_li || tag == T_dd || tag == T_dt; }

/* End a form; what is open in it stays so, and a paragraph with it, unless that is what was opened last. */
int end_form(Page *page) {
    if (!page->has_form)
        return 1;
    while (ends_by_itself(top(page)))
        if (page->inlines || !pop_from(page, page->opens - 1, 0))
            return 0;
    if (top(page) != T_form)
        return 0;
    page->has_form = 0;
    pop_to(page, page->opens - 1);
    return 1;
}

/* An item ends the one before it, a term or its meaning either. */
int begin_item(Page *page, int tag) {
    for (int place = page->opens - 1; place > 0; place--) {
        int found = page->open[place];
        if (found == tag || (tag != T_li && (found == T_dd || found == T_dt))) {
            if (!pop_from(page, place, 0))
                return 0;
            break;
        }
        if (found == T_dialog)
            return 0;
        if (found != T_address && found != T_div && found != T_p && found != T_a)
            break;
    }
    return end_paragraph(page) && push(page, tag);
}

static int is_live(const Page *page, const Inline *one) { return one->place == page->opens; }

/* Say whether a ruby is what is open last: around it nothing ends with the parts of it. */
static int is_in_ruby(const Page *page) {
    int at = page->inlines;
    while (at > 0 && !(page->inlined[at - 1].tag == T_ruby && is_live(page, &page->inlined[at - 1])))
        at--;
    return at > 0;
}

/* One of a few ends its like, and inside a ruby a paragraph or item too. */
static int ends_another(const Page *page, int tag) {
    if (!(kind_of(tag) & LOOSE))
        return 0;
    if (tag != T_option && tag != T_optgroup && ends_by_itself(top(page)) && !is_in_ruby(page))
        return 1;
    if (!page->link || !page->inlines)
        return 0;
    const Inline *last = &page->inlined[page->inlines - 1];
    return is_live(page, last) && kind_of(last->tag) & LOOSE;
}

int begin_inline(Page *page, const Start *start) {
    if (page->inlines == MAX_INLINE || ends_another(page, start->tag))
        return 0;
    page->inlined[page->inlines++] = (Inline){start->name, start->tag, page->opens};
    return 1;
}

static int is_same(const Inline *one, const Start *other) {
    ptrdiff_t length = one->name.end - one->name.start;
    if (one->tag != other->tag || length != other->name.end - other->name.start)
        return 0;
    for (ptrdiff_t i = 0; i < length; i++)
        if (lower(one->name.start[i]) != lower(other->name.start[i]))
            return 0;
    return 1;
}

/* Say whether a dialog is open: alone of all parts it does not keep open what is around it. */
static int is_in_dialog(const Page *page) {
    int place = page->opens - 1;
    while (place > 0 && page->open[place] != T_dialog)
        place--;
    return place > 0;
}

/* End one with what is open in it; one around a link would end that too, which would be opened again. */
int end_inline(Page *page, const Start *start) {
    int at = page->inlines;
    while (at > 0 && !is_same(&page->inlined[at - 1], start))
        at--;
    if (!at)
        return 1;
    Inline *found = &page->inlined[at - 1];
    if (page->link && (at <= page->unlinked || !is_live(page, found)))
        return 0;
    if (!is_live(page, found) && is_in_dialog(page))
        return 0;
    if (found->place < page->opens) /* from inside a part: whether it stays open or not, it is remembered */
        return 1;
    for (int i = at; i < page->inlines; i++)
        page->inlined[i].place = LOST;
    memmove(found, found + 1, (size_t)(page->inlines - at) * sizeof *found);
    page->inlines--;
    return 1;
}

/* Find a part of the table that is open here, or the table; 0 if it is not open. */
static int place_in_table(const Page *page, int tag) {
    for (int place = page->opens - 1; place > 0; place--) {
        if (page->open[place] == tag)
            return place;
        if (page->open[place] == T_table)
            return 0;
    }
    return 0;
}

/* Find the cell or caption that is open here; 0 if there is none. */
int place_of_cell(const Page *page) {
    int place = page->opens - 1;
    while (place > 0 && !(kind_of(page->open[place]) & CELL) && page->open[place] != T_table)
        place--;
    return kind_of(page->open[place]) & CELL ? place : 0;
}

static int is_section(int tag) { return tag == T_tbody || tag == T_thead || tag == T_tfoot; }

/* Begin a part of a table, with what goes before it; the table itself or a part of it is what is open last. */
int begin_row(Page *page, int tag) {
    int is_inner = tag == T_tr || tag == T_td || tag == T_th;
    if (top(page) == T_colgroup && tag != T_col)
        page->opens--;
    if (top(page) == T_tr && tag != T_td && tag != T_th)
        page->opens--;
    if (is_section(top(page)) && !is_inner)
        page->opens--;
    if (tag == T_col)
        return top(page) == T_colgroup || push(page, T_colgroup);
    if (is_inner && top(page) == T_table && !push(page, T_tbody))
        return 0;
    if (tag != T_tr && is_inner && is_section(top(page)) && !push(page, T_tr))
        return 0;
    return push(page, tag);
}

/* End a part of a table while no cell is open. */
int end_row(Page *page, int tag) {
    if (!(kind_of(tag) & (CELL | ROW)))
        return 0;
    int place = place_in_table(page, tag);
    return !place || pop_from(page, place, 0);
}

/* End a part of a table from inside a cell, which ends with it. */
int end_from_cell(Page *page, int tag) {
    int cell = place_of_cell(page), place = place_in_table(page, tag);
    if (!cell || !place)
        return 1;
    return pop_from(page, cell, 1) && (place == cell || pop_from(page, place, 0));
}
