/* Fits are kept in the folders of their runs. The last one of the same script for the same devices
 * shows what made a program grow. */
#include "fit/fit_internal.h"

#include "base/fs.h"
#include "base/text.h"
#include "ingest/jscan.h"

#include <stdio.h>
#include <string.h>

enum { MOST_HISTORY = 64 << 20 };

/* The file of a fit in a run's folder: fit-v6e_2x4.json, or fit-1x1x1-NVIDIA_H200.json, because the
 * topology of GPUs does not say their kind. */
static void path_of(char *out, size_t room, const char *folder, const struct stet_fit_topology *t)
{
    bool named = strcmp(t->platform, "tpu") == 0;
    size_t at;

    snprintf(out, room, "%s/fit-%s%s%s.json", folder, t->name, named ? "" : "-",
             named ? "" : t->kind);
    for (at = strlen(folder) + 1; out[at]; at++) {
        if (out[at] == ':' || out[at] == '/' || out[at] == ' ')
            out[at] = '_';
    }
}

/* ---- reading ---- */

/* A line of the last fit. */
struct old_line {
    struct stet_view file, opcode, shape;
    uint64_t line, bytes;
};

static struct old_line read_line(struct stet_jscan *j)
{
    struct old_line l = {0};
    struct stet_view key;

    if (!stet_ingest_jscan_object(j))
        return l;
    while (stet_ingest_jscan_key(j, &key)) {
        if (stet_view_is(key, "file"))
            l.file = stet_ingest_jscan_string(j);
        else if (stet_view_is(key, "opcode"))
            l.opcode = stet_ingest_jscan_string(j);
        else if (stet_view_is(key, "shape"))
            l.shape = stet_ingest_jscan_string(j);
        else if (stet_view_is(key, "line"))
            l.line = (uint64_t)stet_ingest_jscan_int(j);
        else if (stet_view_is(key, "bytes"))
            l.bytes = (uint64_t)stet_ingest_jscan_int(j);
        else
            stet_ingest_jscan_skip(j);
    }
    return l;
}

static void compare(struct stet_fit *fit, struct stet_view program, const struct old_line *old)
{
    for (size_t i = 0; i < fit->count; i++) {
        struct stet_fit_program *p = &fit->programs[i];

        if (!stet_view_is(program, p->item->name))
            continue;
        for (size_t k = 0; k < p->line_count; k++) {
            struct stet_fit_line *l = &p->lines[k];

            if (l->line != old->line || !stet_view_eq(l->file, old->file) ||
                (!l->line && !stet_view_eq(l->opcode, old->opcode)))
                continue;
            l->known_before = true;
            l->before = old->bytes;
            l->shape_before = stet_arena_copy(&fit->arena, old->shape);
        }
    }
}

static void read_program(struct stet_fit *fit, struct stet_jscan *j)
{
    struct stet_view key, name = {0};

    if (!stet_ingest_jscan_object(j))
        return;
    while (stet_ingest_jscan_key(j, &key)) {
        if (stet_view_is(key, "program")) {
            name = stet_ingest_jscan_string(j);
        } else if (stet_view_is(key, "temporaries") && stet_ingest_jscan_array(j)) {
            while (stet_ingest_jscan_element(j)) {
                struct old_line l = read_line(j);

                compare(fit, name, &l);
            }
        } else if (!stet_view_is(key, "temporaries")) {
            stet_ingest_jscan_skip(j);
        }
    }
}

static void read_fit(struct stet_fit *fit, struct stet_view text)
{
    struct stet_jscan j;
    struct stet_view key;

    stet_ingest_jscan_init(&j, text);
    if (!stet_ingest_jscan_object(&j))
        return;
    while (stet_ingest_jscan_key(&j, &key)) {
        if (stet_view_is(key, "peak_bytes"))
            fit->since_peak = (uint64_t)stet_ingest_jscan_int(&j);
        else if (stet_view_is(key, "command"))
            fit->since_command = stet_arena_copy(&fit->arena, stet_ingest_jscan_string(&j));
        else if (stet_view_is(key, "programs") && stet_ingest_jscan_array(&j))
            while (stet_ingest_jscan_element(&j))
                read_program(fit, &j);
        else if (!stet_view_is(key, "programs"))
            stet_ingest_jscan_skip(&j);
    }
}

static bool read_last(struct stet_fit *fit, const struct stet_run *run,
                      const struct stet_runs *runs)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < runs->count; i++) {
        const struct stet_run *r = &runs->items[i];
        struct stet_file f = {0};

        if (r->started_ns >= run->started_ns || !stet_ledger_run_is_of_same_script(r, run))
            continue;
        path_of(path, sizeof path, r->folder, &fit->topology);
        if (!stet_fs_is_plain(path) ||
            stet_file_open_small(&f, path, MOST_HISTORY, NULL) != STET_OK)
            continue;
        fit->since = stet_arena_copy(&fit->arena, stet_view_str(r->id));
        read_fit(fit, f.bytes);
        stet_file_close(&f);
        return true;
    }
    return false;
}

void stet_fit_history(struct stet_fit *fit, const struct stet_run *run,
                      const struct stet_runs *runs)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    char path[PATH_MAX];

    read_last(fit, run, runs);
    stet_fit_json(&out, fit);
    path_of(path, sizeof path, run->folder, &fit->topology);
    if (!out.failed && stet_fs_write(path, stet_buf_as_view(&out), &err) != STET_OK)
        stet_say_err(&err);
    stet_buf_release(&out);
}
