/* stet cache: shows what the store holds, and proves that it reloads. */
#include "base/clock.h"
#include "base/human.h"
#include "cli/cache.h"
#include "cli/run_text.h"
#include "session/served.h"

#include "base/mem.h"
#include "base/text.h"
#include "store/quarantine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ROW_END "  %9s  " /* its compile time, before the name */

static void row_text(struct stet_buf *out, const struct stet_stored *s,
                     const struct stet_entry_file *f)
{
    char key[STET_HASH_TEXT];
    struct stet_buf cell = STET_BUF_INIT;
    int64_t age = (int64_t)stet_clock_wall_ns() - s->used_ns;

    stet_hash_format(s->key, key);
    stet_text_bytes(&cell, s->bytes);
    stet_buf_printf(out, "%.12s  %9s", key, cell.ptr);
    stet_buf_release(&cell);
    age = age / 1000000000 * 1000000000;
    if (age > 0) {
        stet_text_duration(&cell, (uint64_t)age);
        stet_buf_str(&cell, " ago");
    } else {
        stet_buf_str(&cell, "now");
    }
    stet_buf_printf(out, "  %15s", cell.ptr);
    stet_buf_release(&cell);
    if (f) {
        stet_text_duration(&cell, f->compile_ns);
        stet_buf_printf(out, ROW_END "%.*s\n", cell.ptr, STET_FMT(f->name));
        stet_buf_release(&cell);
    } else {
        stet_buf_printf(out, ROW_END "damaged, or written by a newer Stet\n", "-");
    }
}

static void row_json(struct stet_json *j, const struct stet_stored *s,
                     const struct stet_entry_file *f, const char *schema)
{
    char key[STET_HASH_TEXT];

    stet_hash_format(s->key, key);
    stet_json_object(j, NULL);
    if (schema)
        stet_json_cstr(j, "schema", schema);
    stet_json_cstr(j, "key", key);
    stet_json_uint(j, "bytes", s->bytes);
    stet_json_number(j, "used", (double)s->used_ns / 1e9);
    stet_json_bool(j, "readable", f != NULL);
    if (f) {
        stet_json_string(j, "name", f->name);
        stet_json_number(j, "compile_s", (double)f->compile_ns / 1e9);
        stet_json_uint(j, "executable_bytes", f->executable.size);
        stet_json_string(j, "plugin_path", f->plugin_path);
        stet_json_string(j, "format", f->format);
        for (size_t i = 0; i < STET_COMPONENTS; i++)
            stet_json_string(j, stet_store_component_name((enum stet_component)i),
                             f->parts.part[i]);
    }
    stet_json_end_object(j);
}

/* Newest first. */
static void rows(const struct stet_store *s, const struct stet_stored_list *all,
                 struct stet_buf *out, struct stet_json *j)
{
    for (size_t i = all->count; i > 0; i--) {
        const struct stet_stored *one = &all->items[i - 1];
        char path[PATH_MAX + 64];
        struct stet_entry_file f;
        bool readable;

        stet_store_path(s, one->key, path);
        readable = stet_store_entry_open(&f, path, NULL) == STET_OK;
        if (j)
            row_json(j, one, readable ? &f : NULL, NULL);
        else
            row_text(out, one, readable ? &f : NULL);
        if (readable)
            stet_store_entry_close(&f);
    }
}

static void begin_json(struct stet_json *j, struct stet_buf *out, const struct stet_store *s,
                       const char *schema)
{
    stet_json_init(j, out);
    stet_json_object(j, NULL);
    stet_json_cstr(j, "schema", schema);
    stet_json_cstr(j, "folder", s->folder);
}

static void end_json(struct stet_json *j, struct stet_buf *out)
{
    stet_json_end_object(j);
    stet_buf_char(out, '\n');
}

/* A part of `stet cache` that lists the store and prints what it found. */
struct listing {
    const char *schema;
    void (*json)(const struct stet_store *s, const struct stet_stored_list *all,
                 struct stet_json *j);
    void (*text)(const struct stet_store *s, const struct stet_stored_list *all,
                 struct stet_buf *out);
};

