/* One compile and lifting: finds the family of a program, and serves the program with the family's
 * lifted program. */
#include "base/buf.h"
#include "base/mem.h"
#include "fingerprint/fingerprint.h"
#include "intercept/layer.h"
#include "intercept/lift_family.h"
#include "intercept/memo.h"

/* A family that drifts in ever new places costs more than it saves. */
enum { LIFTS_MAX = 3, WAIT_TIMES = 4 };
#define WAIT_NS UINT64_C(5000000000)

/* ---- the program ---- */

static void free_candidate(struct stet_lift_candidate *c)
{
    if (c)
        stet_program_release(&c->converted);
    stet_mem_free(c);
}

/* Everything but constants and starts of slices, and where it is compiled. */
static bool make_key(struct stet_lift_candidate *c)
{
    const struct stet_fingerprint *print = NULL;
    struct stet_buf files = STET_BUF_INIT;
    struct stet_fingerprint converted;
    struct stet_hash hash;
    bool made;

    if (c->program != &c->converted)
        print = stet_intercept_reading_print(c->reading);
    else if (stet_fingerprint_make(&converted, c->program, (struct stet_view){0}, NULL) == STET_OK)
        print = &converted;
    made = print && stet_memo_options(c->options, &hash, &files) == STET_OK;
    if (made) {
        c->skeleton = print->skeleton;
        c->key = stet_hash_mix(print->skeleton, hash);
        c->key = stet_hash_mix(c->key, stet_hash_bytes(stet_buf_as_view(&files)));
        for (unsigned f = 0; f < STET_FACETS; f++) {
            if (f != STET_FACET_CONSTANTS && f != STET_FACET_SLICES)
                c->key = stet_hash_mix(c->key, print->facets[f]);
        }
    }
    stet_buf_release(&files);
    return made;
}

/* Processes of one job may have to compile the same programs at the same time. */
static bool is_alone(struct stet_plugin *p, PJRT_Client *client, uint64_t index)
{
    static atomic_bool reported;
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Client_Devices_Args all = {.struct_size = PJRT_Client_Devices_Args_STRUCT_SIZE,
                                    .client = client};
    PJRT_Client_AddressableDevices_Args own = {
        .struct_size = PJRT_Client_AddressableDevices_Args_STRUCT_SIZE, .client = client};

    if (stet_plugin_drop(p, real->PJRT_Client_Devices(&all)) ||
        stet_plugin_drop(p, real->PJRT_Client_AddressableDevices(&own)))
        return false;
    if (all.num_devices == own.num_addressable_devices)
        return true;
    if (!atomic_exchange(&reported, true))
        stet_intercept_lift_record_unlifted(index, false, "other processes belong to the job");
    return false;
}

/* A newer plugin may have functions that this build does not know, to which a framework could give
 * a lifted executable. */
static bool is_known(struct stet_plugin *p, uint64_t index)
{
    static atomic_bool reported;

    if (stet_api_entries(stet_plugin_real(p)) <= STET_ENTRY_COUNT)
        return true;
    if (!atomic_exchange(&reported, true))
        stet_intercept_lift_record_unlifted(index, false,
                                            "the plugin is newer than this build of Stet");
    return false;
}

static void refuse(uint64_t index, const struct stet_err *why)
{
    stet_layer_log("lift: not lifted: %s", why->text);
    stet_intercept_lift_record_unlifted(index, true, why->text);
}

/* NULL if the program has no family. */
static struct stet_lift_candidate *read_candidate(struct stet_plugin *p,
                                                  const PJRT_Client_Compile_Args *args,
                                                  struct stet_reading *reading, uint64_t index)
{
    bool may = reading->own && is_known(p, index) && is_alone(p, args->client, index);
    struct stet_lift_candidate *c = may ? stet_mem_calloc(1, sizeof *c) : NULL;
    struct stet_err why = STET_ERR_INIT;

