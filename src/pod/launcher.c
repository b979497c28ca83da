/* See launcher.h. */
#include "pod/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct launcher {
    const char *word, *rank, *world, *local_rank, *local_world, *names;
} launchers[] = {
#define LAUNCHER(id, word, rank, world, local_rank, local_world, names)                            \
    {word, rank, world, local_rank, local_world, names},
#include "pod/launchers.def"
#undef LAUNCHER
};

enum {
#define LAUNCHER(id, ...) LAUNCHER_##id,
#include "pod/launchers.def"
#undef LAUNCHER
};

/* What the ranks of a TPU pod are put together from. */
static const char *const tpu_names[] = {"TPU_WORKER_HOSTNAMES", "TPU_PROCESS_ADDRESSES",
                                        "MEGASCALE_SLICE_ID", "MEGASCALE_NUM_SLICES"};

/* -1 unless it is a plain number up to `most`. */
static int64_t number(const char *text, int64_t most)
{
    char *end;
    long long n;

    if (!text || *text < '0' || *text > '9')
        return -1;
    n = strtoll(text, &end, 10);
    return *end || n > most ? -1 : n;
}

static int64_t variable(stet_pod_variable *get, void *context, const char *name)
{
    return *name ? number(get(context, name), STET_POD_RANKS_MOST) : -1;
}

/* Calls `visit` for each of the names, which are separated by blanks. */
static void each_name(const char *names, bool (*visit)(void *context, const char *name),
                      void *context)
{
    char one[64];

    while (*names) {
        size_t n = strcspn(names, " ");

        snprintf(one, sizeof one, "%.*s", (int)n, names);
        if (!visit(context, one))
            return;
        names += n + (names[n] == ' ');
    }
}

struct naming {
    stet_pod_variable *get;
    void *context;
    struct stet_hash hash;
    bool any;
};

static bool take_name(void *context, const char *name)
{
    struct naming *n = context;
    const char *value = n->get(n->context, name);

    if (value && *value) {
        n->hash = stet_hash_mix(n->hash, stet_hash_bytes(stet_view_str(name)));
        n->hash = stet_hash_mix(n->hash, stet_hash_bytes(stet_view_str(value)));
        n->any = true;
    }
    return true;
}

static int64_t count_listed(const char *list)
{
    int64_t n = list && *list ? 1 : 0;

    for (const char *at = list; n && *at; at++)
        n += *at == ',';
    return n;
}

/* A pod of several slices counts its workers slice by slice. */
static void tpu_place(struct stet_pod_place *p, stet_pod_variable *get, void *context)
{
    const char *hosts = get(context, "TPU_PROCESS_ADDRESSES");
    int64_t slice = variable(get, context, "MEGASCALE_SLICE_ID");
    int64_t slices = variable(get, context, "MEGASCALE_NUM_SLICES"), workers;

    workers = count_listed(hosts && *hosts ? hosts : get(context, "TPU_WORKER_HOSTNAMES"));
    if (slices > 1 && slice >= 0 && workers) {
        p->rank += slice * workers;
        workers *= slices;
    }
    p->world = workers;
}

static bool fill(struct stet_pod_place *p, size_t which, stet_pod_variable *get, void *context)
{
    const struct launcher *l = &launchers[which];
    struct naming n = {.get = get, .context = context};
    int64_t world;

    p->rank = variable(get, context, l->rank);
    if (p->rank < 0)
        return false;
    world = variable(get, context, l->world);
    p->world = world > 0 ? world : 0;
    if (which == LAUNCHER_TPU || which == LAUNCHER_CLOUD_TPU)
        tpu_place(p, get, context);
    if (p->world && p->rank >= p->world)
        return false;
    p->local_rank = variable(get, context, l->local_rank);
    world = variable(get, context, l->local_world);
    p->local_world = world > 0 ? world : 0;
    p->launcher = l->word;
    each_name(l->names, take_name, &n);
    if (n.any)
        p->job = stet_hash_mix(n.hash, (struct stet_hash){which, (uint64_t)p->world});
    return true;
}

void stet_pod_launcher_place(struct stet_pod_place *out, stet_pod_variable *get, void *context)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        *out = (struct stet_pod_place){.rank = -1, .local_rank = -1};
        if (fill(out, i, get, context))
            return;
    }
    *out = (struct stet_pod_place){.rank = -1, .local_rank = -1};
}

static const char *from_environment(void *context, const char *name)
{
    (void)context;
    return getenv(name);
}

void stet_pod_launcher_own(struct stet_pod_place *out)
{
    stet_pod_launcher_place(out, from_environment, NULL);
}

struct listed {
    const struct stet_view *list;
    size_t count;
    char text[8][1024]; /* of the last values asked for */
    unsigned next;
};

static const char *from_list(void *context, const char *name)
{
    struct listed *l = context;
    size_t n = strlen(name);

    for (size_t i = 0; i < l->count; i++) {
        struct stet_view v = l->list[i];

        if (v.len > n && !memcmp(v.ptr, name, n) && v.ptr[n] == '=') {
            char *text = l->text[l->next++ % 8];

            snprintf(text, sizeof l->text[0], "%.*s", (int)(v.len - n - 1), v.ptr + n + 1);
            return text;
        }
    }
    return NULL;
}

void stet_pod_launcher_listed(struct stet_pod_place *out, const struct stet_view *list,
                              size_t count)
{
    struct listed l = {.list = list, .count = count};

    stet_pod_launcher_place(out, from_list, &l);
}

struct reading {
    struct stet_view name;
    bool found;
};

static bool is_it(void *context, const char *name)
{
    struct reading *r = context;

    r->found = r->found || stet_view_is(r->name, name);
    return !r->found;
}

bool stet_pod_launcher_reads(struct stet_view name)
{
    struct reading r = {.name = name};

    for (size_t i = 0; name.len && i < sizeof launchers / sizeof *launchers && !r.found; i++) {
        r.found = stet_view_is(name, launchers[i].rank) || stet_view_is(name, launchers[i].world) ||
                  stet_view_is(name, launchers[i].local_rank) ||
                  stet_view_is(name, launchers[i].local_world);
        each_name(launchers[i].names, is_it, &r);
    }
    for (size_t i = 0; i < sizeof tpu_names / sizeof *tpu_names && !r.found; i++)
        r.found = stet_view_is(name, tpu_names[i]);
    return r.found;
}
