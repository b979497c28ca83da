/* The table of families: finds the family of a program, and compiles its lifted program. */
#include "intercept/lift_family.h"

#include "base/buf.h"
#include "base/mem.h"
#include "fingerprint/fingerprint.h"
#include "intercept/ask.h"
#include "intercept/executables.h"
#include "intercept/layer.h"
#include "intercept/memo.h"
#include "intercept/writer.h"
#include "journal/environment.h"

#include <stdlib.h>

/* A family that drifts in ever new places costs more than it saves. */
enum { LIFTS_MAX = 3, FAMILIES_MAX = 256, IDLE_MAX = 32 };
/* The largest program that is examined. */
#define PROGRAM_MAX ((size_t)16 << 20)

static bool on;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct stet_lift_family *families;
static size_t family_count;

void stet_intercept_lift_init(void)
{
    const char *setting = getenv("STET_LIFT");

    on = setting && *setting && strcmp(setting, "0") != 0 && strcmp(setting, "off") != 0;
}

bool stet_intercept_lift_on(void)
{
    return on;
}

void stet_intercept_lift_lock(void)
{
    pthread_mutex_lock(&lock);
}

void stet_intercept_lift_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void stet_intercept_lift_wait(void)
{
    pthread_cond_wait(&changed, &lock);
}

void stet_intercept_lift_wake(void)
{
    pthread_cond_broadcast(&changed);
}

void stet_intercept_lift_fork_prepare(void)
{
    stet_intercept_lift_lock();
}

void stet_intercept_lift_fork_done(void)
{
    stet_intercept_lift_unlock();
}

/* ---- lifetimes ---- */

void stet_intercept_lift_family_free(struct stet_lift_family *f)
{
    if (f->ours && f->plain)
        stet_executables_unload(f->plugin, f->plain);
    stet_lift_plan_release(&f->recalled);
    stet_program_release(&f->base);
    stet_program_release(&f->hlo);
    stet_mem_free(f->bytes);
    stet_mem_free(f);
}

bool stet_intercept_lift_drop(uint32_t *refs)
{
    bool last;

    stet_intercept_lift_lock();
    last = --*refs == 0;
    stet_intercept_lift_unlock();
    return last;
}

void stet_intercept_lift_family_put(struct stet_lift_family *f)
{
    if (stet_intercept_lift_drop(&f->refs))
        stet_intercept_lift_family_free(f);
}

void stet_intercept_lift_code_put(struct stet_lift_code *c)
{
    if (!stet_intercept_lift_drop(&c->refs))
        return;
    if (c->loaded) {
        stet_ask_finish(c->family->plugin, c->loaded);
        stet_executables_unload(c->family->plugin, c->loaded);
    }
    stet_intercept_lift_family_put(c->family);
    stet_lift_plan_release(&c->plan);
    stet_arena_release(&c->arena);
    stet_mem_free(c);
}

static void record_unlifted(uint64_t index, const char *why)
{
    struct stet_event *e =
        index == STET_LIFTING_NO_COMPILE ? NULL : stet_event_new(STET_REC_unlifted);

    if (!e)
        return;
    e->record.unlifted = (struct stet_rec_unlifted){
        .index = index, .why = stet_journal_env_mask(&e->arena, stet_view_str(why))};
    stet_event_send(e);
}

void stet_intercept_lift_quarantine(struct stet_lift_family *f, uint64_t index, bool fault,
                                    const char *why)
{
    bool first;

    stet_intercept_lift_lock();
    first = !f->refused;
    f->refused = true;
    stet_intercept_lift_unlock();
    if (!first)
        return;
    if (fault)
        stet_fault(STET_FAULT_LIFT);
    record_unlifted(index, why);
    stet_layer_log("lift: a family is compiled as usual from now on: %s", why);
}

/* With the lock held: takes it out of the table. */
static void unlink_family(struct stet_lift_family *f)
{
    for (struct stet_lift_family **at = &families; *at; at = &(*at)->next) {
        if (*at != f)
            continue;
        *at = f->next;
        family_count--;
        f->gone = true;
        return;
    }
}

/* Drops the table's references: the family's own, and the one to its newest code. */
static void drop_family(struct stet_lift_family *f)
{
    struct stet_lift_code *code;

    stet_intercept_lift_lock();
    code = f->code;
    f->code = NULL;
    stet_intercept_lift_unlock();
    if (code)
        stet_intercept_lift_code_put(code);
    stet_intercept_lift_family_put(f);
}

