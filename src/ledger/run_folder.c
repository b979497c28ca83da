/* run.json is small and written by Stet; jansson reads it. */
#include "ledger/run_folder.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/mask.h"
#include "base/mem.h"
#include "base/vec.h"
#include "ledger/state.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A command line has at most 2 MB. */
enum { LARGEST = 16 << 20 };

static const char *copy(struct stet_arena *a, const char *s)
{
    struct stet_view v = stet_arena_copy(a, stet_view_str(s ? s : ""));

    return v.ptr ? v.ptr : "";
}

static const char *masked(struct stet_arena *a, const char *before, const char *word)
{
    struct stet_buf out = STET_BUF_INIT;
    const char *text;

    stet_mask_argument(&out, stet_view_str(before), stet_view_str(word));
    text = copy(a, out.ptr);
    stet_buf_release(&out);
    return text;
}

static const char *text_of(struct stet_arena *a, const json_t *root, const char *key)
{
    return copy(a, json_string_value(json_object_get(root, key)));
}

static uint64_t number_of(const json_t *root, const char *key)
{
    json_int_t v = json_integer_value(json_object_get(root, key));

    return v > 0 ? (uint64_t)v : 0;
}

static void read_argv(struct stet_run *run, struct stet_arena *a, const json_t *list)
{
    struct stet_buf joined = {.cap = 1 << 20};
    size_t n = json_array_size(list);
    const char **argv = STET_NEW_ARRAY(a, const char *, n + 1);

    for (size_t i = 0; argv && i < n; i++) {
        /* masked again, because an older Stet wrote them unmasked */
        argv[i] = masked(a, i ? json_string_value(json_array_get(list, i - 1)) : NULL,
                         json_string_value(json_array_get(list, i)));
        stet_buf_printf(&joined, "%s%s", i ? " " : "", argv[i]);
    }
    run->argv = argv;
    run->argc = argv ? n : 0;
    run->command = copy(a, joined.ptr);
    stet_buf_release(&joined);
}

enum stet_rc stet_ledger_run_read(struct stet_run *run, struct stet_arena *arena,
                                  const char *folder, struct stet_err *err)
{
    char *path = stet_fs_join(folder, "run.json");
    struct stet_file f;
    json_error_t bad;
    json_t *root, *v;
    enum stet_rc rc;

    if (!path)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    if (stet_fs_exists(path) && !stet_fs_is_plain(path)) {
        rc = stet_fail(err, STET_BAD_INPUT, "%s: not a plain file", path);
        goto done;
    }
    rc = stet_file_open_small(&f, path, LARGEST, err);
    if (rc != STET_OK)
        goto done;
    root = json_loadb(f.bytes.ptr, f.bytes.len, 0, &bad);
    stet_file_close(&f);
    if (!json_is_object(root)) {
        rc = stet_fail_at(err, STET_BAD_INPUT, root ? 0 : (uint64_t)bad.position, "%s: %s", path,
                          root ? "not an object" : bad.text);
        json_decref(root);
        goto done;
    }
    *run = (struct stet_run){
        .id = text_of(arena, root, "id"),
        .folder = copy(arena, folder),
        .cwd = text_of(arena, root, "cwd"),
        .host = text_of(arena, root, "host"),
        .stet_version = text_of(arena, root, "stet_version"),
        .torch_trace = text_of(arena, root, "torch_trace"),
        .started_ns = number_of(root, "started_ns"),
        .ended_ns = number_of(root, "ended_ns"),
        .pid = json_integer_value(json_object_get(root, "pid")),
        .parent = json_integer_value(json_object_get(root, "parent")),
        .exit_code = -1,
        .signal = (int)number_of(root, "signal"),
        .unchecked = number_of(root, "unchecked_count"),
    };
    v = json_object_get(root, "exit");
    if (json_is_integer(v))
        run->exit_code = (int)json_integer_value(v);
    read_argv(run, arena, json_object_get(root, "argv"));
    json_decref(root);
    if (arena->failed)
        rc = stet_fail(err, STET_NO_MEMORY, "%s: out of memory", path);
done:
    stet_mem_free(path);
    return rc;
}

