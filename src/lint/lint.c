/* The run: distributes files among threads, takes summaries from the cache or computes them, then
 * links. */
#include "lint/lint.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "lint/findings.h"
#include "lint/launch.h"
#include "lint/rules.h"
#include "lint/source_files.h"
#include "lint/summary_cache.h"
#include "python/ast.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

size_t stet_lint_rule_count(void)
{
    return LINT_RULES;
}

struct stet_lint_rule stet_lint_rule_at(size_t index)
{
    static const char *const severities[] = {"note", "warning", "error"};
    const struct lint_rule *r = &lint_rule_table[index];

    return (struct stet_lint_rule){r->code, r->trap, r->title,
                                   r->why,  r->fix,  severities[r->severity]};
}

/* The memory that the result's texts are in. */
struct inside {
    struct lint_files files;
    struct lint_summary *summaries;
    size_t summary_count;
    struct lint_cache cache;
    struct stet_arena arena;
};

struct job {
    struct inside *in;
    struct lint_cache_entry *entries; /* new bytes are ours, old ones the pack's */
    bool *fresh;
    atomic_size_t next, cached, unreadable;
    atomic_ullong bytes;
    atomic_bool failed;
    bool keep; /* there is a cache to write */
};

/* The parser takes a NUL for the end of the file, so NULs are replaced by spaces. */
static char *without_nuls(struct stet_view text)
{
    char *copy = stet_mem_alloc(text.len);

    for (size_t i = 0; copy && i < text.len; i++)
        copy[i] = text.ptr[i] ? text.ptr[i] : ' ';
    return copy;
}

static enum stet_rc summarize_python(struct lint_summary *s, struct stet_python_parser *p,
                                     const char *path, struct stet_view text, struct stet_err *err)
{
    struct stet_python_module m = {.parsed = true,
                                   .package = stet_view_ends(stet_view_str(path), "__init__.py")};
    enum stet_rc rc = stet_python_ast_parse(&m.ast, p, text, err);

    if (rc != STET_OK)
        return rc;
    stet_arena_init(&m.arena, (size_t)16 << 20);
    m.name = lint_files_module(&m.arena, path);
    rc = stet_python_module_index(&m) ? lint_summary_make(s, &m, err)
                                      : stet_fail(err, STET_NO_MEMORY, "out of memory");
    stet_python_module_close(&m);
    return rc;
}

static enum stet_rc summarize(struct lint_summary *s, struct stet_python_parser *p,
                              const char *path, struct stet_view text, struct stet_err *err)
{
    enum stet_rc rc;
    char *copy;

    if (lint_files_is_shell(path))
        return lint_shell_file(s, text, err);
    if (!text.len || !memchr(text.ptr, '\0', text.len))
        return summarize_python(s, p, path, text, err);
    copy = without_nuls(text);
    if (!copy)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    rc = summarize_python(s, p, path, stet_view_of(copy, text.len), err);
    stet_mem_free(copy);
    return rc;
}

static struct stet_hash key_of(const char *path, struct stet_view text)
{
    return stet_hash_mix(stet_hash_bytes(text), stet_hash_bytes(stet_view_str(path)));
}

static void keep_bytes(struct job *j, size_t i)
{
    struct stet_buf out = STET_BUF_INIT;

    lint_summary_write(&j->in->summaries[i], &out);
    if (out.failed) {
        stet_buf_release(&out);
        return;
    }
    j->entries[i].bytes = stet_buf_as_view(&out);
    j->fresh[i] = true;
}

