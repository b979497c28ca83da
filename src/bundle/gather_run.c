/* Where a bundle comes from. */
#include "bundle/gather_run.h"

#include "base/fs.h"
#include "base/mem.h"
#include "journal/read.h"
#include "ledger/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool stet_bundle_deadline(const char *text, int *milliseconds)
{
    char *end = NULL;
    double seconds = text ? strtod(text, &end) : 60;

    if (text && (end == text || *end || !(seconds > 0) || seconds > 86400))
        return false;
    *milliseconds = (int)(seconds * 1000);
    return true;
}

static enum stet_rc probe_all(struct stet_inventory *v, const struct stet_found_list *found,
                              const struct stet_bundle_wishes *w, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;
    int deadline = 0;

    if (!stet_bundle_deadline(w->deadline, &deadline))
        return stet_fail(err, STET_USAGE, "--deadline: not a number of seconds: %s", w->deadline);
    for (size_t i = 0; rc == STET_OK && i < found->count; i++) {
        struct stet_probe probe = {.path = found->items[i].path,
                                   .deadline_ms = deadline,
                                   .through = w->client ? STET_STEP_MEMORY : STET_STEP_INIT};

        rc = stet_bundle_probe_run(&probe, err);
        stet_bundle_gather_probe(v, &found->items[i], &probe);
        stet_bundle_probe_release(&probe);
    }
    return rc;
}

enum stet_rc stet_bundle_now(struct stet_inventory *v, const struct stet_bundle_wishes *w,
                             struct stet_err *err)
{
    static struct stet_found_list found;
    struct stet_bundle_python python;
    enum stet_rc rc = STET_OK;

    found.count = found.note_count = 0;
    stet_bundle_inventory_init(v);
    stet_bundle_python_find(&python, w->python, environ);
    if (w->python && !python.version)
        rc = stet_fail(err, STET_USAGE, "%s: %s", w->python, python.why_not);
    if (w->plugin)
        stet_bundle_plugins_add(&found, w->plugin, STET_FOUND_OPTION, STET_VIEW(""));
    stet_bundle_plugins_find(&found, &python, environ);
    stet_bundle_gather(v, &python, &found, environ);
    if (rc == STET_OK && !w->no_load)
        rc = probe_all(v, &found, w, err);
    stet_bundle_python_release(&python);
    stet_bundle_inventory_sort(v);
    if (rc == STET_OK && v->failed)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory");
    if (rc != STET_OK)
        stet_bundle_inventory_release(v);
    return rc;
}

/* The plugin of a client is named by number. */
struct known {
    uint64_t id;
    char path[1024];
};

/* [1,20,0] as 1.20.0: a version, and what a probe calls it. */
static struct stet_view dotted(struct stet_inventory *v, struct stet_view list)
{
    struct stet_view copy;
    char *at;

    if (list.len < 3 || list.ptr[0] != '[' || list.ptr[list.len - 1] != ']')
        return list;
    copy = stet_arena_copy(&v->arena, stet_view_of(list.ptr + 1, list.len - 2));
    at = (char *)(uintptr_t)copy.ptr;
    for (size_t i = 0; at && i < copy.len; i++)
        if (at[i] == ',')
            at[i] = '.';
    return copy;
}

static void take_values(struct stet_inventory *v, const char *path, struct stet_list list)
{
    for (size_t i = 0; i < list.count; i++) {
        struct stet_view one = list.items[i];
        const char *equals = one.len ? memchr(one.ptr, '=', one.len) : NULL;
        size_t n = equals ? (size_t)(equals - one.ptr) : 0;

        if (n)
            stet_bundle_gather_attribute(v, path, stet_view_of(one.ptr, n),
                                         dotted(v, stet_view_of(equals + 1, one.len - n - 1)));
    }
}

static void take_plugin(struct stet_inventory *v, const struct stet_rec_plugin *r,
                        struct known *known)
{
    char build_id[160], api[48];

