/* Process tags in context, as browsers build the tree (WHATWG, tree construction), as far as it is relevant. */

#include "page.h"

#include <string.h>

static int start_in_svg(Page *page, const TagToken *start) {
    if (current_tag(page) == T_desc) /* may contain HTML */
        return 0;
    if (start->tag == T_title && !start->is_empty) {
        const uint8_t *end = memchr(page->at, '<', (size_t)(page->end - page->at));
        return end && end == find_raw_text_end(page->at, page->end, "title") && read_raw_text(page, start);
    }
    if (!(tag_kind(start->tag) & SVG_ELEMENT))
        return 0;
    return start->is_empty || push_element(page, start->tag);
}

/* Close an SVG element; an unmatched end tag may close an element around the SVG. */
static int end_in_svg(Page *page, int tag) {
    int depth = page->open_count - 1;
    while (page->open_elements[depth] != tag && page->open_elements[depth] != T_svg)
        depth--;
    if (page->open_elements[depth] != tag)
        return 0;
    truncate_stack(page, depth);
    return 1;
}

static int open_anchor(Page *page, const TagToken *start) {
    if (page->link) { /* a nested link closes the outer one, if it is the current element */
        if (page->link != page->open_count - 1 || !finish_link(page))
            return 0;
        truncate_stack(page, page->open_count - 1);
    }
    return start_link(page, start) && push_element(page, T_a);
}

static int open_heading(Page *page, const TagToken *start) {
    if (!close_paragraph(page))
        return 0;
    if (tag_kind(current_tag(page)) & HEADING)
        return 0;
    if (start->tag == T_h1 && !page->has_heading) {
        if (page->noscript_depth)
            return 0;
        page->has_heading = 1;
        page->heading = page->open_count;
        page->heading_start = page->text.size;
    }
    return append_block(page, start) && push_element(page, start->tag);
}

static int open_table(Page *page, const TagToken *start) {
    if (start->tag == T_table) {
        if (!page->is_standards_mode && find_open(page, T_p, T_button, T_button))
            return 0; /* in quirks mode, a table does not close a paragraph */
        return close_paragraph(page) && append_block(page, start) && push_element(page, T_table);
    }
    int cell = find_cell(page); /* table parts outside of tables are ignored */
    return !cell || (pop_elements(page, cell, 1) && open_table_part(page, start->tag));
}

static int start_in_body(Page *page, const TagToken *start) {
    int tag = start->tag, kind = tag_kind(tag);
    switch (tag) {
    case T_a:
        return open_anchor(page, start);
    case T_html:
    case T_head:
    case T_body:
        return 0;
    case T_script:
    case T_style:
    case T_title:
    case T_textarea:
    case T_iframe:
        return read_raw_text(page, start);
    case T_li:
    case T_dd:
    case T_dt:
        return open_list_item(page, tag);
    case T_p:
        return close_paragraph(page) && push_element(page, tag);
    case T_form:
        if (page->has_form || !close_paragraph(page))
            return 0;
        page->has_form = 1;
        return append_block(page, start) && push_element(page, tag);
    case T_button:
        return !find_open(page, T_button, T_button, T_button) && push_element(page, tag);
    case T_noscript:
        if (page->link || page->heading)
            return 0;
        page->noscript_depth++;
        return push_element(page, tag);
    case T_select:
        return push_element(page, tag);
    case T_svg:
        return append_block(page, start) && (start->is_empty || push_element(page, tag));
    case T_img:
        return record_image(page, start);
    }
    if (kind & HEADING)
        return open_heading(page, start);
    if (kind & (TABLE_PART | TABLE_CELL))
        return open_table(page, start);
    if (kind & ENDS_P && !close_paragraph(page))
        return 0;
    if (kind & BLOCK && !append_block(page, start))
        return 0;
    if (kind & METADATA && !append_element(page, start, (Span){page->at, page->at}))
        return 0;
    if (tag == T_pre && !skip_line_end(page))
        return 0;
    page->has_line_break |= kind & VOID && is_line_breaking(tag);
    return kind & CONTAINER ? push_element(page, tag) : kind & VOID || open_inline(page, start);
}