static void one_file(struct job *j, struct stet_python_parser *p, size_t i)
{
    const char *path = j->in->files.paths[i];
    struct lint_summary *s = &j->in->summaries[i];
    struct stet_err err = STET_ERR_INIT;
    struct stet_view old;
    struct stet_file f;

    if (stet_file_open(&f, path, &err) != STET_OK) {
        stet_say("stet: %s\n", err.text);
        atomic_fetch_add(&j->unreadable, 1);
        if (!lint_summary_empty(s))
            atomic_store(&j->failed, true);
        return;
    }
    atomic_fetch_add(&j->bytes, f.bytes.len);
    j->entries[i].key = key_of(path, f.bytes);
    old = lint_cache_find(&j->in->cache, j->entries[i].key);
    if (old.ptr && lint_summary_read(s, old, LINT_RULES, NULL) == STET_OK) {
        j->entries[i].bytes = old;
        atomic_fetch_add(&j->cached, 1);
    } else if (summarize(s, p, path, f.bytes, &err) == STET_OK) {
        if (j->keep)
            keep_bytes(j, i);
    } else {
        stet_say("stet: %s: %s\n", path, err.text);
        atomic_fetch_add(&j->unreadable, 1);
        if (!lint_summary_empty(s))
            atomic_store(&j->failed, true);
    }
    stet_file_close(&f);
}

static void *work(void *context)
{
    struct job *j = context;
    struct stet_python_parser *p = stet_python_parser_new();
    size_t i;

    if (!p) {
        atomic_store(&j->failed, true);
        return NULL;
    }
    while ((i = atomic_fetch_add(&j->next, 1)) < j->in->files.count && !atomic_load(&j->failed))
        one_file(j, p, i);
    stet_python_parser_free(p);
    return NULL;
}

static void run_threads(struct job *j, unsigned wanted)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[64];
    unsigned count = wanted ? wanted : cpus > 0 ? (unsigned)cpus : 1, started = 0;

    if (count > 64)
        count = 64;
    if (count > j->in->files.count)
        count = (unsigned)j->in->files.count;
    while (started + 1 < count && pthread_create(&threads[started], NULL, work, j) == 0)
        started++;
    work(j);
    while (started)
        pthread_join(threads[--started], NULL);
}

static struct stet_hash hash_of_paths(const struct stet_lint_options *o)
{
    struct stet_hash h = stet_hash_bytes(STET_VIEW("paths"));
    char *cwd = getcwd(NULL, 0);

    h = stet_hash_mix(h, stet_hash_bytes(stet_view_str(cwd ? cwd : "")));
    free(cwd);
    for (int i = 0; i < o->path_count; i++)
        h = stet_hash_mix(h, stet_hash_bytes(stet_view_str(o->paths[i])));
    return h;
}

/* If all or most came from the pack, it is not written again. */
static void write_back(struct job *j)
{
    size_t kept = 0;

    if (!j->keep || atomic_load(&j->cached) == j->in->files.count)
        return;
    for (size_t i = 0; i < j->in->files.count; i++) {
        if (j->entries[i].bytes.ptr)
            kept++;
    }
    if (kept == j->in->files.count)
        lint_cache_write(&j->in->cache, j->entries, kept);
}

static void release_entries(struct job *j)
{
    for (size_t i = 0; i < j->in->files.count && j->entries && j->fresh; i++) {
        if (j->fresh[i])
            stet_mem_free((void *)(uintptr_t)j->entries[i].bytes.ptr);
    }
    stet_mem_free(j->entries);
    stet_mem_free(j->fresh);
}

/* The findings of rules that are on. */
static void keep_wanted(struct stet_lint_result *r, const bool *rules)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->finding_count; i++) {
        if (!rules || rules[r->findings[i].rule])
            r->findings[kept++] = r->findings[i];
    }
    r->finding_count = kept;
}

static enum stet_rc link_all(struct stet_lint_result *r, struct inside *in,
                             const struct stet_lint_options *o, struct stet_err *err)
{
    bool apart = o->apart || (o->rules && !o->rules[LINT_RULE_host_function]);
    enum stet_rc rc = lint_findings_link(r, &in->arena, in->summaries, in->files.paths,
                                         in->files.count, apart, err);

    r->files = in->files.count;
    for (size_t i = 0; i < in->files.count; i++) {
        r->broken += in->summaries[i].code.broken;
        r->steps += in->summaries[i].code.steps;
        r->ignored += (size_t)in->summaries[i].ignored;
    }
    return rc;
}

/* If no file is left: did the patterns exclude all, or are there none? */
static size_t count_excluded(const struct stet_lint_options *o)
{
    struct lint_files all;
    size_t count;

    if (lint_files_find(&all, o->paths, o->path_count, NULL, 0, NULL) != STET_OK)
        return 0;
    count = all.count;
    lint_files_release(&all);
    return count;
}

