/* When a lifted program is compared with a plain one. Its first execution is compared with the
 * family's first program. If the values of that program hide rounding (1024, 0, 1 …), a later
 * program is compiled as it is in the background, and the next execution is compared with it.
 *
 * Both comparisons execute values with the arguments of another program. A loop that ends with
 * either might not end with both, so a program whose loops need not end (stet_lift_loops_end) is
 * compared once, with its own values: it is compiled as it is. */
#include "base/mem.h"
#include "intercept/executables.h"
#include "intercept/layer.h"
#include "intercept/layer_number.h"
#include "intercept/lift_family.h"
#include "intercept/lift_spare.h"
#include "intercept/writer.h"

enum { WAIT_TIMES = 4, WHEN_HIDDEN = -1, CHECKS_MAX = 1000 };
#define WAIT_NS UINT64_C(5000000000)

/* How many further values are compared in each family: STET_LIFT_CHECK, or one if the first values
 * hide rounding. */
static int wanted = WHEN_HIDDEN;

void stet_intercept_lift_check_init(void)
{
    uint64_t n;

    wanted = WHEN_HIDDEN;
    if (stet_layer_number("STET_LIFT_CHECK", &n))
        wanted = n < CHECKS_MAX ? (int)n : CHECKS_MAX;
}

/* ---- values that hide rounding ---- */

/* Zero or a power of two: products with it are exact. `size` bytes, little-endian. */
static bool is_simple_int(const char *at, size_t size, bool is_signed)
{
    uint64_t v = 0, sign = UINT64_C(1) << (8 * size - 1);

    memcpy(&v, at, size);
    if (is_signed && v & sign)
        v = (~v + 1) & ((sign - 1) | sign);
    return !(v & (v - 1));
}

/* ...with no bit of its mantissa set; infinities too. */
static bool is_simple_float(const char *at, size_t size, unsigned mantissa)
{
    uint64_t v = 0;

    memcpy(&v, at, size);
    return !(v & ((UINT64_C(1) << mantissa) - 1));
}

static bool is_simple(const struct stet_type *element, const char *at, size_t size)
{
    static const unsigned mantissas[] = {
        [STET_BF16] = 7, [STET_F16] = 10, [STET_F32] = 23, [STET_F64] = 52};

    if (element->kind == STET_TYPE_FLOAT)
        return is_simple_float(at, size, mantissas[element->flavour]);
    return is_simple_int(at, size, element->sign != STET_UNSIGNED);
}

static bool hides(const struct stet_lift_argument *a, struct stet_view bytes)
{
    const struct stet_type *element = a->type->element;
    size_t size = stet_type_storage_bits(element) / 8;

    if (a->kind == STET_LIFT_START || (element->kind == STET_TYPE_INTEGER && element->width == 1))
        return true; /* there is no arithmetic with it */
    for (size_t i = 0; size && i + size <= bytes.len; i += size) {
        if (!is_simple(element, bytes.ptr + i, size))
            return false;
    }
    return true;
}

/* Could the results agree with these values although they do not agree with others? */
static bool hide_rounding(const struct stet_lift_plan *plan, const struct stet_lift_value *values)
{
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        if (!hides(&plan->arguments[i], values[i].bytes))
            return false;
    }
    return true;
}

static bool has_arithmetic(const struct stet_lift_plan *plan)
{
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        const struct stet_type *element = plan->arguments[i].type->element;

        if (plan->arguments[i].kind != STET_LIFT_START &&
            (element->kind != STET_TYPE_INTEGER || element->width > 1))
            return true;
    }
    return false;
}

/* ---- comparing ---- */

static void record(const struct stet_lift_trial *trial, const struct stet_lift_difference *found)
{
    struct stet_event *e =
        trial->index == STET_LIFTING_NO_COMPILE ? NULL : stet_event_new(STET_REC_lift_compared);

    if (!e)
        return;
    e->record.lift_compared = (struct stet_rec_lift_compared){
        .index = trial->index, .elements = found->elements, .ulp = found->ulp};
    stet_event_send(e);
}

static enum stet_lift_verdict compare(struct stet_lift_code *code,
                                      const struct stet_lift_trial *trial,
                                      const PJRT_LoadedExecutable_Execute_Args *args, char *why,
                                      size_t room)
{
    struct stet_lift_difference found;
    enum stet_lift_verdict verdict =
        stet_intercept_lift_compare(code, trial, args, &found, why, room);

    if (verdict == STET_LIFT_SAME)
        record(trial, &found);
    if (verdict == STET_LIFT_DIFFERENT)
        stet_intercept_lift_forbid(code->family);
    return verdict;
}

