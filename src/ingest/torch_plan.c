/* The settings are global: a source is a name, in whichever function. */
#include "ingest/torch_plan.h"

static struct stet_torch_setting *setting(struct stet_torch_plan *plan, enum stet_torch_knob knob,
                                          struct stet_view source)
{
    struct stet_torch_setting *s;

    for (size_t i = 0; i < plan->count; i++) {
        if (plan->items[i].knob == knob && stet_view_eq(plan->items[i].source, source))
            return &plan->items[i];
    }
    if (plan->count == STET_PLAN_MOST)
        return NULL;
    s = &plan->items[plan->count++];
    *s = (struct stet_torch_setting){
        .knob = knob, .source = source, .compile = STET_TORCH_NONE, .broken = STET_TORCH_NONE};
    return s;
}

static bool drifts_in(const struct stet_torch *t, const struct stet_torch_frame *f,
                      struct stet_view source)
{
    for (uint32_t c = f->first; c != STET_TORCH_NONE; c = t->compiles[c].next) {
        for (uint32_t i = t->compiles[c].drifts; i != STET_TORCH_NONE; i = t->drifts[i].next) {
            if (stet_view_eq(t->drifts[i].source, source))
                return true;
        }
    }
    return false;
}

/* Another function has an input of that name that did not change: it would become dynamic for
 * nothing. */
static bool collides(const struct stet_torch *t, const struct stet_torch_setting *s)
{
    const struct stet_torch_place *own;

    if (s->compile == STET_TORCH_NONE || !s->source.len)
        return false;
    own = &t->frames[t->compiles[s->compile].frame].code;
    for (size_t i = 0; i < t->input_count; i++) {
        const struct stet_torch_frame *f = &t->frames[t->inputs[i].frame];

        if (stet_view_eq(t->inputs[i].source, s->source) &&
            !(f->code.line == own->line && stet_view_eq(f->code.file, own->file)) &&
            !drifts_in(t, f, s->source))
            return true;
    }
    return false;
}

static void charge(const struct stet_torch *t, struct stet_torch_setting *s, uint32_t compile)
{
    const struct stet_torch_compile *c = &t->compiles[compile];

    if (s->compile == STET_TORCH_NONE)
        s->compile = compile;
    s->compiles++;
    s->cost_us += c->forward.all + c->backward.all;
}

static bool is_integer(struct stet_view v)
{
    for (size_t i = 0; i < v.len; i++) {
        if ((v.ptr[i] < '0' || v.ptr[i] > '9') && !(i == 0 && v.ptr[i] == '-' && v.len > 1))
            return false;
    }
    return v.len > 0;
}

/* A guard names one thing although several changed in the same call: Dynamo notes them all. */
static void add_drifts(struct stet_torch *t, struct stet_torch_plan *plan, uint32_t compile,
                       struct stet_view told)
{
    for (uint32_t i = t->compiles[compile].drifts; i != STET_TORCH_NONE; i = t->drifts[i].next) {
        const struct stet_torch_drift *d = &t->drifts[i];
        bool whole = d->scalar ? is_integer(d->from) && is_integer(d->to) : d->dim >= 0;
        struct stet_torch_setting *s = NULL;

        if (stet_view_eq(d->source, told) || stet_view_starts(d->source, "L['___stack"))
            continue;
        if (whole)
            s = setting(plan, STET_KNOB_DYNAMIC, d->source);
        else if (d->scalar)
            s = setting(plan, STET_KNOB_PGO, stet_view_of("", 0));
        if (s)
            charge(t, s, compile);
    }
}

static const struct stet_torch_drift *
size_drift(const struct stet_torch *t, const struct stet_torch_frame *f, struct stet_view source)
{
    for (uint32_t c = f->first; c != STET_TORCH_NONE; c = t->compiles[c].next) {
        for (uint32_t i = t->compiles[c].drifts; i != STET_TORCH_NONE; i = t->drifts[i].next) {
            if (stet_view_eq(t->drifts[i].source, source) && t->drifts[i].dim >= 0)
                return &t->drifts[i];
        }
    }
    return NULL;
}