/* With the lock held. */
static struct stet_lift_family *find(const struct stet_plugin *p, const PJRT_Client *client,
                                     struct stet_hash key)
{
    for (struct stet_lift_family *f = families; f; f = f->next) {
        if (f->plugin == p && f->client == client && stet_hash_eq(f->key, key))
            return f;
    }
    return NULL;
}

static struct stet_lift_family *find_by_plain(const struct stet_plugin *p,
                                              const PJRT_LoadedExecutable *loaded)
{
    for (struct stet_lift_family *f = families; f; f = f->next) {
        if ((!p || f->plugin == p) && f->plain == loaded)
            return f;
    }
    return NULL;
}

/* ---- executables that a family keeps ---- */

/* With the lock held: a family whose program the framework has destroyed and that has served
 * nothing, if there are too many of them. Families are in the order of their age, the newest
 * first. */
static struct stet_lift_family *oldest_idle(void)
{
    struct stet_lift_family *oldest = NULL;
    size_t count = 0;

    for (struct stet_lift_family *f = families; f; f = f->next) {
        if (!f->ours || f->code || f->lifting || f->refs > 1)
            continue;
        oldest = f;
        count++;
    }
    return count > IDLE_MAX ? oldest : NULL;
}

/* With the lock held: nothing but the key is left, so that the quarantine goes on. */
static void make_tombstone(struct stet_lift_family *f)
{
    f->plain = NULL;
    stet_program_release(&f->base);
    stet_program_release(&f->hlo);
    stet_mem_free(f->bytes);
    f->bytes = NULL;
}

/* A framework that jits anew in each step destroys one program before it compiles the next, so a
 * destroyed program is kept for a while. */
bool stet_intercept_lift_keeps(struct stet_plugin *p, PJRT_LoadedExecutable *loaded, bool destroyed)
{
    struct stet_lift_family *f, *dropped = NULL;
    bool keeps = false;

    if (!on)
        return false;
    stet_intercept_lift_lock();
    f = find_by_plain(p, loaded);
    keeps = f && !f->ours &&
            (f->refs > 1 || f->code || f->lifting || (destroyed && !f->refused && !f->deleted));
    if (keeps) {
        f->ours |= destroyed;
        f->deleted |= !destroyed;
        dropped = oldest_idle();
    } else if (f && f->refused) {
        make_tombstone(f);
    } else if (f && !f->ours) { /* the family goes with its program */
        dropped = f;
    }
    if (dropped)
        unlink_family(dropped);
    stet_intercept_lift_unlock();
    if (dropped)
        drop_family(dropped);
    return keeps;
}

bool stet_intercept_lift_deleted(const PJRT_LoadedExecutable *loaded)
{
    const struct stet_lift_family *f;
    bool deleted;

    if (!on)
        return false;
    stet_intercept_lift_lock();
    f = find_by_plain(NULL, loaded);
    deleted = f && f->deleted;
    stet_intercept_lift_unlock();
    return deleted;
}

void stet_intercept_lift_client_gone(struct stet_plugin *p, const PJRT_Client *client)
{
    struct stet_lift_family *f;

    if (!on)
        return;
    stet_intercept_lifted_client_gone(p, client);
    do {
        stet_intercept_lift_lock();
        for (f = families; f && (f->plugin != p || f->client != client);)
            f = f->next;
        if (f)
            unlink_family(f);
        stet_intercept_lift_unlock();
        if (f)
            drop_family(f);
    } while (f);
}

/* ---- reading a program ---- */

static void free_candidate(struct stet_lift_candidate *c)
{
    if (!c)
        return;
    stet_program_release(&c->program);
    stet_program_release(&c->hlo);
    stet_mem_free(c->bytes);
    stet_mem_free(c);
}