static int print_listing(const struct listing *l, const struct stet_store *s,
                         const struct stet_args *args)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_stored_list all;
    struct stet_json j;

    if (stet_store_list(s, &all, &err) != STET_OK)
        return stet_cli_complain(&err);
    if (args->format == STET_FORMAT_JSON) {
        begin_json(&j, &out, s, l->schema);
        l->json(s, &all, &j);
        end_json(&j, &out);
    } else {
        l->text(s, &all, &out);
    }
    stet_store_list_release(&all);
    return stet_cli_print(&out, STET_EXIT_FINE);
}

static void entries_json(const struct stet_store *s, const struct stet_stored_list *all,
                         struct stet_json *j)
{
    stet_json_uint(j, "bytes", all->bytes);
    stet_json_array(j, "entries");
    rows(s, all, NULL, j);
    stet_json_end_array(j);
}

static void entries_text(const struct stet_store *s, const struct stet_stored_list *all,
                         struct stet_buf *out)
{
    if (!all->count) {
        stet_buf_printf(out, "nothing is stored in %s\n", s->folder);
        return;
    }
    stet_buf_printf(out, "%-12s  %9s  %15s" ROW_END "program\n", "key", "size", "used", "compile");
    rows(s, all, out, NULL);
}

int stet_cli_cache_ls(const struct stet_store *s, const struct stet_args *args)
{
    static const struct listing entries = {"stet.cache/1", entries_json, entries_text};

    return print_listing(&entries, s, args);
}

/* Prints where the programs of this folder's latest run came from; nothing when there is no run. */
static void last_run(struct stet_buf *out, struct stet_json *j)
{
    const struct stet_run *run;
    struct stet_served_tally unkept;
    struct stet_run_digest d;
    struct stet_runs runs;

    if (stet_ledger_runs_open(&runs, NULL) != STET_OK)
        return;
    if (stet_ledger_runs_find(&runs, NULL, &run, NULL) == STET_OK &&
        stet_ledger_run_load(&d, run->folder, NULL) == STET_OK) {
        stet_session_served_unkept(&unkept, &d);
        if (j) {
            stet_json_object(j, "last_run");
            stet_json_cstr(j, "id", run->id);
            stet_session_served_json(j, &d);
            stet_json_object(j, "not_kept");
            stet_served_tally_json(j, &unkept);
            stet_json_end_object(j);
            stet_json_end_object(j);
        } else {
            stet_buf_printf(out, "run %s: ", run->id);
            stet_text_count(out, d.compiles, "program");
            stet_session_served_text(out, &d);
            for (size_t i = 0; i < unkept.places; i++)
                stet_buf_printf(out, i ? ", %" PRIu64 " %.*s" : "\nnot kept: %" PRIu64 " %.*s",
                                unkept.count[i], STET_FMT(unkept.name[i]));
            stet_buf_char(out, '\n');
        }
        stet_ledger_run_unload(&d);
    }
    stet_ledger_runs_close(&runs);
}

static void stats_json(const struct stet_store *s, const struct stet_stored_list *all,
                       struct stet_json *j)
{
    (void)s;
    stet_json_uint(j, "entries", all->count);
    stet_json_uint(j, "bytes", all->bytes);
    stet_json_uint(j, "foreign", all->foreign);
    last_run(NULL, j);
}

static void stats_text(const struct stet_store *s, const struct stet_stored_list *all,
                       struct stet_buf *out)
{
    stet_buf_printf(out, "%s\n", s->folder);
    stet_text_count(out, all->count, "entry");
    stet_buf_str(out, ", ");
    stet_text_bytes(out, all->bytes);
    stet_buf_char(out, '\n');
    if (all->foreign)
        stet_buf_printf(out, "%zu file%s not part of the store\n", all->foreign,
                        all->foreign == 1 ? " is" : "s are");
    last_run(out, NULL);
}

