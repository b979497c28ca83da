/* stet doctor: probes everything in children, matches what is known, says what to do. */
#include "cli/bundle.h"
#include "cli/doctor.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "bundle/system.h"

#include <stdio.h>
#include <stdlib.h>

extern char **environ;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The outcome of each step as items, for detectors: "libtpu.so client" = "failed: …". */
static void put_outcomes(struct stet_doctor *d, const struct stet_found *f,
                         const struct stet_probe *p)
{
    for (int s = 0; s < STET_STEPS; s++) {
        char name[700];

        if (p->steps[s].result == STET_PROBE_SKIPPED)
            continue;
        snprintf(name, sizeof name, "%s %s", base_name(f->path),
                 stet_probe_step_name((enum stet_probe_step)s));
        stet_inventory_putf(&d->bundle, STET_GROUP_probe, name, "%s: %s",
                            stet_probe_result_name(p->steps[s].result), p->steps[s].detail);
        if (s == STET_STEP_FILE && strstr(f->by, "TPU_LIBRARY_PATH")) {
            snprintf(name, sizeof name, "%s found by TPU_LIBRARY_PATH file", base_name(f->path));
            stet_inventory_putf(&d->bundle, STET_GROUP_probe, name, "%s: %s",
                                stet_probe_result_name(p->steps[s].result), p->steps[s].detail);
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
        p->tick_arg = (void *)(uintptr_t)base_name(f->path);
        rc = stet_probe_run(p, err);
        if (rc != STET_OK)
            break;
        stet_gather_probe(&d->bundle, f, p);
        put_outcomes(d, f, p);
        d->alive += stet_probe_alive(p);
    }
    return rc;
}

/* Is a dead one of these a finding? Not when the environment asks for others by name, nor when it
 * is merely installed, has no device on the bus, and something else is alive. */
static bool is_wanted(const struct stet_doctor *d, const struct stet_found *f,
                      const struct stet_bus *bus)
{
    const char *platforms = getenv("JAX_PLATFORMS");
    bool installed =
        !strstr(f->by, "PATH") && !strstr(f->by, "STET_PLUGIN") && !strstr(f->by, "--plugin");
    bool tpu = strstr(f->path, "libtpu") != NULL, cuda = strstr(f->path, "cuda") != NULL;

    if (!installed)
        return true;
    if (platforms && *platforms && f->platform[0] && !strstr(platforms, f->platform) &&
        !(cuda && (strstr(platforms, "cuda") || strstr(platforms, "gpu"))))
        return false;
    if (d->alive && ((tpu && !bus->tpus) || (cuda && !bus->nvidia)))
        return false;
    return true;
}

static enum stet_rc load_matrix(struct stet_doctor *d, struct stet_err *err)
{
    struct stet_file f;
    enum stet_rc rc;

    stet_matrix_init(&d->matrix);
    rc = stet_matrix_built_in(&d->matrix, err);
    if (rc != STET_OK || !d->wishes->matrix)
        return rc;
    rc = stet_file_open(&f, d->wishes->matrix, err);
    if (rc != STET_OK)
        return rc;
    rc = stet_matrix_add(&d->matrix, f.bytes, d->wishes->matrix, err);
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

        if (stet_row_fits(&d->matrix.rows[i], &d->bundle, &why)) {
            d->why[d->row_count] = stet_arena_copy(&d->arena, stet_buf_as_view(&why)).ptr;
            d->rows[d->row_count++] = &d->matrix.rows[i];
        }
        stet_buf_release(&why);
    }
    return STET_OK;
}

static enum stet_rc examine(struct stet_doctor *d, struct stet_err *err)
{
    struct stet_bus bus = stet_system_bus();
    enum stet_rc rc;

    stet_arena_init(&d->arena, 16 << 20);
    stet_inventory_init(&d->bundle);
    rc = load_matrix(d, err); /* first: a bad file should not cost a minute of probing */
    if (rc != STET_OK)
        return rc;
    stet_python_find(&d->python, d->wishes->python, environ);
    if (d->wishes->plugin)
        stet_plugins_add(&d->found, d->wishes->plugin, "--plugin", STET_VIEW(""));
    stet_plugins_find(&d->found, &d->python, environ);
    stet_gather(&d->bundle, &d->python, &d->found, environ);
    stet_inventory_putf(&d->bundle, STET_GROUP_probe, "tpus", "%u", bus.tpus);
    stet_inventory_putf(&d->bundle, STET_GROUP_probe, "nvidia gpus", "%u", bus.nvidia);
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
        d->fine &= !d->wanted[i] || stet_probe_alive(&d->probes[i]);
    }
    for (size_t i = 0; i < d->check_count; i++)
        d->fine &= d->checks[i].result != STET_CHECK_WRONG;
    if (rc == STET_OK && (d->bundle.failed || d->arena.failed))
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory");
    return rc;
}

