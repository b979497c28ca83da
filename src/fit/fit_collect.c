/* From the children's files to verdicts. */
#include "fit/fit_internal.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/text.h"
#include "decode/decode.h"
#include "fit/fit_fragments.h"
#include "fit/fit_inspect.h"
#include "footprint/out_of_memory.h"
#include "ledger/captured.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ERROR = 1 << 20, MOST_STATS = 1 << 16 };

static const char *const words[] = {[STET_FIT_FITS] = "fits",
                                    [STET_FIT_EXCEEDS] = "exceeds",
                                    [STET_FIT_FAILED] = "failed",
                                    [STET_FIT_UNKNOWN] = "unknown"};

const char *stet_fit_verdict_word(enum stet_fit_verdict v)
{
    return words[v];
}

double stet_fit_bound(const struct stet_fit_program *p)
{
    double most = p->compute_s > p->memory_s ? p->compute_s : p->memory_s;

    return most > p->link_s ? most : p->link_s;
}

/* ---- what the children left ---- */

/* The user's line at which the program was compiled; NULL if it is not known. */
static const struct stet_trigger *trigger_of(const struct stet_run_digest *d,
                                             const struct stet_warm_item *item)
{
    for (size_t k = 0; k < d->process_count; k++) {
        for (size_t i = 0; i < d->processes[k].compile_count; i++) {
            const struct stet_compile_event *c = &d->processes[k].compiles[i];

            if (c->trigger.line && stet_hash_eq(c->program, item->program))
                return &c->trigger;
        }
    }
    return NULL;
}

/* TorchTPU leaves the frames of a module out of its programs, and gives a backward pass none at
 * all. A program of one operation has the line that was running when it was compiled; the command
 * ran with TORCH_TPU_LAUNCH_BLOCKING, so that is the operation's own. */
static void lend_line(struct stet_fit *fit, struct stet_fit_program *p)
{
    const struct stet_trigger *t = trigger_of(&fit->warm.ran.digests[0], p->item);
    struct stet_footprint *f = &p->footprint;

    for (size_t i = 0; i < f->instruction_count; i++) {
        if (f->instructions[i].line && !stet_path_is_installed(f->instructions[i].file))
            return;
    }
    for (size_t i = 0; t && i < f->instruction_count; i++) {
        f->instructions[i].file = t->file;
        f->instructions[i].function = t->function;
        f->instructions[i].line = (uint32_t)t->line;
    }
}

/* A program whose file cannot be read stays unknown; the others are not affected. */
static void read_program(struct stet_fit *fit, struct stet_fit_program *p, size_t number)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_file f = {0};
    char path[PATH_MAX];

    stet_fit_inspect_path(path, sizeof path, fit->work, number, "hlo");
    if (stet_ledger_captured_open(&f, path, 0, &err) != STET_OK)
        return;
    p->read = stet_footprint_read_program(&p->footprint, f.bytes, &err) == STET_OK;
    if (!p->read)
        stet_say("stet: %s: its optimized program cannot be read: %s\n", p->item->name, err.text);
    lend_line(fit, p);
    stet_file_close(&f);
}

/* "…/3.dump/module_0000.jit_f.….after_optimizations-buffer-assignment.txt" */
static bool find_dump(const char *folder, const char *tail, char *path, size_t room)
{
    DIR *dir = opendir(folder);
    bool found = false;

    for (struct dirent *e; dir && !found && (e = readdir(dir));)
        found = stet_view_ends(stet_view_str(e->d_name), tail) &&
                snprintf(path, room, "%s/%s", folder, e->d_name) < (int)room;
    if (dir)
        closedir(dir);
    return found;
}

/* Which of the buffers are in use at the peak, if the compiler says that. */
static void read_live(struct stet_fit_program *p, const char *folder)
{
    struct stet_file f = {0};
    char path[PATH_MAX];

    if (find_dump(folder, "-live-range.txt", path, sizeof path) &&
        stet_file_open(&f, path, NULL) == STET_OK)
        stet_footprint_read_live(&p->footprint, f.bytes, NULL);
    stet_file_close(&f);
}

