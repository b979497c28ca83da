/* stet contract: makes a contract from a run, and updates it. */
#include "cli/command.h"
#include "cli/contract_update.h"
#include "contract/contract_run.h"

#include "base/duration.h"
#include "base/fs.h"
#include "base/json.h"

#include <stdio.h>

static const struct stet_usage usage = {
    "stet contract init|update [options] [RUN]",
    "init writes a contract from a good run (the latest one when none is named): families of\n"
    "programs, the sizes of their arguments, budgets, warm-up, mesh, flags and bundle.\n"
    "update shows what would have to change in a contract so that the run keeps it, and why;\n"
    "with --write it is changed. Exit 1 when there is something to change.",
    "contract",
};

/* A contract allows what the run did, recompiles too. Returns the number of recompiles. */
static unsigned doubt(const struct stet_lanes *l)
{
    const struct stet_history *h = &l->x.history;
    unsigned n = 0;

    for (uint32_t i = 0; i < h->finding_count; i++)
        n += h->findings[i].cause != STET_CAUSE_NONE && !h->findings[i].benign &&
             stet_session_row_event(&h->findings[i]) == STET_EVENT_AGAIN;
    for (size_t i = 0; l->has_torch && i < l->torch.compile_count; i++)
        n += l->torch.compiles[i].failures != STET_TORCH_NONE;
    if (n)
        stet_say(
            "stet: this run recompiled %u time%s (`stet explain`), and the contract allows it\n", n,
            n == 1 ? "" : "s");
    return n;
}

static int tell(enum stet_format format, const char *file, const char *run,
                const struct stet_contract *c, unsigned recompiles)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json j;

    if (format == STET_FORMAT_TEXT) {
        stet_say("stet: wrote %s from run %s: %u famil%s, %u frame%s\n", file, run, c->family_count,
                 c->family_count == 1 ? "y" : "ies", c->frame_count,
                 c->frame_count == 1 ? "" : "s");
        return STET_EXIT_FINE;
    }
    stet_json_init(&j, &out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.contract/1");
    stet_json_cstr(&j, "file", file);
    stet_json_cstr(&j, "run", run);
    stet_json_uint(&j, "families", c->family_count);
    stet_json_uint(&j, "frames", c->frame_count);
    stet_json_uint(&j, "recompiles", recompiles);
    stet_json_end_object(&j);
    stet_buf_char(&out, '\n');
    return stet_cli_print(&out, STET_EXIT_FINE);
}

static bool read_wait(const char *text, uint64_t *ns)
{
    uint32_t ms;

    if (!stet_duration_read(text, STET_DURATION_S, UINT32_MAX, &ms) || !ms)
        return false;
    *ns = (uint64_t)ms * 1000000;
    return true;
}

struct init_how {
    bool force, helpers;
    bool waited;        /* a budget of waiting is asked for: */
    uint64_t waited_ns; /* 0: from the run */
};

static int init(const char *run, const char *file, const struct init_how *how,
                enum stet_format format)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_BUF_INIT;
    struct stet_contract c;
    struct stet_lanes l;
    int code = STET_EXIT_FINE;
    bool to_stdout = !strcmp(file, "-");
    unsigned recompiles;

    if (!to_stdout && !how->force && stet_fs_exists(file)) {
        stet_say("stet: %s is there already: `stet contract update`, or --force\n", file);
        return STET_EXIT_USAGE;
    }
    if (stet_contract_lanes_open(&l, run, &err) != STET_OK)
        return stet_cli_complain(&err);
    if (stet_contract_make(&c, &l, how->helpers, &err) != STET_OK) {
        stet_contract_lanes_close(&l);
        return stet_cli_complain(&err);
    }
    if (how->waited)
        c.terms.waited_ns = how->waited_ns ? how->waited_ns : stet_contract_waited_budget(&l);
    recompiles = doubt(&l);
    stet_contract_write(&out, &c, &l);
    if (to_stdout)
        code = stet_cli_print(&out, code);
    else if (out.failed || stet_fs_write(file, stet_buf_as_view(&out), &err) != STET_OK)
        code = stet_cli_complain(&err);
    else
        code = tell(format, file, l.run->id, &c, recompiles);
    stet_buf_release(&out);
    stet_gate_contract_release(&c);
    stet_contract_lanes_close(&l);
    return code;
}

int cmd_contract(int argc, char **argv)
{
    const char *file = STET_CONTRACT_FILE, *run;
    const char *waited = NULL;
    struct init_how how = {0};
    bool write = false;
    const struct stet_option options[] = {
        {"output", "FILE", "init: where to write it (default " STET_CONTRACT_FILE "; - prints it)",
         STET_OPTION_VALUE, &file},
        {"o", "FILE", "the same", STET_OPTION_VALUE, &file},
        {"contract", "FILE", "update: which one", STET_OPTION_VALUE, &file},
        {"force", NULL, "init: replace what is there", STET_OPTION_FLAG, &how.force},
        {"helpers", NULL, "init: list the framework's own helpers one by one", STET_OPTION_FLAG,
         &how.helpers},
        {"waited", "[=SECONDS]",
         "init: limit what a process waits for its compiles (default: twice what the run waited)",
         STET_OPTION_MAYBE, &waited},
        {"write", NULL, "update: make the changes", STET_OPTION_FLAG, &write},
        {0},
    };
    struct stet_args args;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count < 1 || args.count > 2)
        return stet_cli_usage_error(&usage, "give init or update, and at most one run");
    run = args.count == 2 ? args.values[1] : NULL;
    how.waited = waited != NULL;
    if (waited && waited[0] && !read_wait(waited, &how.waited_ns))
        return stet_cli_usage_error(&usage, "--waited takes a time: 40, 40s, 500ms or 10m");
    if (!strcmp(args.values[0], "init"))
        return init(run, file, &how, args.format);
    if (!strcmp(args.values[0], "update"))
        return stet_cli_contract_update(run, file, write, args.format);
    return stet_cli_usage_error(&usage, "give init or update");
}
