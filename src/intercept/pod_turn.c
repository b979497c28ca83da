/* One compile: what is compared, and the result. */
#include "abi/error.h"
#include "base/mem.h"
#include "fingerprint/traits.h"
#include "intercept/finished.h"
#include "intercept/identity.h"
#include "intercept/memo.h"
#include "intercept/pod_internal.h"
#include "intercept/ranks.h"
#include "journal/environment.h"
#include "journal/variables.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NAMED_MS = 6000 };

struct stet_pod_turn *stet_intercept_pod_hold(struct stet_pod_turn *t)
{
    if (t)
        atomic_fetch_add(&t->holders, 1);
    return t;
}

void stet_intercept_pod_drop(struct stet_pod_turn *t)
{
    if (t && atomic_fetch_sub(&t->holders, 1) == 1)
        stet_mem_free(t);
}

static void drop(void *t)
{
    stet_intercept_pod_drop(t);
}

/* ---- what is compared ---- */

/* A program that an operation outside any function made: ranks have many of their own. */
static bool is_eager(const struct stet_program *program)
{
    struct stet_traits traits = {0};
    bool no_memory = false, eager;
    struct stet_arena arena;

    stet_arena_init(&arena, (size_t)16 << 20);
    stet_traits_make(&traits, program, &arena, &no_memory);
    eager = no_memory || traits.eager ||
            (traits.framework == STET_FRAMEWORK_JAX && (traits.unnamed || !traits.line_count));
    stet_arena_release(&arena);
    return eager;
}

/* "jit_train_step" and "SyncTensorsGraph.17": a number at the end counts graphs. */
static void take_name(struct stet_pod_turn *t, struct stet_view module)
{
    struct stet_view name = stet_traits_function_of(module);
    size_t n = name.len;

    while (n && name.ptr[n - 1] >= '0' && name.ptr[n - 1] <= '9')
        n--;
    if (n && n < name.len && name.ptr[n - 1] == '.')
        name.len = n - 1;
    snprintf(t->entry.name, sizeof t->entry.name, "%.*s", STET_FMT(name));
}

/* TorchTPU compiles every program for the devices of all ranks. One that needs no other rank may be
 * compiled by one rank alone. */
static void leave_scope(struct stet_pod_turn *t, const struct stet_program *program)
{
    if (t->scope && !stet_program_meets(program))
        t->scope = 0;
}

/* False if the program is not compared. */
static bool read_program(struct stet_pod_turn *t, struct stet_reading *reading)
{
    const struct stet_program *program = stet_intercept_reading_program(reading);
    const struct stet_fingerprint *print;

    t->entry.bytes = stet_hash_bytes(reading->bytes);
    if (!program) { /* by its bytes, then */
        t->entry.part[STET_POD_PROGRAM] = t->entry.bytes;
        return t->scope;
    }
    leave_scope(t, program);
    take_name(t, stet_op_symbol(program->module));
    if (!t->scope && is_eager(program))
        return false;
    print = stet_intercept_reading_print(reading);
    if (print)
        t->entry.part[STET_POD_PROGRAM] = print->key;
    return print;
}

static void read_options(struct stet_pod_turn *t, struct stet_view bytes)
{
    struct stet_buf files = STET_BUF_INIT;

    if (!bytes.ptr)
        return;
    t->entry.option_bytes = stet_hash_bytes(bytes);
    if (!t->scope)
        t->entry.part[STET_POD_OPTIONS] = stet_ranks_options(bytes);
    else if (stet_memo_options(bytes, &t->entry.part[STET_POD_OPTIONS], &files) != STET_OK)
        t->entry.part[STET_POD_OPTIONS] = (struct stet_hash){0};
    stet_buf_release(&files);
}

/* The variables that are set, for the rank that differs. With the lock. */
static void keep_flags(struct stet_view plugin)
{
    struct stet_buf text = STET_BUF_INIT;
    struct stet_arena arena;

    stet_arena_init(&arena, (size_t)1 << 20);
    for (size_t i = 0; i < STET_VARIABLES; i++) {
        const char *value =
            stet_variables[i].reach == STET_REACH_COMPILER ? getenv(stet_variables[i].name) : NULL;

        if (value)
            stet_buf_printf(&text, "%s=%.*s\n", stet_variables[i].name,
                            STET_FMT(stet_journal_env_mask(&arena, stet_view_str(value))));
    }
    stet_buf_printf(&text, "plugin=%.*s\n", STET_FMT(plugin));
    snprintf(stet_pod.flags, sizeof stet_pod.flags, "%s", text.ptr ? text.ptr : "");
    stet_buf_release(&text);
    stet_arena_release(&arena);
}