/* Everything but constants and starts of slices, and where it is compiled. */
static bool make_key(struct stet_lift_candidate *c, struct stet_view options)
{
    struct stet_buf files = STET_BUF_INIT;
    struct stet_fingerprint print;
    struct stet_hash hash;
    bool made =
        stet_fingerprint_make(&print, &c->program, (struct stet_view){0}, NULL) == STET_OK &&
        stet_memo_options(options, &hash, &files) == STET_OK;

    if (made) {
        c->key = stet_hash_mix(print.skeleton, hash);
        c->key = stet_hash_mix(c->key, stet_hash_bytes(stet_buf_as_view(&files)));
        for (unsigned f = 0; f < STET_FACETS; f++) {
            if (f != STET_FACET_CONSTANTS && f != STET_FACET_SLICES)
                c->key = stet_hash_mix(c->key, print.facets[f]);
        }
    }
    stet_buf_release(&files);
    return made;
}

static bool is_small(const PJRT_Program *program)
{
    return program && STET_HAS(program, format_size) && program->code &&
           program->code_size <= PROGRAM_MAX;
}

/* Processes of one job may have to compile the same programs at the same time. */
static bool is_alone(struct stet_plugin *p, PJRT_Client *client)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Client_Devices_Args all = {.struct_size = PJRT_Client_Devices_Args_STRUCT_SIZE,
                                    .client = client};
    PJRT_Client_AddressableDevices_Args own = {
        .struct_size = PJRT_Client_AddressableDevices_Args_STRUCT_SIZE, .client = client};

    return !stet_plugin_drop(p, real->PJRT_Client_Devices(&all)) &&
           !stet_plugin_drop(p, real->PJRT_Client_AddressableDevices(&own)) &&
           all.num_devices == own.num_addressable_devices;
}

/* NULL if the program cannot be lifted. */
static struct stet_lift_candidate *read_candidate(struct stet_plugin *p,
                                                  const PJRT_Client_Compile_Args *args)
{
    bool may = is_small(args->program) && is_alone(p, args->client);
    struct stet_lift_candidate *c = may ? stet_mem_calloc(1, sizeof *c) : NULL;
    struct stet_err why = STET_ERR_INIT;
    bool may_lift = false;

    if (!c)
        return NULL;
    c->client = args->client;
    c->bytes = stet_mem_alloc(args->program->code_size);
    if (c->bytes) {
        memcpy(c->bytes, args->program->code, args->program->code_size);
        may_lift = stet_intercept_lift_read(&c->program, &c->hlo,
                                            stet_view_of(c->bytes, args->program->code_size), &why);
    }
    if (may_lift && make_key(c, stet_view_of(args->compile_options, args->compile_options_size)))
        return c;
    if (why.text[0])
        stet_layer_log("lift: not lifted: %s", why.text);
    free_candidate(c);
    return NULL;
}

/* ---- one compile ---- */

/* The code that can serve what `m` found, with a reference; compiled if need be. */
static struct stet_lift_code *code_for(struct stet_lifting *l, struct stet_lift_family *f,
                                       const struct stet_lift_candidate *c,
                                       const struct stet_lift_match *m, struct stet_arena *arena,
                                       struct stet_lift_value **values,
                                       const PJRT_Client_Compile_Args *args)
{
    struct stet_lift_code *code, *made = NULL;
    const struct stet_lift_plan *earlier;
    bool may, worn;

    stet_intercept_lift_lock();
    code = f->code;
    if (code)
        code->refs++;
    stet_intercept_lift_unlock();
    if (code && stet_lift_values(&code->plan, m, STET_LIFT_OTHER, arena, values, NULL) == STET_OK)
        return code;
    stet_intercept_lift_lock();
    worn = f->lifts >= LIFTS_MAX;
    may = !f->lifting && !f->refused && !worn && m->different;
    f->lifting |= may;
    stet_intercept_lift_unlock();
    if (may) {
        earlier = code ? &code->plan : f->recalled.use_count ? &f->recalled : NULL;
        made = stet_intercept_lift_code_new(l, f, earlier, c, m, args);
        l->plugin_ns = made ? made->compile_ns : 0;
        l->compiled = made && made->compiled;
        stet_intercept_lift_lock();
        f->lifting = false;
        stet_intercept_lift_unlock();
    } else if (worn) {
        stet_intercept_lift_quarantine(f, l->index, false, "values drift in ever new places");
        stet_intercept_lift_forbid(f);
    }
    if (code)
        stet_intercept_lift_code_put(code);
    if (made && stet_lift_values(&made->plan, m, STET_LIFT_OTHER, arena, values, NULL) == STET_OK)
        return made;
    if (made)
        stet_intercept_lift_code_put(made);
    return NULL;
}

