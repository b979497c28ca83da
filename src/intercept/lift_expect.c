/* Families that are expected to drift. When a value has drifted in one family, programs of the same
 * skeleton with other shapes, such as the short last batch, are likely to drift in the same places.
 * Their lifted programs are compiled in the background while their first programs serve. */
#include "base/mem.h"
#include "intercept/layer.h"
#include "intercept/lift_family.h"
#include "intercept/lift_spare.h"
#include "intercept/writer.h"

/* If this many have not served a second program yet, further ones would be in vain. */
enum { UNUSED_MAX = 4, SIBLINGS_MAX = 16 };

static _Atomic int unused; /* those that are to be compiled count too */

struct expectation {
    struct stet_lift_job job;
    struct stet_lift_family *family;
    struct stet_lift_plan plan;
    bool made;
};

static void free_expectation(struct stet_lift_job *job)
{
    struct expectation *e = (struct expectation *)(void *)job;

    stet_intercept_lift_lock();
    e->family->expecting = false;
    stet_intercept_lift_unlock();
    if (!e->made)
        atomic_fetch_sub(&unused, 1);
    stet_lift_plan_release(&e->plan);
    stet_intercept_lift_family_put(e->family);
    stet_mem_free(e);
}

static void record(const struct stet_lift_family *f, const struct stet_lift_code *code)
{
    struct stet_event *e = f->index == STET_LIFTING_NO_COMPILE || !code->compiled
                               ? NULL
                               : stet_event_new(STET_REC_lift_ahead);

    if (!e)
        return;
    e->record.lift_ahead =
        (struct stet_rec_lift_ahead){.index = f->index, .plugin_ns = code->compile_ns};
    stet_event_send(e);
}

/* The family's first program is compared with itself: what differs is what the plan expects. */
static struct stet_lift_code *lift_as_expected(struct expectation *e)
{
    struct stet_lift_family *f = e->family;
    struct stet_lift_code *code = NULL;
    struct stet_err why = STET_ERR_INIT;
    struct stet_lift_match match;
    bool rejected;

    if (stet_lift_match(&match, &f->base, &f->base, &why) == STET_OK) {
        code = stet_intercept_lift_code_new(f, f->index, &e->plan, &f->base, &match, f->options,
                                            &rejected, &why);
        stet_lift_match_release(&match);
    }
    stet_layer_log("lift: in the background: %s", code ? "lifted" : why.text);
    return code;
}

static void run_expectation(struct stet_lift_job *job)
{
    struct expectation *e = (struct expectation *)(void *)job;
    struct stet_lift_family *f = e->family;
    struct stet_lift_code *code;
    bool may;

    stet_intercept_lift_lock();
    may = !f->code && !f->lifting && !f->refused && !f->gone && !f->deleted;
    f->lifting |= may;
    stet_intercept_lift_unlock();
    if (!may)
        return;
    code = lift_as_expected(e);
    stet_intercept_lift_lock();
    f->lifting = false;
    if (code)
        code->expected = true;
    stet_intercept_lift_wake();
    stet_intercept_lift_unlock();
    if (!code)
        return;
    e->made = true;
    record(f, code);
    stet_intercept_lift_code_put(code);
}

/* With the lock held: may the family's lifted program be compiled? Then it is claimed, with a
 * reference. */
static bool claim(struct stet_lift_family *f)
{
    bool may = !f->code && !f->lifting && !f->refused && !f->gone && !f->expecting &&
               stet_intercept_lift_spare_takes(f->plain_ns) && atomic_load(&unused) < UNUSED_MAX;

    f->expecting |= may;
    f->refs += may;
    atomic_fetch_add(&unused, may);
    return may;
}

static bool copy_plan(struct stet_lift_plan *out, const struct stet_lift_plan *plan)
{
    char kinds[STET_LIFT_ARGUMENTS];

    for (uint32_t i = 0; i < plan->argument_count; i++)
        kinds[i] = (char)plan->arguments[i].kind;
    return stet_lift_plan_recall(out, stet_view_of(kinds, plan->argument_count),
                                 stet_view_of((const char *)plan->argument_of, plan->use_count),
                                 NULL) == STET_OK;
}

static void begin(struct stet_lift_family *f, const struct stet_lift_plan *plan)
{
    struct expectation *e = stet_mem_calloc(1, sizeof *e);
    bool may = false;

    if (e && copy_plan(&e->plan, plan)) {
        stet_intercept_lift_lock();
        may = claim(f);
        stet_intercept_lift_unlock();
    }
    if (!may) {
        if (e)
            stet_lift_plan_release(&e->plan);
        stet_mem_free(e);
        return;
    }
    e->family = f;
    e->job = (struct stet_lift_job){.plugin = f->plugin,
                                    .client = f->client,
                                    .expected_ns = f->plain_ns,
                                    .run = run_expectation,
                                    .free = free_expectation};
    stet_intercept_lift_spare_add(&e->job);
}

void stet_intercept_lift_expect(struct stet_lift_family *f)
{
    struct stet_lift_family *siblings[SIBLINGS_MAX];
    size_t n = stet_intercept_lift_family_siblings(f, siblings, SIBLINGS_MAX);
    struct stet_lift_plan plan;
    bool found = false;

    for (size_t i = 0; i < n; i++) {
        struct stet_lift_code *code = found ? NULL : stet_intercept_lift_family_code(siblings[i]);

        if (code && atomic_load(&code->state) == STET_LIFT_GOOD) {
            found = true;
            begin(f, &code->plan);
        }
        if (code)
            stet_intercept_lift_code_put(code);
        stet_intercept_lift_family_put(siblings[i]);
    }
    if (!found && stet_intercept_lift_recall_plan(f->skeleton, &plan)) {
        begin(f, &plan);
        stet_lift_plan_release(&plan);
    }
}

void stet_intercept_lift_expect_siblings(struct stet_lift_code *code)
{
    struct stet_lift_family *siblings[SIBLINGS_MAX];
    size_t n = stet_intercept_lift_family_siblings(code->family, siblings, SIBLINGS_MAX);

    for (size_t i = 0; i < n; i++) {
        begin(siblings[i], &code->plan);
        stet_intercept_lift_family_put(siblings[i]);
    }
}

void stet_intercept_lift_expected_served(struct stet_lift_code *code)
{
    bool first;

    stet_intercept_lift_lock();
    first = code->expected;
    code->expected = false;
    stet_intercept_lift_unlock();
    if (first)
        atomic_fetch_sub(&unused, 1);
}
