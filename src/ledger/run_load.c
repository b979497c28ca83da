/* Reads journals into one digest per process. Files of one process share its uid. */
#include "ledger/run_load.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/vec.h"
#include "ledger/run_wait.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

static void add_damage(struct stet_journal_damage *sum, const struct stet_journal_damage *one)
{
    sum->regions += one->regions;
    sum->bytes += one->bytes;
    sum->tail += one->tail;
    sum->bad_payloads += one->bad_payloads;
    sum->unknown += one->unknown;
}

static void read_file(struct stet_run_digest *d, const char *path)
{
    struct stet_process_digest *p = NULL;
    struct stet_journal_reader reader;
    struct stet_journal_event e;
    struct stet_stacks stacks = {0};
    enum stet_rc rc;

    if (stet_journal_reader_open(&reader, path, NULL) != STET_OK) {
        d->unreadable++;
        return;
    }
    while ((rc = stet_journal_next(&reader, &e, NULL)) == STET_OK) {
        if (e.kind == STET_REC_segment) {
            p = stet_ledger_run_process(d, e.record);
            if (!p)
                break;
        } else if (p) {
            stet_ledger_run_take(d, p, &stacks, &e);
        }
    }
    if (rc == STET_BAD_INPUT || rc == STET_UNSUPPORTED)
        d->unreadable++;
    if (p)
        add_damage(&p->damage, &reader.damage);
    stet_ledger_stacks_release(&stacks);
    stet_journal_reader_close(&reader);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* By name, so that the segments of a stream are in order. */
static enum stet_rc read_folder(struct stet_run_digest *d, const char *folder, DIR *dir)
{
    char **paths = NULL;
    size_t n = 0, room = 0;
    enum stet_rc rc = STET_OK;

    for (struct dirent *e; (e = readdir(dir));) {
        if (!stet_view_ends(stet_view_str(e->d_name), STET_JOURNAL_SUFFIX))
            continue;
        if (stet_vec_room(&paths, &room, n, sizeof *paths))
            paths[n] = stet_fs_join(folder, e->d_name);
        if (n == room || !paths[n]) {
            rc = STET_NO_MEMORY;
            break;
        }
        n++;
    }
    if (n)
        qsort(paths, n, sizeof *paths, by_name);
    for (size_t i = 0; i < n; i++) {
        if (rc == STET_OK)
            read_file(d, paths[i]);
        stet_mem_free(paths[i]);
    }
    stet_mem_free(paths);
    return rc;
}

static void add_up(struct stet_run_digest *d)
{
    for (size_t i = 0; i < d->process_count; i++) {
        struct stet_process_digest *p = &d->processes[i];

        d->executions += p->executions;
        for (size_t k = 0; k < p->compile_count; k++) {
            struct stet_compile_event *c = &p->compiles[k];

            stet_ledger_wait_without_phases(p, c);
            *(c->load ? &d->loads : &d->compiles) += 1;
            d->failed += c->error_code != 0;
            if (!c->load)
                d->compile_ns += c->plugin_ns;
        }
    }
}

enum stet_rc stet_ledger_run_load(struct stet_run_digest *d, const char *folder,
                                  struct stet_err *err)
{
    char *journals = stet_fs_join(folder, "journal");
    enum stet_rc rc = STET_OK;
    DIR *dir;

    *d = (struct stet_run_digest){0};
    stet_arena_init(&d->arena, (size_t)1 << 30);
    dir = journals ? opendir(journals) : NULL;
    if (dir) {
        rc = read_folder(d, journals, dir);
        closedir(dir);
        add_up(d);
    } else if (!journals) {
        rc = STET_NO_MEMORY;
    } else if (errno != ENOENT) {
        rc = stet_fail_errno(err, "%s: cannot open", journals);
    }
    stet_mem_free(journals);
    if (rc == STET_NO_MEMORY || d->arena.failed)
        rc = stet_fail(err, STET_NO_MEMORY, "%s: out of memory", folder);
    if (rc != STET_OK)
        stet_ledger_run_unload(d);
    return rc;
}

void stet_ledger_run_unload(struct stet_run_digest *d)
{
    for (size_t i = 0; i < d->process_count; i++) {
        stet_mem_free(d->processes[i].plugins);
        stet_mem_free(d->processes[i].compiles);
        stet_mem_free(d->processes[i].counters);
        stet_mem_free(d->processes[i].agreements);
        stet_mem_free(d->processes[i].copies);
        stet_ledger_wait_release(&d->processes[i]);
    }
    stet_mem_free(d->processes);
    stet_arena_release(&d->arena);
    *d = (struct stet_run_digest){0};
}
