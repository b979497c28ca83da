/* Answers which line made a value that a framework's call, a guard or a frame shows. */
#include "base/path.h"
#include "python/trail_begin.h"

typedef struct stet_python_verdict verdict;

static const verdict stays;

/* Values that a module lists, and a function takes: either may be what to edit. */
static bool is_listed(const struct stet_python_trail *t, const verdict *v)
{
    const struct stet_python_module *m = NULL;
    stet_python_ref waits = t->stack->waits ? stet_python_trail_waits(t, 1, &m) : 0;

    return waits && stet_python_function_around(m, waits) &&
           !stet_python_function_around(v->module, v->at);
}

static struct stet_python_made answer(const struct stet_python_trail *t, const verdict *found)
{
    bool sure = found->how >= PY_COUNTS && found->at && !is_listed(t, found) && !found->one_of &&
                (found->exact || (!found->guessed && !found->open));
    verdict settled = stet_python_way_settle(t, *found, sure), *v = &settled;

    if (v->how == PY_STAYS || !v->at)
        return (struct stet_python_made){.line = 0};
    return (struct stet_python_made){stet_view_str(v->module->path),
                                     stet_python_function_name(v->module, v->at), v->line, sure};
}

/* All that assigns a field of this name. */
static struct stet_python_made field_answer(struct stet_python_trail *t, struct stet_view name)
{
    stet_python_ref statement;
    verdict v;

    if (!stet_python_trail_enter(t, 0, &statement))
        return (struct stet_python_made){.line = 0};
    v = stet_python_trail_any_field(t, name);
    return answer(t, &v);
}

struct stet_python_made stet_python_follow(struct stet_python_sources *s,
                                           const struct stet_python_stack *stack,
                                           const struct stet_python_followed *what)
{
    static const struct stet_python_stack nothing;
    static stet_python_held_fn *const held[] = {
        [PY_HELD_ARGUMENT] = stet_python_held_argument,
        [PY_HELD_VARIABLE] = stet_python_held_variable,
        [PY_HELD_CLOSURE] = stet_python_held_closure,
        [PY_HELD_FIELD] = stet_python_held_field,
        [PY_HELD_LINE] = stet_python_held_line,
        [PY_HELD_CALL] = stet_python_held_call,
        [PY_HELD_PASSED] = stet_python_held_passed,
        [PY_HELD_CALLEE] = stet_python_held_callee,
    };
    struct stet_python_question q;
    struct stet_python_trail t = {.x = stet_python_ask(&q, s, NULL),
                                  .stack = stack ? stack : &nothing,
                                  .aspect = what->aspect,
                                  .numbers = what->numbers,
                                  .from = what->from,
                                  .to = what->to,
                                  .elsewhere = what->elsewhere,
                                  .presence = what->presence,
                                  .made = what->made,
                                  .called = what->held == PY_HELD_CALLEE,
                                  .ways = &s->ways};
    const struct stet_python_module *m;
    verdict v;

    s->ways.stops.count = s->ways.now = 0;
    for (size_t i = 0; i < t.stack->count; i++)
        if (!stet_path_is_installed(t.stack->frames[i].file))
            stet_python_open(s, t.stack->frames[i].file);
    stet_python_open_imports(s);
    v = held[what->held](&t, what);
    /* a counter that is passed as it is: the call passes it */
    if (v.how == PY_COUNTS && !v.at && what->held == PY_HELD_ARGUMENT &&
        (v.at = stet_python_trail_waits(&t, 1, &m))) {
        v.module = m;
        v.line = stet_python_line(m, v.at);
    }
    return answer(&t, &v);
}

struct stet_python_made stet_python_asks_gradient(struct stet_python_sources *s,
                                                  const struct stet_python_stack *stack,
                                                  const struct stet_python_followed *what)
{
    struct stet_python_question q;
    struct stet_python_trail t = {.x = stet_python_ask(&q, s, NULL),
                                  .stack = stack,
                                  .aspect = PY_OF_VALUE,
                                  .numbers = what->numbers,
                                  .from = what->from,
                                  .to = what->to};
    struct stet_python_events list = {.count = 0};
    verdict v;

    for (uint32_t k = 0; k < s->count; k++) {
        const struct stet_python_module *m = s->modules[k];

        if (stet_path_is_installed(stet_view_str(m->path)))
            continue; /* what a library does with parameters of its own */
        for (size_t i = 0; m->parsed && i < m->calls.count; i++) {
            stet_python_ref call = m->calls.items[i], on = stet_python_argument(m, call, 0);

            if (stet_python_callee_object(m, call) &&
                stet_python_library_method_meaning(stet_python_callee(m, call)) ==
                    PY_MEANS_ASKS_GRADIENT)
                stet_python_events_add(&list, (struct stet_python_event){m, NULL, call, on});
        }
    }
    stet_python_trail_begin(
        &t, (struct stet_python_frame){.module = list.count ? list.items[0].module : NULL});
    v = list.count ? stet_python_events_remote(&t, &list) : stays;
    return v.how >= PY_COUNTS ? answer(&t, &v) : field_answer(&t, STET_VIEW("requires_grad"));
}
