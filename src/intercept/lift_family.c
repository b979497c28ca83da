/* The table of families, and how long a family and its executables live. */
#include "intercept/lift_family.h"

#include "base/mem.h"
#include "intercept/ask.h"
#include "intercept/executables.h"
#include "intercept/layer.h"
#include "intercept/lift_spare.h"
#include "intercept/reload.h"
#include "intercept/writer.h"
#include "journal/environment.h"

#include <stdlib.h>
#include <time.h>

enum { FAMILIES_MAX = 256, IDLE_MAX = 32 };
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

    on =
        setting && (!strcmp(setting, "1") || !strcmp(setting, "on")); /* `no` and `false` are not */
    stet_intercept_lift_check_init();
    stet_intercept_lift_spare_init();
}

bool stet_intercept_lift_on(void)
{
    return on;
}

bool stet_intercept_lift_wants(size_t bytes)
{
    return on && bytes <= PROGRAM_MAX;
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

void stet_intercept_lift_pause(void)
{
    stet_intercept_lift_unlock();
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    stet_intercept_lift_lock();
}

/* ---- exit and fork ---- */

void stet_intercept_lift_leave(void)
{
    stet_intercept_lift_spare_end();
}

void stet_intercept_lift_fork_wait(void)
{
    stet_intercept_lift_spare_fork_wait();
}

void stet_intercept_lift_fork_prepare(void)
{
    stet_intercept_lift_spare_fork_prepare();
    stet_intercept_lift_lock();
}

void stet_intercept_lift_fork_parent(void)
{
    stet_intercept_lift_unlock();
    stet_intercept_lift_spare_fork_parent();
}

/* The threads that were lifting or comparing do not exist in the child. */
void stet_intercept_lift_fork_child(void)
{
    for (struct stet_lift_family *f = families; f; f = f->next) {
        f->lifting = f->expecting = false;
        if (!f->code)
            continue;
        f->code->checking = false;
        if (atomic_load(&f->code->state) == STET_LIFT_TESTING)
            atomic_store(&f->code->state, STET_LIFT_UNTESTED);
        if (atomic_load(&f->code->state) == STET_LIFT_CHECKING)
            atomic_store(&f->code->state, STET_LIFT_GOOD);
    }
    stet_intercept_lift_unlock();
    stet_intercept_lift_spare_fork_child();
}

/* ---- lifetimes ---- */

void stet_intercept_lift_family_free(struct stet_lift_family *f)
{
    if (f->ours && f->plain)
        stet_executables_unload(f->plugin, f->plain);
    stet_lift_plan_release(&f->recalled);
    stet_program_release(&f->base);
    stet_program_release(&f->hlo);
    stet_arena_release(&f->arena);
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
    stet_intercept_lift_expected_served(c); /* nothing waits for a second program any more */
    if (c->loaded) {
        stet_ask_finish(c->family->plugin, c->loaded);
        stet_executables_unload(c->family->plugin, c->loaded);
    }
    if (c->due.plain)
        stet_executables_unload(c->family->plugin, c->due.plain);
    stet_intercept_pending_free(c->pending.keep);
    stet_intercept_lift_family_put(c->family);
    stet_lift_plan_release(&c->plan);
    stet_arena_release(&c->arena);
    stet_arena_release(&c->due_arena);
    stet_mem_free(c);
}

void stet_intercept_lift_record_unlifted(uint64_t index, bool alone, const char *why)
{
    struct stet_event *e =
        index == STET_LIFTING_NO_COMPILE ? NULL : stet_event_new(STET_REC_unlifted);

    if (!e)
        return;
    e->record.unlifted =
        (struct stet_rec_unlifted){.index = index,
                                   .alone = alone,
                                   .why = stet_journal_env_mask(&e->arena, stet_view_str(why))};
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
    stet_intercept_lift_record_unlifted(index, false, why);
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

struct stet_lift_family *stet_intercept_lift_family_find(const struct stet_plugin *p,
                                                         const PJRT_Client *client,
                                                         struct stet_hash key)
{
    struct stet_lift_family *f;

    stet_intercept_lift_lock();
    f = find(p, client, key);
    if (f)
        f->refs++;
    stet_intercept_lift_unlock();
    return f;
}

bool stet_intercept_lift_family_add(struct stet_lift_family *f)
{
    struct stet_lift_family *dropped;
    bool added;

    stet_intercept_lift_lock();
    dropped = make_room();
    added = !find(f->plugin, f->client, f->key) && family_count < FAMILIES_MAX;
    if (added) {
        f->next = families;
        families = f;
        family_count++;
    }
    stet_intercept_lift_unlock();
    if (dropped)
        drop_family(dropped);
    return added;
}

size_t stet_intercept_lift_family_siblings(const struct stet_lift_family *f,
                                           struct stet_lift_family **out, size_t room)
{
    size_t n = 0;

    stet_intercept_lift_lock();
    for (struct stet_lift_family *g = families; g && n < room; g = g->next) {
        if (g == f || g->plugin != f->plugin || g->client != f->client ||
            !stet_hash_eq(g->skeleton, f->skeleton))
            continue;
        g->refs++;
        out[n++] = g;
    }
    stet_intercept_lift_unlock();
    return n;
}

struct stet_lift_code *stet_intercept_lift_family_code(struct stet_lift_family *f)
{
    struct stet_lift_code *code;

    stet_intercept_lift_lock();
    code = f->code;
    if (code)
        code->refs++;
    stet_intercept_lift_unlock();
    return code;
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
    stet_intercept_lift_spare_client_gone(p, client);
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
