/* stet cache prove: runs the command cold, then warm, and counts what was loaded back. */
#include "base/human.h"
#include "cli/cache.h"
#include "cli/miss_text.h"
#include "cli/run_text.h"
#include "session/miss.h"

#include "base/mem.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* One of the two launches. */
struct launch {
    char state[PATH_MAX]; /* its own state folder, which has exactly one run afterwards */
    struct stet_run_digest digest;
    uint64_t programs, reloaded, ns;
    int status;
};

/* Standard output is for the proof, so the command's output goes to standard error. */
static _Noreturn void become(char **command, const char *store, const char *state)
{
    static char stet[] = "stet", run[] = "run", quiet[] = "--quiet", cpu[] = "--cpu";
    size_t n = 0;
    char **argv;

    while (command[n])
        n++;
    argv = stet_mem_calloc(n + 6, sizeof *argv);
    if (!argv || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || setenv("STET_STORE", store, 1) != 0 ||
        setenv("STET_STATE_DIR", state, 1) != 0)
        _exit(STET_EXIT_FAILURE);
    argv[0] = stet;
    argv[1] = run;
    argv[2] = quiet;
    if (stet_cache_wishes.cpu)
        argv[3] = cpu;
    /* arguments before the command belong to `stet run`: stet cache prove -- --cpu -- python… */
    memcpy(argv + 3 + stet_cache_wishes.cpu, command, n * sizeof *command);
    execv("/proc/self/exe", argv);
    _exit(STET_EXIT_FAILURE);
}

static enum stet_rc find_run(struct launch *l, char *folder, size_t room, struct stet_err *err)
{
    char runs[PATH_MAX + 8];
    struct dirent *e;
    bool found = false;
    DIR *d;

    snprintf(runs, sizeof runs, "%s/runs", l->state);
    d = opendir(runs);
    while (d && (e = readdir(d))) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(folder, room, "%s/%s", runs, e->d_name);
        found = true;
    }
    if (d)
        closedir(d);
    return found ? STET_OK : stet_fail(err, STET_NOT_FOUND, "the command left no run behind");
}

static void sum(struct launch *l)
{
    for (size_t p = 0; p < l->digest.process_count; p++) {
        const struct stet_process_digest *d = &l->digest.processes[p];

        for (size_t i = 0; i < d->compile_count; i++) {
            const struct stet_compile_event *c = &d->compiles[i];

            if (c->load || !c->ended || c->error_code)
                continue;
            l->programs++;
            l->reloaded += c->served != 0;
            l->ns += c->plugin_ns + c->layer_ns;
        }
    }
}

static enum stet_rc launch(struct launch *l, const char *work, const char *name,
                           const struct stet_store *s, char **command, struct stet_err *err)
{
    char folder[2 * PATH_MAX];
    enum stet_rc rc;
    pid_t pid;

    if (snprintf(l->state, sizeof l->state, "%s/%s", work, name) >= (int)sizeof l->state)
        return stet_fail(err, STET_LIMIT, "%s: path too long", work);
    pid = fork();
    if (pid == 0)
        become(command, s->folder, l->state);
    if (pid < 0 || waitpid(pid, &l->status, 0) != pid)
        return stet_fail_errno(err, "cannot run the command");
    if (!WIFEXITED(l->status) || WEXITSTATUS(l->status) != 0)
        return stet_fail(err, STET_IO, "the command failed in its %s run, so nothing is proven",
                         name);
    rc = find_run(l, folder, sizeof folder, err);
    if (rc == STET_OK)
        rc = stet_ledger_run_load(&l->digest, folder, err);
    if (rc == STET_OK)
        sum(l);
    return rc;
}

static int tell(const struct stet_args *args, const struct launch *cold, const struct launch *warm)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_err err = STET_ERR_INIT;
    struct stet_misses misses;
    struct stet_json j;

    if (stet_misses_make(&misses, &warm->digest, &err) != STET_OK)
        return stet_cli_complain(&err);
    if (args->format == STET_FORMAT_JSON) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.prove/1");
        stet_json_uint(&j, "programs", warm->programs);
        stet_json_uint(&j, "reloaded", warm->reloaded);
        stet_json_number(&j, "cold_s", (double)cold->ns / 1e9);
        stet_json_number(&j, "warm_s", (double)warm->ns / 1e9);
        stet_misses_json(&misses, &j, "missed");
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    } else if (!warm->programs) {
        stet_buf_printf(&out, "nothing was compiled%s: nothing is proven%s\n",
                        cold->programs ? " in the warm run" : "",
                        cold->programs || stet_cache_wishes.cpu
                            ? ""
                            : " (JAX compiles for the CPU without a plugin: --cpu gives it one)");
    } else {
        stet_buf_printf(&out, "%" PRIu64 " of ", warm->reloaded);
        stet_text_count(&out, warm->programs, "program");
        stet_buf_str(&out, " reloaded, ");
        stet_text_duration(&out, cold->ns);
        stet_buf_str(&out, " -> ");
        stet_text_duration(&out, warm->ns);
        stet_buf_char(&out, '\n');
        stet_cli_misses_text(&misses, &out);
    }
    stet_misses_release(&misses);
    return stet_cli_print(&out, warm->programs && warm->reloaded == warm->programs
                                    ? STET_EXIT_FINE
                                    : STET_EXIT_FINDING);
}

int stet_cli_cache_prove(const struct stet_store *s, const struct stet_args *args)
{
    struct stet_err err = STET_ERR_INIT;
    static struct launch cold, warm;
    struct stet_store fresh;
    char work[] = "/tmp/stet-prove-XXXXXX", folder[sizeof work + 8];
    enum stet_rc rc = STET_OK;
    int code;

    if (!mkdtemp(work)) {
        stet_fail_errno(&err, "%s: cannot make folder", work);
        return stet_cli_complain(&err);
    }
    /* a cold launch needs a store of its own, unless the user named one */
    snprintf(folder, sizeof folder, "%s/store", work);
    rc = stet_store_open(&fresh, stet_cache_wishes.folder ? s->folder : folder, &err);
    if (rc == STET_OK)
        rc = launch(&cold, work, "cold", &fresh, args->values, &err);
    if (rc == STET_OK)
        rc = launch(&warm, work, "warm", &fresh, args->values, &err);
    code = rc == STET_OK ? tell(args, &cold, &warm) : stet_cli_complain(&err);
    stet_ledger_run_unload(&cold.digest);
    stet_ledger_run_unload(&warm.digest);
    stet_fs_remove_tree(work);
    return code;
}
