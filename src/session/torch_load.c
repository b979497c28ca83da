/* Finds the traces named on a command line and reads them. */
#include "base/fs.h"
#include "base/mem.h"
#include "ledger/run_folder.h"
#include "session/torch_rows.h"

#include <sys/stat.h>

/* A run's folder holds the trace in torch/; any other folder holds logs. */
static enum stet_rc add_folder(struct stet_torch_files *files, const char *folder,
                               struct stet_err *err)
{
    char *json = stet_fs_join(folder, "run.json"), *torch = stet_fs_join(folder, "torch");
    enum stet_rc rc;

    if (!json || !torch)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory");
    else
        rc = stet_torch_files_add(files, stet_fs_exists(json) ? torch : folder, err);
    stet_mem_free(json);
    stet_mem_free(torch);
    return rc;
}

/* Adds the cache lookups of earlier runs, if a run or nothing was named. */
static void add_past(struct stet_torch *t, const char *name)
{
    const struct stet_run *run;
    struct stet_runs runs;

    if (stet_ledger_runs_open_at(&runs, name, &run, NULL) != STET_OK)
        return;
    stet_session_torch_load_past(t, run);
    stet_ledger_runs_close(&runs);
}

static enum stet_rc add_run(struct stet_torch_files *files, const char *name, struct stet_buf *from,
                            struct stet_err *err)
{
    const struct stet_run *run;
    struct stet_runs runs;
    enum stet_rc rc = stet_ledger_runs_open_at(&runs, name, &run, err);

    if (rc != STET_OK)
        return rc;
    stet_buf_printf(from, "%srun %s", from->len ? ", " : "", run->id);
    rc = add_folder(files, run->folder, err);
    stet_ledger_runs_close(&runs);
    return rc;
}

/* Sets `*run` when the name is that of a run. */
static enum stet_rc add_name(struct stet_torch_files *files, const char *name,
                             struct stet_buf *from, bool *run, struct stet_err *err)
{
    struct stat st;

    *run = !name || stat(name, &st) != 0;
    if (*run)
        return add_run(files, name, from, err);
    stet_buf_printf(from, "%s%s", from->len ? ", " : "", name);
    return S_ISDIR(st.st_mode) ? add_folder(files, name, err)
                               : stet_torch_files_add(files, name, err);
}

enum stet_rc stet_session_torch_load(struct stet_torch *t, char **names, int count,
                                     struct stet_buf *from, struct stet_err *err)
{
    struct stet_torch_files *files = stet_torch_files_new(t);
    enum stet_rc rc = STET_OK;
    bool run = false, further; /* is the first one a run? */

    if (!files)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    if (!count)
        rc = add_name(files, NULL, from, &run, err);
    for (int i = 0; i < count && rc == STET_OK; i++)
        rc = add_name(files, names[i], from, i ? &further : &run, err);
    if (rc == STET_OK)
        rc = stet_torch_files_finish(files, err);
    if (rc == STET_OK && (!stet_torch_files_count(files) || (!run && !t->records)))
        rc = stet_fail(err, STET_NOT_FOUND, "%s: no torch.compile trace there",
                       from->len ? from->ptr : "?");
    stet_torch_files_free(files);
    if (rc == STET_OK && count < 2 && run)
        add_past(t, count ? names[0] : NULL);
    return rc;
}
