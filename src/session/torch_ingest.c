/* Makes a run from traces that come from elsewhere, so that it is listed, explained and compared
 * like any other run. */
#include "session/torch_rows.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "ledger/run_new.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static enum stet_rc write_run(const char *folder, const char *id, char *const *argv,
                              const struct timespec *now, struct stet_err *err)
{
    uint64_t ns = (uint64_t)now->tv_sec * 1000000000u + (uint64_t)now->tv_nsec;
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json j;

    stet_ledger_run_record_begin(&j, &out, id, argv);
    stet_json_uint(&j, "started_ns", ns);
    stet_json_uint(&j, "ended_ns", ns);
    stet_json_int(&j, "exit", 0);
    return stet_ledger_run_record_end(&j, folder, true, err);
}

/* Returns the first of the logs in one folder. Its number distinguishes their names from equal
 * names in another folder, and keeps the parts of a rotated log together. */
static size_t first_beside(const struct stet_torch *t, size_t part)
{
    size_t i = 0;

    while (!stet_view_eq(stet_path_folder(t->parts[i]), stet_path_folder(t->parts[part])))
        i++;
    return i;
}

/* Makes links, not copies, because traces are large. Two logs of one name get numbers in front. A
 * log that was given by itself may have any name; it gets a name that is recognised in a folder. */
enum stet_rc stet_session_torch_link_logs(const struct stet_torch *t, const char *folder,
                                          struct stet_err *err)
{
    if (t->part_count && stet_fs_mkdirs(folder, err) != STET_OK)
        return STET_IO;
    for (size_t i = 0; i < t->part_count; i++) {
        char path[2 * PATH_MAX], *full = realpath(t->parts[i].ptr, NULL);
        const char *name = stet_path_base_str(t->parts[i].ptr);
        const char *front = stet_torch_is_log(name) ? "" : "torch_trace_";
        int failed = 0;

        snprintf(path, sizeof path, "%s/%s%s", folder, front, name);
        if (full && symlink(full, path) != 0 && errno == EEXIST) {
            snprintf(path, sizeof path, "%s/%zu_%s%s", folder, first_beside(t, i), front, name);
            failed = symlink(full, path);
        }
        free(full);
        if (failed)
            return stet_fail_errno(err, "cannot link %s", path);
    }
    return STET_OK;
}

/* Were the logs read in the order of the links in their folder? Only then do the processes have the
 * numbers by which they are found again. */
static bool in_order(const struct stet_torch *t)
{
    for (size_t i = 0; i < t->part_count; i++)
        if (!stet_torch_is_log(stet_path_base_str(t->parts[i].ptr)) ||
            (i && strcmp(stet_path_base_str(t->parts[i - 1].ptr),
                         stet_path_base_str(t->parts[i].ptr)) >= 0))
            return false;
    return true;
}

enum stet_rc stet_session_torch_keep_run(struct stet_torch *t, char *const *argv, char id[40],
                                         struct stet_err *err)
{
    char folder[PATH_MAX], logs[PATH_MAX + 8];
    struct stet_ledger *l = NULL;
    struct stet_arena arena;
    struct stet_run run;
    struct timespec now;
    enum stet_rc rc = stet_ledger_run_new(folder, sizeof folder, id, &now, err);

    snprintf(logs, sizeof logs, "%s/torch", folder);
    if (rc == STET_OK)
        rc = stet_session_torch_link_logs(t, logs, err);
    if (rc != STET_OK)
        return rc;
    rc = write_run(folder, id, argv, &now, err);
    stet_arena_init(&arena, 1 << 20);
    if (rc == STET_OK)
        rc = stet_ledger_run_read(&run, &arena, folder, err);
    if (rc == STET_OK)
        rc = stet_ledger_open(&l, NULL, err);
    if (rc == STET_OK)
        rc = in_order(t) ? stet_session_torch_feed_model(l, &run, t, err)
                         : stet_session_torch_feed(l, &run, err);
    stet_ledger_close(l);
    stet_arena_release(&arena);
    return rc;
}
