/* stet check: checks whether a run keeps its contract. */
#include "cli/command.h"
#include "contract/check_print.h"
#include "contract/contract_run.h"

#include <string.h>

static const struct stet_usage usage = {
    "stet check [options] [RUN]",
    "Holds a run (the latest one when none is named) to a contract. Each violation names its\n"
    "clause, the contract's line, the line of the program that breaks it, the cause and what to\n"
    "do. Exit 0 when the run keeps the contract, 1 when it breaks it, 2 when the contract can't\n"
    "be read.",
    "check",
};

static int check(const char *name, const char *file, enum stet_check_format format)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_contract c;
    struct stet_lanes l;
    struct stet_contract_check k;
    int code;

    if (stet_gate_contract_read(&c, file, &err) != STET_OK) {
        stet_cli_complain(&err);
        return STET_EXIT_USAGE;
    }
    if (stet_contract_lanes_open(&l, name, &err) != STET_OK) {
        stet_gate_contract_release(&c);
        return stet_cli_complain(&err);
    }
    stet_contract_check_init(&k);
    if (stet_contract_check_run(&k, &c, &l, &err) == STET_OK) {
        stet_contract_check_print(&out, &k, &c, l.run->id, format);
        code = stet_cli_print(&out, k.count ? STET_EXIT_FINDING : STET_EXIT_FINE);
    } else {
        code = stet_cli_complain(&err);
    }
    stet_contract_check_release(&k);
    stet_contract_lanes_close(&l);
    stet_gate_contract_release(&c);
    return code;
}

int cmd_check(int argc, char **argv)
{
    static const char *const formats[] = {[STET_CHECK_TEXT] = "text",
                                          [STET_CHECK_JSON] = "json",
                                          [STET_CHECK_GITHUB] = "github",
                                          [STET_CHECK_SARIF] = "sarif"};
    const char *file = STET_CONTRACT_FILE, *wanted = "text";
    const struct stet_option options[] = {
        {"contract", "FILE", "the contract (default " STET_CONTRACT_FILE ")", STET_OPTION_VALUE,
         &file},
        {"format", "text|json|github|sarif", "how to print; github: annotations for a workflow",
         STET_OPTION_VALUE, &wanted},
        {0},
    };
    struct stet_args args;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count > 1)
        return stet_cli_usage_error(&usage, "checks one run at a time");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(wanted, formats[i]))
            return check(args.count ? args.values[0] : NULL, file, (enum stet_check_format)i);
    return stet_cli_usage_error(&usage, "--format is text, json, github or sarif");
}
