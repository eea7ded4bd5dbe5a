/* The stack of open elements. Only elements whose end can change the result are tracked. */

#include "page.h"

#include <string.h>

int push_element(Page *page, int tag) {
    if (page->open_count == MAX_OPEN)
        return 0;
    page->has_line_break |= is_line_breaking(tag);
    page->open_elements[page->open_count++] = (uint8_t)tag;
    return 1;
}

/* Pop elements down to a depth, and suspend the inline elements in them. */
void truncate_stack(Page *page, int depth) {
    for (int i = depth; i < page->open_count; i++)
        page->has_line_break |= is_line_breaking(page->open_elements[i]);
    page->open_count = depth;
    for (int i = page->inline_count; i > 0 && page->inline_elements[i - 1].depth > depth; i--)
        page->inline_elements[i - 1].depth = SUSPENDED;
}

/* Pop elements down to a depth. A link may only be closed with its cell; elsewhere the parser would reopen it. */
int pop_elements(Page *page, int depth, int may_end_link) {
    if (page->link >= depth && page->link && !(may_end_link && finish_link(page)))
        return 0;
    for (int i = depth; i < page->open_count; i++) {
        if (page->open_elements[i] == T_form || (page->open_elements[i] == T_object && i > depth))
            /* a form stays open; if an object is closed with its cell, the parser reopens links after the table */
            return 0;
        page->noscript_depth -= page->open_elements[i] == T_noscript;
    }
    truncate_stack(page, depth);
    if (page->heading >= depth && page->heading) {
        page->heading_end = page->text.size;
        page->heading = 0;
    }
    return 1;
}

/* Return the depth of an open element within the current scope, or 0. */
int find_open(const Page *page, int tag, int stop, int other) {
    for (int depth = page->open_count - 1; depth > 0; depth--) {
        int open_tag = page->open_elements[depth];
        if (open_tag == tag)
            return depth;
        if (tag_kind(open_tag) & SCOPE_BOUNDARY || open_tag == stop || open_tag == other)
            return 0;
    }
    return 0;
}

int close_element(Page *page, int tag, int stop, int other) {
    int depth = find_open(page, tag, stop, other);
    return !depth || pop_elements(page, depth, 0);
}

int close_heading(Page *page) {
    for (int depth = page->open_count - 1; depth > 0 &&
            !(tag_kind(page->open_elements[depth]) & SCOPE_BOUNDARY); depth--)
        if (tag_kind(page->open_elements[depth]) & HEADING)
            return pop_elements(page, depth, 0);
    return 1;
}

static int is_implicitly_closed(int tag) { return tag == T_p || tag == T_li || tag == T_dd || tag == T_dt; }

/* Close a form. Elements opened in it stay open, except implicitly closed ones at the top. */
int close_form(Page *page) {
    if (!page->has_form)
        return 1;
    while (is_implicitly_closed(current_tag(page)))
        if (page->inline_count || !pop_elements(page, page->open_count - 1, 0))
            return 0;
    if (current_tag(page) != T_form)
        return 0;
    page->has_form = 0;
    truncate_stack(page, page->open_count - 1);
    return 1;
}

/* A list item closes the previous item; dt and dd close each other. */
int open_list_item(Page *page, int tag) {
    for (int depth = page->open_count - 1; depth > 0; depth--) {
        int open_tag = page->open_elements[depth];
        if (open_tag == tag || (tag != T_li && (open_tag == T_dd || open_tag == T_dt))) {
            if (!pop_elements(page, depth, 0))
                return 0;
            break;
        }
        if (open_tag == T_dialog)
            return 0;
        if (open_tag != T_address && open_tag != T_div && open_tag != T_p && open_tag != T_a)
            break;
    }
    return close_paragraph(page) && push_element(page, tag);
}

static int is_current(const Page *page, const Inline *element) { return element->depth == page->open_count; }

/* Return whether a ruby is the current inline element. */
static int is_in_ruby(const Page *page) {
    int at = page->inline_count;
    while (at > 0 && !(page->inline_elements[at - 1].tag == T_ruby && is_current(page, &page->inline_elements[at - 1])))
        at--;
    return at > 0;
}

