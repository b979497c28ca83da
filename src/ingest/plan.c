/* The knobs are global: a source is a name, whichever function it stands in. */
#include "ingest/plan.h"

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

/* Another code object that has a source of the same name, which would become dynamic with it. */
static bool collides(const struct stet_torch *t, const struct stet_torch_setting *s)
{
    const struct stet_torch_place *own = NULL;

    if (s->compile == STET_TORCH_NONE || !s->source.len)
        return false;
    own = &t->frames[t->compiles[s->compile].frame].code;
    for (size_t c = 0; c < t->compile_count; c++) {
        const struct stet_torch_place *code = &t->frames[t->compiles[c].frame].code;

        if (code->line == own->line && stet_view_eq(code->file, own->file))
            continue;
        for (uint32_t i = t->compiles[c].drifts; i != STET_TORCH_NONE; i = t->drifts[i].next) {
            if (stet_view_eq(t->drifts[i].source, s->source))
                return true;
        }
    }
    return false;
}

static void add(struct stet_torch *t, struct stet_torch_plan *plan, uint32_t compile)
{
    struct stet_torch_compile *c = &t->compiles[compile];
    struct stet_torch_setting *s;
    struct stet_torch_why why;
    struct stet_view source;

    stet_torch_explain(t, compile, &why);
    if (why.knob == STET_KNOB_NONE)
        return;
    source = why.source;
    if (why.knob == STET_KNOB_UNBACKED && !source.len && why.what.len) {
        t->scratch.len = 0;
        stet_buf_printf(&t->scratch, "L['%.*s']", STET_FMT(why.what));
        source = stet_pool_add(&t->pool, stet_buf_as_view(&t->scratch));
    }
    if (why.knob != STET_KNOB_DYNAMIC && why.knob != STET_KNOB_UNBACKED)
        source = stet_view_of("", 0);
    s = setting(plan, why.knob, source);
    if (!s)
        return;
    if (s->compile == STET_TORCH_NONE)
        s->compile = compile;
    s->compiles++;
    s->cost_us += c->forward.all + c->backward.all;
}

/* A source that has to be unbacked must not be dynamic as well: the first that matches decides. */
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