/* With a reference to the family. */
static bool serve(struct stet_lifting *l, struct stet_lift_family *f,
                  const struct stet_lift_candidate *c, PJRT_Client_Compile_Args *args)
{
    struct stet_lift_value *values = NULL;
    struct stet_lift_match match;
    struct stet_lift_code *code = NULL;
    struct stet_lifted *lifted = NULL;
    struct stet_arena arena;

    if (stet_lift_match(&match, &f->base, &c->program, NULL) != STET_OK)
        return false;
    stet_arena_init(&arena, (size_t)1 << 30);
    code = code_for(l, f, c, &match, &arena, &values, args);
    if (code)
        lifted = stet_intercept_lifted_new(code, values, args);
    if (code)
        stet_intercept_lift_code_put(code);
    if (lifted)
        args->executable = (PJRT_LoadedExecutable *)(void *)lifted->slot;
    stet_arena_release(&arena);
    stet_lift_match_release(&match);
    return lifted != NULL;
}

/* With the lock held: the oldest family that serves nothing. */
static struct stet_lift_family *make_room(void)
{
    struct stet_lift_family *oldest = NULL;

    for (struct stet_lift_family *f = families; family_count >= FAMILIES_MAX && f; f = f->next) {
        if (!f->code && !f->lifting && f->refs == 1)
            oldest = f;
    }
    if (oldest)
        unlink_family(oldest);
    return oldest;
}

/* With the lock held. */
static bool add_family(struct stet_lift_family *f)
{
    if (find(f->plugin, f->client, f->key) || family_count >= FAMILIES_MAX)
        return false;
    f->next = families;
    families = f;
    family_count++;
    return true;
}

/* Puts the family that an earlier run knew into the table, unless another thread was faster. */
static void recall(struct stet_plugin *p, struct stet_lift_candidate *c,
                   const PJRT_Client_Compile_Args *args, uint64_t index)
{
    struct stet_lift_family *f, *dropped;
    bool added, refused;

    c->note = stet_intercept_lift_note_of(p, args->client, c->key);
    f = stet_intercept_lift_recall(p, c, args);
    if (!f)
        return;
    refused = f->refused;
    stet_intercept_lift_lock();
    dropped = make_room();
    added = add_family(f);
    stet_intercept_lift_unlock();
    if (dropped)
        drop_family(dropped);
    if (!added)
        stet_intercept_lift_family_free(f);
    else if (refused)
        record_unlifted(index, "an earlier run found that it must not be");
}

bool stet_intercept_lift_try(struct stet_lifting *l, struct stet_plugin *p,
                             PJRT_Client_Compile_Args *args, uint64_t index)
{
    struct stet_lift_candidate *c = on ? read_candidate(p, args) : NULL;
    struct stet_lift_family *f;
    bool known;

    *l = (struct stet_lifting){.index = index};
    if (!c)
        return false;
    stet_intercept_lift_lock();
    known = find(p, args->client, c->key) != NULL;
    stet_intercept_lift_unlock();
    if (!known)
        recall(p, c, args, index);
    stet_intercept_lift_lock();
    f = find(p, args->client, c->key);
    if (f && f->refused)
        f = NULL;
    else if (!f)
        l->candidate = c; /* the caller compiles, and the family begins */
    if (f)
        f->refs++;
    stet_intercept_lift_unlock();
    if (f) {
        l->served = serve(l, f, c, args);
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
    struct stet_lift_family *dropped = NULL;
    bool added = false;

    l->candidate = NULL;
    if (f) {
        *f = (struct stet_lift_family){.plugin = p,
                                       .client = c->client,
                                       .key = c->key,
                                       .note = c->note,
                                       .entry = entry,
                                       .refs = 1,
                                       .bytes = c->bytes,
                                       .base = c->program,
                                       .hlo = c->hlo,
                                       .plain = loaded,
                                       .plain_ns = compile_ns};
        stet_intercept_lift_lock();
        dropped = make_room();
        added = add_family(f);
        stet_intercept_lift_unlock();
    }
    if (dropped)
        drop_family(dropped);
    if (added)
        stet_mem_free(c); /* the family has its parts */
    else
        free_candidate(c);
    if (!added)
        stet_mem_free(f);
}
