/* A run without settings is the base. Every run with settings writes torch-fix.json: the settings,
 * and whether each one reduced the recompiles. */
#include "launch/torch_learn.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/human.h"
#include "base/json.h"
#include "base/mask.h"
#include "base/mem.h"
#include "ingest/jscan.h"
#include "ingest/torch_plan.h"
#include "session/torch_rows.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = STET_PLAN_MOST };

struct setting {
    enum stet_torch_knob knob;
    char source[256];
    bool dropped;
    char why[160];
    uint32_t before, after; /* recompiles attributed to it */
};

struct stet_learn {
    struct setting items[MOST];
    size_t count;
    bool has_base, base_fine;
    char base[48];
    uint64_t compiles, cost_us; /* of the base */
    uint32_t fixed_runs;        /* earlier runs with settings */
    char key[48];               /* for profile-guided settings */
};

static const enum stet_torch_knob knobs[] = {STET_KNOB_DYNAMIC, STET_KNOB_UNBACKED, STET_KNOB_PGO,
                                             STET_KNOB_SCALARS, STET_KNOB_SHAPES};
enum { KNOBS = sizeof knobs / sizeof *knobs };

static struct setting *find(struct stet_learn *l, enum stet_torch_knob knob,
                            struct stet_view source)
{
    for (size_t i = 0; i < l->count; i++) {
        if (l->items[i].knob == knob && stet_view_is(source, l->items[i].source))
            return &l->items[i];
    }
    return NULL;
}

static struct setting *add(struct stet_learn *l, enum stet_torch_knob knob, struct stet_view source)
{
    struct setting *s = find(l, knob, source);

    if (s || l->count == MOST || source.len >= sizeof s->source)
        return s;
    s = &l->items[l->count++];
    *s = (struct setting){.knob = knob};
    snprintf(s->source, sizeof s->source, "%.*s", STET_FMT(source));
    return s;
}

/* Appends the command line in the form that runs store: secrets masked, a NUL after each word. */
static void mask_command(struct stet_buf *out, char *const *argv)
{
    for (size_t i = 0; argv[i]; i++) {
        stet_mask_argument(out, stet_view_str(i ? argv[i - 1] : ""), stet_view_str(argv[i]));
        stet_buf_char(out, '\0');
    }
}

static bool same_command(const struct stet_run *run, struct stet_view command, const char *here)
{
    size_t at = 0;

    for (size_t i = 0; i < run->argc; i++) {
        size_t n = strlen(run->argv[i]) + 1;

        if (n > command.len - at || memcmp(command.ptr + at, run->argv[i], n) != 0)
            return false;
        at += n;
    }
    return at == command.len && !strcmp(run->cwd, here);
}

/* ---- results of earlier runs ---- */

static enum stet_torch_knob knob_named(struct stet_view name)
{
    for (size_t i = 0; i < KNOBS; i++) {
        if (stet_view_is(name, stet_torch_knob_name(knobs[i])))
            return knobs[i];
    }
    return STET_KNOB_NONE;
}

static void read_setting(struct stet_learn *l, struct stet_jscan *j)
{
    struct stet_view key, name = {0}, source = {"", 0}, why = {"", 0};
    struct stet_buf text = STET_BUF_INIT;
    bool dropped = false;
    struct setting *s;

    if (!stet_ingest_jscan_object(j))
        return;
    while (stet_ingest_jscan_key(j, &key)) {
        if (stet_view_is(key, "name"))
            name = stet_ingest_jscan_string(j);
        else if (stet_view_is(key, "source"))
            source = stet_ingest_jscan_string(j);
        else if (stet_view_is(key, "dropped"))
            dropped = stet_ingest_jscan_bool(j);
        else if (stet_view_is(key, "why"))
            why = stet_ingest_jscan_string(j);
        else
            stet_ingest_jscan_skip(j);
    }
    stet_ingest_jscan_unescape(&text, source);
    s = knob_named(name) ? add(l, knob_named(name), stet_buf_as_view(&text)) : NULL;
    if (s && dropped && !s->dropped) {
        s->dropped = true;
        snprintf(s->why, sizeof s->why, "%.*s", STET_FMT(why));
    }
    stet_buf_release(&text);
}

static bool read_verdicts(struct stet_learn *l, const char *folder)
{
    char *path = stet_fs_join(folder, "torch-fix.json");
    struct stet_view key;
    struct stet_file f;
    struct stet_jscan j;
    bool there = path && stet_fs_is_plain(path) && stet_file_open(&f, path, NULL) == STET_OK;

    stet_mem_free(path);
    if (!there)
        return false;
    stet_ingest_jscan_init(&j, f.bytes);
    if (stet_ingest_jscan_object(&j)) {
        while (stet_ingest_jscan_key(&j, &key)) {
            if (!stet_view_is(key, "settings") || !stet_ingest_jscan_array(&j)) {
                if (!stet_view_is(key, "settings"))
                    stet_ingest_jscan_skip(&j);
                continue;
            }
            while (stet_ingest_jscan_element(&j))
                read_setting(l, &j);
        }
    }
    stet_file_close(&f);
    return true;
}

