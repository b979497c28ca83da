/* The parent's side of a probe: runs at most two children, and turns whatever they do into a
 * verdict. */
#include "bundle/probe.h"

#include "base/job.h"
#include "bundle/elf.h"
#include "bundle/probe_child.h"
#include "bundle/system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { DEADLINE_MS = 60000, NOISE_LINES = 600 };

static const char *const step_names[] = {
#define STEP(id, name, what) name,
#include "bundle/probe_steps.def"
#undef STEP
};

const char *stet_bundle_probe_step_name(enum stet_probe_step s)
{
    return step_names[s];
}

const char *stet_bundle_probe_result_name(enum stet_probe_result r)
{
    static const char *const names[] = {"skipped", "fine", "missing", "failed", "crashed", "hung"};

    return names[r];
}

static const char *keep(struct stet_probe *p, struct stet_view text)
{
    const char *copy = stet_arena_copy(&p->arena, text).ptr;

    return copy ? copy : "";
}

static struct stet_view cut(struct stet_view *rest, char at)
{
    const char *end = rest->len ? memchr(rest->ptr, at, rest->len) : NULL;
    size_t n = end ? (size_t)(end - rest->ptr) : rest->len;
    struct stet_view piece = stet_view_of(rest->ptr, n);

    n += end != NULL;
    *rest = stet_view_of(rest->ptr + n, rest->len - n);
    return piece;
}

static bool figure(struct stet_probe *p, struct stet_view text, int64_t *out)
{
    *out = stet_view_is(text, "-") ? 0 : strtoll(keep(p, text), NULL, 10);
    return !stet_view_is(text, "-");
}

static void take_device(struct stet_probe *p, struct stet_view line)
{
    struct stet_probe_device *d;

    if (p->device_count == STET_PROBE_DEVICES)
        return;
    d = &p->devices[p->device_count++];
    d->id = atoi(keep(p, cut(&line, '\t')));
    d->has_memory = figure(p, cut(&line, '\t'), &d->in_use);
    d->has_limit = figure(p, cut(&line, '\t'), &d->limit);
    d->has_peak = figure(p, cut(&line, '\t'), &d->peak);
    d->kind = keep(p, cut(&line, '\t'));
    d->text = keep(p, line);
}

/* One line of the child's answer. The plugin may have written into the pipe, so nothing is
 * trusted. */
static void take_line(struct stet_probe *p, struct stet_view line, int *open)
{
    char kind = line.len ? line.ptr[0] : 0;
    struct stet_view rest = line.len ? stet_view_of(line.ptr + 1, line.len - 1) : line;
    int step;

    if (kind == 'V' && p->value_count < STET_PROBE_VALUES) {
        struct stet_view name = cut(&rest, '\t');

        p->values[p->value_count++] =
            (struct stet_bundle_probe_value){keep(p, name), keep(p, rest)};
    } else if (kind == 'D') {
        take_device(p, rest);
    }
    if (kind != 'B' && kind != 'F' && kind != 'X' && kind != 'M')
        return;
    step = atoi(keep(p, cut(&rest, ' ')));
    if (step < 0 || step >= STET_STEPS)
        return;
    p->reached = (enum stet_probe_step)step;
    *open = kind == 'B' ? step : -1;
    if (kind != 'B') {
        struct stet_probe_outcome *o = &p->steps[step];

        o->result = kind == 'F'   ? STET_PROBE_FINE
                    : kind == 'M' ? STET_PROBE_MISSING
                                  : STET_PROBE_FAILED;
        o->detail = keep(p, rest);
    }
}

/* The last lines that the plugin printed, which contain the reason of a fatal check. */
static void take_noise(struct stet_probe *p, struct stet_view noise)
{
    const char *from;

    while (noise.len && strchr(" \r\n", noise.ptr[noise.len - 1]))
        noise.len--;
    if (noise.len > NOISE_LINES) {
        noise = stet_view_of(noise.ptr + noise.len - NOISE_LINES, NOISE_LINES);
        from = memchr(noise.ptr, '\n', noise.len);
        if (from)
            noise = stet_view_of(from + 1, (size_t)(noise.ptr + noise.len - from) - 1);
    }
    if (noise.len)
        p->noise = keep(p, noise);
}

static enum stet_rc one_child(struct stet_probe *p, struct stet_prober *prober,
                              struct stet_err *err)
{
    struct stet_job job = {.deadline_ms = p->deadline_ms ? p->deadline_ms : DEADLINE_MS,
                           .tick = p->tick,
                           .tick_arg = p->tick_arg};
    enum stet_rc rc = stet_job_run(&job, stet_bundle_probe_child, prober, err);
    struct stet_view answer = stet_buf_as_view(&job.answer);
    int open = STET_STEP_LOAD;
    char how[96];