static void read_environment(struct stet_pod_turn *t, struct stet_plugin *p, PJRT_Client *client)
{
    static struct stet_hash last;
    struct stet_key_parts parts = {0};
    struct stet_view path, environment, plugin;
    struct stet_arena arena;

    stet_arena_init(&arena, (size_t)4 << 20);
    stet_identity_of(p, client, &arena, &parts, &path);
    environment = parts.part[STET_COMPONENT_ENVIRONMENT];
    plugin = parts.part[STET_COMPONENT_PLUGIN];
    t->entry.part[STET_POD_ENVIRONMENT] = stet_hash_bytes(environment);
    t->entry.part[STET_POD_PLUGIN] = stet_hash_bytes(plugin);
    pthread_mutex_lock(&stet_pod.lock);
    if (!stet_hash_eq(last, t->entry.part[STET_POD_ENVIRONMENT])) {
        last = t->entry.part[STET_POD_ENVIRONMENT];
        keep_flags(plugin);
    }
    pthread_mutex_unlock(&stet_pod.lock);
    stet_arena_release(&arena);
}

/* The number + 1 of a set of ranks; 0 if there is no room. */
static unsigned find_scope(const struct stet_ranks *r)
{
    struct stet_hash hash = stet_hash_bytes(stet_view_of(r->ranks, r->count * sizeof *r->ranks));
    struct stet_pod_ranks *s = NULL;
    unsigned number = 0;

    pthread_mutex_lock(&stet_pod.lock);
    for (size_t i = 0; i < stet_pod.scope_count && !number; i++) {
        if (stet_hash_eq(stet_pod.scopes[i].hash, hash))
            number = (unsigned)i + 1;
    }
    if (!number && stet_pod.scope_count < STET_POD_SCOPES_MOST) {
        s = &stet_pod.scopes[stet_pod.scope_count];
        s->hash = hash;
        s->count = r->count;
        s->ranks = stet_mem_calloc(r->count, sizeof *s->ranks);
        if (s->ranks) {
            memcpy(s->ranks, r->ranks, r->count * sizeof *s->ranks);
            number = (unsigned)++stet_pod.scope_count;
        }
    }
    pthread_mutex_unlock(&stet_pod.lock);
    return number;
}

/* ---- a turn ---- */

/* On the writer thread, after all executions that came before the compile: they are counted now. */
static bool queue_turn(struct stet_event *e, struct stet_journal *j)
{
    struct stet_pod_turn *t = e->extra, **last = &stet_pod.queue;

    (void)j;
    if (t->scope)
        t->entry.position = atomic_load(&stet_pod.scopes[t->scope - 1].runs);
    pthread_mutex_lock(&stet_pod.lock);
    while (*last)
        last = &(*last)->next;
    t->next = NULL;
    *last = t;
    atomic_fetch_add(&t->holders, 1);
    pthread_cond_broadcast(&stet_pod.moved);
    pthread_mutex_unlock(&stet_pod.lock);
    return false;
}

static void send(struct stet_pod_turn *t)
{
    struct stet_event *e = stet_event_new(STET_REC_note);

    if (!e)
        return;
    atomic_fetch_add(&t->holders, 1);
    e->extra = t;
    e->drop = drop;
    e->prepare = queue_turn;
    stet_event_send(e);
}

struct stet_pod_turn *stet_intercept_pod_begin(struct stet_plugin *p, PJRT_Client *client,
                                               struct stet_reading *reading,
                                               struct stet_view options, uint64_t index)
{
    struct stet_pod_turn *t;
    struct stet_ranks ranks = {0};
    struct stet_arena arena;

    if (!stet_intercept_pod_is_on() || !client || !reading->bytes.ptr)
        return NULL;
    t = stet_mem_calloc(1, sizeof *t);
    if (!t)
        return NULL;
    atomic_init(&t->holders, 1);
    t->begin_ns = stet_journal_now();
    t->index = index;
    t->open = true;
    stet_arena_init(&arena, (size_t)4 << 20);
    if (stet_pod.set.spans && stet_ranks_joint(&ranks, p, client, options, &arena) &&
        ranks.count > 1)
        t->scope = find_scope(&ranks);
    stet_arena_release(&arena);
    if (!read_program(t, reading)) {
        stet_mem_free(t);
        return NULL;
    }
    read_options(t, options);
    read_environment(t, p, client);
    pthread_mutex_lock(&stet_pod.lock);
    if (++stet_pod.compiles > 1)
        atomic_store(&stet_pod.overlaps, true);
    snprintf(stet_pod.compiling, sizeof stet_pod.compiling, "%s", t->entry.name);
    pthread_mutex_unlock(&stet_pod.lock);
    send(t);
    return t;
}