static void read_buffers(struct stet_fit *fit, struct stet_fit_program *p, size_t number)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_file f = {0};
    char path[PATH_MAX], folder[PATH_MAX];
    enum stet_rc rc = STET_NOT_FOUND;

    stet_fit_inspect_path(path, sizeof path, fit->work, number, "buffers");
    stet_fit_inspect_path(folder, sizeof folder, fit->work, number, "dump");
    if (!p->read)
        return;
    if (stet_fs_exists(path)) {
        rc = stet_ledger_captured_open(&f, path, 0, &err);
        if (rc == STET_OK)
            rc = stet_footprint_read_assignment(&p->footprint, f.bytes, &err);
    } else if (find_dump(folder, "-buffer-assignment.txt", path, sizeof path)) {
        rc = stet_file_open(&f, path, &err);
        if (rc == STET_OK)
            rc = stet_footprint_read_dump(&p->footprint, f.bytes, &err);
        if (rc == STET_OK)
            read_live(p, folder);
    }
    if (rc != STET_OK && rc != STET_NOT_FOUND)
        stet_say("stet: %s: its buffers cannot be read: %s\n", p->item->name, err.text);
    if (rc == STET_OK) {
        p->memory = p->footprint.memory;
        if (stet_fit_lines_make(fit, p, &err) != STET_OK)
            stet_say("stet: %s\n", err.text);
    }
    stet_file_close(&f);
}

static bool stat_of(const char *text, const char *name, uint64_t *out)
{
    size_t n = strlen(name);

    for (const char *at = text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        if (!strncmp(at, name, n) && at[n] == ' ') {
            *out = strtoull(at + n + 1, NULL, 10);
            return true;
        }
    }
    return false;
}

static void read_stats(struct stet_fit *fit, struct stet_fit_program *p, size_t number)
{
    struct stet_footprint_memory m = {.host = p->memory.host};
    struct stet_file f = {0};
    struct stet_view text;
    char path[PATH_MAX];

    stet_fit_inspect_path(path, sizeof path, fit->work, number, "stats");
    if (stet_file_open_small(&f, path, MOST_STATS, NULL) != STET_OK)
        return;
    text = stet_arena_copy(&fit->arena, f.bytes);
    stet_file_close(&f);
    if (!text.ptr)
        return;
    stat_of(text.ptr, "wall_ns", &p->wall_ns);
    stat_of(text.ptr, "cpu_ns", &p->cpu_ns);
    if (stat_of(text.ptr, "arguments", &m.arguments) && stat_of(text.ptr, "outputs", &m.outputs) &&
        stat_of(text.ptr, "aliased", &m.aliased) &&
        stat_of(text.ptr, "temporaries", &m.temporaries) && stat_of(text.ptr, "code", &m.code)) {
        p->memory = m;
        p->measured = true;
    }
}

static void read_error(struct stet_fit *fit, struct stet_fit_program *p, size_t number)
{
    struct stet_file f = {0};
    char path[PATH_MAX];

    stet_fit_inspect_path(path, sizeof path, fit->work, number, "error");
    if (stet_file_open_small(&f, path, MOST_ERROR, NULL) == STET_OK) {
        p->error = stet_arena_copy(&fit->arena, f.bytes);
        stet_file_close(&f);
    } else if (p->item->detail[0]) {
        p->error = stet_view_str(p->item->detail);
    }
}

/* ---- verdicts ---- */

static void judge(const struct stet_fit *fit, struct stet_fit_program *p)
{
    int done = atomic_load(&p->item->verdict);
    struct stet_oom oom = {0};
    uint64_t needs;
    bool refused;

    if (done != STET_WARM_DONE && p->item->code == PJRT_Error_Code_RESOURCE_EXHAUSTED)
        stet_oom_read(&oom, p->error);
    refused = oom.kind != STET_OOM_NONE && oom.kind != STET_OOM_SCRATCH;
    p->total = stet_footprint_total(&p->memory);
    needs = p->total + (p->beside_known ? p->beside : 0);
    if (done == STET_WARM_NOT_CAPTURED) {
        p->why_unknown = "it was not captured whole (STET_CAPTURE=full captures constants)";
    } else if (refused || (fit->limit && p->total && needs > fit->limit)) {
        p->verdict = STET_FIT_EXCEEDS;
        p->exceeds = fit->limit && needs > fit->limit ? needs - fit->limit : oom.missing;
    } else if (done != STET_WARM_DONE && (done != STET_WARM_LEFT || !p->read)) {
        p->verdict = STET_FIT_FAILED;
    } else if (!p->measured && !p->footprint.assigned) {
        p->why_unknown = p->error.len ? "the compiler's memory figures were lost"
                                      : "the compiler gave no account of its memory";
    } else if (!fit->limit) {
        p->why_unknown = "the size of the device's memory is not known (--memory sets it)";
    }
    if (p->why_unknown)
        p->verdict = STET_FIT_UNKNOWN;
}

