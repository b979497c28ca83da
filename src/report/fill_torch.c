/* Fills the torch lane of a report: compiles as events, frames with their guards, graph breaks,
 * caches, and the values that guards compared. */
#include "report/fill.h"

#include "base/mem.h"

#include <stdlib.h>

enum { FRAMES_MOST = 200, ENTRIES_MOST = 24, BREAKS_MOST = 200, GRIDS_MOST = 64, ROWS_MOST = 16 };

/* The compiled function, and the line that called it. */
static struct stet_frames stack_of(struct stet_report_run *r, const struct stet_torch_frame *f,
                                   const struct stet_torch_compile *c)
{
    const struct stet_torch_place *places[] = {&f->code, &c->call};
    struct stet_frame *own = STET_NEW_ARRAY(&r->arena, struct stet_frame, 2);
    size_t n = 0;

    for (size_t i = 0; own && i < 2; i++)
        if (places[i]->line)
            own[n++] = (struct stet_frame){places[i]->file, places[i]->function, places[i]->line};
    return (struct stet_frames){own, n};
}

void stet_report_torch_events(struct stet_report_run *r, const struct stet_torch *t)
{
    uint32_t first = (uint32_t)r->process_count;
    uint32_t *next = stet_mem_calloc(t->process_count + 1, sizeof *next);
    uint32_t *index = stet_mem_calloc(t->compile_count + 1, sizeof *index);

    if (!next || !index)
        r->failed_memory = true;
    for (size_t i = 0; !r->failed_memory && i < t->process_count; i++) {
        struct stet_report_process *p = stet_report_add_process(r);

        if (p)
            *p = (struct stet_report_process){.torch = true,
                                              .pid = t->processes[i].pid,
                                              .rank = t->processes[i].rank,
                                              .plugin = t->processes[i].torch_version,
                                              .platform = STET_VIEW("torch.compile")};
    }
    for (size_t i = 0; !r->failed_memory && i < t->compile_count; i++) {
        const struct stet_torch_compile *c = &t->compiles[i];
        const struct stet_torch_frame *f = &t->frames[c->frame];
        struct stet_report_event *e = stet_report_add_event(r);

        if (!e)
            break;
        e->process = first + f->process;
        e->family = stet_report_family(r, f->code.function, (struct stet_view){0}, true);
        e->time_ns = c->start_us * 1000;
        e->wait_ns = e->cost_ns = stet_session_torch_cost(c) * 1000;
        e->parts = (struct stet_report_parts){.call_at_ns = e->time_ns, .call_ns = e->cost_ns};
        e->stack = stack_of(r, f, c);
        e->kind = c->fail_type.len ? STET_REPORT_FAILED
                  : c->ended       ? STET_REPORT_COMPILE
                                   : STET_REPORT_OPEN;
        e->served = stet_session_torch_loaded(c) ? STET_SERVED_TORCH : STET_SERVED_COMPILED;
        index[i] = next[f->process]++;
        r->torch_compiles++;
        r->torch_ns += e->cost_ns;
    }
    /* The compiles of all processes are in one list; each process gets a list of its own. */
    for (size_t p = 0; !r->failed_memory && p < t->process_count; p++) {
        struct stet_report_process *to = &r->processes[first + p];

        to->by_index = stet_mem_calloc((size_t)next[p] + 1, sizeof *to->by_index);
        r->failed_memory = !to->by_index;
        to->index_count = to->by_index ? next[p] : 0;
    }
    for (size_t i = 0; !r->failed_memory && i < t->compile_count; i++)
        r->processes[first + t->frames[t->compiles[i].frame].process].by_index[index[i]] =
            (uint32_t)(r->event_count - t->compile_count + i + 1);
    stet_mem_free(index);
    stet_mem_free(next);
}

/* ---- frames and graph breaks ---- */

struct ranked {
    uint32_t frame;
    uint64_t cost;
};

