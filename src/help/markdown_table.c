/* Renders tables: columns side by side, with cells that are wrapped. */
#include "help/markdown.h"

#include "base/arena.h"

#include <string.h>

enum { COLUMNS_MAX = 8, BETWEEN = 2, LEAST = 10 };

struct table {
    struct stet_arena arena;
    struct stet_view (*rows)[COLUMNS_MAX];
    size_t count;
    size_t columns, widths[COLUMNS_MAX];
};

/* Removes and returns the next cell; `line` begins behind its bar. A bar with '\' before it belongs
 * to the text. */
static struct stet_view next_cell(struct stet_view *line)
{
    size_t n = 0;
    struct stet_view cell;

    while (n < line->len && (line->ptr[n] != '|' || (n && line->ptr[n - 1] == '\\')))
        n++;
    cell = stet_view_trim(stet_view_of(line->ptr, n));
    n += n < line->len;
    *line = stet_view_of(line->ptr + n, line->len - n);
    return cell;
}

/* |---|---| */
static bool is_rule(struct stet_view line)
{
    for (size_t i = 0; i < line.len; i++)
        if (!strchr("|-: ", line.ptr[i]))
            return false;
    return line.len > 0;
}

/* Adds a row; `drop` leaves it out if a cell is empty, as in a heading without words. */
static void add_row(struct table *t, struct stet_view line, bool drop)
{
    struct stet_view *row = t->rows[t->count];
    bool has_gap = false;

    line = stet_view_trim(stet_view_of(line.ptr + 1, line.len - 1));
    for (size_t c = 0; line.len && c < COLUMNS_MAX; c++) {
        struct stet_buf text = STET_BUF_INIT;
        size_t wide;

        stet_help_inline(&text, next_cell(&line));
        row[c] = stet_arena_copy(&t->arena, stet_buf_as_view(&text));
        stet_buf_release(&text);
        wide = stet_help_columns(row[c]);
        t->columns = c + 1 > t->columns ? c + 1 : t->columns;
        t->widths[c] = wide > t->widths[c] ? wide : t->widths[c];
        has_gap |= !row[c].len;
    }
    t->count += !drop || !has_gap;
}

/* Takes columns from the widest until all fit. */
static void shrink(struct table *t, size_t width)
{
    for (;;) {
        size_t all = 0, widest = 0;

        for (size_t c = 0; c < t->columns; c++) {
            all += t->widths[c] + (c ? BETWEEN : 0);
            widest = t->widths[c] > t->widths[widest] ? c : widest;
        }
        if (all <= width || t->widths[widest] <= LEAST)
            return;
        t->widths[widest]--;
    }
}

static void print_row(struct stet_buf *out, const struct table *t, const struct stet_view *row)
{
    struct stet_view rest[COLUMNS_MAX];
    bool more = true;

    memcpy(rest, row, sizeof rest);
    while (more) {
        size_t due = 0;

        more = false;
        for (size_t c = 0; c < t->columns; c++) {
            struct stet_view piece = stet_help_take_line(&rest[c], t->widths[c]);
            size_t wide = stet_help_columns(piece);

            if (piece.len) {
                stet_buf_printf(out, "%*s%.*s", (int)due, "", STET_FMT(piece));
                due = 0;
            }
            due += t->widths[c] > wide ? t->widths[c] - wide : 0;
            due += BETWEEN;
            more |= rest[c].len > 0;
        }
        stet_buf_char(out, '\n');
    }
}

static struct stet_view first_line(struct stet_view rest)
{
    return rest.len ? stet_help_next_line(&rest) : rest;
}

void stet_help_table(struct stet_buf *out, struct stet_view lines, size_t width)
{
    struct table t = {0};
    size_t room = 1;

    for (size_t i = 0; i < lines.len; i++)
        room += lines.ptr[i] == '\n';
    stet_arena_init(&t.arena, (size_t)16 << 20);
    t.rows = stet_arena_alloc(&t.arena, room, sizeof *t.rows); /* zeroed */
    if (!t.rows) {
        out->failed = true;
        return;
    }
    while (lines.len) {
        struct stet_view line = stet_help_next_line(&lines);

        if (!is_rule(line))
            add_row(&t, line, is_rule(first_line(lines)));
    }
    shrink(&t, width);
    for (size_t i = 0; i < t.count; i++)
        print_row(out, &t, t.rows[i]);
    out->failed |= t.arena.failed;
    stet_arena_release(&t.arena);
}
