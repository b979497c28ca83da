/* Compares every program of the second run with the nearest program of the first, then the
 * installed software, then memory. */
#include "session/rundiff.h"

#include "base/fs.h"
#include "base/known.h"
#include "base/mem.h"
#include "base/vec.h"
#include "session/program_cache.h"
#include "session/torch_moves.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int64_t stet_rundiff_rank(char *name)
{
    char *at = strrchr(name, '@'), *end;
    long long rank;

    if (!at || at[1] < '0' || at[1] > '9')
        return STET_RUNDIFF_ALL;
    rank = strtoll(at + 1, &end, 10);
    if (*end || rank > UINT32_MAX)
        return STET_RUNDIFF_ALL;
    *at = '\0';
    return rank;
}

bool stet_rundiff_is_run(const char *name)
{
    char path[4200], own[4096];
    struct stat st;

    snprintf(own, sizeof own, "%s", name);
    if (stet_rundiff_rank(own) != STET_RUNDIFF_ALL) {
        if (!*own)
            return true;
        name = own;
    }
    snprintf(path, sizeof path, "%s/run.json", name);
    if (stet_fs_exists(path))
        return true;
    return (!strcmp(name, "latest") || (strchr(name, '-') && name[1])) && stat(name, &st) != 0;
}

/* ---- comparing ---- */

static enum stet_rc open_side(void *context, uint32_t number, struct stet_history_side *out,
                              struct stet_err *err)
{
    struct stet_rundiff *m = context;
    const struct stet_sighting *s = &m->x.history.sightings[number];
    struct stet_rundiff_side *side = s->past ? &m->a : &m->b;
    const struct stet_compile_event *c =
        &side->digest.processes[s->tag >> 32].compiles[s->tag & UINT32_MAX];

    return stet_session_programs_open(m->x.programs, side->run->folder, c, out, err);
}

static bool is_meant(const struct stet_rundiff_side *side, const struct stet_process_digest *p)
{
    return side->rank == STET_RUNDIFF_ALL || p->rank == side->rank;
}

static bool has_any(const struct stet_rundiff_side *side)
{
    for (size_t i = 0; i < side->digest.process_count; i++) {
        if (is_meant(side, &side->digest.processes[i]))
            return true;
    }
    return side->rank == STET_RUNDIFF_ALL;
}

/* The programs of B, by their bytes. Without memory, none. */
static void list_programs(const struct stet_rundiff_side *side, struct stet_map *out)
{
    for (size_t i = 0; i < side->digest.process_count; i++) {
        const struct stet_process_digest *p = &side->digest.processes[i];

        for (size_t k = 0; is_meant(side, p) && k < p->compile_count; k++)
            stet_map_put(out, p->compiles[k].program.lo, 1);
    }
}

enum part { ALL, COMMON, OWN }; /* of A: programs that B has too, and those that it has not */

static bool is_part(enum part part, const struct stet_map *others, struct stet_hash program)
{
    return part == ALL || (stet_map_get(others, program.lo) != STET_MAP_NONE) == (part == COMMON);
}

/* Each program of B gets a process of its own, so that only programs of A precede it. */
static enum stet_rc add_side(struct stet_rundiff *m, struct stet_rundiff_side *side, enum part part,
                             const struct stet_map *others, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    for (size_t i = 0; rc == STET_OK && i < side->digest.process_count; i++) {
        const struct stet_process_digest *p = &side->digest.processes[i];
        const struct stet_bundle *bundle = stet_session_bundle(&side->digest, p);

        if (!is_meant(side, p))
            continue;
        for (size_t k = 0; rc == STET_OK && k < p->compile_count; k++) {
            struct stet_sighting s = stet_session_sighting(p, (uint32_t)i, k);
            struct stet_history_side program;
            uint32_t id;

            if (!is_part(part, others, p->compiles[k].program))
                continue;
            s.past = part != ALL;
            s.process = m->x.history.sighting_count;
            s.tag = (uint64_t)i << 32 | k;
            s.bundle = bundle;
            if (!p->compiles[k].load &&
                stet_session_programs_open(m->x.programs, side->run->folder, &p->compiles[k],
                                           &program, NULL) == STET_OK)
                rc = stet_history_add(&m->x.history, &s, &program, NULL, &id, err);
        }
    }
    return rc;
}

static enum stet_rc compare(struct stet_rundiff *m, struct stet_err *err)
{
    enum stet_rc rc = stet_ledger_run_load(&m->a.digest, m->a.run->folder, err);
    struct stet_map others = {0};

    if (rc == STET_OK)
        rc = stet_ledger_run_load(&m->b.digest, m->b.run->folder, err);
    for (int i = 0; i < 2 && rc == STET_OK; i++) {
        const struct stet_rundiff_side *side = i ? &m->b : &m->a;

        if (!has_any(side))
            rc = stet_fail(err, STET_NOT_FOUND, "run %s has no rank %lld", side->run->id,
                           (long long)side->rank);
    }
    if (rc == STET_OK)
        rc = stet_session_begin(&m->x, m->b.run->id, m->b.run->folder, err);
    m->x.history.open = open_side;
    m->x.history.context = m;
    /* Of several that are as near, the last one is compared with: one that B does not have. */
    list_programs(&m->b, &others);
    if (rc == STET_OK)
        rc = add_side(m, &m->a, COMMON, &others, err);
    if (rc == STET_OK)
        rc = add_side(m, &m->a, OWN, &others, err);
    if (rc == STET_OK)
        rc = add_side(m, &m->b, ALL, NULL, err);
    stet_map_release(&others);
    return rc;
}

