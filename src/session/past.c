/* Finds earlier runs of the same command: their programs, and what was installed below them. */
#include "session/session.h"

#include "base/mem.h"
#include "base/path.h"
#include "decode/options.h"
#include "journal/variables.h"
#include "session/program_cache.h"

static void add_part(struct stet_arena *arena, struct stet_part *parts, uint32_t *n,
                     const char *prefix, struct stet_view name, struct stet_view value)
{
    if (value.len)
        parts[(*n)++] = (struct stet_part){
            .name = stet_arena_printf(arena, "%s%.*s", prefix, STET_FMT(name)), .value = value};
}

static bool is_dropped(struct stet_view flag)
{
    const char *equals;

    while (flag.len && *flag.ptr == '-')
        flag = stet_view_of(flag.ptr + 1, flag.len - 1);
    equals = flag.len ? memchr(flag.ptr, '=', flag.len) : NULL;
    return stet_options_dropped(equals ? stet_view_of(flag.ptr, (size_t)(equals - flag.ptr))
                                       : flag);
}

/* Returns the flags without those for dumps: the flags that affect what is compiled. */
static struct stet_view without_dumps(struct stet_arena *arena, struct stet_view flags)
{
    char *kept = stet_arena_raw(arena, flags.len + 1, 1);
    size_t len = 0;

    for (struct stet_view rest = flags; kept && rest.len;) {
        const char *blank = memchr(rest.ptr, ' ', rest.len);
        size_t n = blank ? (size_t)(blank - rest.ptr) : rest.len;

        if (n && !is_dropped(stet_view_of(rest.ptr, n))) {
            if (len)
                kept[len++] = ' ';
            memcpy(kept + len, rest.ptr, n);
            len += n;
        }
        n += blank != NULL;
        rest = stet_view_of(rest.ptr + n, rest.len - n);
    }
    return kept ? stet_view_of(kept, len) : flags;
}

static void add_flags(struct stet_arena *arena, struct stet_part *parts, uint32_t *n, size_t room,
                      const struct stet_process_digest *p)
{
    for (size_t i = 0; i < p->env_count && *n < room; i++) {
        struct stet_view one = p->env[i];
        const char *equals = one.len ? memchr(one.ptr, '=', one.len) : NULL;
        struct stet_view name = stet_view_of(one.ptr, equals ? (size_t)(equals - one.ptr) : 0);
        const struct stet_variable *known = stet_journal_variable_find(name);
        struct stet_view value;

        if (!known)
            continue;
        value = stet_view_of(equals + 1, one.len - name.len - 1);
        if (known->form != STET_FORM_VALUE)
            value = without_dumps(arena, value);
        parts[(*n)++] = (struct stet_part){.name = name, .value = value, .flags = true};
    }
}

const struct stet_bundle *stet_session_bundle(struct stet_run_digest *d,
                                              const struct stet_process_digest *p)
{
    size_t room = 3 * p->plugin_count + STET_VARIABLES + 1;
    struct stet_part *parts = STET_NEW_ARRAY(&d->arena, struct stet_part, room);
    struct stet_bundle *b = STET_NEW(&d->arena, struct stet_bundle);
    uint32_t n = 0;

    if (!parts || !b)
        return NULL;
    for (size_t i = 0; i < p->plugin_count; i++) {
        const struct stet_plugin_event *e = &p->plugins[i];

        if (!e->platform.len) /* examined and not used */
            continue;
        add_part(&d->arena, parts, &n, "", stet_path_base(e->path), e->build_id);
        add_part(&d->arena, parts, &n, "platform version of ", stet_path_base(e->path),
                 e->platform_version);
    }
    add_part(&d->arena, parts, &n, "", STET_VIEW("Python"), p->python);
    add_flags(&d->arena, parts, &n, room, p);
    *b = (struct stet_bundle){parts, n};
    return b;
}

static enum stet_rc add_run(struct stet_session *x, struct stet_past *past, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    for (size_t i = 0; rc == STET_OK && i < past->digest.process_count; i++) {
        const struct stet_process_digest *p = &past->digest.processes[i];
        const struct stet_bundle *bundle = stet_session_bundle(&past->digest, p);

        for (size_t k = 0; rc == STET_OK && k < p->compile_count; k++) {
            struct stet_sighting s = stet_session_sighting(p, (uint32_t)i, k);
            struct stet_history_side side;
            uint32_t id;

            s.past = true;
            s.tag |= (uint64_t)(past - x->past + 1) << 32;
            s.bundle = bundle;
            if (!p->compiles[k].load &&
                stet_session_programs_open(x->programs, past->folder, &p->compiles[k], &side,
                                           NULL) == STET_OK)
                rc = stet_history_add(&x->history, &s, &side, NULL, &id, err);
        }
    }
    return rc;
}

/* An upgrade keeps the file's name; the CPU backend that poses as a TPU keeps the platform's. */
static bool shares_plugin(const struct stet_process_digest *a, const struct stet_process_digest *b)
{
    for (size_t i = 0; i < a->plugin_count; i++) {
        const struct stet_plugin_event *x = &a->plugins[i];

        for (size_t k = 0; x->platform.len && k < b->plugin_count; k++) {
            const struct stet_plugin_event *y = &b->plugins[k];

            if (stet_view_eq(x->platform, y->platform) &&
                stet_view_eq(stet_path_base(x->path), stet_path_base(y->path)))
                return true;
        }
    }
    return false;
}

static bool has_plugin(const struct stet_run_digest *d)
{
    for (size_t i = 0; i < d->process_count; i++)
        for (size_t k = 0; k < d->processes[i].plugin_count; k++)
            if (d->processes[i].plugins[k].platform.len)
                return true;
    return false;
}

bool stet_session_was_elsewhere(const struct stet_run_digest *past,
                                const struct stet_run_digest *now)
{
    for (size_t i = 0; i < past->process_count; i++)
        for (size_t k = 0; k < now->process_count; k++)
            if (shares_plugin(&past->processes[i], &now->processes[k]))
                return false;
    return has_plugin(past) && has_plugin(now);
}

enum stet_rc stet_session_past(struct stet_session *x, const struct stet_runs *runs,
                               const struct stet_run *run, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    for (size_t i = 0; runs && i < runs->count && x->past_count < STET_PAST_RUNS; i++) {
        struct stet_past *past = &x->past[x->past_count];

        if (runs->items[i].started_ns >= run->started_ns ||
            !stet_ledger_run_is_same(&runs->items[i], run))
            continue;
        past->folder = runs->items[i].folder;
        if (stet_ledger_run_load(&past->digest, past->folder, NULL) != STET_OK)
            continue;
        if (stet_session_was_elsewhere(&past->digest, &x->digest))
            stet_ledger_run_unload(&past->digest);
        else
            x->past_count++;
    }
    /* oldest first, so that the latest is the nearest */
    for (size_t n = x->past_count; rc == STET_OK && n-- > 0;)
        rc = add_run(x, &x->past[n], err);
    return rc;
}
