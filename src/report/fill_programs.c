/* Reads captured programs for families, and for a grid per function: the arguments of each
 * program. */
#include "report/fill.h"

#include "base/mem.h"
#include "explain/words.h"
#include "fingerprint/traits.h"

#include <stdio.h>

/* Reading a program takes about a millisecond. Beyond READ_MOST programs, only the name is shown. A
 * function gets no more programs than fit on a page. */
enum { READ_MOST = 512, READ_OF_FUNCTION = 64, ARGUMENTS_MOST = 2048, SHARDING_MOST = 64 };

/* A program at its first compile; `names` and `types` are numbers of names, one per argument. */
struct first {
    uint32_t event, function;
    uint32_t *names, *types, count;
    bool seen, read;
};

struct reading {
    struct stet_report_run *r;
    struct first *firsts; /* by program */
    uint32_t count;
};

static uint32_t type_name(struct stet_report_run *r, const struct stet_argument *a)
{
    struct stet_buf text = STET_BUF_INIT;
    uint32_t name;

    stet_words_type(&text, a->value->type);
    if (a->sharding) {
        size_t before = text.len;

        stet_buf_char(&text, ' ');
        stet_words_attr(&text, a->sharding);
        if (text.len > before + SHARDING_MOST) {
            text.len = before + SHARDING_MOST;
            stet_buf_str(&text, "…");
        }
    }
    name = stet_intern_add(&r->names, stet_buf_as_view(&text));
    stet_buf_release(&text);
    return name;
}

static void read_arguments(struct stet_report_run *r, const struct stet_program *p, struct first *f)
{
    uint32_t count = p->argument_count < ARGUMENTS_MOST ? p->argument_count : ARGUMENTS_MOST;
    char unnamed[32];

    f->names = STET_NEW_ARRAY(&r->arena, uint32_t, count + 1);
    f->types = STET_NEW_ARRAY(&r->arena, uint32_t, count + 1);
    if (!f->names || !f->types)
        return;
    for (uint32_t i = 0; i < count; i++) {
        const struct stet_argument *a = &p->arguments[i];

        snprintf(unnamed, sizeof unnamed, "argument %u", i);
        f->names[i] = stet_intern_add(&r->names, a->name.len ? a->name : stet_view_str(unnamed));
        f->types[i] = type_name(r, a);
    }
    f->count = count;
}

/* Reads the family and, if the program can be read, its arguments. */
static void read_one(struct reading *to, struct stet_session_programs *shelf,
                     const struct stet_compile_event *c, uint32_t program, bool may_read)
{
    struct stet_report_run *r = to->r;
    struct first *f = &to->firsts[program];
    struct stet_view function = stet_traits_function_of(c->name);
    struct stet_history_side side;
    char skeleton[STET_HASH_TEXT] = "";

    f->read =
        may_read && stet_session_programs_open(shelf, r->run->folder, c, &side, NULL) == STET_OK;
    if (f->read) {
        stet_hash_format(side.program.fingerprint->skeleton, skeleton);
        read_arguments(r, side.program.program, f);
    }
    r->undecoded += !f->read;
    f->function = stet_intern_add(&r->names, function);
    r->program_family[program] =
        stet_report_family(r, function, stet_view_of(skeleton, skeleton[0] ? 12 : 0), false);
}

/* ---- grids ---- */

static uint32_t cell_of(const struct first *f, uint32_t row_name, uint32_t guess)
{
    if (guess < f->count && f->names[guess] == row_name)
        return f->types[guess];
    for (uint32_t i = 0; i < f->count; i++)
        if (f->names[i] == row_name)
            return f->types[i];
    return STET_INTERN_NONE;
}

static bool moves(const uint32_t *cells, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (cells[i] != cells[0])
            return true;
    return false;
}

static bool has_row(const struct stet_report_grid *g, uint32_t name)
{
    for (uint32_t i = 0; i < g->row_count; i++)
        if (g->rows[i].name == name)
            return true;
    return false;
}

enum { ROWS_MOST = 64 };

