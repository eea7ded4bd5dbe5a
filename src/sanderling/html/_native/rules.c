/* What a tag does, where it stands: as a browser builds its tree (WHATWG, tree construction), as far as it is asked for. */

#include "page.h"

#include <string.h>

static int begin_in_svg(Page *page, const Start *start) {
    if (top(page) == T_desc) /* in which HTML may stand */
        return 0;
    if (start->tag == T_title && !start->is_empty) {
        const uint8_t *end = memchr(page->at, '<', (size_t)(page->end - page->at));
        return end && end == end_of_raw(page->at, page->end, "title") && read_raw(page, start);
    }
    if (!(kind_of(start->tag) & DRAWN))
        return 0;
    return start->is_empty || push(page, start->tag);
}

/* End a part of a drawing; an end without a beginning may be that of something around the drawing. */
static int end_in_svg(Page *page, int tag) {
    int place = page->opens - 1;
    while (page->open[place] != tag && page->open[place] != T_svg)
        place--;
    if (page->open[place] != tag)
        return 0;
    pop_to(page, place);
    return 1;
}

static int begin_a(Page *page, const Start *start) {
    if (page->link) { /* one ends the other, if nothing else is open in it */
        if (page->link != page->opens - 1 || !end_link(page))
            return 0;
        pop_to(page, page->opens - 1);
    }
    return begin_link(page, start) && push(page, T_a);
}

static int begin_heading(Page *page, const Start *start) {
    if (!end_paragraph(page))
        return 0;
    if (kind_of(top(page)) & HEADING)
        return 0;
    if (start->tag == T_h1 && !page->has_heading) {
        if (page->unscripted)
            return 0;
        page->has_heading = 1;
        page->heading = page->opens;
        page->heading_start = page->text.size;
    }
    return put_block(page, start) && push(page, start->tag);
}

static int begin_table(Page *page, const Start *start) {
    if (start->tag == T_table) {
        if (!page->is_modern && place_of(page, T_p, T_button, T_button))
            return 0; /* on some old pages a table ends no paragraph */
        return end_paragraph(page) && put_block(page, start) && push(page, T_table);
    }
    int cell = place_of_cell(page); /* outside of tables their parts are passed over */
    return !cell || (pop_from(page, cell, 1) && begin_row(page, start->tag));
}

static int begin_in_body(Page *page, const Start *start) {
    int tag = start->tag, kind = kind_of(tag);
    switch (tag) {
    case T_a:
        return begin_a(page, start);
    case T_html:
    case T_head:
    case T_body:
        return 0;
    case T_script:
    case T_style:
    case T_title:
    case T_textarea:
    case T_iframe:
        return read_raw(page, start);
    case T_li:
    case T_dd:
    case T_dt:
        return begin_item(page, tag);
    case T_p:
        return end_paragraph(page) && push(page, tag);
    case T_form:
        if (page->has_form || !end_paragraph(page))
            return 0;
        page->has_form = 1;
        return put_block(page, start) && push(page, tag);
    case T_button:
        return !place_of(page, T_button, T_button, T_button) && push(page, tag);
    case T_noscript:
        if (page->link || page->heading)
            return 0;
        page->unscripted++;
        return push(page, tag);
    case T_select:
        return push(page, tag);
    case T_svg:
        return put_block(page, start) && (start->is_empty || push(page, tag));
    case T_img:
        return begin_image(page, start);
    }
    if (kind & HEADING)
        return begin_heading(page, start);
    if (kind & (ROW | CELL))
        return begin_table(page, start);
    if (kind & ENDS_P && !end_paragraph(page))
        return 0;
    if (kind & NAMED && !put_block(page, start))
        return 0;
    if (kind & TOLD && !tell(page, start, (Value){page->at, page->at}))
        return 0;
    if (tag == T_pre && !skip_line_end(page))
        return 0;
    page->is_broken |= kind & VOID && is_breaking(tag);
    return kind & PART ? push(page, tag) : kind & VOID || begin_inline(page, start);
}

static int begin_in_head(Page *page, const Start *start) {
    int tag = start->tag;
    if (page->unscripted && tag != T_link && tag != T_meta && tag != T_style)
        return 0;
    if (page->mode == BEFORE_HEAD)
        page->mode = IN_HEAD;
    if (kind_of(tag) & VOID)
        return tell(page, start, (Value){page->at, page->at});
    return read_raw(page, start) && (tag != T_title || put(&page->text, (const uint8_t *)" ", 1)); /* as text.letters */
}

int begin(Page *page, const Start *start) {
    int tag = start->tag, kind = kind_of(tag), last = top(page);
    if (kind & HARD)
        return 0;
    if (page->mode != IN_BODY) {
        if (tag == T_html) {
            int is_first = page->mode == BEFORE_HEAD && !page->has_html;
            page->has_html = 1;
            return is_first && put_value(&page->lang, start->values[A_lang]);
        }
        if (tag == T_head)
            return page->mode == BEFORE_HEAD && (page->mode = IN_HEAD);
        if (tag == T_body)
            return !page->unscripted && (page->mode = IN_BODY) && put_block(page, start);
        if (kind & LEADING)
            return begin_in_head(page, start);
        if (tag == T_noscript && page->mode != AFTER_HEAD) {
            page->mode = IN_HEAD;
            return !page->unscripted++;
        }
        if (page->unscripted || !begin_body(page))
            return 0;
    }
    if (is_drawn(page))
        return begin_in_svg(page, start);
    if (last == T_select)
        return tag == T_option || tag == T_optgroup;
    if (kind_of(last) & ROW) {
        if (tag == T_script || tag == T_style)
            return read_raw(page, start);
        return tag != T_table && kind & (ROW | CELL) && begin_row(page, tag);
    }
    return begin_in_body(page, start);
}

static int end_in_body(Page *page, const Start *start) {
    int tag = start->tag, kind = kind_of(tag);
    switch (tag) {
    case T_a:
        if (!page->link)
            return 1;
        if (page->link != page->opens - 1 || !end_link(page))
            return 0;
        pop_to(page, page->opens - 1);
        return 1;
    case T_form:
        return end_form(page);
    case T_br: /* either is one of its own, even where none is open */
    case T_p:
        page->is_broken = 1;
        return tag == T_p ? end_paragraph(page) : end_inline(page, start);
    case T_li:
        return end_part(page, T_li, T_ol, T_ul);
    case T_dd:
    case T_dt:
        return end_part(page, tag, 0, 0);
    case T_noscript:
        return top(page) == T_noscript ? pop_from(page, page->opens - 1, 0) : !page->unscripted;
    }
    if (kind & HEADING)
        return end_heading(page);
    if (kind & PART)
        return end_part(page, tag, 0, 0);
    if (kind & (CELL | ROW))
        return end_from_cell(page, tag);
    return end_inline(page, start);
}

int end(Page *page, const Start *start) {
    int tag = start->tag, last = top(page);
    if (kind_of(tag) & HARD)
        return 0;
    if (page->mode != IN_BODY) {
        if (tag == T_noscript && page->unscripted)
            return page->unscripted = 0, 1;
        if (tag != T_head || page->mode == AFTER_HEAD || page->unscripted)
            return 0;
        return page->mode = AFTER_HEAD;
    }
    if (tag == T_body || tag == T_html)
        return 1;
    if (is_drawn(page))
        return end_in_svg(page, tag);
    if (last == T_select) {
        page->opens -= tag == T_select;
        return tag == T_select || tag == T_option || tag == T_optgroup;
    }
    if (kind_of(last) & ROW)
        return end_row(page, tag);
    return end_in_body(page, start);
}
