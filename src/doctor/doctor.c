/* Probes everything in child processes, and matches the results with what is known to break. */
#include "doctor/doctor.h"

#include "base/fs.h"
#include "base/path.h"
#include "bundle/system.h"

#include <stdio.h>
#include <stdlib.h>

extern char **environ;

/* The outcome of each step as items, for detectors: "libtpu.so client" = "failed: …". */
static void put_outcomes(struct stet_doctor *d, const struct stet_found *f,
                         const struct stet_probe *p)
{
    for (int s = 0; s < STET_STEPS; s++) {
        char name[700];

        if (p->steps[s].result == STET_PROBE_SKIPPED)
            continue;
        snprintf(name, sizeof name, "%s %s", stet_path_base_str(f->path),
                 stet_bundle_probe_step_name((enum stet_probe_step)s));
        stet_bundle_inventory_putf(&d->bundle, STET_GROUP_probe, name, "%s: %s",
                                   stet_bundle_probe_result_name(p->steps[s].result),
                                   p->steps[s].detail);
        if (s == STET_STEP_FILE && f->ways >> STET_FOUND_TPU_LIBRARY & 1) {
            snprintf(name, sizeof name, "%s found by TPU_LIBRARY_PATH file",
                     stet_path_base_str(f->path));
            stet_bundle_inventory_putf(&d->bundle, STET_GROUP_probe, name, "%s: %s",
                                       stet_bundle_probe_result_name(p->steps[s].result),
                                       p->steps[s].detail);
        }
    }
}

static enum stet_rc probe_all(struct stet_doctor *d, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    d->probes = STET_NEW_ARRAY(&d->arena, struct stet_probe, d->found.count + 1);
    d->wanted = STET_NEW_ARRAY(&d->arena, bool, d->found.count + 1);
    if (!d->probes || !d->wanted)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    for (size_t i = 0; rc == STET_OK && i < d->found.count; i++) {
        struct stet_probe *p = &d->probes[i];
        const struct stet_found *f = &d->found.items[i];

        p->path = f->path;
        p->deadline_ms = d->deadline_ms;
        p->through = d->wishes->quick ? STET_STEP_MEMORY : STET_STEP_AGAIN;
        p->tick = stet_doctor_tick;
        p->tick_arg = (void *)(uintptr_t)stet_path_base_str(f->path);
        rc = stet_bundle_probe_run(p, err);
        if (rc != STET_OK)
            break;
        stet_bundle_gather_probe(&d->bundle, f, p);
        put_outcomes(d, f, p);
        d->alive += stet_bundle_probe_alive(p);
    }
    return rc;
}

/* Is it a finding if this plugin does not work? Not if the environment selects other platforms by
 * name. Also not if the plugin is only installed, has no device on the bus, and another one
 * works. */
static bool is_wanted(const struct stet_doctor *d, const struct stet_found *f,
                      const struct stet_bus *bus)
{
    const char *platforms = getenv("JAX_PLATFORMS");
    bool tpu = strstr(f->path, "libtpu") != NULL, cuda = strstr(f->path, "cuda") != NULL;

    if (stet_bundle_plugins_asked(f))
        return true;
    if (platforms && *platforms && f->platform[0] && !strstr(platforms, f->platform) &&
        !(cuda && (strstr(platforms, "cuda") || strstr(platforms, "gpu"))))
        return false;
    if (d->alive && ((tpu && !bus->tpus) || (cuda && !bus->nvidia)))
        return false;
    return true;
}

enum stet_rc stet_doctor_load_matrix(struct stet_doctor *d, struct stet_err *err)
{
    struct stet_file f;
    enum stet_rc rc;

    stet_bundle_matrix_init(&d->matrix);
    rc = stet_bundle_matrix_built_in(&d->matrix, err);
    if (rc != STET_OK || !d->wishes->matrix)
        return rc;
    rc = stet_file_open(&f, d->wishes->matrix, err);
    if (rc != STET_OK)
        return rc;
    rc = stet_bundle_matrix_add(&d->matrix, f.bytes, d->wishes->matrix, err);
    stet_file_close(&f);
    return rc;
}

