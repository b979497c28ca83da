/* A list of states for each plugin that only grows: it needs no lock, and a forked child finds it
 * complete. */
#include "intercept/compiler_env.h"

#include "base/mem.h"
#include "intercept/compiler_flags.h"

#include <stdlib.h>

/* A process that changes its flags more often is not served: its keys would be useless. */
enum { STATES = 16, TRIES = 64, TEXT_MOST = 32 << 10, TEXT_SHOWN = 1000 };

struct state {
    struct stet_hash values;      /* of the variables at that time */
    struct stet_file_watch files; /* that flags name */
    struct stet_view own;         /* this state */
    struct stet_view text;        /* all states up to this one */
    enum stet_outcome why;
    unsigned number;
};

static _Atomic(struct state *) latest[STET_PLUGINS];
/* The first read: the values at that time (pack). NULL before it, and if memory ran out. */
static _Atomic(char *) raw[STET_PLUGINS];
static atomic_bool lost[STET_PLUGINS]; /* memory ran out: what the plugin read is not known */

typedef const char *variable_values[STET_VARIABLES]; /* NULL: not set */

/* By getenv, which newer C libraries make safe beside another thread's setenv. */
static void read_now(variable_values v)
{
    for (size_t i = 0; i < STET_VARIABLES; i++)
        v[i] =
            stet_variables[i].reach == STET_REACH_COMPILER ? getenv(stet_variables[i].name) : NULL;
}

static struct stet_hash hash_of(variable_values v)
{
    struct stet_hasher h;

    stet_hasher_init(&h);
    for (size_t i = 0; i < STET_VARIABLES; i++) {
        stet_hasher_add(&h, v[i] ? "=" : "-", 1);
        if (v[i])
            stet_hasher_add(&h, v[i], strlen(v[i]) + 1);
    }
    return stet_hasher_digest(&h);
}

/* ---- the first read ---- */

/* One mark for each variable, its text behind it when it is set. */
static char *pack(variable_values v)
{
    size_t n = 0, at = 0;
    char *bytes;

    for (size_t i = 0; i < STET_VARIABLES; i++)
        n += 1 + (v[i] ? strlen(v[i]) + 1 : 0);
    bytes = stet_mem_alloc(n);
    for (size_t i = 0; bytes && i < STET_VARIABLES; i++) {
        bytes[at++] = v[i] ? '=' : '-';
        if (v[i]) {
            size_t len = strlen(v[i]) + 1;

            memcpy(bytes + at, v[i], len);
            at += len;
        }
    }
    return bytes;
}

static void unpack(const char *bytes, variable_values v)
{
    for (size_t i = 0; i < STET_VARIABLES; i++) {
        v[i] = *bytes++ == '=' ? bytes : NULL;
        if (v[i])
            bytes += strlen(bytes) + 1;
    }
}

void stet_compiler_env_first(const struct stet_plugin *p)
{
    variable_values v;
    char *bytes, *nothing = NULL;

    if (atomic_load(&latest[p->id - 1]) || atomic_load(&raw[p->id - 1]))
        return;
    read_now(v);
    bytes = pack(v);
    if (!bytes)
        atomic_store(&lost[p->id - 1], true);
    if (!atomic_compare_exchange_strong(&raw[p->id - 1], &nothing, bytes))
        stet_mem_free(bytes);
}

/* ---- states ---- */

static void free_state(struct state *s)
{
    stet_intercept_file_watch_release(&s->files);
    stet_mem_free((char *)(uintptr_t)s->own.ptr);
    stet_mem_free((char *)(uintptr_t)s->text.ptr);
    stet_mem_free(s);
}

/* What a buffer holds, as the caller's own. */
static bool keep(struct stet_buf *b, struct stet_view *out)
{
    char *copy = b->failed ? NULL : stet_mem_alloc(b->len + 1);

    if (copy) {
        if (b->len)
            memcpy(copy, b->ptr, b->len);
        copy[b->len] = '\0';
        *out = stet_view_of(copy, b->len);
    }
    stet_buf_release(b);
    return copy != NULL;
}

/* The text in the key: all states up to this one. A very long text is replaced by its hash and its
 * beginning. */
static bool join(struct state *s, const struct state *before, enum stet_moment moment)
{
    static const char *const words[] = {"load", "initialize", "client", "made", "compile", "later"};
    struct stet_buf all = STET_BUF_INIT, brief = STET_BUF_INIT;

    if (before && s->number == before->number) {
        stet_buf_view(&all, before->text);
        return keep(&all, &s->text);
    }
    if (before)
        stet_buf_printf(&all, "%.*s; then at %s ",
                        STET_FMT(before->text.len ? before->text : STET_VIEW("none")),
                        words[moment]);
    stet_buf_view(&all, before && !s->own.len ? STET_VIEW("none") : s->own);
    if (all.failed || all.len <= TEXT_MOST)
        return keep(&all, &s->text);
    stet_named_digest(&brief, stet_buf_as_view(&all));
    stet_buf_printf(&brief, " %.*s ...", TEXT_SHOWN, all.ptr);
    stet_buf_release(&all);
    return keep(&brief, &s->text);
}

/* The state of these values after another, which may be NULL. NULL if memory runs out. */
static struct state *make(variable_values v, const struct state *before, enum stet_moment moment)
{
    struct state *s = stet_mem_calloc(1, sizeof *s);
    struct stet_buf own = STET_BUF_INIT;

    if (!s)
        return NULL;
    s->values = hash_of(v);
    s->why = before ? before->why
                    : STET_OUTCOME_NONE; /* what could not be read once may still be in force */
    for (size_t i = 0; i < STET_VARIABLES && !s->why; i++) {
        if (v[i])
            s->why = stet_compiler_flags(&own, &stet_variables[i], stet_view_str(v[i]), &s->files);
    }
    if (!keep(&own, &s->own) || s->files.failed) {
        free_state(s);
        return NULL;
    }
    if (before)
        s->number = before->number + !stet_view_eq(before->own, s->own);
    if (!s->why && s->number == STATES)
        s->why = STET_OUTCOME_FLAGS_UNSETTLED;
    if (!join(s, before, moment)) {
        free_state(s);
        return NULL;
    }
    return s;
}

enum stet_outcome stet_compiler_env_see(const struct stet_plugin *p, enum stet_moment moment,
                                        struct stet_view *text, unsigned *states)
{
    _Atomic(struct state *) *place = &latest[p->id - 1];
    variable_values now, first;
    struct stet_hash values;

    if (atomic_load(&lost[p->id - 1]))
        return STET_OUTCOME_NO_MEMORY;
    read_now(now);
    values = hash_of(now);
    for (int tries = 0; tries < TRIES; tries++) {
        struct state *s = atomic_load(place), *next;
        const char *bytes = atomic_load(&raw[p->id - 1]);

        if (s &&
            (s->why == STET_OUTCOME_FLAGS_UNSETTLED ||
             (stet_hash_eq(s->values, values) && !stet_intercept_file_watch_moved(&s->files)))) {
            *text = s->text;
            *states = s->number;
            return s->why;
        }
        if (!s && bytes)
            unpack(bytes, first);
        next = make(!s && bytes ? first : now, s, moment);
        if (!next)
            return STET_OUTCOME_NO_MEMORY;
        if (!atomic_compare_exchange_strong(place, &s, next))
            free_state(next); /* another thread was faster */
    }
    return STET_OUTCOME_FLAGS_UNSETTLED; /* files change while they are read */
}
