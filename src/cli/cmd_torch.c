/* stet torch: what torch.compile did, from its traces. */
#include "cli/command.h"

#include "base/fs.h"
#include "base/mem.h"
#include "cli/torch_rows.h"
#include "ledger/run_folder.h"

#include <stdio.h>
#include <string.h>
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

/* With a run given, or none: what earlier ones asked of the caches. */
static void add_past(struct stet_torch *t, const char *name)
{
    const struct stet_run *run;
    struct stet_runs runs;

    if (stet_runs_open(&runs, NULL) != STET_OK)
        return;
    if (stet_runs_find(&runs, name, &run, NULL) == STET_OK)
        stet_torch_load_past(t, run);
    stet_runs_close(&runs);
}

static enum stet_rc add_run(struct stet_torch_files *files, const char *name, struct stet_buf *from,
                            struct stet_err *err)
{
    const struct stet_run *run;
    struct stet_runs runs;
    enum stet_rc rc = stet_runs_open(&runs, err);

    if (rc != STET_OK)
        return rc;
    rc = stet_runs_find(&runs, name, &run, err);
    if (rc == STET_OK) {
        stet_buf_printf(from, "%srun %s", from->len ? ", " : "", run->id);
        rc = add_folder(files, run->folder, err);
    }
    stet_runs_close(&runs);
    return rc;
}

static enum stet_rc add_name(struct stet_torch_files *files, const char *name,
                             struct stet_buf *from, struct stet_err *err)
{
    struct stat st;

    if (!name || stat(name, &st) != 0)
        return add_run(files, name, from, err);
    stet_buf_printf(from, "%s%s", from->len ? ", " : "", name);
    return S_ISDIR(st.st_mode) ? add_folder(files, name, err)
                               : stet_torch_files_add(files, name, err);
}

enum stet_rc stet_torch_load(struct stet_torch *t, char **names, int count, struct stet_buf *from,
                             struct stet_err *err)
{
    struct stet_torch_files *files = stet_torch_files_new(t);
    enum stet_rc rc = STET_OK;
    bool run;

    if (!files)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    if (!count)
        rc = add_name(files, NULL, from, err);
    for (int i = 0; i < count && rc == STET_OK; i++)
        rc = add_name(files, names[i], from, err);
    if (rc == STET_OK)
        rc = stet_torch_files_finish(files, err);
    run = stet_view_starts(stet_buf_as_view(from), "run ");
    if (rc == STET_OK && (!stet_torch_files_count(files) || (!run && !t->records)))
        rc = stet_fail(err, STET_NOT_FOUND, "%s: no torch.compile trace there",
                       from->len ? from->ptr : "?");
    stet_torch_files_free(files);
    if (rc == STET_OK && count < 2 && run)
        add_past(t, count ? names[0] : NULL);
    return rc;
}

struct part {
    const char *name, *about, *schema;
    void (*text)(const struct stet_torch *t, struct stet_buf *out);
    void (*json)(const struct stet_torch *t, struct stet_json *j);
};

static const struct part parts[] = {
    {"ingest", "read traces, store them as a run, print what is in them and what is damaged",
     "stet.torch.ingest/1", stet_torch_ingest_text, NULL},
    {"frames", "every frame that was compiled again: guard, class, line, values, cost, fix",
     "stet.torch.frames/1", stet_torch_frames_text, stet_torch_frames_json},
    {"breaks", "graph breaks: where, why, what to do", "stet.torch.breaks/1",
     stet_torch_breaks_text, stet_torch_breaks_json},
    {"fixes", "what would save the recompiles, as environment lines and as edits",
     "stet.torch.fixes/1", stet_torch_fixes_text, stet_torch_fixes_json},
    {"caches", "what torch's caches did not have, and the component of the key that changed",
     "stet.torch.caches/1", stet_torch_caches_text, stet_torch_caches_json},
};
enum { PARTS = sizeof parts / sizeof *parts };

static int print(const struct part *p, const struct stet_torch *t, const struct stet_args *args,
                 struct stet_view from, const char *id)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_json j;

    if (args->format == STET_FORMAT_TEXT) {
        p->text(t, &out);
        if (id[0])
            stet_buf_printf(&out, "kept as run %s\n", id);
        stet_torch_text_damage(t, &out);
        return stet_print(&out, STET_EXIT_FINE);
    }
    stet_json_init(&j, &out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", p->schema);
    stet_json_string(&j, "from", from);
    if (id[0])
        stet_json_cstr(&j, "run", id);
    stet_torch_json_input(t, &j);
    if (p->json)
        p->json(t, &j);
    stet_json_end_object(&j);
    stet_buf_char(&out, '\n');
    return stet_print(&out, STET_EXIT_FINE);
}

/* Traces from elsewhere become a run; those of a run are one already. */
static enum stet_rc keep(struct stet_torch *t, const struct stet_args *args, char id[40],
                         struct stet_err *err)
{
    char **argv = stet_mem_calloc((size_t)args->count + 4, sizeof *argv);
    enum stet_rc rc;

    if (!argv)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    argv[0] = (char[]){"stet"};
    argv[1] = (char[]){"torch"};
    argv[2] = (char[]){"ingest"};
    memcpy(argv + 3, args->values, (size_t)args->count * sizeof *argv);
    rc = stet_torch_keep_run(t, argv, id, err);
    stet_mem_free(argv);
    return rc;
}

static int run_part(const struct part *p, int argc, char **argv)
{
    bool ingest = !strcmp(p->name, "ingest");
    char synopsis[96];
    struct stet_usage usage = {synopsis, p->about, "torch"};
    bool look = false;
    const struct stet_option only_look[] = {
        {"look", NULL, "print what is there, and store nothing", STET_OPTION_FLAG, &look}, {0}};
    static const struct stet_option none[] = {{0}};
    char id[40] = "";
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf from = STET_BUF_INIT;
    struct stet_args args;
    struct stet_torch t;
    enum stet_rc rc;
    int done;

    snprintf(synopsis, sizeof synopsis, "stet torch %s [options] [RUN|FOLDER|LOG]…", p->name);
    done = stet_args_parse(&args, argc, argv, &usage, ingest ? only_look : none, false);
    if (done >= 0)
        return done;
    stet_torch_init(&t);
    rc = stet_torch_load(&t, args.values, args.count, &from, &err);
    if (rc == STET_OK && ingest && !look && !stet_view_starts(stet_buf_as_view(&from), "run "))
        rc = keep(&t, &args, id, &err);
    done = rc == STET_OK ? print(p, &t, &args, stet_buf_as_view(&from), id) : stet_complain(&err);
    stet_torch_release(&t);
    stet_buf_release(&from);
    return done;
}

int cmd_torch(int argc, char **argv)
{
    bool help = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));

    for (size_t i = 0; argc > 1 && i < PARTS; i++) {
        if (!strcmp(argv[1], parts[i].name))
            return run_part(&parts[i], argc - 1, argv + 1);
    }
    if (argc > 1 && !help)
        stet_say("stet: no command 'torch %s'\n", argv[1]);
    fputs("usage: stet torch PART [options] [RUN|FOLDER|LOG]…\n\n"
          "What torch.compile did, from the traces that TORCH_TRACE writes (`stet run` sets it).\n"
          "Without a name, the latest run.\n\n",
          help ? stdout : stderr);
    for (size_t i = 0; i < PARTS; i++)
        fprintf(help ? stdout : stderr, "  %-8s %s\n", parts[i].name, parts[i].about);
    fputs("\nMore: stet help torch\n", help ? stdout : stderr);
    return help ? STET_EXIT_FINE : STET_EXIT_USAGE;
}