static int newest_first(const void *a, const void *b)
{
    const struct stet_run *x = a, *y = b;

    if (x->started_ns != y->started_ns)
        return x->started_ns < y->started_ns ? 1 : -1;
    return strcmp(y->id, x->id);
}

static enum stet_rc read_all(struct stet_runs *runs, const char *folder, DIR *dir)
{
    size_t room = 0;

    for (struct dirent *e; (e = readdir(dir));) {
        char *path;

        if (e->d_name[0] == '.')
            continue;
        if (!stet_vec_room(&runs->items, &room, runs->count, sizeof *runs->items))
            return STET_NO_MEMORY;
        path = stet_fs_join(folder, e->d_name);
        if (!path)
            return STET_NO_MEMORY;
        if (stet_ledger_run_read(&runs->items[runs->count], &runs->arena, path, NULL) == STET_OK)
            runs->count++;
        else
            runs->unreadable++;
        stet_mem_free(path);
    }
    if (runs->count)
        qsort(runs->items, runs->count, sizeof *runs->items, newest_first);
    return STET_OK;
}

enum stet_rc stet_ledger_runs_open(struct stet_runs *runs, struct stet_err *err)
{
    char *state = stet_ledger_state_dir(err), *folder;
    enum stet_rc rc = STET_OK;
    DIR *dir;

    *runs = (struct stet_runs){0};
    stet_arena_init(&runs->arena, (size_t)256 << 20);
    if (!state)
        return STET_IO;
    folder = stet_fs_join(state, "runs");
    stet_mem_free(state);
    dir = folder ? opendir(folder) : NULL;
    if (dir) {
        rc = read_all(runs, folder, dir);
        closedir(dir);
    } else if (!folder) {
        rc = STET_NO_MEMORY;
    } else if (errno != ENOENT) {
        rc = stet_fail_errno(err, "%s: cannot open", folder);
    }
    stet_mem_free(folder);
    if (rc == STET_NO_MEMORY)
        stet_fail(err, rc, "out of memory while listing runs");
    if (rc != STET_OK)
        stet_ledger_runs_close(runs);
    return rc;
}

void stet_ledger_runs_close(struct stet_runs *runs)
{
    stet_mem_free(runs->items);
    stet_arena_release(&runs->arena);
    *runs = (struct stet_runs){0};
}

static enum stet_rc find_latest(struct stet_runs *runs, const struct stet_run **out,
                                struct stet_err *err)
{
    char *here = getcwd(NULL, 0);

    *out = runs->count ? &runs->items[0] : NULL;
    for (size_t i = 0; here && i < runs->count; i++) {
        if (!strcmp(runs->items[i].cwd, here)) {
            *out = &runs->items[i];
            break;
        }
    }
    free(here);
    if (*out)
        return STET_OK;
    return stet_fail(err, STET_NOT_FOUND, "no run yet: `stet run -- COMMAND` makes one");
}

bool stet_ledger_run_is_same(const struct stet_run *a, const struct stet_run *b)
{
    if (a->argc != b->argc || strcmp(a->cwd, b->cwd) != 0)
        return false;
    for (size_t i = 0; i < a->argc; i++)
        if (strcmp(a->argv[i], b->argv[i]) != 0)
            return false;
    return true;
}

/* The script or module of a command: its first argument that is not an option. */
static const char *script_of(const struct stet_run *r)
{
    for (size_t i = 1; i < r->argc; i++) {
        if (r->argv[i][0] != '-')
            return r->argv[i];
    }
    return "";
}

bool stet_ledger_run_is_of_same_script(const struct stet_run *a, const struct stet_run *b)
{
    return a->argc && b->argc && !strcmp(a->cwd, b->cwd) && !strcmp(a->argv[0], b->argv[0]) &&
           !strcmp(script_of(a), script_of(b));
}

