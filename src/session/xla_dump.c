/* See xla_dump.h. */
#include "session/xla_dump.h"

#include "base/fs.h"
#include "base/mem.h"
#include "session/program_cache.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char before[] = ".before_optimizations.hlo.pb";

void stet_dump_release(struct stet_dump *d)
{
    stet_mem_free(d->modules);
    *d = (struct stet_dump){0};
}

/* ---- modules ---- */

/* One dumped module: module_<number>.<name>.before_optimizations.hlo.pb. With
 * --xla_dump_include_timestamp the name has a time stamp in front. */
struct module {
    uint64_t number;
    char *file; /* owned */
};

static bool parse(const char *file, struct module *m)
{
    const char *at = strstr(file, "module_");
    char *end;

    if (!at || !stet_view_ends(stet_view_str(file), before))
        return false;
    m->number = strtoull(at + 7, &end, 10);
    return end > at + 7 && *end == '.';
}

static int by_number(const void *a, const void *b)
{
    const struct module *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

static bool is_taken(const struct stet_dump *d, uint64_t number)
{
    for (size_t i = d->count; i-- > 0;)
        if (d->modules[i] == number)
            return true;
    return false;
}

static struct module *list_modules(const struct stet_dump *d, size_t *count, bool *there)
{
    struct module *all = NULL, one = {0};
    DIR *dir = opendir(d->dir);

    *count = 0;
    *there = dir != NULL;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct module *more;

        if (!parse(e->d_name, &one) || is_taken(d, one.number))
            continue;
        more = *count & (*count - 1) ? all
                                     : stet_mem_resize(all, *count ? *count * 2 : 1, sizeof *all);
        one.file = more ? stet_mem_strdup(e->d_name) : NULL;
        all = more ? more : all;
        if (!one.file)
            break;
        all[(*count)++] = one;
    }
    if (dir)
        closedir(dir);
    if (*count)
        qsort(all, *count, sizeof *all, by_number);
    return all;
}

/* Finds the file that the compiler writes at its end. Its name depends on the platform. */
static bool find_after(const struct stet_dump *d, const char *file, struct stat *st)
{
    static const char *const names[] = {"cpu_after_optimizations", "after_optimizations",
                                        "gpu_after_optimizations", "sm_after_optimizations"};
    size_t stem = strlen(file) - strlen(before);
    char path[8400];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%.*s.%s.hlo.pb", d->dir, (int)stem, file, names[i]);
        if (stat(path, st) == 0)
            return true;
    }
    return false;
}

/* ---- into the digest ---- */

static uint64_t nanoseconds(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct stet_process_digest *only_process(struct stet_run_digest *d)
{
    if (!d->process_count && !stet_ledger_run_process(d, &(struct stet_rec_segment){.uid = {1, 1}}))
        return NULL;
    return &d->processes[0];
}

static bool take(struct stet_dump *d, struct stet_run_digest *digest,
                 struct stet_session_programs *shelf, const struct module *m, bool last)
{
    struct stet_process_digest *p = only_process(digest);
    struct stet_compile_event *c;
    struct stat begun, done;
    struct stet_file file;
    char path[8400];
    uint64_t *more;
    bool ended;

    snprintf(path, sizeof path, "%s/%s", d->dir, m->file);
    ended = find_after(d, m->file, &done);
    if (!p || (!ended && !last) || !stet_fs_is_plain(path) || stat(path, &begun) != 0 ||
        stet_file_open(&file, path, NULL) != STET_OK)
        return false;
    c = stet_ledger_run_compile(p, p->compile_count);
    more = d->count & (d->count - 1)
               ? d->modules
               : stet_mem_resize(d->modules, d->count ? d->count * 2 : 1, sizeof *more);
    if (c && more) {
        d->modules = more;
        d->modules[d->count++] = m->number;
        c->program = stet_hash_bytes(file.bytes);
        c->program_size = file.bytes.len;
        c->time_ns = nanoseconds(begun.st_mtim);
        c->format = STET_VIEW("hlo");
        c->ended = ended;
        if (ended && nanoseconds(done.st_mtim) > c->time_ns)
            c->plugin_ns = nanoseconds(done.st_mtim) - c->time_ns;
        c->no_stack = STET_VIEW("a dump has none");
        digest->compiles++;
        digest->compile_ns += c->plugin_ns;
        stet_session_programs_place(shelf, c->program, path);
    }
    stet_file_close(&file);
    return c && more;
}

bool stet_dump_scan(struct stet_dump *d, struct stet_run_digest *digest,
                    struct stet_session_programs *shelf, bool last)
{
    size_t count;
    bool there;
    struct module *all = list_modules(d, &count, &there);

    for (size_t i = 0, going = 1; i < count; i++) {
        going = going && take(d, digest, shelf, &all[i], last);
        stet_mem_free(all[i].file);
    }
    stet_mem_free(all);
    return there;
}
