/* stet torch: prints what torch.compile did, from its traces. */
#include "cli/command.h"

#include "base/fs.h"
#include "base/mem.h"
#include "cli/torch_print.h"
#include "session/torch_rows.h"

#include <stdio.h>
#include <string.h>

struct part {
    struct stet_cli_part head;
    const char *schema;
    void (*text)(const struct stet_torch *t, struct stet_buf *out);
    void (*json)(const struct stet_torch *t, struct stet_json *j);
};

static const struct part parts[] = {
    {{"ingest", "", "read traces, store them as a run, print what is in them and what is damaged"},
     "stet.torch.ingest/1",
     stet_cli_torch_ingest_text,
     NULL},
    {{"frames", "", "every frame that was compiled again: guard, class, line, values, cost, fix"},
     "stet.torch.frames/1",
     stet_cli_torch_frames_text,
     stet_session_torch_frames_json},
    {{"breaks", "", "graph breaks: where, why, what to do"},
     "stet.torch.breaks/1",
     stet_cli_torch_breaks_text,
     stet_session_torch_breaks_json},
    {{"fixes", "", "what would save the recompiles, as environment lines and as edits"},
     "stet.torch.fixes/1",
     stet_session_torch_fixes_text,
     stet_session_torch_fixes_json},
    {{"caches", "", "what torch's caches did not have, and the component of the key that changed"},
     "stet.torch.caches/1",
     stet_session_torch_caches_text,
     stet_session_torch_caches_json},
};

static int print(const struct part *p, const struct stet_torch *t, const struct stet_args *args,
                 struct stet_view from, const char *id)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_json j;

    if (args->format == STET_FORMAT_TEXT) {
        p->text(t, &out);
        if (id[0])
            stet_buf_printf(&out, "kept as run %s\n", id);
        stet_session_torch_text_damage(t, &out);
        return stet_cli_print(&out, STET_EXIT_FINE);
    }
    stet_json_init(&j, &out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", p->schema);
    stet_json_string(&j, "from", from);
    if (id[0])
        stet_json_cstr(&j, "run", id);
    stet_session_torch_json_input(t, &j);
    if (p->json)
        p->json(t, &j);
    stet_json_end_object(&j);
    stet_buf_char(&out, '\n');
    return stet_cli_print(&out, STET_EXIT_FINE);
}

/* Makes a run from traces that come from elsewhere; traces of a run are one already. */
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
    rc = stet_session_torch_keep_run(t, argv, id, err);
    stet_mem_free(argv);
    return rc;
}

static int run_part(const void *row, int argc, char **argv)
{
    const struct part *p = row;
    bool ingest = !strcmp(p->head.name, "ingest");
    char synopsis[96];
    struct stet_usage usage = {synopsis, p->head.about, "torch"};
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

    snprintf(synopsis, sizeof synopsis, "stet torch %s [options] [RUN|FOLDER|LOG]…", p->head.name);
    done = stet_cli_args_parse(&args, argc, argv, &usage, ingest ? only_look : none, false);
    if (done >= 0)
        return done;
    stet_torch_init(&t);
    rc = stet_session_torch_load(&t, args.values, args.count, &from, &err);
    if (rc == STET_OK && ingest && !look && !stet_view_starts(stet_buf_as_view(&from), "run "))
        rc = keep(&t, &args, id, &err);
    done =
        rc == STET_OK ? print(p, &t, &args, stet_buf_as_view(&from), id) : stet_cli_complain(&err);
    stet_torch_release(&t);
    stet_buf_release(&from);
    return done;
}

int cmd_torch(int argc, char **argv)
{
    static const struct stet_cli_parts whole = {
        "torch",
        "What torch.compile did, from the traces that TORCH_TRACE writes (`stet run` sets it).\n"
        "Each part takes [RUN|FOLDER|LOG]…; without one, it reads the latest run.",
        parts,
        sizeof parts / sizeof *parts,
        sizeof *parts,
        run_part,
    };

    return stet_cli_parts_run(&whole, argc, argv);
}