    if (rc == STET_OK) {
        while (answer.len)
            take_line(p, cut(&answer, '\n'), &open);
        take_noise(p, stet_buf_as_view(&job.noise));
        if (!stet_job_fine(&job)) {
            int step = open >= 0 ? open : (int)p->reached;

            stet_job_how(&job, how, sizeof how);
            p->steps[step].result = job.late ? STET_PROBE_HUNG : STET_PROBE_CRASHED;
            p->steps[step].detail = keep(p, stet_view_str(how));
            p->reached = (enum stet_probe_step)step;
        }
        p->steps[p->reached].milliseconds = job.milliseconds;
    }
    stet_job_release(&job);
    return rc;
}

static bool look_at_file(struct stet_probe *p)
{
    struct stet_probe_outcome *o = &p->steps[STET_STEP_FILE];
    struct stet_elf elf;

    o->result = STET_PROBE_FAILED;
    if (!stet_bundle_elf_open(&elf, p->path)) {
        o->detail = errno == EACCES ? "reading it is not permitted" : "no such file";
        return false;
    }
    if (elf.wrong) {
        o->detail = elf.wrong;
        return false;
    }
    o->result = STET_PROBE_FINE;
    o->detail = elf.build_id[0] ? stet_arena_printf(&p->arena, "build id %s", elf.build_id).ptr
                                : "no build id";
    return true;
}

enum stet_rc stet_bundle_probe_run(struct stet_probe *p, struct stet_err *err)
{
    struct stet_prober prober = {
        .path = p->path, .through = p->through, .no_tpu = !stet_bundle_system_bus().tpus};
    enum stet_rc rc;

    stet_arena_init(&p->arena, 8 << 20);
    for (int i = 0; i < STET_STEPS; i++)
        p->steps[i] = (struct stet_probe_outcome){STET_PROBE_SKIPPED, 0, ""};
    p->noise = "";
    p->reached = STET_STEP_FILE;
    if (!look_at_file(p) || p->through == STET_STEP_FILE)
        return STET_OK;
    prober.keep = memfd_create("stet-doctor", MFD_CLOEXEC);
    if (prober.keep < 0)
        return stet_fail_errno(err, "no memory file");
    rc = one_child(p, &prober, err);
    if (rc == STET_OK && p->through >= STET_STEP_RELOAD &&
        p->steps[STET_STEP_SERIALIZE].result == STET_PROBE_FINE) {
        struct stet_probe second = {.path = p->path,
                                    .deadline_ms = p->deadline_ms,
                                    .through = p->through,
                                    .tick = p->tick,
                                    .tick_arg = p->tick_arg};

        /* Steps before the reload were already judged; a failure in them here counts for the
         * reload. */
        prober.warm = true;
        stet_arena_init(&second.arena, 8 << 20);
        for (int i = 0; i < STET_STEPS; i++)
            second.steps[i] = (struct stet_probe_outcome){STET_PROBE_SKIPPED, 0, ""};
        rc = one_child(&second, &prober, err);
        p->reached = STET_STEP_RELOAD;
        if (second.reached < STET_STEP_RELOAD) {
            p->steps[STET_STEP_RELOAD] = (struct stet_probe_outcome){
                second.steps[second.reached].result, second.steps[second.reached].milliseconds,
                stet_arena_printf(&p->arena, "the second process failed before that: %s: %s",
                                  step_names[second.reached], second.steps[second.reached].detail)
                    .ptr};
        } else {
            for (int i = STET_STEP_RELOAD; i < STET_STEPS; i++) {
                p->steps[i] = second.steps[i];
                p->steps[i].detail = keep(p, stet_view_str(second.steps[i].detail));
            }
            p->reached = second.reached;
        }
        stet_arena_release(&second.arena);
    }
    close(prober.keep);
    return rc;
}

void stet_bundle_probe_release(struct stet_probe *p)
{
    stet_arena_release(&p->arena);
}

const char *stet_bundle_probe_value(const struct stet_probe *p, const char *name)
{
    for (size_t i = 0; i < p->value_count; i++)
        if (!strcmp(p->values[i].name, name))
            return p->values[i].value;
    return "";
}

enum stet_probe_step stet_bundle_probe_broken(const struct stet_probe *p)
{
    for (int i = 0; i < STET_STEPS; i++)
        if (p->steps[i].result > STET_PROBE_MISSING)
            return (enum stet_probe_step)i;
    return STET_STEPS;
}

bool stet_bundle_probe_alive(const struct stet_probe *p)
{
    return stet_bundle_probe_broken(p) == STET_STEPS &&
           p->steps[p->through].result != STET_PROBE_SKIPPED;
}