static enum stet_rc run_files(struct stet_lint_result *r, const struct stet_lint_options *o,
                              struct inside *in, struct stet_err *err)
{
    struct job j = {.in = in};
    enum stet_rc rc =
        lint_files_find(&in->files, o->paths, o->path_count, o->excludes, o->exclude_count, err);

    if (rc != STET_OK)
        return rc;
    if (!in->files.count && o->exclude_count)
        r->excluded = count_excluded(o);
    in->summaries = stet_mem_calloc(in->files.count + 1, sizeof *in->summaries);
    j.entries = stet_mem_calloc(in->files.count + 1, sizeof *j.entries);
    j.fresh = stet_mem_calloc(in->files.count + 1, sizeof *j.fresh);
    lint_cache_open(&in->cache, o->cache_folder, hash_of_paths(o));
    j.keep = in->cache.path != NULL;
    if (in->summaries && j.entries && j.fresh) {
        in->summary_count = in->files.count;
        run_threads(&j, o->threads);
    } else {
        atomic_store(&j.failed, true);
    }
    if (!atomic_load(&j.failed))
        write_back(&j);
    release_entries(&j);
    r->cached = atomic_load(&j.cached);
    r->unreadable = atomic_load(&j.unreadable);
    r->bytes = atomic_load(&j.bytes);
    if (atomic_load(&j.failed))
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    return link_all(r, in, o, err);
}

static enum stet_rc run_text(struct stet_lint_result *r, const struct stet_lint_options *o,
                             struct inside *in, struct stet_err *err)
{
    const char *path = o->stdin_path;
    struct stet_view text = o->stdin_text;
    struct stet_python_parser *p = stet_python_parser_new();
    enum stet_rc rc;

    stet_arena_init(&in->files.arena, 1 << 20);
    in->files.paths = stet_mem_calloc(1, sizeof *in->files.paths);
    in->summaries = stet_mem_calloc(1, sizeof *in->summaries);
    if (!p || !in->files.paths || !in->summaries) {
        stet_python_parser_free(p);
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    in->files.paths[0] = stet_arena_copy(&in->files.arena, stet_view_str(path)).ptr;
    rc = in->files.paths[0] ? summarize(in->summaries, p, path, text, err)
                            : stet_fail(err, STET_NO_MEMORY, "out of memory");
    stet_python_parser_free(p);
    if (rc != STET_OK)
        return rc;
    in->files.count = in->summary_count = 1;
    r->bytes = text.len;
    return link_all(r, in, o, err);
}

static enum stet_rc begin(struct stet_lint_result *r, struct stet_err *err)
{
    struct inside *in = stet_mem_calloc(1, sizeof *in);

    *r = (struct stet_lint_result){.inside = in};
    if (!in)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    stet_arena_init(&in->arena, (size_t)1 << 30);
    return STET_OK;
}

enum stet_rc stet_lint_run(struct stet_lint_result *r, const struct stet_lint_options *o,
                           struct stet_err *err)
{
    enum stet_rc rc = begin(r, err);

    if (rc == STET_OK)
        rc = o->stdin_path ? run_text(r, o, r->inside, err) : run_files(r, o, r->inside, err);
    if (rc != STET_OK)
        stet_lint_release(r);
    else
        keep_wanted(r, o->rules);
    return rc;
}

enum stet_rc stet_lint_text(struct stet_lint_result *r, const char *path, struct stet_view text,
                            struct stet_err *err)
{
    struct stet_lint_options o = {.stdin_path = path, .stdin_text = text};

    return stet_lint_run(r, &o, err);
}

void stet_lint_release(struct stet_lint_result *r)
{
    struct inside *in = r->inside;

    if (in) {
        for (size_t i = 0; i < in->summary_count; i++)
            lint_summary_release(&in->summaries[i]);
        stet_mem_free(in->summaries);
        lint_cache_close(&in->cache);
        lint_files_release(&in->files);
        stet_arena_release(&in->arena);
        stet_mem_free(in);
    }
    stet_mem_free(r->findings);
    *r = (struct stet_lint_result){0};
}
