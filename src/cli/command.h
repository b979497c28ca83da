/* A command: a name, a line of help, an option table and a function. The commands use these
 * functions to parse arguments, to print errors and results, and to choose their exit codes. main.c
 * calls the commands of commands.def. */
#ifndef STET_CLI_COMMAND_H
#define STET_CLI_COMMAND_H

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"

/* Exit codes of every command except `run`, which returns the child's own. */
enum { STET_EXIT_FINE = 0, STET_EXIT_FINDING = 1, STET_EXIT_USAGE = 2, STET_EXIT_FAILURE = 3 };

enum stet_option_kind { STET_OPTION_FLAG, STET_OPTION_VALUE };

/* One row of a command's option table; ends with a row whose `name` is NULL. */
struct stet_option {
    const char *name;    /* without the dashes; a name of one letter takes one dash */
    const char *operand; /* shown in --help for STET_OPTION_VALUE, e.g. "FILE" */
    const char *help;
    enum stet_option_kind kind;
    void *target; /* bool * for a flag, const char ** for a value */
};

/* Text that --help prints around the option table. */
struct stet_usage {
    const char *synopsis; /* "stet show [options] RUN|PROGRAM|FILE" */
    const char *about;    /* a paragraph or two */
    const char *page;     /* "show": the page of `stet help` */
};

enum stet_format { STET_FORMAT_TEXT, STET_FORMAT_JSON };

/* What all commands share. Every command accepts --help and --format. */
struct stet_args {
    enum stet_format format;
    int count; /* positional arguments */
    char **values;
};

/* Parses argv[1..] (argv[0] is the command's name). Returns -1 to continue, otherwise the exit code
 * to return at once (0 after --help, 2 after a usage error already printed). Options and
 * positionals may be mixed; "--" ends options; when `stop_at_positional`, so does the first
 * positional. */
int stet_cli_args_parse(struct stet_args *args, int argc, char **argv,
                        const struct stet_usage *usage, const struct stet_option *options,
                        bool stop_at_positional);

/* Prints "stet: <what>" and the synopsis on stderr; returns STET_EXIT_USAGE. */
int stet_cli_usage_error(const struct stet_usage *usage, const char *what);
/* Prints "stet: <text>" on stderr, with the offset if there is one; returns the matching exit
 * code. */
int stet_cli_complain(const struct stet_err *err);
/* Writes all of `out` to stdout; returns the exit code (3 when the write fails). Begin `out` as
 * STET_TEXT_INIT, unless it holds a format of its own (JSON, metrics). */
int stet_cli_print(struct stet_buf *out, int exit_code);

#define COMMAND(name, about) int cmd_##name(int argc, char **argv);
#include "cli/commands.def"
#undef COMMAND

#endif