/* Finds what varied in a run. In the base, also counts the recompiles attributed to each. */
static bool learn_from(struct stet_learn *l, const struct stet_run *run, bool base)
{
    struct stet_torch_plan plan;
    struct stet_torch t;
    bool there;

    stet_torch_init(&t);
    there = stet_session_torch_load_run(&t, run, NULL) == STET_OK && t.compile_count;
    if (there) {
        stet_torch_plan(&t, &plan);
        for (size_t i = 0; i < plan.count; i++) {
            const struct stet_torch_setting *p = &plan.items[i];
            struct setting *s = add(l, p->knob, p->source);

            if (!s)
                continue;
            if (base)
                s->before = p->compiles;
            if (p->collides && !s->dropped) {
                s->dropped = true;
                snprintf(s->why, sizeof s->why, "another function has an input of that name");
            }
        }
    }
    if (there && base) {
        l->has_base = true;
        l->base_fine = run->exit_code == 0;
        l->compiles = t.compile_count;
        snprintf(l->base, sizeof l->base, "%s", run->id);
        for (size_t i = 0; i < t.compile_count; i++)
            l->cost_us += stet_session_torch_cost(&t.compiles[i]);
    }
    stet_torch_release(&t);
    return there;
}

/* An unbacked source must not be dynamic too, unless unbacked was dropped. */
static void settle(struct stet_learn *l)
{
    for (size_t i = 0; i < l->count; i++) {
        struct setting *s = &l->items[i], *u;

        if (s->knob != STET_KNOB_UNBACKED)
            continue;
        u = find(l, STET_KNOB_DYNAMIC, stet_view_str(s->source));
        if (s->dropped) {
            if (!u)
                add(l, STET_KNOB_DYNAMIC, stet_view_str(s->source));
        } else if (u && !u->dropped) {
            s->before += u->before;
            u->dropped = true;
            snprintf(u->why, sizeof u->why, "it is unbacked instead");
        }
    }
}

struct stet_learn *stet_launch_learn_new(char *const *argv, struct stet_err *err)
{
    struct stet_learn *l = stet_mem_calloc(1, sizeof *l);
    struct stet_buf command = STET_BUF_INIT;
    char here[PATH_MAX] = "";
    struct stet_runs runs;
    struct stet_hash hash;

    if (!l || !getcwd(here, sizeof here) || stet_ledger_runs_open(&runs, err) != STET_OK) {
        stet_mem_free(l);
        return NULL;
    }
    hash = stet_hash_bytes(stet_view_str(here));
    mask_command(&command, argv);
    hash = stet_hash_mix(hash, stet_hash_bytes(stet_buf_as_view(&command)));
    snprintf(l->key, sizeof l->key, "stet_%016llx", (unsigned long long)hash.lo);
    for (size_t i = 0; i < runs.count && !l->has_base; i++) { /* newest first */
        const struct stet_run *run = &runs.items[i];

        if (!same_command(run, stet_buf_as_view(&command), here))
            continue;
        if (read_verdicts(l, run->folder)) {
            l->fixed_runs++;
            if (l->fixed_runs == 1) /* what still varies with the settings */
                learn_from(l, run, false);
        } else {
            learn_from(l, run, true);
        }
    }
    settle(l);
    stet_buf_release(&command);
    stet_ledger_runs_close(&runs);
    return l;
}

void stet_launch_learn_free(struct stet_learn *l)
{
    stet_mem_free(l);
}

/* ---- setting ---- */

static enum stet_rc apply_knob(struct stet_learn *l, enum stet_torch_knob knob,
                               struct stet_launch_env *env, struct stet_buf *out,
                               struct stet_err *err)
{
    const char *name = stet_torch_knob_name(knob), *own = stet_launch_env_get(env, name);
    bool sources = knob == STET_KNOB_DYNAMIC || knob == STET_KNOB_UNBACKED;
    struct stet_buf value = STET_BUF_INIT;
    enum stet_rc rc = STET_OK;

    if (own && *own && !sources)
        return STET_OK; /* the user's own value is kept */
    if (own)
        stet_buf_str(&value, own);
    for (size_t i = 0; i < l->count; i++) {
        const struct setting *s = &l->items[i];

        if (s->knob != knob || s->dropped)
            continue;
        stet_buf_printf(&value, "%s%s", value.len ? "," : "",
                        sources                 ? s->source
                        : knob == STET_KNOB_PGO ? l->key
                                                : "1");
    }
    if (value.len && !(own && strlen(own) == value.len)) {
        stet_buf_printf(out, "stet: set %s=%s\n", name, value.ptr);
        rc = value.failed ? stet_fail(err, STET_NO_MEMORY, "out of memory")
                          : stet_launch_env_set(env, name, value.ptr, err);
    }
    stet_buf_release(&value);
    return rc;
}

