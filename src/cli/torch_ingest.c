/* Traces from elsewhere become a run like any other: listed, explained, compared. */
#include "cli/torch_rows.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "ledger/state.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static enum stet_rc new_folder(char *folder, size_t room, char id[40], struct timespec *now,
                               struct stet_err *err)
{
    char *state = stet_state_dir(err);
    unsigned random = (unsigned)getpid();
    enum stet_rc rc = STET_OK;
    char when[32];
    struct tm utc;

    if (!state)
        return STET_IO;
    clock_gettime(CLOCK_REALTIME, now);
    gmtime_r(&now->tv_sec, &utc);
    strftime(when, sizeof when, "%Y%m%d-%H%M%S", &utc);
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
        random ^= (unsigned)now->tv_nsec;
    snprintf(id, 40, "%s-%06x", when, random & 0xffffff);
    if (snprintf(folder, room, "%s/runs/%s/torch", state, id) >= (int)room)
        rc = stet_fail(err, STET_LIMIT, "%s: path too long", state);
    else
        rc = stet_fs_mkdirs(folder, err);
    stet_mem_free(state);
    return rc;
}

static enum stet_rc write_run(const char *folder, const char *id, char *const *argv,
                              const struct timespec *now, struct stet_err *err)
{
    uint64_t ns = (uint64_t)now->tv_sec * 1000000000u + (uint64_t)now->tv_nsec;
    char path[PATH_MAX + 16], here[PATH_MAX] = "", host[256] = "";
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json j;
    enum stet_rc rc;

    gethostname(host, sizeof host - 1);
    stet_json_init(&j, &out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.run/1");
    stet_json_cstr(&j, "id", id);
    stet_json_array(&j, "argv");
    for (; *argv; argv++)
        stet_json_cstr(&j, NULL, *argv);
    stet_json_end_array(&j);
    stet_json_cstr(&j, "cwd", getcwd(here, sizeof here) ? here : "");
    stet_json_cstr(&j, "host", host);
    stet_json_uint(&j, "started_ns", ns);
    stet_json_uint(&j, "ended_ns", ns);
    stet_json_int(&j, "exit", 0);
    stet_json_end_object(&j);
    stet_buf_char(&out, '\n');
    snprintf(path, sizeof path, "%s/run.json", folder);
    rc = out.failed ? stet_fail(err, STET_NO_MEMORY, "out of memory")
                    : stet_fs_write(path, stet_buf_as_view(&out), err);
    stet_buf_release(&out);
    return rc;
}

/* Links, not copies: traces are large. Two logs of one name get numbers before them. */
enum stet_rc stet_torch_link_logs(const struct stet_torch *t, const char *folder,
                                  struct stet_err *err)
{
    if (t->part_count && stet_fs_mkdirs(folder, err) != STET_OK)
        return STET_IO;
    for (size_t i = 0; i < t->part_count; i++) {
        char path[2 * PATH_MAX], *full = realpath(t->parts[i].ptr, NULL);
        const char *name = strrchr(t->parts[i].ptr, '/');
        int failed = 0;

        name = name ? name + 1 : t->parts[i].ptr;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (full && symlink(full, path) != 0 && errno == EEXIST) {
            snprintf(path, sizeof path, "%s/%zu_%s", folder, i, name);
            failed = symlink(full, path);
        }
        free(full);
        if (failed)
            return stet_fail_errno(err, "cannot link %s", path);
    }
    return STET_OK;
}

enum stet_rc stet_torch_keep_run(struct stet_torch *t, char *const *argv, char id[40],
                                 struct stet_err *err)
{
    char folder[PATH_MAX], *slash;
    struct stet_ledger *l = NULL;
    struct stet_arena arena;
    struct stet_run run;
    struct timespec now;
    enum stet_rc rc = new_folder(folder, sizeof folder, id, &now, err);

    if (rc == STET_OK)
        rc = stet_torch_link_logs(t, folder, err);
    if (rc != STET_OK)
        return rc;
    slash = strrchr(folder, '/');
    *slash = '\0';
    rc = write_run(folder, id, argv, &now, err);
    stet_arena_init(&arena, 1 << 20);
    if (rc == STET_OK)
        rc = stet_run_read(&run, &arena, folder, err);
    if (rc == STET_OK)
        rc = stet_ledger_open(&l, NULL, err);
    if (rc == STET_OK)
        rc = stet_torch_feed_model(l, &run, t, err);
    stet_ledger_close(l);
    stet_arena_release(&arena);
    return rc;
}