    snprintf(known->path, sizeof known->path, "%.*s",
             (int)(r->path.len < 1000 ? r->path.len : 1000), r->path.ptr);
    known->id = r->plugin;
    snprintf(build_id, sizeof build_id, "%.*s",
             (int)(r->build_id.len < 129 ? r->build_id.len : 129), r->build_id.ptr);
    snprintf(api, sizeof api, "%llu.%llu", (unsigned long long)r->api_major,
             (unsigned long long)r->api_minor);
    stet_bundle_gather_plugin(v, known->path, build_id);
    stet_bundle_gather_detail(v, STET_GROUP_plugin, known->path, "api", stet_view_str(api));
    take_values(v, known->path, r->attributes);
}

static void take_client(struct stet_inventory *v, const struct stet_rec_client_create *r,
                        const char *path)
{
    char text[256];

    if (!r->client)
        return;
    stet_bundle_gather_detail(v, STET_GROUP_plugin, path, "platform", r->platform);
    stet_bundle_gather_detail(v, STET_GROUP_plugin, path, "platform version", r->platform_version);
    snprintf(text, sizeof text, "%llu x %.*s", (unsigned long long)r->devices,
             r->device_kinds.count ? (int)r->device_kinds.items[0].len : 0,
             r->device_kinds.count ? r->device_kinds.items[0].ptr : "");
    stet_bundle_gather_detail(v, STET_GROUP_topology, path, "devices", stet_view_str(text));
    for (size_t i = 0; i < r->topology_attributes.count; i++) {
        struct stet_view one = r->topology_attributes.items[i];
        const char *equals = one.len ? memchr(one.ptr, '=', one.len) : NULL;

        if (!equals)
            continue;
        snprintf(text, sizeof text, "%.*s", (int)(equals - one.ptr), one.ptr);
        stet_bundle_gather_detail(
            v, STET_GROUP_topology, path, text,
            stet_view_of(equals + 1, (size_t)(one.ptr + one.len - equals) - 1));
    }
}

static void take_journal(struct stet_inventory *v, const char *path)
{
    struct stet_journal_reader r;
    struct stet_journal_event e;
    struct known known[16] = {{0}};
    size_t n = 0;

    if (stet_journal_reader_open(&r, path, NULL) != STET_OK)
        return;
    while (stet_journal_next(&r, &e, NULL) == STET_OK) {
        if (e.kind == STET_REC_plugin && n < sizeof known / sizeof *known) {
            take_plugin(v, e.record, &known[n++]);
        } else if (e.kind == STET_REC_process) {
            const struct stet_rec_process *p = e.record;

            const char *blank = p->python.len ? memchr(p->python.ptr, ' ', p->python.len) : NULL;

            if (p->python.len)
                stet_bundle_inventory_put(
                    v, STET_GROUP_python, STET_VIEW("version"),
                    stet_view_of(p->python.ptr,
                                 blank ? (size_t)(blank - p->python.ptr) : p->python.len));
        } else if (e.kind == STET_REC_client_create) {
            const struct stet_rec_client_create *c = e.record;

            for (size_t i = 0; i < n; i++)
                if (known[i].id == c->plugin)
                    take_client(v, c, known[i].path);
        } else if (e.kind == STET_REC_execs) {
            break; /* records about plugins come before the loop */
        }
    }
    stet_journal_reader_close(&r);
}

static int is_main(const struct dirent *e)
{
    return strstr(e->d_name, ".m0000" STET_JOURNAL_SUFFIX) != NULL;
}

enum stet_rc stet_bundle_of_run(struct stet_inventory *v, const char *folder, struct stet_err *err)
{
    char path[PATH_MAX + 300];
    struct dirent **names;
    enum stet_rc rc;
    int n;