/* Return whether a tag closes an open sibling of its kind, or in ruby a paragraph or list item. */
static int closes_sibling(const Page *page, int tag) {
    if (!(tag_kind(tag) & CLOSED_BY_SIBLING))
        return 0;
    if (tag != T_option && tag != T_optgroup && is_implicitly_closed(current_tag(page)) && !is_in_ruby(page))
        return 1;
    if (!page->link || !page->inline_count)
        return 0;
    const Inline *last = &page->inline_elements[page->inline_count - 1];
    return is_current(page, last) && tag_kind(last->tag) & CLOSED_BY_SIBLING;
}

int open_inline(Page *page, const TagToken *start) {
    if (page->inline_count == MAX_INLINE || closes_sibling(page, start->tag))
        return 0;
    page->inline_elements[page->inline_count++] = (Inline){start->name, start->tag, page->open_count};
    return 1;
}

static int has_same_name(const Inline *element, const TagToken *other) {
    ptrdiff_t length = element->name.end - element->name.start;
    if (element->tag != other->tag || length != other->name.end - other->name.start)
        return 0;
    for (ptrdiff_t i = 0; i < length; i++)
        if (lower(element->name.start[i]) != lower(other->name.start[i]))
            return 0;
    return 1;
}

/* Return whether a dialog is open: unlike other containers, its end tag closes inline elements around it. */
static int is_in_dialog(const Page *page) {
    int depth = page->open_count - 1;
    while (depth > 0 && page->open_elements[depth] != T_dialog)
        depth--;
    return depth > 0;
}

/* Close an inline element and the elements in it. If it is around a link, the parser would reopen the link. */
int close_inline(Page *page, const TagToken *start) {
    int at = page->inline_count;
    while (at > 0 && !has_same_name(&page->inline_elements[at - 1], start))
        at--;
    if (!at)
        return 1;
    Inline *element = &page->inline_elements[at - 1];
    if (page->link && (at <= page->inlines_before_link || !is_current(page, element)))
        return 0;
    if (!is_current(page, element) && is_in_dialog(page))
        return 0;
    if (element->depth < page->open_count) /* in an inner container: it may stay open */
        return 1;
    for (int i = at; i < page->inline_count; i++)
        page->inline_elements[i].depth = SUSPENDED;
    memmove(element, element + 1, (size_t)(page->inline_count - at) * sizeof *element);
    page->inline_count--;
    return 1;
}

/* Return the depth of an element of the current table, or 0. */
static int find_in_table(const Page *page, int tag) {
    for (int depth = page->open_count - 1; depth > 0; depth--) {
        if (page->open_elements[depth] == tag)
            return depth;
        if (page->open_elements[depth] == T_table)
            return 0;
    }
    return 0;
}

/* Return the depth of the current cell or caption, or 0. */
int find_cell(const Page *page) {
    int depth = page->open_count - 1;
    while (depth > 0 && !(tag_kind(page->open_elements[depth]) & TABLE_CELL) && page->open_elements[depth] != T_table)
        depth--;
    return tag_kind(page->open_elements[depth]) & TABLE_CELL ? depth : 0;
}

static int is_section(int tag) { return tag == T_tbody || tag == T_thead || tag == T_tfoot; }

/* Open a table part and its implied parents. The current element is the table or a part of it. */
int open_table_part(Page *page, int tag) {
    int is_inner = tag == T_tr || tag == T_td || tag == T_th;
    if (current_tag(page) == T_colgroup && tag != T_col)
        page->open_count--;
    if (current_tag(page) == T_tr && tag != T_td && tag != T_th)
        page->open_count--;
    if (is_section(current_tag(page)) && !is_inner)
        page->open_count--;
    if (tag == T_col)
        return current_tag(page) == T_colgroup || push_element(page, T_colgroup);
    if (is_inner && current_tag(page) == T_table && !push_element(page, T_tbody))
        return 0;
    if (tag != T_tr && is_inner && is_section(current_tag(page)) && !push_element(page, T_tr))
        return 0;
    return push_element(page, tag);
}

/* Close a table part outside of cells. */
int close_table_part(Page *page, int tag) {
    if (!(tag_kind(tag) & (TABLE_CELL | TABLE_PART)))
        return 0;
    int depth = find_in_table(page, tag);
    return !depth || pop_elements(page, depth, 0);
}

/* Close a table part together with the current cell. */
int close_from_cell(Page *page, int tag) {
    int cell = find_cell(page), depth = find_in_table(page, tag);
    if (!cell || !depth)
        return 1;
    return pop_elements(page, cell, 1) && (depth == cell || pop_elements(page, depth, 0));
}
