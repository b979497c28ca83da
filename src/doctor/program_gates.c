/* Feature gates: is the interface present, and do the programs have the form it needs? */
#include "doctor/doctor.h"

#include "explain/repeat.h"
#include "ledger/run_folder.h"
#include "ledger/run_load.h"
#include "session/named_program.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROGRAMS_MAX = 64, REPEATS = 8, LEAST_TIMES = 3, LEAST_LENGTH = 4 };

/* Custom calls that are annotations and not kernels. */
static const char *const annotations[] = {"Sharding", "SPMDFullToShardShape",
                                          "SPMDShardToFullShape", "annotate_device_placement",
                                          "xla.sdy."};

static const char *barrier_of(struct stet_doctor *d, const struct stet_op *op)
{
    static const char *const impure[] = {"infeed", "outfeed", "send", "recv", "rng"};
    struct stet_view name = stet_op_name(op);
    const char *dot = name.len ? memchr(name.ptr, '.', name.len) : NULL;
    struct stet_view tail =
        dot ? stet_view_of(dot + 1, (size_t)(name.ptr + name.len - dot) - 1) : name;

    for (size_t i = 0; i < sizeof impure / sizeof *impure; i++)
        if (stet_view_is(tail, impure[i]))
            return stet_arena_printf(&d->arena, "the block is not pure: it has %s", impure[i]).ptr;
    if (stet_view_is(tail, "custom_call") || stet_view_is(tail, "custom-call")) {
        const struct stet_attr *target = stet_op_attr(op, "call_target_name");
        struct stet_view text = {0};

        if (!target)
            target = stet_op_attr(op, "custom_call_target");
        if (target && target->kind == STET_ATTR_STRING)
            text = stet_attr_text(target);
        for (size_t i = 0; i < sizeof annotations / sizeof *annotations; i++)
            if (stet_view_starts(text, annotations[i]))
                return NULL;
        return stet_arena_printf(&d->arena, "the block holds a custom kernel (%.*s)",
                                 STET_FMT(text))
            .ptr;
    }
    return NULL;
}

/* Returns the first reason against it among the operations of one copy. */
static const char *barrier_in(struct stet_doctor *d, struct stet_side *s,
                              const struct stet_repeat *r)
{
    const struct stet_block *block = r->first->parent;
    const char *why = NULL;
    uint32_t n = 0;
    bool in = false;

    for (uint32_t i = 0; !why && i < block->op_count && n < r->length; i++) {
        in |= block->ops[i] == r->first;
        if (!in)
            continue;
        n += stet_side_counts(s, block->ops[i]);
        why = barrier_of(d, block->ops[i]);
    }
    return why;
}

static uint32_t counted(struct stet_side *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->program->op_count; i++)
        n += s->ops[i] && stet_side_counts(s, s->ops[i]);
    return n;
}

static void look_at(struct stet_doctor *d, const char *path, const char *name, double compile_s)
{
    struct stet_repeat repeats[REPEATS];
    struct stet_session_program l;
    struct stet_side s;
    int n;

    if (stet_session_program_open(&l, path, NULL, &(struct stet_err)STET_ERR_INIT) != STET_OK)
        return;
    d->scan.looked = true;
    if (stet_side_init(&s, &l.program, NULL) == STET_OK) {
        n = stet_repeat_find(&s, repeats, REPEATS);
        for (int i = 0; i < n; i++) {
            const struct stet_repeat *r = &repeats[i];
            uint32_t saved = (r->times - 1) * r->length;
            struct stet_scannable *best = &d->scan;

            if (r->times < LEAST_TIMES || r->length < LEAST_LENGTH ||
                (best->name && saved <= best->ops - best->ops_scanned))
                continue;
            *best = (struct stet_scannable){
                .looked = true,
                .name = stet_arena_copy(&d->arena, stet_view_str(name)).ptr,
                .times = r->times,
                .length = r->length,
                .ops = counted(&s),
                .compile_s = compile_s,
                .barrier = barrier_in(d, &s, r),
            };
            best->ops_scanned = best->ops - saved;
        }
        stet_side_release(&s);
    }
    stet_session_program_close(&l);
}

static const char *program_file(const char *folder, struct stet_hash program, char *out,
                                size_t room)
{
    char hash[STET_HASH_TEXT];
    struct dirent *e;
    DIR *dir;
    bool found = false;

    snprintf(out, room, "%s/programs", folder);
    stet_hash_format(program, hash);
    dir = opendir(out);
    while (dir && !found && (e = readdir(dir)))
        if (!strncmp(e->d_name, hash, strlen(hash)) && !strstr(e->d_name, ".options")) {
            snprintf(out, room, "%s/programs/%s", folder, e->d_name);
            found = true;
        }
    if (dir)
        closedir(dir);
    return found ? out : NULL;
}

