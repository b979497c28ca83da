/* Finds the command and runs it. */
#include "cli/command.h"
#include "cli/help.h"
#include "help/similar.h"

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
        "\n`stet COMMAND --help` lists a command's options. `stet help SUBJECT` prints a page: a\n"
        "command's, a trap's (`stet help traps` lists them), any other (`stet help docs`).\n"
        "`stet help causes` lists the causes of recompiles. `stet help --completion=bash` (zsh,\n"
        "fish) prints a script for the shell.\n",
        out);
}

static void take(void *context, const char *part, const struct stet_usage *usage,
                 const struct stet_option *options)
{
    stet_help_topic_add(context, part, usage, options);
}

/* Each command gives its table instead of running. */
static void describe(struct stet_help_topic *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *argv[] = {(char *)all[i].name, NULL};

        stet_cli_describe(take, &all[i]);
        commands[i].run(1, argv);
    }
}

static int help(int argc, char **argv)
{
    static struct stet_help_topic all[COMMANDS];

    if (argc > 3) {
        stet_say("stet: one subject at a time\nusage: stet help [SUBJECT]\n");
        return STET_EXIT_USAGE;
    }
    if (argc < 3 || !strcmp(argv[2], "--help") || !strcmp(argv[2], "-h")) {
        print_help(stdout);
        return STET_EXIT_FINE;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        all[i] = (struct stet_help_topic){.name = commands[i].name, .about = commands[i].about};
    return stet_cli_help_page(argv[2], all, COMMANDS, describe);
}

static int unknown(const char *name)
{
    struct stet_help_similar s = {.word = name};

    for (size_t i = 0; i < COMMANDS; i++)
        stet_help_similar_try(&s, commands[i].name);
    stet_help_similar_try(&s, "help");
    if (s.best[0])
        stet_say("stet: no command '%s'; did you mean '%s'?\n", name, s.best);
    else
        stet_say("stet: no command '%s'; `stet help` lists them\n", name);
    return STET_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return STET_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "help"))
        return help(argc, argv);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        print_help(stdout);
        return STET_EXIT_FINE;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") || !strcmp(argv[1], "-v"))
        return cmd_version(argc - 1, argv + 1);
    for (size_t i = 0; i < COMMANDS; i++) {
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    }
    return unknown(argv[1]);
}