int stet_cli_cache_stats(const struct stet_store *s, const struct stet_args *args)
{
    static const struct listing stats = {"stet.cachestats/1", stats_json, stats_text};

    return print_listing(&stats, s, args);
}

int stet_cli_cache_path(const struct stet_store *s, const struct stet_args *args)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_json j;

    if (args->format == STET_FORMAT_JSON) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.cachepath/1");
        stet_json_cstr(&j, "folder", s->folder);
        stet_json_end_object(&j);
    } else {
        stet_text_foreign(&out, stet_view_str(s->folder));
    }
    stet_buf_char(&out, '\n');
    return stet_cli_print(&out, STET_EXIT_FINE);
}

int stet_cli_cache_show(const struct stet_store *s, const struct stet_args *args)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_entry_file f;
    struct stet_hash key;
    struct stet_json j;
    char path[PATH_MAX + 64];

    if (stet_store_find(s, args->values[0], &key, &err) != STET_OK)
        return stet_cli_complain(&err);
    stet_store_path(s, key, path);
    if (stet_store_entry_open(&f, path, &err) != STET_OK)
        return stet_cli_complain(&err);
    if (args->format == STET_FORMAT_JSON) {
        struct stat st = {0};
        struct stet_stored one = {.key = key, .bytes = f.bytes_size};

        if (fstat(f.fd, &st) == 0)
            one.used_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
        stet_json_init(&j, &out);
        row_json(&j, &one, &f, "stet.cacheentry/1");
        stet_buf_char(&out, '\n');
    } else {
        stet_buf_printf(&out, "%s\nprogram name  %.*s\nplugin file   %.*s\nexecutable    ", path,
                        STET_FMT(f.name), STET_FMT(f.plugin_path));
        stet_text_bytes(&out, f.executable.size);
        stet_buf_str(&out, "\ncompiled in   ");
        stet_text_duration(&out, f.compile_ns);
        stet_buf_str(&out, "\n\nwhat its key is made of\n");
        for (size_t i = 0; i < STET_COMPONENTS; i++) {
            struct stet_view part = f.parts.part[i];

            stet_buf_printf(&out, "  %-12s %.*s\n",
                            stet_store_component_name((enum stet_component)i),
                            part.len ? (int)part.len : 4, part.len ? part.ptr : "none");
        }
    }
    stet_store_entry_close(&f);
    return stet_cli_print(&out, STET_EXIT_FINE);
}

