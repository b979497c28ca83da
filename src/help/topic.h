/* Manual pages and completions for shells, made of the commands' option tables. The build writes
 * them to files (src/CMakeLists.txt); `stet help --man=COMMAND` and `stet help --completion=SHELL`
 * print them. A topic is filled while the commands describe themselves, and then printed. The
 * printing functions append to the caller's buffer. */
#ifndef STET_HELP_TOPIC_H
#define STET_HELP_TOPIC_H

#include "base/buf.h"
#include "help/option.h"

enum stet_help_shell { STET_SHELL_BASH, STET_SHELL_ZSH, STET_SHELL_FISH, STET_SHELLS };
enum { STET_HELP_FORMS = 24, STET_HELP_OPTIONS = 48 };

/* "bash", "zsh" or "fish"; STET_SHELLS for any other name. */
enum stet_help_shell stet_help_shell_find(const char *name);

/* A command. One with parts (stet cache ls) has a form for each of them. */
struct stet_help_topic {
    const char *name, *about; /* as commands.def has them */
    struct {
        const char *part; /* NULL: the command itself */
        char synopsis[128];
        const char *about;
    } forms[STET_HELP_FORMS];
    size_t form_count;
    struct stet_option options[STET_HELP_OPTIONS]; /* of all forms, each once */
    size_t option_count;
};

/* Adds a form. `synopsis` is copied, the other texts are literals. */
void stet_help_topic_add(struct stet_help_topic *t, const char *part,
                         const struct stet_usage *usage, const struct stet_option *options);

/* Appends stet-NAME.1. */
void stet_help_man(struct stet_buf *out, const struct stet_help_topic *t);
/* Appends stet.1. */
void stet_help_man_all(struct stet_buf *out, const struct stet_help_topic *all, size_t count);
/* Appends the script that a shell loads. `subjects` are the words that `stet help` takes. */
void stet_help_completion(struct stet_buf *out, enum stet_help_shell shell,
                          const struct stet_help_topic *all, size_t count,
                          struct stet_view subjects);

#endif
