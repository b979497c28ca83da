/* See exhausted_program.h. */
#include "session/exhausted_program.h"

#include "decode/options.h"
#include "ledger/captured.h"
#include "session/session.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EARLIER = 20 }; /* runs that are read in search of one that did fit */

/* ---- the program ---- */

/* "39.97TiB": messages have two decimals, which are half a percent at most. */
static bool is_about(uint64_t told, uint64_t size)
{
    uint64_t apart = told > size ? told - size : size - told;

    return told && size && apart <= told / 200;
}

/* XLA for GPUs accepts an execution and fails later, when it allocates; the event that reports it
 * names no program. The temporaries of a program are one allocation, so its size tells which one it
 * was. Of several with that size it is the one whose line waited. */
static const struct stet_compile_event *compile_by_size(const struct stet_process_digest *p,
                                                        const struct stet_exhaustion *x,
                                                        uint64_t needed)
{
    const struct stet_compile_event *found = NULL;
    bool several = false;

    for (size_t i = 0; i < p->compile_count; i++) {
        const struct stet_compile_event *c = &p->compiles[i];

        if (!c->executions || !is_about(needed, c->temp_bytes))
            continue;
        if (x->line && c->trigger.line == x->line && stet_view_eq(c->trigger.file, x->file))
            return c;
        several = found != NULL;
        found = c;
    }
    return several ? NULL : found;
}

/* Other functions of PJRT without an executable make arrays. */
static bool came_in_event(struct stet_view function)
{
    return !stet_view_starts(function, "PJRT_") || stet_view_starts(function, "PJRT_Event_");
}

const struct stet_compile_event *stet_exhausted_compile(const struct stet_process_digest *p,
                                                        const struct stet_exhaustion *x,
                                                        const struct stet_oom *o)
{
    const struct stet_compile_event *last = NULL;

    for (size_t i = 0; i < p->compile_count; i++) {
        const struct stet_compile_event *c = &p->compiles[i];

        if (x->compile ? !c->load && c->index + 1 == x->compile
                       : x->executable && c->executable == x->executable)
            return c;
        /* the runtime may name the program that it loads */
        if (!x->compile && !x->executable && o->program.len && stet_view_eq(c->name, o->program))
            last = c;
    }
    if (last || x->compile || x->executable || !came_in_event(x->function))
        return last;
    return compile_by_size(p, x, o->needed);
}

/* ---- its options ---- */

static uint64_t number_of(struct stet_view text)
{
    char number[24];

    snprintf(number, sizeof number, "%.*s", STET_FMT(text));
    return strtoull(number, NULL, 10);
}

struct stet_exhausted_devices stet_exhausted_devices(const char *folder,
                                                     const struct stet_compile_event *c)
{
    struct stet_exhausted_devices out = {.count = 1};
    char name[STET_HASH_TEXT], path[PATH_MAX];
    struct stet_options o;
    struct stet_file f = {0};
    uint64_t devices = 1;

    stet_hash_format(c->options, name);
    snprintf(path, sizeof path, "%s/programs/%s.options.zst", folder, name);
    if (stet_hash_is_zero(c->options) || !stet_fs_is_plain(path) ||
        stet_ledger_captured_open(&f, path, 0, NULL) != STET_OK)
        return out;
    if (stet_options_decode(&o, f.bytes, NULL) == STET_OK) {
        for (size_t i = 0; i < o.count; i++) {
            uint64_t number = number_of(o.items[i].value);

            if (stet_view_is(o.items[i].path, "executable_build_options.device_memory_size"))
                out.memory = number;
            else if (number &&
                     (stet_view_is(o.items[i].path, "executable_build_options.num_partitions") ||
                      stet_view_is(o.items[i].path, "executable_build_options.num_replicas")))
                devices *= number;
        }
        stet_options_release(&o);
    }
    stet_file_close(&f);
    out.count = devices < 65536 ? (uint32_t)devices : 65536;
    return out;
}

/* ---- the last one that did fit ---- */

/* It ran, and no error was about it: an execution may be accepted and fail later. */
static bool did_fit(const struct stet_process_digest *p, const struct stet_compile_event *c)
{
    if (c->load || c->error_code || !c->ended || !c->executions)
        return false;
    for (size_t i = 0; i < p->exhaustion_count; i++) {
        struct stet_oom o;

        stet_oom_read(&o, p->exhaustions[i].message);
        if (stet_exhausted_compile(p, &p->exhaustions[i], &o) == c)
            return false;
    }
    return true;
}

const struct stet_compile_event *stet_exhausted_before(const struct stet_process_digest *p,
                                                       const struct stet_compile_event *now,
                                                       struct stet_view module)
{
    for (size_t i = p->compile_count; i-- > 0;) {
        const struct stet_compile_event *c = &p->compiles[i];

        if (c != now && c->time_ns <= now->time_ns && !stet_hash_eq(c->program, now->program) &&
            stet_view_eq(c->name, module) && did_fit(p, c))
            return c;
    }
    return NULL;
}

static const struct stet_compile_event *last_that_fitted(const struct stet_run_digest *d,
                                                         struct stet_view module)
{
    for (size_t p = d->process_count; p-- > 0;) {
        for (size_t i = d->processes[p].compile_count; i-- > 0;) {
            const struct stet_compile_event *c = &d->processes[p].compiles[i];

            if (stet_view_eq(c->name, module) && did_fit(&d->processes[p], c))
                return c;
        }
    }
    return NULL;
}

bool stet_exhausted_earlier_open(struct stet_exhausted_earlier *e,
                                 const struct stet_run_digest *now, const char *folder,
                                 struct stet_view module)
{
    const struct stet_run *run = NULL;
    size_t read = 0;

    *e = (struct stet_exhausted_earlier){0};
    if (stet_ledger_runs_open(&e->runs, NULL) != STET_OK)
        return false;
    for (size_t i = 0; i < e->runs.count && read < MOST_EARLIER; i++) {
        const struct stet_run *r = &e->runs.items[i];

        if (!run && !strcmp(r->folder, folder))
            run = r;
        if (!run || r->started_ns >= run->started_ns ||
            !stet_ledger_run_is_of_same_script(r, run) ||
            stet_ledger_run_load(&e->digest, r->folder, NULL) != STET_OK)
            continue;
        read++;
        e->run = r;
        e->compile = stet_session_was_elsewhere(&e->digest, now)
                         ? NULL
                         : last_that_fitted(&e->digest, module);
        if (e->compile)
            return true;
        stet_ledger_run_unload(&e->digest);
    }
    stet_ledger_runs_close(&e->runs);
    return false;
}

void stet_exhausted_earlier_close(struct stet_exhausted_earlier *e)
{
    stet_ledger_run_unload(&e->digest);
    stet_ledger_runs_close(&e->runs);
}
