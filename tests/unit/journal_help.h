/* Shared by the journal's tests: a scratch folder, records to write, a whole folder read back. */
#ifndef STET_TEST_JOURNAL_HELP_H
#define STET_TEST_JOURNAL_HELP_H

#include "base/fs.h"
#include "base/mem.h"
#include "journal/read.h"
#include "journal/write.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch_dir[64];

static inline void fresh_scratch(void)
{
    snprintf(scratch_dir, sizeof scratch_dir, "/tmp/stet-journal-XXXXXX");
    if (!mkdtemp(scratch_dir))
        abort();
}

/* Every file of the scratch folder whose name holds `part`, in name order; calls `each`. */
static inline int each_file(const char *part, void (*each)(const char *path, void *data),
                            void *data)
{
    struct dirent **names;
    int n = scandir(scratch_dir, &names, NULL, alphasort), seen = 0;

    for (int i = 0; i < n; i++) {
        char path[512];

        if (names[i]->d_name[0] != '.' && strstr(names[i]->d_name, part)) {
            snprintf(path, sizeof path, "%s/%s", scratch_dir, names[i]->d_name);
            if (each)
                each(path, data);
            seen++;
        }
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return seen;
}

static inline void remove_file(const char *path, void *data)
{
    (void)data;
    unlink(path);
}

static inline void drop_scratch(void)
{
    each_file("", remove_file, NULL);
    rmdir(scratch_dir);
}

static inline struct stet_journal *scratch_journal(uint64_t main_cap, uint64_t segment,
                                                   unsigned keep)
{
    struct stet_journal_options options = {
        .dir = scratch_dir, .main_cap = main_cap, .detail_segment = segment, .detail_keep = keep};
    struct stet_journal *j = stet_journal_new(&options);
    struct stet_view argv[] = {STET_VIEW("python"), STET_VIEW("train.py")};
    struct stet_rec_process process = {.argv = {argv, 2}, .cwd = STET_VIEW("/home/someone")};

    stet_journal_set_process(j, &process);
    return j;
}

static inline bool write_compile(struct stet_journal *j, uint64_t index)
{
    struct stet_rec_compile_end rec = {
        .index = index,
        .executable = index + 1,
        .plugin_ns = 1000 * index,
        .name = STET_VIEW("jit_step"),
        .fingerprint = STET_VIEW("00112233445566778899aabbccddeeff"),
    };

    return stet_journal_write(j, STET_REC_compile_end, &rec);
}

static inline bool write_steps(struct stet_journal *j, uint64_t steps)
{
    struct stet_exec batch[64];
    bool ok = true;

    for (uint64_t i = 0; i < steps; i++) {
        batch[i % 64] = (struct stet_exec){1000000 + i * 1000, 1 + i % 2};
        if (i % 64 == 63 || i + 1 == steps)
            ok &= stet_journal_write_execs(j, batch, i % 64 + 1);
    }
    return ok;
}

/* What a folder holds. */
struct tally {
    unsigned files, events, segments, processes, compiles, losses, ends, stacks;
    uint64_t lost_records, lost_executions, executions;
    uint64_t damaged_bytes, damaged_regions, tail, bad_payloads, unknown;
    uint64_t compile_indices; /* sum, to see that each is there once */
    uint64_t last_sequence;
    bool out_of_order;
    char why[32];
};

static inline void tally_event(struct tally *t, const struct stet_journal_event *e)
{
    const union stet_record *r = e->record;

    t->events++;
    switch (e->kind) {
    case STET_REC_segment:
        t->segments++;
        break;
    case STET_REC_process:
        t->processes++;
        break;
    case STET_REC_compile_end:
        t->compiles++;
        t->compile_indices += r->compile_end.index;
        break;
    case STET_REC_execs:
        t->executions += r->execs.count;
        break;
    case STET_REC_stack:
        t->stacks++;
        break;
    case STET_REC_loss:
        t->losses++;
        t->lost_records += r->loss.records;
        t->lost_executions += r->loss.executions;
        snprintf(t->why, sizeof t->why, "%.*s", STET_FMT(r->loss.why));
        break;
    case STET_REC_process_end:
        t->ends++;
        break;
    default:
        break;
    }
}

static inline void tally_reader(struct tally *t, struct stet_journal_reader *r)
{
    struct stet_journal_event e;
    uint64_t last = 0;
    bool first = true;

    t->files++;
    while (stet_journal_next(r, &e, NULL) == STET_OK) {
        t->out_of_order |= !first && e.sequence <= last;
        first = false;
        last = e.sequence;
        tally_event(t, &e);
    }
    t->damaged_bytes += r->damage.bytes;
    t->damaged_regions += r->damage.regions;
    t->tail += r->damage.tail;
    t->bad_payloads += r->damage.bad_payloads;
    t->unknown += r->damage.unknown;
    t->last_sequence = last;
}

static inline void tally_file(const char *path, void *data)
{
    struct stet_journal_reader r;

    if (stet_journal_reader_open(&r, path, NULL) == STET_OK)
        tally_reader(data, &r);
    stet_journal_reader_close(&r);
}

static inline struct tally tally_scratch(void)
{
    struct tally t = {0};

    each_file(STET_JOURNAL_SUFFIX, tally_file, &t);
    return t;
}

/* The one main file of the scratch folder, whole. */
static inline void keep_path(const char *path, void *data)
{
    snprintf(data, 512, "%s", path);
}

static inline struct stet_file the_main_file(void)
{
    struct stet_file f = {0};
    char path[512] = "";

    each_file(".m", keep_path, path);
    stet_file_open(&f, path, NULL);
    return f;
}

#endif