static void set_state(struct stet_lift_code *code, enum stet_lift_state state)
{
    stet_intercept_lift_lock();
    atomic_store(&code->state, (int)state);
    stet_intercept_lift_wake();
    stet_intercept_lift_unlock();
}

/* True if the state was `from` and this thread has changed it. */
static bool claim(struct stet_lift_code *code, enum stet_lift_state from, enum stet_lift_state to)
{
    int expected = (int)from;

    return atomic_compare_exchange_strong(&code->state, &expected, (int)to);
}

/* What is compared in the first execution. False if the plugin cannot compile it. */
static bool begin_trial(struct stet_lifted *l, struct stet_lift_trial *out)
{
    struct stet_lift_code *code = l->code;
    struct stet_plugin *p = code->family->plugin;

    *out = (struct stet_lift_trial){code->family->plain, code->base, code->index};
    if (code->loops_end)
        return true;
    stet_layer_log("lift: a loop need not end: the program is compared with its own values");
    *out = (struct stet_lift_trial){NULL, l->values, l->source.index};
    return l->source.program.len &&
           !stet_plugin_drop(p, stet_intercept_lifted_compile(p, code->family->client, &l->source,
                                                              true, &out->plain));
}

static uint32_t checks_of(const struct stet_lift_code *code)
{
    if (!code->loops_end)
        return 0;
    if (wanted != WHEN_HIDDEN)
        return (uint32_t)wanted;
    return !code->checked && has_arithmetic(&code->plan) && hide_rounding(&code->plan, code->base);
}

/* The first execution decides whether the code may be used. */
static void test_first(struct stet_lifted *l, const PJRT_LoadedExecutable_Execute_Args *args)
{
    struct stet_lift_code *code = l->code;
    struct stet_lift_trial trial;
    char why[256] = "the plugin does not compile the plain program";
    bool good = false;

    if (begin_trial(l, &trial)) {
        why[0] = '\0';
        good = compare(code, &trial, args, why, sizeof why) == STET_LIFT_SAME;
    }
    if (!code->loops_end && trial.plain)
        stet_executables_unload(code->family->plugin, trial.plain);
    if (why[0])
        stet_layer_log("lift: the first execution: %s", why);
    if (good) {
        code->checks = checks_of(code);
        stet_intercept_lift_remember(code);
    } else {
        stet_intercept_lift_quarantine(code->family, code->index, true, why);
    }
    set_state(code, good ? STET_LIFT_GOOD : STET_LIFT_BAD);
    if (good)
        stet_intercept_lift_expect_siblings(code);
}

/* Other threads do not wait for it: the code is good so far. */
static void check_due(struct stet_lift_code *code, const PJRT_LoadedExecutable_Execute_Args *args)
{
    char why[256] = "";
    enum stet_lift_verdict verdict = compare(code, &code->due, args, why, sizeof why);

    if (why[0])
        stet_layer_log("lift: an execution with further values: %s", why);
    if (verdict == STET_LIFT_DIFFERENT)
        stet_intercept_lift_quarantine(code->family, code->due.index, true, why);
    stet_executables_unload(code->family->plugin, code->due.plain);
    stet_arena_release(&code->due_arena);
    stet_intercept_lift_lock();
    code->due = (struct stet_lift_trial){0};
    code->checking = false;
    code->checked += verdict == STET_LIFT_SAME;
    stet_intercept_lift_unlock();
    if (verdict == STET_LIFT_SAME)
        stet_intercept_lift_remember(code);
    set_state(code, verdict == STET_LIFT_DIFFERENT ? STET_LIFT_BAD : STET_LIFT_GOOD);
}

/* Another thread compares. The wait has an end: what it executes may never end. */
static void await_test(struct stet_lift_code *code)
{
    uint64_t end = stet_journal_now() + WAIT_NS + WAIT_TIMES * code->family->plain_ns;

    stet_intercept_lift_lock();
    while (atomic_load(&code->state) == STET_LIFT_TESTING && stet_journal_now() < end)
        stet_intercept_lift_pause();
    stet_intercept_lift_unlock();
}