/* Counts what both lanes of the run compiled, for detectors. */
static void count_lanes(struct stet_doctor *d, const char *folder,
                        const struct stet_run_digest *run)
{
    char path[PATH_MAX];
    struct dirent *e;
    size_t lazy = 0, traces = 0;
    uint64_t longest_ns = 0;
    DIR *dir;

    for (size_t i = 0; i < run->process_count; i++)
        for (size_t k = 0; k < run->processes[i].compile_count; k++) {
            const struct stet_compile_event *c = &run->processes[i].compiles[k];

            lazy += stet_view_starts(c->name, "SyncTensorsGraph");
            longest_ns = c->plugin_ns > longest_ns ? c->plugin_ns : longest_ns;
        }
    snprintf(path, sizeof path, "%s/torch", folder);
    dir = opendir(path);
    while (dir && (e = readdir(dir))) {
        struct stet_file f;

        if (!strstr(e->d_name, ".log"))
            continue;
        snprintf(path, sizeof path, "%s/torch/%.255s", folder, e->d_name);
        if (stet_file_open(&f, path, NULL) == STET_OK) {
            traces += f.bytes.len &&
                      memmem(f.bytes.ptr, f.bytes.len, "\"compilation_metrics\"", 21) != NULL;
            stet_file_close(&f);
        }
    }
    if (dir)
        closedir(dir);
    stet_bundle_inventory_putf(&d->bundle, STET_GROUP_run, "lazy programs", "%zu", lazy);
    stet_bundle_inventory_putf(&d->bundle, STET_GROUP_run, "torch compiles", "%zu", traces);
    stet_bundle_inventory_putf(&d->bundle, STET_GROUP_run, "longest compile", "%llu",
                               (unsigned long long)(longest_ns / 1000000000));
}

static enum stet_rc look_at_run(struct stet_doctor *d, struct stet_err *err)
{
    struct stet_run_digest digest;
    const struct stet_run *run;
    struct stet_runs runs;
    enum stet_rc rc = stet_ledger_runs_open(&runs, err);
    size_t n = 0;

    if (rc != STET_OK)
        return rc;
    rc = stet_ledger_runs_find(&runs, d->wishes->run, &run, err);
    if (rc == STET_OK)
        rc = stet_ledger_run_load(&digest, run->folder, err);
    if (rc == STET_OK) {
        count_lanes(d, run->folder, &digest);
        for (size_t i = 0; i < digest.process_count; i++)
            for (size_t k = 0; k < digest.processes[i].compile_count && n < PROGRAMS_MAX; k++) {
                const struct stet_compile_event *c = &digest.processes[i].compiles[k];
                char path[PATH_MAX + 300], name[128];

                if (c->load || !program_file(run->folder, c->program, path, sizeof path))
                    continue;
                snprintf(name, sizeof name, "%.*s", (int)(c->name.len < 120 ? c->name.len : 120),
                         c->name.ptr);
                look_at(d, path, name, (double)c->plugin_ns / 1e9);
                n++;
            }
        stet_ledger_run_unload(&digest);
    }
    stet_ledger_runs_close(&runs);
    return rc;
}

enum stet_rc stet_doctor_gates(struct stet_doctor *d, struct stet_err *err)
{
    static const struct {
        const char *name, *file, *what;
    } gates[] = {
#define GATE(name, file, what) {name, file, what},
#include "bundle/gates.def"
#undef GATE
    };
    enum stet_rc rc = STET_OK;

    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++) {
        char path[PATH_MAX];
        bool there = stet_bundle_python_file(&d->python, gates[i].file, path, sizeof path);

        d->gates[d->gate_count++] = (struct stet_doctor_gate){
            gates[i].name, gates[i].what,
            there ? stet_arena_copy(&d->arena, stet_view_str(path)).ptr : NULL};
    }
    if (d->wishes->run)
        rc = look_at_run(d, err);
    if (rc == STET_OK && d->wishes->program) {
        if (!stet_fs_exists(d->wishes->program))
            return stet_fail(err, STET_NOT_FOUND, "%s: no such file", d->wishes->program);
        look_at(d, d->wishes->program, d->wishes->program, 0);
    }
    if (d->scan.name && !d->scan.barrier)
        stet_bundle_inventory_putf(&d->bundle, STET_GROUP_run, "scannable blocks", "%u",
                                   d->scan.times);
    return rc;
}