/* Adds a row for each argument that changed, in order of appearance. */
static void fill_rows(struct stet_report_run *r, struct stet_report_grid *g,
                      const struct first *const *columns)
{
    uint32_t cells[READ_OF_FUNCTION];

    for (uint32_t c = 0; c < g->columns; c++) {
        for (uint32_t i = 0; i < columns[c]->count && g->row_count < ROWS_MOST; i++) {
            uint32_t name = columns[c]->names[i], *own;

            /* An argument that earlier programs have was handled there. */
            if (c && cell_of(columns[0], name, i) != STET_INTERN_NONE)
                continue;
            for (uint32_t k = 0; k < g->columns; k++)
                cells[k] = cell_of(columns[k], name, i);
            if (!moves(cells, g->columns)) {
                g->steady++;
                continue;
            }
            own = has_row(g, name) ? NULL : STET_NEW_ARRAY(&r->arena, uint32_t, g->columns);
            if (!own)
                continue;
            memcpy(own, cells, g->columns * sizeof *own);
            g->rows[g->row_count++] = (struct stet_report_row){name, own};
        }
    }
}

static void make_grid(struct reading *from, uint32_t function, uint32_t total)
{
    const struct first *columns[READ_OF_FUNCTION];
    struct stet_report_run *r = from->r;
    struct stet_report_grid *g;
    uint32_t count = 0;

    for (uint32_t i = 0; i < from->count && count < READ_OF_FUNCTION; i++)
        if (from->firsts[i].read && from->firsts[i].function == function)
            columns[count++] = &from->firsts[i];
    if (count < 2)
        return;
    g = stet_report_add_grid(r);
    if (!g)
        return;
    *g = (struct stet_report_grid){.function = function, .columns = count, .more = total - count};
    g->events = STET_NEW_ARRAY(&r->arena, uint32_t, count);
    g->rows = STET_NEW_ARRAY(&r->arena, struct stet_report_row, ROWS_MOST);
    if (!g->events || !g->rows) {
        r->grid_count--;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        g->events[i] = columns[i]->event;
    fill_rows(r, g, columns);
}

static enum stet_rc read_all(struct reading *to, const struct stet_run_digest *d,
                             struct stet_session_programs *shelf, uint32_t *of_function,
                             uint32_t names_room)
{
    struct stet_report_run *r = to->r;
    uint32_t read = 0, at = 0;

    for (size_t p = 0; p < d->process_count; p++) {
        for (size_t k = 0; k < d->processes[p].compile_count; k++, at++) {
            const struct stet_compile_event *c = &d->processes[p].compiles[k];
            struct stet_report_event *e = &r->events[at];
            uint32_t name = stet_intern_add(&r->names, stet_traits_function_of(c->name));

            if (e->program == STET_INTERN_NONE)
                continue;
            if (!to->firsts[e->program].seen) {
                bool room =
                    read < READ_MOST && name < names_room && of_function[name] < READ_OF_FUNCTION;

                to->firsts[e->program].seen = true;
                to->firsts[e->program].event = at;
                read_one(to, shelf, c, e->program, room);
                read += to->firsts[e->program].read;
                if (name < names_room)
                    of_function[name]++;
            }
            e->family = r->program_family[e->program];
        }
    }
    return STET_OK;
}

enum { FUNCTIONS = 1 << 16 };

enum stet_rc stet_report_read_programs(struct stet_report_run *r, const struct stet_run_digest *d,
                                       struct stet_session_programs *shelf, struct stet_err *err)
{
    struct reading to = {.r = r, .count = r->programs.count};
    uint32_t *of_function = stet_mem_calloc(FUNCTIONS, sizeof *of_function); /* by name */
    enum stet_rc rc;

    to.firsts = stet_mem_calloc((size_t)to.count + 1, sizeof *to.firsts);
    if (!to.firsts || !of_function) {
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for a report");
    } else {
        rc = read_all(&to, d, shelf, of_function, FUNCTIONS);
        for (uint32_t i = 0; rc == STET_OK && i < r->names.count && i < FUNCTIONS; i++)
            if (of_function[i] > 1)
                make_grid(&to, i, of_function[i]);
    }
    stet_mem_free(to.firsts);
    stet_mem_free(of_function);
    return rc;
}