enum stet_rc stet_launch_learn_apply(struct stet_learn *l, struct stet_launch_env *env,
                                     struct stet_buf *out, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    if (!l)
        return STET_OK;
    if (!l->has_base)
        stet_buf_str(out, "stet: no earlier run of this command with torch.compile: this run is "
                          "recorded, and the next one uses what it shows\n");
    for (size_t i = 0; i < KNOBS && rc == STET_OK; i++)
        rc = apply_knob(l, knobs[i], env, out, err);
    for (size_t i = 0; i < l->count; i++) {
        if (l->items[i].dropped)
            stet_buf_printf(out, "stet: not set %s %s: %s\n",
                            stet_torch_knob_name(l->items[i].knob), l->items[i].source,
                            l->items[i].why);
    }
    return rc;
}

/* ---- counting again ---- */

static void drop(struct setting *s, struct stet_buf *out, const char *why)
{
    s->dropped = true;
    snprintf(s->why, sizeof s->why, "%s", why);
    stet_buf_printf(out, "stet: dropped %s %s: %s\n", stet_torch_knob_name(s->knob), s->source,
                    why);
}

/* Counts the recompiles of `now` attributed to a setting. */
static uint32_t left_of(const struct stet_torch_plan *plan, const struct setting *s)
{
    uint32_t n = 0;

    for (size_t i = 0; i < plan->count; i++) {
        const struct stet_torch_setting *p = &plan->items[i];

        if (s->source[0] ? stet_view_is(p->source, s->source) : p->knob == s->knob)
            n += p->compiles;
    }
    return n;
}

static void judge_one(struct stet_learn *l, struct setting *s, const struct stet_torch_plan *plan,
                      bool worse, bool fine, struct stet_buf *out)
{
    s->after = left_of(plan, s);
    if (l->base_fine && !fine)
        drop(s, out, "the command failed with it");
    else if (s->knob == STET_KNOB_PGO && l->fixed_runs == 0)
        stet_buf_str(out,
                     "stet: the profile of dynamic floats is written now and used from the next "
                     "run on\n");
    else if (s->before && s->after >= s->before)
        drop(s, out, "it did not help");
    else if (worse)
        drop(s, out, "more was compiled with it");
}

static void save(const struct stet_learn *l, const char *folder, uint64_t compiles,
                 uint64_t cost_us)
{
    struct stet_buf out = STET_BUF_INIT;
    char *path = stet_fs_join(folder, "torch-fix.json");
    struct stet_json j;

    stet_json_init(&j, &out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.torch-fix/1");
    stet_json_cstr(&j, "base", l->base);
    stet_json_uint(&j, "compiles_before", l->compiles);
    stet_json_uint(&j, "compiles_after", compiles);
    stet_json_number(&j, "seconds_before", (double)l->cost_us / 1e6);
    stet_json_number(&j, "seconds_after", (double)cost_us / 1e6);
    stet_json_array(&j, "settings");
    for (size_t i = 0; i < l->count; i++) {
        const struct setting *s = &l->items[i];

        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "name", stet_torch_knob_name(s->knob));
        stet_json_cstr(&j, "source", s->source);
        stet_json_bool(&j, "dropped", s->dropped);
        stet_json_cstr(&j, "why", s->why);
        stet_json_uint(&j, "before", s->before);
        stet_json_uint(&j, "after", s->after);
        stet_json_end_object(&j);
    }
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    stet_buf_char(&out, '\n');
    if (path && !out.failed)
        stet_fs_write(path, stet_buf_as_view(&out), NULL);
    stet_mem_free(path);
    stet_buf_release(&out);
}

void stet_launch_learn_judge(struct stet_learn *l, struct stet_torch *now, const char *folder,
                             bool fine, struct stet_buf *out)
{
    struct stet_torch_plan plan;
    uint64_t cost = 0;
    size_t set = 0;

    if (!l || !l->has_base)
        return; /* this run is the base */
    for (size_t i = 0; i < l->count; i++)
        set += !l->items[i].dropped;
    if (!set)
        return;
    for (size_t i = 0; i < now->compile_count; i++)
        cost += stet_session_torch_cost(&now->compiles[i]);
    stet_torch_plan(now, &plan);
    stet_buf_printf(out, "stet: torch.compile: %llu compile%s \xe2\x86\x92 %zu, ",
                    (unsigned long long)l->compiles, l->compiles == 1 ? "" : "s",
                    now->compile_count);
    stet_text_duration(out, l->cost_us * 1000);
    stet_buf_str(out, " \xe2\x86\x92 ");
    stet_text_duration(out, cost * 1000);
    stet_buf_printf(out, " (against run %s)\n", l->base);
    for (size_t i = 0; i < l->count; i++) {
        if (!l->items[i].dropped)
            judge_one(l, &l->items[i], &plan, now->compile_count > l->compiles, fine, out);
    }
    save(l, folder, now->compile_count, cost);
}
