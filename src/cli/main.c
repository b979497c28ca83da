/* Finds the command and runs it. */
#include "cli/command.h"
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

struct command {
    const char *name, *about;
    int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
#define COMMAND(name, about) {#name, about, cmd_##name},
#include "cli/commands.def"
#undef COMMAND
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *out)
{
    fputs("usage: stet COMMAND [options]\n\n"
          "Stet names every recompile of a compiled tensor program: cause, line, cost, fix.\n\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].about);
    fputs(
        "\n`stet COMMAND --help` tells a command's options. `stet help SUBJECT` prints a page: a\n"
        "command's, a trap's (`stet help traps` lists them), any other (`stet help docs`).\n"
        "`stet help causes` lists the causes of recompiles.\n",
        out);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return STET_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "help") && argc > 3) {
        stet_say("stet: one subject at a time\nusage: stet help [SUBJECT]\n");
        return STET_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "help") && argc > 2 && argv[2][0] != '-')
        return stet_cli_help_page(argv[2]);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
        return STET_EXIT_FINE;
    }
    if (!strcmp(argv[1], "--version"))
        return cmd_version(argc - 1, argv + 1);
    for (size_t i = 0; i < COMMANDS; i++) {
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    }
    stet_say("stet: no command '%s'; `stet help` lists them\n", argv[1]);
    return STET_EXIT_USAGE;
}
