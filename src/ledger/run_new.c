/* See run_new.h. */
#include "ledger/run_new.h"

#include "base/fs.h"
#include "base/mask.h"
#include "base/mem.h"
#include "ledger/state.h"

#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

enum stet_rc stet_ledger_run_new(char *folder, size_t room, char id[STET_RUN_ID],
                                 struct timespec *now, struct stet_err *err)
{
    char *state = stet_ledger_state_dir(err);
    unsigned random = (unsigned)getpid();
    char when[32];
    struct tm utc;
    enum stet_rc rc;

    if (!state)
        return STET_IO;
    clock_gettime(CLOCK_REALTIME, now);
    gmtime_r(&now->tv_sec, &utc);
    strftime(when, sizeof when, "%Y%m%d-%H%M%S", &utc);
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
        random ^= (unsigned)now->tv_nsec;
    snprintf(id, STET_RUN_ID, "%s-%06x", when, random & 0xffffff);
    if (snprintf(folder, room, "%s/runs/%s", state, id) >= (int)room)
        rc = stet_fail(err, STET_LIMIT, "%s: path too long", state);
    else
        rc = stet_fs_mkdirs(folder, err);
    stet_mem_free(state);
    return rc;
}

static void add_argument(struct stet_json *j, struct stet_view before, struct stet_view word)
{
    struct stet_buf masked = STET_BUF_INIT;

    stet_mask_argument(&masked, before, word);
    stet_json_string(j, NULL, masked.failed ? STET_VIEW(STET_MASK) : stet_buf_as_view(&masked));
    stet_buf_release(&masked);
}

void stet_ledger_run_record_begin(struct stet_json *j, struct stet_buf *out, const char *id,
                                  char *const *argv)
{
    char host[256] = "", here[PATH_MAX] = "";

    gethostname(host, sizeof host - 1);
    stet_json_init(j, out);
    stet_json_object(j, NULL);
    stet_json_cstr(j, "schema", "stet.run/1");
    stet_json_cstr(j, "id", id);
    stet_json_array(j, "argv");
    for (size_t i = 0; argv[i]; i++)
        add_argument(j, stet_view_str(i ? argv[i - 1] : ""), stet_view_str(argv[i]));
    stet_json_end_array(j);
    stet_json_cstr(j, "cwd", getcwd(here, sizeof here) ? here : NULL);
    stet_json_cstr(j, "host", host);
}

enum stet_rc stet_ledger_run_record_end(struct stet_json *j, const char *folder, bool last,
                                        struct stet_err *err)
{
    char path[PATH_MAX + 16];
    enum stet_rc rc;

    stet_json_end_object(j);
    stet_buf_char(j->out, '\n');
    snprintf(path, sizeof path, "%s/run.json", folder);
    if (j->out->failed)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory");
    else
        rc = (last ? stet_fs_write : stet_fs_write_unsynced)(path, stet_buf_as_view(j->out), err);
    stet_buf_release(j->out);
    return rc;
}