static int start_in_head(Page *page, const TagToken *start) {
    int tag = start->tag;
    if (page->noscript_depth && tag != T_link && tag != T_meta && tag != T_style)
        return 0;
    if (page->mode == BEFORE_HEAD)
        page->mode = IN_HEAD;
    if (tag_kind(tag) & VOID)
        return append_element(page, start, (Span){page->at, page->at});
    /* as text.extract_raw_text */
    return read_raw_text(page, start) && (tag != T_title || append_bytes(&page->text, (const uint8_t *)" ", 1));
}

int process_start_tag(Page *page, const TagToken *start) {
    int tag = start->tag, kind = tag_kind(tag), last = current_tag(page);
    if (kind & NEEDS_PARSER)
        return 0;
    if (page->mode != IN_BODY) {
        if (tag == T_html) {
            int is_first = page->mode == BEFORE_HEAD && !page->has_html;
            page->has_html = 1;
            return is_first && append_value(&page->language, start->values[A_lang]);
        }
        if (tag == T_head)
            return page->mode == BEFORE_HEAD && (page->mode = IN_HEAD);
        if (tag == T_body)
            return !page->noscript_depth && (page->mode = IN_BODY) && append_block(page, start);
        if (kind & HEAD_ELEMENT)
            return start_in_head(page, start);
        if (tag == T_noscript && page->mode != AFTER_HEAD) {
            page->mode = IN_HEAD;
            return !page->noscript_depth++;
        }
        if (page->noscript_depth || !start_body(page))
            return 0;
    }
    if (is_in_svg(page))
        return start_in_svg(page, start);
    if (last == T_select)
        return tag == T_option || tag == T_optgroup;
    if (tag_kind(last) & TABLE_PART) {
        if (tag == T_script || tag == T_style)
            return read_raw_text(page, start);
        return tag != T_table && kind & (TABLE_PART | TABLE_CELL) && open_table_part(page, tag);
    }
    return start_in_body(page, start);
}

static int end_in_body(Page *page, const TagToken *start) {
    int tag = start->tag, kind = tag_kind(tag);
    switch (tag) {
    case T_a:
        if (!page->link)
            return 1;
        if (page->link != page->open_count - 1 || !finish_link(page))
            return 0;
        truncate_stack(page, page->open_count - 1);
        return 1;
    case T_form:
        return close_form(page);
    case T_br: /* both act even if no such element is open */
    case T_p:
        page->has_line_break = 1;
        return tag == T_p ? close_paragraph(page) : close_inline(page, start);
    case T_li:
        return close_element(page, T_li, T_ol, T_ul);
    case T_dd:
    case T_dt:
        return close_element(page, tag, 0, 0);
    case T_noscript:
        return current_tag(page) == T_noscript ? pop_elements(page, page->open_count - 1, 0) : !page->noscript_depth;
    }
    if (kind & HEADING)
        return close_heading(page);
    if (kind & CONTAINER)
        return close_element(page, tag, 0, 0);
    if (kind & (TABLE_CELL | TABLE_PART))
        return close_from_cell(page, tag);
    return close_inline(page, start);
}

int process_end_tag(Page *page, const TagToken *start) {
    int tag = start->tag, last = current_tag(page);
    if (tag_kind(tag) & NEEDS_PARSER)
        return 0;
    if (page->mode != IN_BODY) {
        if (tag == T_noscript && page->noscript_depth)
            return page->noscript_depth = 0, 1;
        if (tag != T_head || page->mode == AFTER_HEAD || page->noscript_depth)
            return 0;
        return page->mode = AFTER_HEAD;
    }
    if (tag == T_body || tag == T_html)
        return 1;
    if (is_in_svg(page))
        return end_in_svg(page, tag);
    if (last == T_select) {
        page->open_count -= tag == T_select;
        return tag == T_select || tag == T_option || tag == T_optgroup;
    }
    if (tag_kind(last) & TABLE_PART)
        return close_table_part(page, tag);
    return end_in_body(page, start);
}
