/* A command: a name, a line of help, an option table and a function. The commands use these
 * functions to parse arguments, to print errors and results, and to choose their exit codes. main.c
 * calls the commands of commands.def. */
#ifndef STET_CLI_COMMAND_H
#define STET_CLI_COMMAND_H

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "help/option.h"

/* Exit codes of every command except `run`, which returns the child's own. */
enum { STET_EXIT_FINE = 0, STET_EXIT_FINDING = 1, STET_EXIT_USAGE = 2, STET_EXIT_FAILURE = 3 };

enum stet_format { STET_FORMAT_TEXT, STET_FORMAT_JSON };

/* What all commands share. Every command accepts --help and --format. */
struct stet_args {
    enum stet_format format;
    int count; /* positional arguments */
    char **values;
    int behind; /* number of the first one behind "--"; -1 without it */
};

/* Parses argv[1..] (argv[0] is the command's name). Returns -1 to continue, otherwise the exit code
 * to return at once (0 after --help, 2 after a usage error already printed). Options and
 * positionals may be mixed; "--" ends options; when `stop_at_positional`, so does the first
 * positional. */
int stet_cli_args_parse(struct stet_args *args, int argc, char **argv,
                        const struct stet_usage *usage, const struct stet_option *options,
                        bool stop_at_positional);

/* Receives the option table of a command, or of one of its parts (NULL for the command itself). */
typedef void stet_cli_describer(void *context, const char *part, const struct stet_usage *usage,
                                const struct stet_option *options);
/* From now on, commands give their tables to `take` and do nothing else. */
void stet_cli_describe(stet_cli_describer *take, void *context);

/* The first fields of a part's row: stet cache ls. */
struct stet_cli_part {
    const char *name, *operands, *about;
};

/* A command that consists of parts. */
struct stet_cli_parts {
    const char *name, *about;
    const void *rows; /* each begins with a struct stet_cli_part */
    size_t count, size;
    int (*run)(const void *row, int argc, char **argv);
};

/* Runs the part that argv[1] names, or lists the parts. */
int stet_cli_parts_run(const struct stet_cli_parts *p, int argc, char **argv);

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