bool stet_ledger_run_has_earlier(const struct stet_runs *runs, const struct stet_run *run)
{
    for (size_t i = 0; i < runs->count; i++)
        if (runs->items[i].started_ns < run->started_ns &&
            stet_ledger_run_is_same(&runs->items[i], run))
            return true;
    return false;
}

/* Names the newest of the runs. */
static enum stet_rc ambiguous(const struct stet_runs *runs, const char *name, size_t matches,
                              struct stet_err *err)
{
    struct stet_buf some = STET_BUF_INIT;
    size_t named = 0;

    for (size_t i = 0; i < runs->count && named < 3; i++)
        if (!strncmp(runs->items[i].id, name, strlen(name)))
            stet_buf_printf(&some, "%s%s", named++ ? ", " : "", runs->items[i].id);
    stet_fail(err, STET_USAGE, "%zu runs begin with '%s': %s%s", matches, name,
              some.ptr ? some.ptr : "", matches > named ? ", …" : "");
    stet_buf_release(&some);
    return STET_USAGE;
}

enum stet_rc stet_ledger_runs_find(struct stet_runs *runs, const char *name,
                                   const struct stet_run **out, struct stet_err *err)
{
    size_t n = name ? strlen(name) : 0, matches = 0;

    *out = NULL;
    if (!n || !strcmp(name, "latest"))
        return find_latest(runs, out, err);
    for (size_t i = 0; i < runs->count; i++) {
        if (strncmp(runs->items[i].id, name, n) != 0)
            continue;
        *out = &runs->items[i];
        if (!runs->items[i].id[n])
            return STET_OK;
        matches++;
    }
    if (matches == 1)
        return STET_OK;
    if (matches > 1)
        return ambiguous(runs, name, matches, err);
    if (strchr(name, '/') || stet_fs_exists(name)) {
        struct stet_run *one = STET_NEW(&runs->arena, struct stet_run);

        if (one && stet_ledger_run_read(one, &runs->arena, name, NULL) == STET_OK) {
            *out = one;
            return STET_OK;
        }
    }
    *out = NULL;
    return stet_fail(err, STET_NOT_FOUND, "no run '%s'; `stet runs` lists them", name);
}

enum stet_rc stet_ledger_runs_open_at(struct stet_runs *runs, const char *name,
                                      const struct stet_run **out, struct stet_err *err)
{
    enum stet_rc rc = stet_ledger_runs_open(runs, err);

    if (rc != STET_OK)
        return rc;
    rc = stet_ledger_runs_find(runs, name, out, err);
    if (rc != STET_OK)
        stet_ledger_runs_close(runs);
    return rc;
}

/* On another host that shares the state folder, `stet run` shows now and then that it lives. */
static bool is_alive_elsewhere(const struct stet_run *run)
{
    enum { SILENT_S = 60 };
    char path[PATH_MAX];
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", run->folder, STET_RUN_ALIVE);
    return stat(path, &st) == 0 && time(NULL) - st.st_mtim.tv_sec < SILENT_S;
}

bool stet_ledger_run_is_alive(const struct stet_run *run)
{
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    if (run->host && *run->host && strcmp(run->host, host) != 0)
        return is_alive_elsewhere(run);
    /* After the command has ended, its parent still has to record how. */
    return (run->pid > 0 && kill((pid_t)run->pid, 0) == 0) ||
           (run->parent > 0 && kill((pid_t)run->parent, 0) == 0);
}

void stet_ledger_run_outcome(struct stet_buf *out, const struct stet_run *run)
{
    if (run->signal)
        stet_buf_printf(out, "signal %d", run->signal);
    else if (run->exit_code >= 0)
        stet_buf_printf(out, "exit %d", run->exit_code);
    else
        stet_buf_str(out, stet_ledger_run_is_alive(run) ? "running" : "cut off");
}