int stet_cli_cache_rm(const struct stet_store *s, const struct stet_args *args)
{
    bool json = args->format == STET_FORMAT_JSON;
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT;
    enum stet_rc rc = STET_OK;
    struct stet_hash key;
    struct stet_json j;

    stet_json_init(&j, &out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.cacherm/1");
    stet_json_array(&j, "removed");
    for (int i = 0; rc == STET_OK && i < args->count; i++) {
        char name[STET_HASH_TEXT];

        rc = stet_store_find(s, args->values[i], &key, &err);
        if (rc != STET_OK)
            break;
        stet_store_quarantine_clear(s, key);
        rc = stet_store_remove(s, key, &err) == STET_IO ? STET_IO : STET_OK;
        stet_hash_format(key, name);
        stet_json_cstr(&j, NULL, name);
    }
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    stet_buf_char(&out, '\n');
    if (rc == STET_OK && json)
        return stet_cli_print(&out, STET_EXIT_FINE);
    stet_buf_release(&out);
    if (rc == STET_OK)
        stet_say("stet: %d entr%s removed\n", args->count, args->count == 1 ? "y" : "ies");
    return rc == STET_OK ? STET_EXIT_FINE : stet_cli_complain(&err);
}

struct part {
    struct stet_cli_part head;
    bool reads; /* a store that is not there is an error, not an empty one */
    int least;  /* positional arguments needed */
    int (*run)(const struct stet_store *s, const struct stet_args *args);
};

static const struct part parts[] = {
    {{"ls", "", "list the entries, last used first"}, true, 0, stet_cli_cache_ls},
    {{"show", "KEY", "what an entry's key is made of"}, true, 1, stet_cli_cache_show},
    {{"stats", "", "how much is stored"}, true, 0, stet_cli_cache_stats},
    {{"verify", "", "reload every entry in a child process"}, true, 0, stet_cli_cache_verify},
    {{"prove", "[--cpu] -- COMMAND…", "run a command twice, and count what was reloaded"},
     false,
     1,
     stet_cli_cache_prove},
    {{"gc", "", "remove the least recently used: --max-bytes, --max-age"},
     true,
     0,
     stet_cli_cache_gc},
    {{"rm", "KEY…", "remove entries"}, true, 1, stet_cli_cache_rm},
    {{"export", "ARCHIVE [KEY…]", "write entries into a signed archive: all, or those named"},
     true,
     1,
     stet_cli_cache_export},
    {{"import", "ARCHIVE", "add the entries that a trusted key signed"},
     false,
     1,
     stet_cli_cache_import},
    {{"key", "new|show|trust|untrust", "the key that signs, and those that are trusted"},
     false,
     1,
     stet_cli_cache_key},
    {{"path", "", "print the store's folder"}, false, 0, stet_cli_cache_path},
};

struct stet_cache_wishes stet_cache_wishes;

static int run_part(const void *row, int argc, char **argv)
{
    const struct part *p = row;
    char synopsis[96];
    struct stet_usage usage = {synopsis, p->head.about, "cache"};
    const struct stet_option options[] = {
        {"store", "FOLDER", "this store instead of the default one", STET_OPTION_VALUE,
         &stet_cache_wishes.folder},
        {"max-bytes", "N[KMGT]", "gc: keep at most this much", STET_OPTION_VALUE,
         &stet_cache_wishes.max_bytes},
        {"max-age", "N[smhd]", "gc: remove what was not used for longer", STET_OPTION_VALUE,
         &stet_cache_wishes.max_age},
        {"key", "FILE", "export, key: sign by this key", STET_OPTION_VALUE, &stet_cache_wishes.key},
        {"cpu", NULL, "prove: on the embedded CPU backend, as with stet run --cpu",
         STET_OPTION_FLAG, &stet_cache_wishes.cpu},
        {"unsigned", NULL, "export without a signature; import from anyone", STET_OPTION_FLAG,
         &stet_cache_wishes.unsigned_too},
        {0},
    };
    struct stet_err err = STET_ERR_INIT;
    struct stet_args args;
    struct stet_store store;
    char *folder;
    int done;

    snprintf(synopsis, sizeof synopsis, "stet cache %s [options] %s", p->head.name,
             p->head.operands);
    done = stet_cli_args_parse(&args, argc, argv, &usage, options, p->run == stet_cli_cache_prove);
    if (done >= 0)
        return done;
    if (args.count < p->least)
        return stet_cli_usage_error(&usage, "an operand is missing");
    if (p->reads && stet_cache_wishes.folder && !stet_fs_exists(stet_cache_wishes.folder)) {
        stet_fail(&err, STET_IO, "%s: no such folder; without --store, the default store is used",
                  stet_cache_wishes.folder);
        return stet_cli_complain(&err);
    }
    folder = stet_cache_wishes.folder ? stet_mem_strdup(stet_cache_wishes.folder)
                                      : stet_store_default(&err);
    if (!folder || stet_store_open(&store, folder, &err) != STET_OK) {
        stet_mem_free(folder);
        return stet_cli_complain(&err);
    }
    stet_mem_free(folder);
    args.values[args.count] = NULL;
    return p->run(&store, &args);
}

int cmd_cache(int argc, char **argv)
{
    static const struct stet_cli_parts whole = {
        "cache",       "Manages the executables that `stet run` stores and loads again.",
        parts,         sizeof parts / sizeof *parts,
        sizeof *parts, run_part,
    };

    return stet_cli_parts_run(&whole, argc, argv);
}