    if (!c)
        return NULL;
    c->client = args->client;
    c->options = stet_view_of(args->compile_options, args->compile_options_size);
    c->reading = reading;
    c->program = stet_intercept_lift_read(reading, &c->converted, &why);
    if (c->program && make_key(c))
        return c;
    if (why.text[0])
        refuse(index, &why);
    free_candidate(c);
    return NULL;
}

static bool may_lift(const struct stet_lift_candidate *c, uint64_t index)
{
    struct stet_err why = STET_ERR_INIT;

    if (stet_intercept_lift_refuses(c->program, &why) == STET_OK)
        return true;
    refuse(index, &why);
    return false;
}

/* ---- one compile ---- */

/* A thread that compiles the family's lifted program was here first, so it is done before a compile
 * that begins now. The wait has an end: a plugin may hang. */
static void await_lifting(struct stet_lift_family *f)
{
    uint64_t end = stet_journal_now() + WAIT_NS + WAIT_TIMES * f->plain_ns;

    stet_intercept_lift_lock();
    while (f->lifting && !f->refused && stet_journal_now() < end)
        stet_intercept_lift_pause();
    stet_intercept_lift_unlock();
}

/* With f->lifting, which it resets. */
static struct stet_lift_code *make_code(struct stet_lifting *l, struct stet_lift_family *f,
                                        const struct stet_lift_code *earlier,
                                        const struct stet_lift_candidate *c,
                                        const struct stet_lift_match *m)
{
    const struct stet_lift_plan *plan = earlier                 ? &earlier->plan
                                        : f->recalled.use_count ? &f->recalled
                                                                : NULL;
    struct stet_err why = STET_ERR_INIT;
    bool rejected = false;
    struct stet_lift_code *made =
        stet_intercept_lift_code_new(f, l->index, plan, c->program, m, c->options, &rejected, &why);

    if (made) {
        l->plugin_ns = made->compile_ns;
        l->compiled = made->compiled;
    } else {
        stet_intercept_lift_quarantine(f, l->index, rejected, why.text);
    }
    stet_intercept_lift_lock();
    f->lifts += made != NULL;
    f->lifting = false;
    stet_intercept_lift_wake();
    stet_intercept_lift_unlock();
    return made;
}

/* What is wanted of a match: the code that serves it, and its values. */
struct wanted {
    const struct stet_lift_candidate *candidate;
    const struct stet_lift_match *match;
    struct stet_arena *arena;
    struct stet_lift_value *values;
};

static bool covers(const struct stet_lift_code *code, struct wanted *w)
{
    return code && stet_lift_values(&code->plan, w->match, STET_LIFT_OTHER, w->arena, &w->values,
                                    NULL) == STET_OK;
}

/* The code that can serve what the match found, with a reference; compiled if need be. */
static struct stet_lift_code *code_for(struct stet_lifting *l, struct stet_lift_family *f,
                                       struct wanted *w)
{
    struct stet_lift_code *code = stet_intercept_lift_family_code(f), *made = NULL;
    bool may, worn, busy;

    if (covers(code, w))
        return code;
    stet_intercept_lift_lock();
    worn = f->lifts >= LIFTS_MAX;
    busy = f->lifting;
    may = !busy && !f->refused && !worn && w->match->different;
    f->lifting |= may;
    stet_intercept_lift_unlock();
    if (may) {
        made = make_code(l, f, code, w->candidate, w->match);
    } else if (busy) {
        await_lifting(f);
        made = stet_intercept_lift_family_code(f);
    } else if (worn) {
        stet_intercept_lift_quarantine(f, l->index, false, "values drift in new places each time");
        stet_intercept_lift_forbid(f);
    }
    if (code)
        stet_intercept_lift_code_put(code);
    if (covers(made, w))
        return made;
    if (made)
        stet_intercept_lift_code_put(made);
    return NULL;
}

/* The first program that a code serves has it stored. */
static void take_pending(struct stet_lifting *l, struct stet_lift_code *code)
{
    stet_intercept_lift_lock();
    l->pending = code->pending;
    code->pending = (struct stet_lift_pending){0};
    stet_intercept_lift_unlock();
}

