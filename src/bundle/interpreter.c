/* Finds the interpreter, and runs it to get its sys.path. */
#include "bundle/interpreter.h"

#include "base/fs.h"
#include "base/job.h"
#include "base/mem.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANSWER_MS = 20000 };

static const char *variable(char *const *environment, const char *name)
{
    size_t n = strlen(name);

    for (; environment && *environment; environment++)
        if (!strncmp(*environment, name, n) && (*environment)[n] == '=')
            return *environment + n + 1;
    return NULL;
}

static bool runnable(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

/* A name with a slash is a path; others are looked for on PATH. */
static bool resolve(const char *name, char *const *environment, char out[PATH_MAX])
{
    const char *path = variable(environment, "PATH");

    if (strchr(name, '/')) {
        snprintf(out, PATH_MAX, "%s", name);
        return runnable(out);
    }
    while (path && *path) {
        size_t n = strcspn(path, ":");

        if (n && snprintf(out, PATH_MAX, "%.*s/%s", (int)n, path, name) < PATH_MAX && runnable(out))
            return true;
        path += n + (path[n] == ':');
    }
    return false;
}

static const char *keep(struct stet_bundle_python *p, const char *text)
{
    return stet_arena_copy(&p->arena, stet_view_str(text)).ptr;
}

/* The environment without variables that change the interpreter's start or load the layer. */
static char **quiet_environment(struct stet_bundle_python *p, char *const *environment)
{
    static const char *const drop[] = {"LD_PRELOAD=", "TORCH_TRACE=", "STET_",
                                       "PYTHONSTARTUP=", "PYTHONINSPECT="};
    size_t all = 0, n = 0;
    char **kept;

    while (environment && environment[all])
        all++;
    kept = STET_NEW_ARRAY(&p->arena, char *, all + 2);
    for (size_t i = 0; kept && i < all; i++) {
        bool dropped = false;

        for (size_t k = 0; k < sizeof drop / sizeof *drop; k++)
            dropped |= !strncmp(environment[i], drop[k], strlen(drop[k]));
        if (!dropped)
            kept[n++] = environment[i];
    }
    if (kept) {
        static char no_bytecode[] = "PYTHONDONTWRITEBYTECODE=1";

        kept[n] = no_bytecode;
    }
    return kept;
}

static struct stet_view line_of(struct stet_view *text)
{
    const char *end = text->len ? memchr(text->ptr, '\n', text->len) : NULL;
    size_t n = end ? (size_t)(end - text->ptr) : text->len;
    struct stet_view line = stet_view_of(text->ptr, n);

    n += end != NULL;
    *text = stet_view_of(text->ptr + n, text->len - n);
    return line;
}

static void take_answer(struct stet_bundle_python *p, struct stet_view text)
{
    struct stet_view first = line_of(&text), second = line_of(&text), third = line_of(&text);

    if (!third.len) {
        p->why_not = "its answer cannot be read";
        return;
    }
    p->version = stet_arena_copy(&p->arena, first).ptr;
    p->implementation = stet_arena_copy(&p->arena, second).ptr;
    p->prefix = stet_arena_copy(&p->arena, third).ptr;
    while (text.len && p->path_count < STET_PYTHON_PATHS) {
        const char *path = stet_arena_copy(&p->arena, line_of(&text)).ptr;
        struct stat s;

        if (path && *path && stat(path, &s) == 0 && S_ISDIR(s.st_mode))
            p->paths[p->path_count++] = path;
    }
}

static void ask(struct stet_bundle_python *p, char *const *environment)
{
    static char command[] =
        "import sys\n"
        "v = sys.version_info\n"
        "print('%d.%d.%d%s' % (v[0], v[1], v[2], '' if v[3] == 'final' else v[3]))\n"
        "print(sys.implementation.name, sys.implementation.cache_tag or '', sys.abiflags)\n"
        "print(sys.prefix)\n"
        "print('\\n'.join(sys.path[1:]))";
    static char flag[] = "-c";
    char *argv[] = {(char *)(uintptr_t)p->executable, flag, command, NULL};
    char **quiet = quiet_environment(p, environment);
    struct stet_job job = {.deadline_ms = ANSWER_MS};
    char how[96];

    if (!quiet || stet_job_command(&job, argv, quiet, NULL) != STET_OK) {
        p->why_not = "no child process could be started";
    } else if (!stet_job_fine(&job)) {
        struct stet_view noise = stet_buf_as_view(&job.noise);

        stet_job_how(&job, how, sizeof how);
        while (noise.len && strchr("\n\r ", noise.ptr[noise.len - 1]))
            noise.len--;
        if (noise.len) {
            const char *last = memrchr(noise.ptr, '\n', noise.len);

            if (last)
                noise = stet_view_of(last + 1, (size_t)(noise.ptr + noise.len - last) - 1);
        }
        p->why_not =
            stet_arena_printf(&p->arena, "%s%s%.*s", how, noise.len ? ": " : "", STET_FMT(noise))
                .ptr;
    } else {
        take_answer(p, stet_buf_as_view(&job.answer));
    }
    stet_job_release(&job);
}

void stet_bundle_python_find(struct stet_bundle_python *p, const char *wanted,
                             char *const *environment)
{
    const char *venv = variable(environment, "VIRTUAL_ENV");
    char path[PATH_MAX];

    *p = (struct stet_bundle_python){0};
    stet_arena_init(&p->arena, 4 << 20);
    if (wanted) {
        if (resolve(wanted, environment, path))
            p->executable = keep(p, path);
    } else if (venv && *venv && snprintf(path, sizeof path, "%s/bin/python", venv) < PATH_MAX &&
               runnable(path)) {
        p->executable = keep(p, path);
    } else if (resolve("python3", environment, path) || resolve("python", environment, path)) {
        p->executable = keep(p, path);
    }
    if (p->executable)
        ask(p, environment);
    else
        p->why_not = "no Python found";
}

static bool is_python(const char *command)
{
    const char *slash = strrchr(command, '/');

    return !strncmp(slash ? slash + 1 : command, "python", 6);
}

/* "#!/usr/bin/env python3" or "#!/venv/bin/python": the interpreter's name, or false. */
static bool first_line(const char *script, char out[PATH_MAX])
{
    struct stet_file f;
    struct stet_view line;
    bool found = false;

    if (stet_file_open(&f, script, NULL) != STET_OK)
        return false;
    line = stet_view_of(f.bytes.ptr, f.bytes.len < PATH_MAX - 1 ? f.bytes.len : PATH_MAX - 1);
    if (stet_view_starts(line, "#!")) {
        line = line_of(&line);
        for (size_t at = 2; at < line.len && !found;) {
            size_t n = 0;

            while (at < line.len && line.ptr[at] == ' ')
                at++;
            while (at + n < line.len && line.ptr[at + n] != ' ')
                n++;
            snprintf(out, PATH_MAX, "%.*s", (int)n, line.ptr + at);
            found = is_python(out);
            at += n ? n : 1;
        }
    }
    stet_file_close(&f);
    return found;
}

void stet_bundle_python_of_command(struct stet_bundle_python *p, char *const *argv,
                                   char *const *environment)
{
    char script[PATH_MAX], named[PATH_MAX];

    if (argv && argv[0] && is_python(argv[0]))
        stet_bundle_python_find(p, argv[0], environment);
    else if (argv && argv[0] && resolve(argv[0], environment, script) && first_line(script, named))
        stet_bundle_python_find(p, named, environment);
    else
        stet_bundle_python_find(p, NULL, environment);
}

void stet_bundle_python_release(struct stet_bundle_python *p)
{
    stet_arena_release(&p->arena);
    *p = (struct stet_bundle_python){0};
}

bool stet_bundle_python_file(const struct stet_bundle_python *p, const char *relative, char *out,
                             size_t room)
{
    for (size_t i = 0; i < p->path_count; i++)
        if (snprintf(out, room, "%s/%s", p->paths[i], relative) < (int)room && stet_fs_exists(out))
            return true;
    return false;
}
