/* The option table of a command. The command line parses by it and prints --help from it; the
 * manual pages and the shells' completions are made of it (topic.h). All texts are literals. */
#ifndef STET_HELP_OPTION_H
#define STET_HELP_OPTION_H

enum stet_option_kind {
    STET_OPTION_FLAG,
    STET_OPTION_VALUE,
    STET_OPTION_MAYBE, /* --name or --name=VALUE; without a value the target is "" */
};

/* One row of a command's option table; ends with a row whose `name` is NULL. */
struct stet_option {
    const char *name;    /* without the dashes; a name of one letter takes one dash */
    const char *operand; /* shown in --help for a value, e.g. "FILE", "[=FILE]" */
    const char *help;    /* NULL: accepted, and not listed */
    enum stet_option_kind kind;
    void *target; /* bool * for a flag, const char ** otherwise */
};

/* Text that --help prints around the option table. */
struct stet_usage {
    const char *synopsis; /* "stet show [options] RUN|PROGRAM|FILE" */
    const char *about;    /* a paragraph or two */
    const char *page;     /* "show": the page of `stet help` */
};

#endif