bool stet_intercept_lift_check_is_over(struct stet_lift_code *code)
{
    bool over;

    stet_intercept_lift_lock();
    over = atomic_load(&code->state) == STET_LIFT_GOOD && !code->checks && !code->checking;
    stet_intercept_lift_unlock();
    return over;
}

bool stet_intercept_lift_check(struct stet_lifted *l,
                               const PJRT_LoadedExecutable_Execute_Args *args)
{
    struct stet_lift_code *code = l->code;
    int state;

    if (claim(code, STET_LIFT_UNTESTED, STET_LIFT_TESTING)) {
        test_first(l, args);
        stet_intercept_lift_check_further(l);
    } else if (claim(code, STET_LIFT_DUE, STET_LIFT_CHECKING)) {
        check_due(code, args);
    } else {
        await_test(code);
    }
    state = atomic_load(&code->state);
    return state == STET_LIFT_GOOD || state == STET_LIFT_DUE || state == STET_LIFT_CHECKING;
}

/* ---- further values ---- */

struct further {
    struct stet_lift_job job;
    struct stet_lift_code *code;
    struct stet_arena arena;
    struct stet_lift_source source;
    struct stet_lift_trial trial;
};

static void free_further(struct stet_lift_job *job)
{
    struct further *f = (struct further *)(void *)job;

    if (f->trial.plain)
        stet_executables_unload(f->job.plugin, f->trial.plain);
    stet_intercept_lift_lock();
    if (f->trial.values)
        f->code->checking = false; /* it did not come to a comparison */
    stet_intercept_lift_unlock();
    stet_intercept_lift_code_put(f->code);
    stet_arena_release(&f->arena);
    stet_mem_free(f);
}

/* The next execution of the code compares. */
static void run_further(struct stet_lift_job *job)
{
    struct further *f = (struct further *)(void *)job;
    struct stet_plugin *p = f->job.plugin;

    if (atomic_load(&f->code->state) != STET_LIFT_GOOD ||
        stet_plugin_drop(
            p, stet_intercept_lifted_compile(p, f->job.client, &f->source, false, &f->trial.plain)))
        return;
    stet_intercept_lift_lock();
    f->code->due = f->trial;
    f->code->due_arena = f->arena;
    f->code->checks--;
    stet_intercept_lift_unlock();
    f->trial = (struct stet_lift_trial){0};
    stet_arena_init(&f->arena, 1);
    claim(f->code, STET_LIFT_GOOD, STET_LIFT_DUE);
}

static struct further *new_further(const struct stet_lifted *l)
{
    uint32_t n = l->code->plan.argument_count;
    struct further *f = stet_mem_calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->job = (struct stet_lift_job){.plugin = l->code->family->plugin,
                                    .client = l->code->family->client,
                                    .expected_ns = l->code->family->plain_ns,
                                    .run = run_further,
                                    .free = free_further};
    stet_arena_init(&f->arena, (size_t)1 << 30);
    f->source = (struct stet_lift_source){
        stet_arena_copy(&f->arena, l->source.program), stet_arena_copy(&f->arena, l->source.format),
        stet_arena_copy(&f->arena, l->source.options), l->source.index};
    f->trial.index = l->source.index;
    f->trial.values = STET_NEW_ARRAY(&f->arena, struct stet_lift_value, n);
    for (uint32_t i = 0; f->trial.values && i < n; i++)
        f->trial.values[i].bytes = stet_arena_copy(&f->arena, l->values[i].bytes);
    if (!f->arena.failed)
        return f;
    stet_arena_release(&f->arena);
    stet_mem_free(f);
    return NULL;
}

void stet_intercept_lift_check_further(struct stet_lifted *l)
{
    struct stet_lift_code *code = l->code;
    struct further *f = NULL;
    bool begin;

    if (atomic_load(&code->state) != STET_LIFT_GOOD || !l->source.program.len ||
        !stet_intercept_lift_spare_takes(code->family->plain_ns) ||
        (wanted == WHEN_HIDDEN && hide_rounding(&code->plan, l->values)))
        return;
    stet_intercept_lift_lock();
    begin = code->checks && !code->checking;
    code->checking |= begin;
    stet_intercept_lift_unlock();
    if (begin)
        f = new_further(l);
    stet_intercept_lift_lock();
    if (f) {
        f->code = code;
        code->refs++;
    } else if (begin) {
        code->checking = false;
    }
    stet_intercept_lift_unlock();
    if (f)
        stet_intercept_lift_spare_add(&f->job);
}