/* With a reference to the family. */
static bool serve(struct stet_lifting *l, struct stet_lift_family *f,
                  const struct stet_lift_candidate *c, PJRT_Client_Compile_Args *args)
{
    struct stet_lift_match match;
    struct stet_arena arena;
    struct wanted wanted = {c, &match, &arena, NULL};
    struct stet_lift_code *code = NULL;
    struct stet_lifted *lifted = NULL;

    if (stet_lift_match(&match, &f->base, c->program, NULL) != STET_OK)
        return false;
    stet_arena_init(&arena, (size_t)1 << 30);
    code = code_for(l, f, &wanted);
    if (code)
        lifted = stet_intercept_lifted_new(code, wanted.values, args, l->index);
    if (lifted) {
        args->executable = (PJRT_LoadedExecutable *)(void *)lifted->slot;
        take_pending(l, code);
        stet_intercept_lift_expected_served(code);
        stet_intercept_lift_check_further(lifted);
    }
    if (code)
        stet_intercept_lift_code_put(code);
    stet_arena_release(&arena);
    stet_lift_match_release(&match);
    return lifted != NULL;
}

/* The family as an earlier run knew it, with a reference; NULL if there is none. */
static struct stet_lift_family *recall(struct stet_plugin *p, struct stet_lift_candidate *c,
                                       const PJRT_Client_Compile_Args *args, uint64_t index)
{
    struct stet_lift_family *f;
    bool refused;

    c->note = stet_intercept_lift_note_of(p, args->client, c->key);
    f = stet_intercept_lift_recall(p, c, args);
    if (!f)
        return NULL;
    refused = f->refused;
    if (!stet_intercept_lift_family_add(f)) /* another thread was faster */
        stet_intercept_lift_family_free(f);
    else if (refused)
        stet_intercept_lift_record_unlifted(index, false,
                                            "an earlier run found that it must not be");
    return stet_intercept_lift_family_find(p, c->client, c->key);
}

bool stet_intercept_lift_try(struct stet_lifting *l, struct stet_plugin *p,
                             PJRT_Client_Compile_Args *args, struct stet_reading *reading,
                             uint64_t index)
{
    struct stet_lift_candidate *c =
        stet_intercept_lift_on() ? read_candidate(p, args, reading, index) : NULL;
    struct stet_lift_family *f;

    *l = (struct stet_lifting){.index = index};
    if (!c)
        return false;
    f = stet_intercept_lift_family_find(p, args->client, c->key);
    if (!f && may_lift(c, index)) {
        f = recall(p, c, args, index);
        if (!f)
            l->candidate = c; /* the caller compiles, and the family begins */
    }
    if (f) {
        l->served = !f->refused && serve(l, f, c, args);
        l->instead_ns = f->plain_ns;
        stet_intercept_lift_family_put(f);
    }
    if (!l->candidate)
        free_candidate(c);
    return l->served;
}

void stet_intercept_lift_end(struct stet_lifting *l, struct stet_plugin *p,
                             PJRT_LoadedExecutable *loaded, uint64_t compile_ns,
                             struct stet_hash entry)
{
    struct stet_lift_candidate *c = l->candidate;
    struct stet_lift_family *f = c && loaded ? stet_mem_calloc(1, sizeof *f) : NULL;

    if (f) {
        *f = (struct stet_lift_family){.plugin = p,
                                       .client = c->client,
                                       .key = c->key,
                                       .skeleton = c->skeleton,
                                       .index = l->index,
                                       .note = c->note,
                                       .entry = entry,
                                       .refs = 2, /* the table's and ours */
                                       .plain = loaded,
                                       .plain_ns = compile_ns};
        stet_arena_init(&f->arena, (size_t)64 << 20);
        f->options = stet_arena_copy(&f->arena, c->options);
        stet_intercept_lift_adopt(f, c->reading, &c->converted);
        if (stet_intercept_lift_family_add(f))
            stet_intercept_lift_expect(f);
        else
            f->refs--;
        stet_intercept_lift_family_put(f);
    }
    l->candidate = NULL;
    free_candidate(c);
}