static void dismiss(struct stet_doctor *d)
{
    for (size_t i = 0; d->probes && i < d->found.count; i++)
        stet_probe_release(&d->probes[i]);
    stet_matrix_release(&d->matrix);
    stet_python_release(&d->python);
    stet_inventory_release(&d->bundle);
    stet_arena_release(&d->arena);
}

/* The whole matrix, for docs/matrix.md and for readers. */
static int list_rows(const struct stet_args *args, struct stet_doctor *d)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_json j;

    if (load_matrix(d, &err) != STET_OK)
        return stet_complain(&err);
    if (args->format == STET_FORMAT_JSON) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.matrix/1");
        stet_json_array(&j, "rows");
    }
    for (size_t i = 0; i < d->matrix.count; i++) {
        const struct stet_row *row = &d->matrix.rows[i];

        if (args->format == STET_FORMAT_JSON) {
            stet_json_object(&j, NULL);
            stet_json_string(&j, "id", row->id);
            for (int f = 0; f < STET_ROW_FIELDS; f++)
                stet_json_string(&j, stet_row_field_name((enum stet_row_field)f), row->field[f]);
            stet_json_end_object(&j);
            continue;
        }
        stet_buf_printf(&out, "[%.*s]\n", STET_FMT(row->id));
        for (int f = 0; f < STET_ROW_FIELDS; f++)
            stet_buf_printf(&out, "%-8s = %.*s\n", stet_row_field_name((enum stet_row_field)f),
                            STET_FMT(row->field[f]));
        stet_buf_char(&out, '\n');
    }
    if (args->format == STET_FORMAT_JSON) {
        stet_json_end_array(&j);
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    }
    stet_matrix_release(&d->matrix);
    return stet_print(&out, STET_EXIT_FINE);
}

int cmd_doctor(int argc, char **argv)
{
    static const struct stet_usage usage = {
        "stet doctor [options]",
        "Tries what is installed: every plugin that a framework would find is loaded, makes a\n"
        "client, compiles, runs, and reloads what it compiled, each in a child process with a\n"
        "deadline. Looks at the store, the frameworks, the environment, and a list of what is\n"
        "known to break. Exit 0 when all is well, 1 for findings.",
        "doctor",
    };
    static struct stet_doctor_wishes w;
    static struct stet_doctor d;
    const struct stet_option options[] = {
        {"python", "PYTHON", "of this interpreter (default: $VIRTUAL_ENV, python3 on PATH)",
         STET_OPTION_VALUE, &w.python},
        {"plugin", "FILE", "one more plugin, in addition to those found", STET_OPTION_VALUE,
         &w.plugin},
        {"deadline", "SECONDS", "for each child process (60)", STET_OPTION_VALUE, &w.deadline},
        {"quick", NULL, "compile nothing: clients and devices only", STET_OPTION_FLAG, &w.quick},
        {"no-frameworks", NULL, "import no framework", STET_OPTION_FLAG, &w.no_frameworks},
        {"matrix", "FILE", "more rows of what is known to break (stet help matrix)",
         STET_OPTION_VALUE, &w.matrix},
        {"rows", NULL, "print the whole matrix and stop", STET_OPTION_FLAG, &w.rows},
        {"run", "RUN", "judge features by the programs of a run", STET_OPTION_VALUE, &w.run},
        {"program", "FILE", "or by a program file", STET_OPTION_VALUE, &w.program},
        {0},
    };
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_args args;
    int done = stet_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count)
        return stet_usage_error(&usage, "no operands are taken");
    d.wishes = &w;
    if (!stet_bundle_deadline(w.deadline, &d.deadline_ms))
        return stet_usage_error(&usage, "--deadline: not a number of seconds");
    if (w.rows)
        return list_rows(&args, &d);
    if (examine(&d, &err) != STET_OK) {
        dismiss(&d);
        return stet_complain(&err);
    }
    if (args.format == STET_FORMAT_JSON)
        stet_doctor_json(&d, &out);
    else
        stet_doctor_text(&d, &out);
    done = d.fine ? STET_EXIT_FINE : STET_EXIT_FINDING;
    dismiss(&d);
    return stet_print(&out, done);
}