static enum stet_rc match(struct stet_doctor *d, struct stet_err *err)
{
    d->rows = STET_NEW_ARRAY(&d->arena, const struct stet_row *, d->matrix.count + 1);
    d->why = STET_NEW_ARRAY(&d->arena, const char *, d->matrix.count + 1);
    if (!d->rows || !d->why)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < d->matrix.count; i++) {
        struct stet_buf why = STET_BUF_INIT;

        if (stet_bundle_row_fits(&d->matrix.rows[i], &d->bundle, &why)) {
            d->why[d->row_count] = stet_arena_copy(&d->arena, stet_buf_as_view(&why)).ptr;
            d->rows[d->row_count++] = &d->matrix.rows[i];
        }
        stet_buf_release(&why);
    }
    return STET_OK;
}

enum stet_rc stet_doctor_examine(struct stet_doctor *d, struct stet_err *err)
{
    struct stet_bus bus = stet_bundle_system_bus();
    enum stet_rc rc;

    stet_arena_init(&d->arena, 16 << 20);
    stet_bundle_inventory_init(&d->bundle);
    rc =
        stet_doctor_load_matrix(d, err); /* first: a bad file should not cost a minute of probing */
    if (rc != STET_OK)
        return rc;
    stet_bundle_python_find(&d->python, d->wishes->python, environ);
    if (d->wishes->plugin)
        stet_bundle_plugins_add(&d->found, d->wishes->plugin, STET_FOUND_OPTION, STET_VIEW(""));
    stet_bundle_plugins_find(&d->found, &d->python, environ);
    stet_bundle_gather(&d->bundle, &d->python, &d->found, environ);
    stet_bundle_inventory_putf(&d->bundle, STET_GROUP_probe, "tpus", "%u", bus.tpus);
    stet_bundle_inventory_putf(&d->bundle, STET_GROUP_probe, "nvidia gpus", "%u", bus.nvidia);
    rc = probe_all(d, err);
    if (rc != STET_OK)
        return rc;
    stet_doctor_store(d);
    stet_doctor_frameworks(d);
    rc = stet_doctor_gates(d, err);
    if (rc == STET_OK)
        rc = match(d, err);
    d->fine = !d->row_count;
    for (size_t i = 0; rc == STET_OK && i < d->found.count; i++) {
        d->wanted[i] = is_wanted(d, &d->found.items[i], &bus);
        d->fine &= !d->wanted[i] || stet_bundle_probe_alive(&d->probes[i]);
    }
    for (size_t i = 0; i < d->check_count; i++)
        d->fine &= d->checks[i].result != STET_DOCTOR_WRONG;
    if (rc == STET_OK && (d->bundle.failed || d->arena.failed))
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory");
    return rc;
}

void stet_doctor_release(struct stet_doctor *d)
{
    for (size_t i = 0; d->probes && i < d->found.count; i++)
        stet_bundle_probe_release(&d->probes[i]);
    stet_bundle_matrix_release(&d->matrix);
    stet_bundle_python_release(&d->python);
    stet_bundle_inventory_release(&d->bundle);
    stet_arena_release(&d->arena);
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

void stet_doctor_verdict(const struct stet_doctor *d, char *out, size_t room)
{
    size_t wrong = 0, dead = 0;

    for (size_t i = 0; i < d->check_count; i++)
        wrong += d->checks[i].result == STET_DOCTOR_WRONG;
    for (size_t i = 0; i < d->found.count; i++)
        dead += d->wanted[i] && !stet_bundle_probe_alive(&d->probes[i]);
    if (d->fine && !d->found.count)
        snprintf(
            out, room,
            "all is well: no compiler plugin is installed; torch.compile and JAX's CPU need none");
    else if (d->fine)
        snprintf(out, room, "all is well: %zu of %zu plugin%s alive", d->alive, d->found.count,
                 plural(d->found.count));
    else
        snprintf(out, room,
                 "%zu of %zu plugin%s alive, %zu dead; %zu check%s failed, %zu row%s fit%s",
                 d->alive, d->found.count, plural(d->found.count), dead, wrong, plural(wrong),
                 d->row_count, plural(d->row_count), d->row_count == 1 ? "s" : "");
}