/* ---- what changed ---- */

static void add(struct stet_rundiff *m, struct stet_rundiff_entry e)
{
    STET_KNOWN(e.what.ptr && (e.from.ptr || !e.from.len) && (e.to.ptr || !e.to.len));
    m->moved[e.thing] = true;
    for (size_t i = 0; i < m->count; i++) {
        const struct stet_rundiff_entry *o = &m->items[i];

        if (o->thing == e.thing && o->line == e.line && stet_view_eq(o->what, e.what) &&
            stet_view_eq(o->from, e.from) && stet_view_eq(o->to, e.to) &&
            stet_view_eq(o->function, e.function))
            return;
    }
    if (stet_vec_room(&m->items, &m->room, m->count, sizeof *m->items))
        m->items[m->count++] = e;
}

static struct stet_view words_of(struct stet_rundiff *m, const struct stet_reported_change *c)
{
    char what[STET_WORDS_MOST];

    return stet_arena_copy(&m->x.history.arena, stet_words_subject(what, c->kind, &c->of));
}

static void gather_programs(struct stet_rundiff *m)
{
    const struct stet_history *h = &m->x.history;

    for (uint32_t i = 0; i < h->finding_count; i++) {
        const struct stet_finding *f = &h->findings[i];
        const struct stet_sighting *s = &h->sightings[f->sighting];

        if (f->facts.first)
            add(m, (struct stet_rundiff_entry){.thing = STET_THING_BRANCH,
                                               .what = STET_VIEW("program"),
                                               .to = s->traits->function,
                                               .file = s->traits->place.file,
                                               .line = s->traits->place.line,
                                               .function = s->traits->function});
        for (uint32_t k = 0; k < f->change_count; k++) {
            const struct stet_reported_change *c = &f->changes[k];
            enum stet_cause_thing thing =
                stet_cause_thing(stet_diff_change_cause(c->kind, c->facet, c->op));

            if (c->follows == STET_NO_FACET && thing < STET_THINGS)
                add(m,
                    (struct stet_rundiff_entry){thing, words_of(m, c), c->from, c->to,
                                                c->place.file, s->traits->function, c->place.line});
        }
    }
}

static const struct stet_part *part_of(const struct stet_bundle *b, struct stet_view name)
{
    for (uint32_t i = 0; b && i < b->count; i++)
        if (stet_view_eq(b->parts[i].name, name))
            return &b->parts[i];
    return NULL;
}

/* The first process that compiled represents its run, else the first one; NULL if there is none. */
static const struct stet_process_digest *representative(const struct stet_rundiff_side *side)
{
    const struct stet_run_digest *d = &side->digest;

    for (size_t i = 0; i < d->process_count; i++)
        if (d->processes[i].compile_count && is_meant(side, &d->processes[i]))
            return &d->processes[i];
    return d->process_count ? &d->processes[0] : NULL;
}

/* Returns the platform of the plugin that the process used. */
static struct stet_view platform_of(const struct stet_process_digest *p)
{
    for (size_t i = 0; p && i < p->plugin_count; i++)
        if (p->plugins[i].platform.len)
            return p->plugins[i].platform;
    return (struct stet_view){0};
}

/* JAX_PLATFORMS and PJRT_DEVICE select the platform. It is not a compiler's flag, and frameworks
 * lower programs differently for each. */
static void compare_platforms(struct stet_rundiff *m, struct stet_view from, struct stet_view to)
{
    if (from.len && to.len && !stet_view_eq(from, to))
        add(m, (struct stet_rundiff_entry){.thing = STET_THING_PROFILE,
                                           .what = STET_VIEW("platform"),
                                           .from = from,
                                           .to = to});
}

static void gather_bundles(struct stet_rundiff *m)
{
    const struct stet_process_digest *was = representative(&m->a);
    const struct stet_process_digest *is = representative(&m->b);
    const struct stet_bundle *a = was ? stet_session_bundle(&m->a.digest, was) : NULL;
    const struct stet_bundle *b = is ? stet_session_bundle(&m->b.digest, is) : NULL;

    compare_platforms(m, platform_of(was), platform_of(is));
    for (int turn = 0; turn < 2; turn++) {
        const struct stet_bundle *mine = turn ? a : b, *other = turn ? b : a;

        for (uint32_t i = 0; mine && i < mine->count; i++) {
            const struct stet_part *p = &mine->parts[i], *o = part_of(other, p->name);

            if ((o && turn) || (o && stet_view_eq(o->value, p->value)))
                continue;
            add(m, (struct stet_rundiff_entry){.thing = p->flags ? STET_THING_PROFILE
                                                                 : STET_THING_BUNDLE,
                                               .what = p->name,
                                               .from = turn ? p->value
                                                       : o  ? o->value
                                                            : (struct stet_view){0},
                                               .to = turn ? (struct stet_view){0} : p->value});
        }
    }
}