void stet_intercept_pod_end(struct stet_pod_turn *t, uint32_t executable)
{
    if (!t)
        return;
    if (executable && executable < STET_POD_EXECUTABLES)
        atomic_store(&stet_pod.of[executable], (uint8_t)t->scope);
    if (executable && t->scope)
        atomic_store(&stet_finished_on, true);
    pthread_mutex_lock(&stet_pod.lock);
    if (executable)
        snprintf(stet_pod.names[executable % STET_POD_NAMES], sizeof *stet_pod.names, "%.63s",
                 t->entry.name);
    if (!--stet_pod.compiles)
        stet_pod.compiling[0] = '\0';
    t->open = false;
    pthread_mutex_unlock(&stet_pod.lock);
    stet_intercept_pod_drop(t);
}

/* A hash of everything that is compared. */
static struct stet_hash whole(const struct stet_pod_entry *e)
{
    struct stet_hash h = {0};

    for (size_t i = 0; i < STET_POD_PARTS; i++)
        h = stet_hash_mix(h, e->part[i]);
    return h;
}

/* The votes come before what was found out: waits a little, to name the other rank. A rank with the
 * leader's program has none. */
static int64_t other_rank(struct stet_pod_turn *t, bool leads)
{
    const uint64_t end = stet_journal_now() + (uint64_t)NAMED_MS * 1000000u;

    while (!atomic_load(&t->other) && stet_journal_now() < end &&
           (leads || atomic_load(&t->finding) != STET_POD_SAME))
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    return atomic_load(&t->other) - 1;
}

PJRT_Error *stet_intercept_pod_refuse(struct stet_pod_turn *t)
{
    const struct stet_pod_ranks *s = t && t->scope ? &stet_pod.scopes[t->scope - 1] : NULL;
    struct stet_ranks ranks;
    int64_t other;
    char who[64];

    if (!s || !stet_pod.set.refuses)
        return NULL;
    ranks = (struct stet_ranks){.ranks = s->ranks, .count = s->count};
    if (stet_ranks_confirm(&ranks, whole(&t->entry), t))
        return NULL;
    other = other_rank(t, s->ranks[0] == (uint32_t)stet_pod.set.rank);
    if (other < 0)
        snprintf(who, sizeof who, "other ranks differ");
    else
        snprintf(who, sizeof who, "ranks %lld and %lld differ", (long long)stet_pod.set.rank,
                 (long long)other);
    return stet_pjrt_error(PJRT_Error_Code_FAILED_PRECONDITION,
                           "stet: the ranks of this job do not compile the same %s: %s. `stet run` "
                           "and `stet explain` print what differs, and its line. Start with "
                           "--on-divergence=warn to go on.",
                           t->entry.name, who);
}

bool stet_intercept_pod_differs(struct stet_pod_turn *t)
{
    return t && atomic_load(&t->finding) == STET_POD_DIFFERS;
}

void stet_intercept_pod_loaded(void)
{
    atomic_fetch_add(&stet_pod.loads, 1);
}

void stet_intercept_pod_waited(uint64_t ns)
{
    atomic_fetch_add(&stet_pod.waited_ns, ns);
}

void stet_intercept_pod_thread(const void *state, const void *code_type)
{
    atomic_store(&stet_pod.py_state, (uintptr_t)state);
    atomic_store(&stet_pod.py_code_type, (uintptr_t)code_type);
}

static unsigned scope_of(uint64_t executable)
{
    return executable < STET_POD_EXECUTABLES ? atomic_load(&stet_pod.of[executable]) : 0;
}

bool stet_intercept_pod_is_joint(uint32_t executable)
{
    return stet_pod.of && scope_of(executable);
}

void stet_intercept_pod_ran(uint64_t executable)
{
    unsigned scope;

    if (!stet_pod.of)
        return;
    atomic_fetch_add_explicit(&stet_pod.runs, 1, memory_order_relaxed);
    atomic_store_explicit(&stet_pod.last_executable, (uint32_t)executable, memory_order_relaxed);
    scope = scope_of(executable);
    if (scope)
        atomic_fetch_add(&stet_pod.scopes[scope - 1].runs, 1);
}