/* What would help a program that does not fit, read from the program as it was captured. */
static void advise(struct stet_fit *fit, struct stet_fit_program *p)
{
    struct stet_program program;
    struct stet_file f = {0};

    if (p->verdict != STET_FIT_EXCEEDS ||
        stet_ledger_captured_program(&f, p->item->folder, p->item->program, NULL) != STET_OK)
        return;
    if (stet_decode(&program, f.bytes, NULL) == STET_OK) {
        p->advice_count =
            stet_remedy_make(&program, fit->topology.count, p->memory.temporaries, p->advice);
        for (size_t i = 0; i < p->advice_count; i++) { /* the program is released */
            p->advice[i].name = stet_arena_copy(&fit->arena, p->advice[i].name);
            p->advice[i].file = stet_arena_copy(&fit->arena, p->advice[i].file);
        }
        stet_program_release(&program);
    }
    stet_file_close(&f);
}

/* A chip's rates are shared by its devices. */
static void bound(const struct stet_fit *fit, struct stet_fit_program *p)
{
    const struct stet_fit_topology *t = &fit->topology;
    double share = t->chips ? (double)t->chips / (double)t->count : 1, wire = 0;

    if (!p->read)
        return;
    for (int c = 0; c < STET_COLLECTIVES; c++)
        wire += p->footprint.traffic[c].wire;
    p->compute_s = t->flops > 0 ? p->footprint.flops / (t->flops * share) : 0;
    p->memory_s = t->memory_rate > 0 ? p->footprint.memory_bytes / (t->memory_rate * share) : 0;
    p->link_s = t->link_rate > 0 ? wire / (t->link_rate * share) : 0;
}

static void count_executions(const struct stet_run_digest *d, struct stet_fit_program *p)
{
    for (size_t k = 0; k < d->process_count; k++) {
        uint64_t n = 0;

        for (size_t i = 0; i < d->processes[k].compile_count; i++) {
            const struct stet_compile_event *c = &d->processes[k].compiles[i];

            if (!stet_hash_eq(c->program, p->item->program))
                continue;
            n += c->executions;
            if (c->trigger.line && stet_hash_is_zero(p->function))
                p->function = stet_hash_mix_u64(
                    stet_hash_mix(stet_hash_bytes(c->name), stet_hash_bytes(c->trigger.file)),
                    c->trigger.line);
        }
        if (n > p->executions) /* each rank runs it as often */
            p->executions = n;
    }
}

static void sum_up(struct stet_fit *fit)
{
    for (size_t i = 0; i < fit->count; i++) {
        struct stet_fit_program *p = &fit->programs[i];
        uint64_t needs = p->total + p->beside;

        fit->failed += p->verdict == STET_FIT_FAILED;
        fit->unknown += p->verdict == STET_FIT_UNKNOWN;
        fit->compile_cpu_ns += p->cpu_ns;
        if (p->total && (!fit->peak || needs > fit->peak_bytes)) {
            fit->peak = p;
            fit->peak_bytes = needs;
        }
        if (p->verdict == STET_FIT_EXCEEDS) {
            fit->verdict = STET_FIT_EXCEEDS;
            if (p->exceeds > fit->exceeds)
                fit->exceeds = p->exceeds;
        }
    }
    if (fit->verdict != STET_FIT_EXCEEDS)
        fit->verdict = fit->failed                       ? STET_FIT_FAILED
                       : fit->unknown || fit->count == 0 ? STET_FIT_UNKNOWN
                                                         : STET_FIT_FITS;
    fit->compile_wall_ns = fit->warm.wall_ns;
}

enum stet_rc stet_fit_collect(struct stet_fit *fit, struct stet_err *err)
{
    const struct stet_warm_plan *plan = &fit->warm.plan;
    char account[PATH_MAX];

    fit->programs = STET_NEW_ARRAY(&fit->arena, struct stet_fit_program, plan->count + 1);
    if (!fit->programs)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for %zu programs", plan->count);
    for (; fit->count < plan->count; fit->count++) {
        struct stet_fit_program *p = &fit->programs[fit->count];

        p->item = &plan->items[fit->count];
        stet_footprint_init(&p->footprint);
        read_program(fit, p, fit->count);
        read_buffers(fit, p, fit->count);
        read_stats(fit, p, fit->count);
        read_error(fit, p, fit->count);
        if (fit->lines && stet_fit_fragments_read(fit, p, fit->count, err) != STET_OK)
            return err ? err->rc : STET_NO_MEMORY;
        p->end = stet_warm_run_end(p->item, stet_warm_run_event(&fit->warm, p->item));
        if (p->end == STET_WARM_END_PRESENT)
            p->wall_ns = p->cpu_ns = 0; /* loaded, not compiled */
        count_executions(&fit->warm.ran.digests[0], p);
    }
    snprintf(account, sizeof account, "%s/account", fit->work);
    stet_fit_account_read(fit, account);
    for (size_t i = 0; i < fit->count; i++) {
        judge(fit, &fit->programs[i]);
        bound(fit, &fit->programs[i]);
        advise(fit, &fit->programs[i]);
    }
    sum_up(fit);
    stet_fit_step_make(fit);
    return STET_OK;
}
