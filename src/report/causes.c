/* See causes.h. */
#include "report/causes.h"

#include "base/mem.h"

static struct stet_view kept(struct stet_causes *c, struct stet_view v)
{
    return v.ptr ? stet_arena_copy(&c->arena, v) : v;
}

static struct stet_line kept_line(struct stet_causes *c, struct stet_line l)
{
    return (struct stet_line){kept(c, l.file), kept(c, l.function), l.line};
}

static void keep_first(struct stet_causes *c, struct stet_recompile *to,
                       const struct stet_recompile *r)
{
    struct stet_row_change *changes =
        STET_NEW_ARRAY(&c->arena, struct stet_row_change, r->change_count + 1);

    *to = *r;
    to->function = kept(c, r->function);
    to->program = kept(c, r->program);
    to->against = kept(c, r->against);
    to->evidence = kept(c, r->evidence);
    to->sure = kept(c, r->sure);
    to->fix = kept(c, r->fix);
    to->origin = kept_line(c, r->origin);
    to->trigger = kept_line(c, r->trigger);
    to->source = kept_line(c, r->source);
    to->changes = changes;
    to->change_count = changes ? r->change_count : 0;
    for (size_t i = 0; i < to->change_count; i++) {
        changes[i] = r->changes[i];
        changes[i].what = kept(c, r->changes[i].what);
        changes[i].from = kept(c, r->changes[i].from);
        changes[i].to = kept(c, r->changes[i].to);
        changes[i].file = kept(c, r->changes[i].file);
        changes[i].facet = kept(c, r->changes[i].facet);
        changes[i].follows = kept(c, r->changes[i].follows);
    }
}

static bool same_cause(const struct stet_recompile *a, const struct stet_recompile *b)
{
    return a->benign == b->benign && a->origin.line == b->origin.line && a->cause == b->cause &&
           stet_cause_list_eq(&a->also, &b->also) && stet_view_eq(a->function, b->function) &&
           a->lane == b->lane && stet_view_eq(a->origin.file, b->origin.file);
}

static void add_value(struct stet_causes *c, struct stet_report_cause *of, struct stet_view v)
{
    uint32_t before = c->values.count;
    struct stet_buf key = STET_BUF_INIT;

    stet_buf_printf(&key, "%zu ", (size_t)(of - c->items));
    stet_buf_view(&key, v);
    if (stet_intern_add(&c->values, stet_buf_as_view(&key)) < before) {
        stet_buf_release(&key);
        return;
    }
    stet_buf_release(&key);
    if (of->value_count < STET_REPORT_VALUES)
        of->values[of->value_count++] = kept(c, v);
    else
        of->value_more++;
}

static struct stet_report_cause *cause_of(struct stet_causes *c, const struct stet_recompile *r)
{
    struct stet_report_cause *of;

    for (size_t i = c->count; i-- > 0;)
        if (same_cause(&c->items[i].first, r))
            return &c->items[i];
    if (c->count == STET_REPORT_CAUSES)
        return NULL;
    of = &c->items[c->count++];
    keep_first(c, &of->first, r);
    of->steps_known = r->step_known;
    of->first_step = r->step;
    if (r->change_count && r->changes[0].from.len)
        add_value(c, of, r->changes[0].from);
    return of;
}

int stet_causes_add(struct stet_causes *c, const struct stet_recompile *r)
{
    struct stet_report_cause *of = cause_of(c, r);

    if (!of) {
        c->beyond++;
        c->beyond_ns += r->benign ? 0 : r->wait_ns;
        return -1;
    }
    of->times++;
    of->cost_ns += r->cost_ns;
    of->wait_ns += r->wait_ns;
    of->steps_known = of->steps_known && r->step_known;
    of->last_step = r->step;
    if (r->change_count && of->first.change_count && r->changes[0].to.len &&
        stet_view_eq(of->first.changes[0].what, r->changes[0].what))
        add_value(c, of, r->changes[0].to);
    return (int)(of - c->items);
}

int stet_causes_find(const struct stet_causes *c, enum stet_cause cause, struct stet_view function)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].first.cause == cause && stet_view_eq(c->items[i].first.function, function))
            return (int)i;
    return -1;
}

bool stet_causes_init(struct stet_causes *c)
{
    *c = (struct stet_causes){.items = stet_mem_calloc(STET_REPORT_CAUSES, sizeof *c->items)};
    stet_arena_init(&c->arena, (size_t)256 << 20);
    stet_intern_init(&c->values, (size_t)64 << 20);
    return c->items != NULL;
}

void stet_causes_release(struct stet_causes *c)
{
    stet_arena_release(&c->arena);
    stet_intern_release(&c->values);
    stet_mem_free(c->items);
}