static int dearest_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return x->cost != y->cost ? (x->cost < y->cost ? 1 : -1)
                              : (x->frame > y->frame) - (x->frame < y->frame);
}

static struct ranked *rank_frames(const struct stet_torch *t)
{
    struct ranked *of = stet_mem_calloc(t->frame_count + 1, sizeof *of);

    for (uint32_t i = 0; of && i < t->frame_count; i++) {
        of[i].frame = i;
        for (uint32_t c = t->frames[i].first; c != STET_TORCH_NONE; c = t->compiles[c].next)
            of[i].cost += stet_session_torch_cost(&t->compiles[c]);
    }
    if (of && t->frame_count)
        qsort(of, t->frame_count, sizeof *of, dearest_first);
    return of;
}

static void frame(struct stet_json *j, const struct stet_torch *t, const struct ranked *at,
                  uint32_t first_process)
{
    const struct stet_torch_frame *f = &t->frames[at->frame];
    uint32_t entries = 0;

    stet_json_object(j, NULL);
    stet_json_uint(j, "process", first_process + f->process);
    stet_json_int(j, "frame", f->id);
    stet_session_torch_json_place(j, "code", &f->code);
    stet_json_uint(j, "compiles", f->compiles);
    stet_json_uint(j, "graph_breaks", f->breaks);
    stet_json_number(j, "cost_s", (double)at->cost / 1e6);
    stet_json_string(j, "limit", f->limit);
    stet_json_array(j, "entries");
    for (uint32_t c = f->first; c != STET_TORCH_NONE && entries < ENTRIES_MOST;
         c = t->compiles[c].next, entries++) {
        stet_json_object(j, NULL);
        stet_session_torch_json_compile(t, c, j);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_end_object(j);
}

static void graph_break(struct stet_json *j, const struct stet_torch *t, uint32_t at,
                        uint32_t first_process)
{
    const struct stet_torch_break *b = &t->breaks[at];
    struct stet_buf fix = STET_BUF_INIT;
    struct stet_torch_why why;

    stet_torch_explain_break(t, at, &why);
    stet_torch_fix(t, &why, &fix);
    stet_json_object(j, NULL);
    stet_json_uint(j, "process", first_process + b->process);
    stet_json_cstr(j, "class", stet_cause_id(why.cause));
    stet_session_torch_json_place(j, "at", &b->place);
    stet_json_string(j, "code", b->code);
    stet_json_string(j, "reason", b->reason);
    stet_json_string(j, "id", b->id);
    stet_json_uint(j, "times", b->count);
    stet_json_string(j, "fix", stet_buf_as_view(&fix));
    stet_json_end_object(j);
    stet_buf_release(&fix);
}

/* Sums cache results and phases over all compiles. */
static void sums(struct stet_json *j, const struct stet_torch *t)
{
    uint64_t caches[STET_CACHE_EARLIER + 1] = {0}, limits = 0, thrown = 0, backward = 0, aot = 0,
                                         inductor = 0;

    for (size_t i = 0; i < t->compile_count; i++) {
        const struct stet_torch_compile *c = &t->compiles[i];

        caches[c->aot_cache]++;
        limits += c->limit;
        thrown += c->forward.restarts;
        backward += c->backward.all;
        aot += c->forward.aot;
        inductor += c->forward.inductor;
    }
    stet_json_object(j, "cache");
    for (int i = 0; i <= STET_CACHE_EARLIER; i++)
        stet_json_uint(j, stet_torch_cache_name((enum stet_torch_cache)i), caches[i]);
    stet_json_end_object(j);
    stet_json_uint(j, "limit_hits", limits);
    stet_json_object(j, "phases");
    stet_json_number(j, "backward_s", (double)backward / 1e6);
    stet_json_number(j, "autograd_s", (double)aot / 1e6);
    stet_json_number(j, "inductor_s", (double)inductor / 1e6);
    stet_json_number(j, "thrown_away_s", (double)thrown / 1e6);
    stet_json_end_object(j);
}

/* ---- values of guards ---- */

static bool row_known(const struct stet_report_grid *g, uint32_t name)
{
    for (uint32_t i = 0; i < g->row_count; i++)
        if (g->rows[i].name == name)
            return true;
    return false;
}

/* Adds the value of every entry of the frame, for the source of this compile's guard. */
static void add_row(struct stet_report_run *r, const struct stet_torch *t,
                    struct stet_report_grid *g, uint32_t compile)
{
    const struct stet_torch_frame *f = &t->frames[t->compiles[compile].frame];
    struct stet_buf what = STET_BUF_INIT;
    struct stet_torch_why why;
    uint32_t name, *cells;

    stet_torch_explain(t, compile, &why);
    if (!why.has_guard || g->row_count == ROWS_MOST)
        return;
    stet_torch_what(&why, &what);
    name = stet_intern_add(&r->names, stet_buf_as_view(&what));
    stet_buf_release(&what);
    cells = row_known(g, name) ? NULL : STET_NEW_ARRAY(&r->arena, uint32_t, g->columns);
    if (!cells)
        return;
    for (uint32_t k = 0, c = f->first; k < g->columns; k++, c = t->compiles[c].next) {
        struct stet_view v;

        cells[k] = stet_torch_value(t, compile, t->compiles[c].number, &why, &v) && v.len
                       ? stet_intern_add(&r->names, v)
                   : c == compile && why.to.len ? stet_intern_add(&r->names, why.to)
                                                : STET_INTERN_NONE;
    }
    g->rows[g->row_count++] = (struct stet_report_row){name, cells};
}

static void make_grid(struct stet_report_run *r, const struct stet_torch *t, uint32_t at,
                      uint32_t first_event)
{
    const struct stet_torch_frame *f = &t->frames[at];
    struct stet_report_grid *g = f->compiles > 1 ? stet_report_add_grid(r) : NULL;
    uint32_t k = 0;

    if (!g)
        return;
    *g = (struct stet_report_grid){.function = stet_intern_add(&r->names, f->code.function),
                                   .torch = true};
    g->events = STET_NEW_ARRAY(&r->arena, uint32_t, ENTRIES_MOST);
    g->rows = STET_NEW_ARRAY(&r->arena, struct stet_report_row, ROWS_MOST);
    for (uint32_t c = f->first; g->events && c != STET_TORCH_NONE; c = t->compiles[c].next, k++)
        if (k < ENTRIES_MOST)
            g->events[g->columns++] = first_event + c;
    g->more = k - g->columns;
    k = 0;
    for (uint32_t c = f->first; g->rows && k < g->columns; c = t->compiles[c].next, k++)
        add_row(r, t, g, c);
    if (!g->row_count)
        r->grid_count--;
}

void stet_report_torch_details(struct stet_report_run *r, const struct stet_torch *t,
                               uint32_t first_process)
{
    uint32_t first_event = (uint32_t)(r->event_count - t->compile_count);
    struct ranked *of = rank_frames(t);
    struct stet_json j;

    if (!t->compile_count || !of) {
        stet_mem_free(of);
        return;
    }
    stet_json_init(&j, &r->torch);
    stet_json_object(&j, NULL);
    stet_session_torch_json_input(t, &j);
    sums(&j, t);
    stet_json_array(&j, "frames"); /* the most expensive first */
    for (size_t i = 0; i < t->frame_count && i < FRAMES_MOST; i++)
        frame(&j, t, &of[i], first_process);
    stet_json_end_array(&j);
    stet_json_array(&j, "breaks");
    for (uint32_t i = 0; i < t->break_count && i < BREAKS_MOST; i++)
        graph_break(&j, t, i, first_process);
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    for (size_t i = 0; i < t->frame_count && i < GRIDS_MOST; i++)
        make_grid(r, t, of[i].frame, first_event);
    stet_mem_free(of);
}