    snprintf(path, sizeof path, "%s/bundle.json", folder);
    rc = stet_fs_is_plain(path) ? stet_bundle_inventory_read(v, path, err) : STET_NOT_FOUND;
    if (rc == STET_IO || rc == STET_NOT_FOUND) {
        rc = STET_OK; /* an older run, or one in plugin mode: see its journals */
        if (err)
            *err = (struct stet_err)STET_ERR_INIT;
        stet_bundle_inventory_init(v);
    }
    if (rc != STET_OK)
        return rc;
    snprintf(path, sizeof path, "%s/journal", folder);
    n = scandir(path, &names, is_main, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/journal/%s", folder, names[i]->d_name);
        take_journal(v, path);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    stet_bundle_inventory_sort(v);
    if (!v->count) {
        stet_bundle_inventory_release(v);
        return stet_fail(err, STET_NOT_FOUND, "%s: this run has no bundle", folder);
    }
    return STET_OK;
}

enum stet_rc stet_bundle_named(struct stet_inventory *v, const char *name,
                               const struct stet_bundle_wishes *w, struct stet_err *err)
{
    const struct stet_run *run;
    struct stet_runs runs;
    char path[PATH_MAX];
    enum stet_rc rc;

    if (!strcmp(name, "now"))
        return stet_bundle_now(v, w, err);
    snprintf(path, sizeof path, "%s/run.json", name);
    if (!stet_fs_exists(path) && (stet_fs_exists(name) || strchr(name, '/') || strchr(name, '.')))
        return stet_bundle_inventory_read(v, name, err);
    rc = stet_ledger_runs_open(&runs, err);
    if (rc != STET_OK)
        return rc;
    rc = stet_ledger_runs_find(&runs, name, &run, NULL);
    if (rc == STET_OK)
        rc = stet_bundle_of_run(v, run->folder, err);
    else
        stet_fail(err, rc, "'%s' is not a file or a run; `stet runs` lists the runs", name);
    stet_ledger_runs_close(&runs);
    return rc;
}

static _Noreturn void record(const char *folder, char *const *argv, char *const *environment)
{
    static struct stet_found_list found;
    struct stet_bundle_python python;
    struct stet_inventory v;
    char path[PATH_MAX + 16];
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd); /* no process reads our output */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0); /* a signal for the command is not for us */
    if (nice(10) == -1)
        errno = 0;
    stet_bundle_python_of_command(&python, argv, environment);
    stet_bundle_plugins_find(&found, &python, environment);
    stet_bundle_inventory_init(&v);
    stet_bundle_gather(&v, &python, &found, environment);
    snprintf(path, sizeof path, "%s/bundle.json", folder);
    stet_bundle_inventory_write(&v, path, NULL);
    _exit(0);
}

static pid_t start(const char *folder, char *const *argv, char *const *environment)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        sigset_t none;

        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        for (int s = 1; s < 32; s++)
            if (s != SIGPIPE)
                signal(s, SIG_DFL);
        record(folder, argv, environment);
    }
    return pid; /* -1: not again */
}

/* Did anything compile? Every lane leaves a folder of its own in the run's. */
static bool has_lanes(const char *folder)
{
    static const char *const lanes[] = {"journal", "torch", "dump"};
    char path[PATH_MAX + 16];

    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, lanes[i]);
        if (stet_fs_exists(path))
            return true;
    }
    return false;
}

void stet_bundle_follow(pid_t *pid, const char *folder, char *const *argv, char *const *environment)
{
    if (*pid == 0 && has_lanes(folder))
        *pid = start(folder, argv, environment);
}

void stet_bundle_wait(pid_t pid)
{
    enum { WAIT_MS = 3000, LOOK_MS = 5 };

    for (int waited = 0; pid > 0; waited += LOOK_MS) {
        pid_t got = waitpid(pid, NULL, WNOHANG);

        if (got == pid || (got < 0 && errno != EINTR))
            return;
        if (waited >= WAIT_MS) {
            kill(-pid, SIGKILL);
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
            return;
        }
        poll(NULL, 0, LOOK_MS);
    }
}