static void tell_torch(void *context, const struct stet_torch_move *t)
{
    add(context, (struct stet_rundiff_entry){t->thing, t->what, t->from, t->to, t->at.file,
                                             t->at.function, (uint32_t)t->at.line});
}

/* The largest temporaries of a function in each run. */
static struct stet_rundiff_memory memory_of(const struct stet_history *h,
                                            const struct stet_sighting *s)
{
    struct stet_rundiff_memory m = {.function = s->traits->function};

    for (uint32_t i = 0; i < h->sighting_count; i++) {
        const struct stet_sighting *o = &h->sightings[i];
        uint64_t *to = o->past ? &m.was : &m.is;

        if (o->has_memory && stet_view_eq(o->traits->function, s->traits->function) &&
            o->temp_bytes > *to)
            *to = o->temp_bytes;
    }
    return m;
}

static bool is_first_of_function(const struct stet_history *h, uint32_t number)
{
    for (uint32_t i = 0; i < number; i++)
        if (!h->sightings[i].past &&
            stet_view_eq(h->sightings[i].traits->function, h->sightings[number].traits->function))
            return false;
    return !h->sightings[number].past;
}

static void gather_memory(struct stet_rundiff *m)
{
    const struct stet_history *h = &m->x.history;

    m->memory = stet_mem_calloc(h->sighting_count, sizeof *m->memory);
    for (uint32_t i = 0; m->memory && i < h->sighting_count; i++) {
        struct stet_rundiff_memory one;

        if (!is_first_of_function(h, i))
            continue;
        one = memory_of(h, &h->sightings[i]);
        if (one.was || one.is)
            m->memory[m->memory_count++] = one;
    }
}

static int by_key(const void *a, const void *b)
{
    return stet_hash_cmp(*(const struct stet_hash *)a, *(const struct stet_hash *)b);
}

static void add_gone(struct stet_rundiff *m, struct stet_view function)
{
    size_t i = 0;

    while (i < m->gone_count && !stet_view_eq(m->gone[i].function, function))
        i++;
    if (i == m->gone_count)
        m->gone[m->gone_count++] = (struct stet_rundiff_gone){.function = function};
    m->gone[i].programs++;
}

static void gather_gone(struct stet_rundiff *m)
{
    const struct stet_history *h = &m->x.history;
    struct stet_hash *here = stet_mem_calloc(h->sighting_count, sizeof *here);
    bool *met = stet_mem_calloc(h->sighting_count, sizeof *met);
    size_t n = 0;

    m->gone = stet_mem_calloc(h->sighting_count, sizeof *m->gone);
    if (here && met && m->gone) {
        for (uint32_t i = 0; i < h->sighting_count; i++)
            if (!h->sightings[i].past)
                here[n++] = h->sightings[i].traits->fingerprint.key;
        for (uint32_t i = 0; i < h->finding_count; i++)
            if (h->findings[i].against != STET_NONE)
                met[h->findings[i].against] = true;
        qsort(here, n, sizeof *here, by_key);
        for (uint32_t i = 0; i < h->sighting_count; i++) {
            const struct stet_sighting *s = &h->sightings[i];

            if (s->past && !s->failed && s->traits->readable && !met[i] &&
                !bsearch(&s->traits->fingerprint.key, here, n, sizeof *here, by_key))
                add_gone(m, s->traits->function);
        }
    }
    stet_mem_free(here);
    stet_mem_free(met);
}

enum stet_rc stet_rundiff_make(struct stet_rundiff *m, const struct stet_run *a,
                               const struct stet_run *b, const int64_t ranks[2],
                               struct stet_err *err)
{
    enum stet_rc rc;

    *m =
        (struct stet_rundiff){.a = {.run = a, .rank = ranks[0]}, .b = {.run = b, .rank = ranks[1]}};
    stet_arena_init(&m->arena, 64 << 20);
    rc = compare(m, err);
    if (rc == STET_OK) {
        gather_bundles(m);
        gather_programs(m);
        gather_memory(m);
        gather_gone(m);
        rc = stet_session_torch_moves(a, b, ranks, &m->arena, tell_torch, m, err);
    }
    if (rc != STET_OK)
        stet_rundiff_release(m);
    return rc;
}

unsigned stet_rundiff_moved(const struct stet_rundiff *m)
{
    unsigned n = 0;

    for (int i = 0; i < STET_THINGS; i++)
        n += m->moved[i];
    return n;
}

void stet_rundiff_release(struct stet_rundiff *m)
{
    stet_mem_free(m->gone);
    stet_mem_free(m->memory);
    stet_mem_free(m->items);
    stet_arena_release(&m->arena);
    stet_session_close(&m->x);
    stet_ledger_run_unload(&m->a.digest);
    stet_ledger_run_unload(&m->b.digest);
}