/* Inputs that change together (a batch and its mask) must be unbacked together: a size that may be
 * 1 beside one that may not is a guard again. */
static void unback_alike(struct stet_torch *t, struct stet_torch_plan *plan,
                         const struct stet_torch_frame *f, struct stet_view source)
{
    const struct stet_torch_drift *own = size_drift(t, f, source);

    for (uint32_t c = f->first; own && c != STET_TORCH_NONE; c = t->compiles[c].next) {
        for (uint32_t i = t->compiles[c].drifts; i != STET_TORCH_NONE; i = t->drifts[i].next) {
            const struct stet_torch_drift *d = &t->drifts[i];

            if (d->dim >= 0 && stet_view_eq(d->from, own->from) && stet_view_eq(d->to, own->to))
                setting(plan, STET_KNOB_UNBACKED, d->source);
        }
    }
}

static void add(struct stet_torch *t, struct stet_torch_plan *plan, uint32_t compile)
{
    struct stet_torch_setting *s;
    struct stet_torch_why why;
    struct stet_view source;

    stet_torch_explain(t, compile, &why);
    add_drifts(t, plan, compile, why.source);
    if (why.knob == STET_KNOB_NONE)
        return;
    source = why.source;
    if (why.knob == STET_KNOB_UNBACKED && !source.len && why.what.len) {
        t->scratch.len = 0;
        stet_buf_printf(&t->scratch, "L['%.*s']", STET_FMT(why.what));
        source = stet_intern_view(&t->pool, stet_buf_as_view(&t->scratch));
    }
    if (why.knob != STET_KNOB_DYNAMIC && why.knob != STET_KNOB_UNBACKED)
        source = stet_view_of("", 0);
    s = setting(plan, why.knob, source);
    if (s)
        charge(t, s, compile);
    if (why.knob == STET_KNOB_UNBACKED)
        unback_alike(t, plan, &t->frames[t->compiles[compile].frame], source);
}

/* A source that must be unbacked must not be dynamic as well: the first match decides. */
static void settle(struct stet_torch_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct stet_torch_setting *s = &plan->items[i];

        if (s->knob != STET_KNOB_DYNAMIC)
            continue;
        for (size_t k = 0; k < plan->count; k++) {
            struct stet_torch_setting *u = &plan->items[k];

            if (u->knob != STET_KNOB_UNBACKED || !stet_view_eq(u->source, s->source))
                continue;
            u->compiles += s->compiles;
            u->cost_us += s->cost_us;
            memmove(s, s + 1, (plan->count - i - 1) * sizeof *s);
            plan->count--;
            i--;
            break;
        }
    }
}

void stet_torch_plan(struct stet_torch *t, struct stet_torch_plan *plan)
{
    *plan = (struct stet_torch_plan){0};
    for (uint32_t i = 0; i < t->compile_count; i++)
        add(t, plan, i);
    for (uint32_t i = 0; i < t->break_count; i++) {
        struct stet_torch_setting *s;
        struct stet_torch_why why;

        stet_torch_explain_break(t, i, &why);
        if (why.knob == STET_KNOB_NONE)
            continue;
        s = setting(plan, why.knob, stet_view_of("", 0));
        if (s && s->broken == STET_TORCH_NONE)
            s->broken = i;
    }
    settle(plan);
    for (size_t i = 0; i < plan->count; i++)
        plan->items[i].collides = collides(t, &plan->items[i]);
}

bool stet_torch_plan_line(const struct stet_torch_plan *plan, enum stet_torch_knob knob,
                          const char *script, struct stet_buf *out)
{
    size_t n = 0;

    for (size_t i = 0; i < plan->count; i++) {
        if (plan->items[i].knob != knob)
            continue;
        if (n++ == 0)
            stet_buf_printf(out, "%s=", stet_torch_knob_name(knob));
        else if (plan->items[i].source.len)
            stet_buf_char(out, ',');
        if (plan->items[i].source.len)
            stet_buf_view(out, plan->items[i].source);
        else if (n == 1)
            stet_buf_str(out, knob == STET_KNOB_PGO ? script : "1");
    }
    return n > 0;
}
