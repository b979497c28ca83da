/* See run_start.h. */
#include "launch/run_start.h"

#include "base/mem.h"
#include "base/text.h"
#include "launch/cpu.h"
#include "stet_version.h"
#include "store/store.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum stet_rc stet_launch_run_write(const struct stet_launch_run *r, struct stet_err *err)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json j;

    stet_ledger_run_record_begin(&j, &out, r->id, r->argv);
    if (r->child.pid)
        stet_json_int(&j, "pid", r->child.pid);
    stet_json_int(&j, "parent", getpid());
    stet_json_cstr(&j, "stet_version", STET_VERSION);
    stet_json_uint(&j, "started_ns", stet_launch_run_ns(r->started));
    if (r->own_trace)
        stet_json_cstr(&j, "torch_trace", r->trace);
    if (r->metrics)
        stet_json_cstr(&j, "metrics", r->metrics);
    if (r->over) {
        stet_json_uint(&j, "ended_ns", stet_launch_run_ns(r->ended));
        if (WIFSIGNALED(r->child.status))
            stet_json_int(&j, "signal", WTERMSIG(r->child.status));
        else
            stet_json_int(&j, "exit", WEXITSTATUS(r->child.status));
        stet_launch_watch_json(&r->watch, &j);
    }
    return stet_ledger_run_record_end(&j, r->folder, r->over, err);
}

void stet_launch_run_forget(const struct stet_launch_run *r)
{
    static const char *const files[] = {"run.json", STET_LAUNCH_LAYER, STET_LAUNCH_CPU_LIBRARY,
                                        "python"};
    char path[PATH_MAX + 16];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", r->folder, files[i]);
        unlink(path);
    }
    rmdir(r->folder);
}

/* Sets the folder for stored executables. It does not change the user's own choice. */
static enum stet_rc set_store(struct stet_launch_env *env, bool no_store, struct stet_err *err)
{
    const char *told = stet_launch_env_get(env, "STET_STORE");
    struct stet_err why = STET_ERR_INIT;
    struct stet_store store;
    char *folder;
    enum stet_rc rc;

    if (no_store)
        return stet_launch_env_set(env, "STET_STORE", "off", err);
    if (told && *told != '/')
        return STET_OK;
    folder = stet_store_default(NULL);
    if (folder && stet_store_open(&store, folder, &why) == STET_REFUSED)
        stet_say("stet: the store is off: %s\n", why.text);
    rc = folder && !told ? stet_launch_env_set(env, "STET_STORE", folder, err) : STET_OK;
    stet_mem_free(folder);
    return rc;
}

enum stet_rc stet_launch_run_prepare(struct stet_launch_run *r, struct stet_launch_env *env,
                                     bool no_store, bool lift, struct stet_err *err)
{
    char library[PATH_MAX];
    const char *own;
    enum stet_rc rc = stet_launch_find_library(STET_LAUNCH_LAYER, library, sizeof library, err);

    if (rc == STET_OK)
        rc = stet_launch_env_listable(library, sizeof library, r->folder, err);
    if (rc == STET_OK)
        rc = stet_launch_env_preload(env, library, err);
    if (rc == STET_OK)
        rc = stet_launch_env_set(env, "STET_DIR", r->folder, err);
    if (rc == STET_OK)
        rc = stet_launch_env_set(env, "STET_RUN", r->id, err);
    if (rc == STET_OK)
        rc = set_store(env, no_store, err);
    if (rc == STET_OK && lift)
        rc = stet_launch_env_set(env, "STET_LIFT", "1", err);
    /* torch.compile writes its structured trace there, unless the user chose a folder. */
    if (snprintf(r->links, sizeof r->links, "%s/torch", r->folder) >= (int)sizeof r->links)
        return stet_fail(err, STET_LIMIT, "%s: path too long", r->folder);
    own = stet_launch_env_get(env, "TORCH_TRACE");
    r->own_trace = own && *own;
    snprintf(r->trace, sizeof r->trace, "%s", r->own_trace ? own : r->links);
    if (rc == STET_OK && !r->own_trace)
        rc = stet_launch_env_set(env, "TORCH_TRACE", r->trace, err);
    return rc;
}
