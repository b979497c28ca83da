/* stet help SUBJECT: prints a page of the documentation. */
#include "cli/help.h"

#include "cli/command.h"
#include "help/help_pages.h"
#include "help/pager.h"

#include <string.h>
#include <unistd.h>

static int page(const char *subject)
{
    const struct stet_help_look look = {stet_help_columns_of_output(),
                                        stet_text_colour(STDOUT_FILENO)};
    struct stet_help_similar similar = {.word = subject};
    struct stet_buf out = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    enum stet_rc rc = stet_help_page(&out, subject, &look, &similar, &err);

    if (rc == STET_OK && stet_help_pager_show(&out)) {
        stet_buf_release(&out);
        return STET_EXIT_FINE;
    }
    if (rc == STET_OK)
        return stet_cli_print(&out, STET_EXIT_FINE);
    stet_buf_release(&out);
    if (rc != STET_NOT_FOUND)
        return stet_cli_complain(&err);
    stet_say("stet: no page about '%s'", subject);
    if (similar.best[0])
        stet_say("; did you mean '%s'?\n", similar.best);
    else
        stet_say("; `stet help docs` lists the pages, `stet help traps` those of traps\n");
    return STET_EXIT_USAGE;
}

int stet_cli_help_page(const char *subject, struct stet_help_topic *all, size_t count,
                       void (*describe)(struct stet_help_topic *all, size_t count))
{
    bool man = !strcmp(subject, "--man") || !strncmp(subject, "--man=", 6);
    bool completion = !strncmp(subject, "--completion=", 13);
    enum stet_help_shell shell = completion ? stet_help_shell_find(subject + 13) : STET_SHELLS;
    const char *name = man && subject[5] ? subject + 6 : "";
    struct stet_buf out = STET_BUF_INIT, subjects = STET_BUF_INIT;

    if (!man && !completion)
        return page(subject);
    describe(all, count);
    if (man && !*name)
        stet_help_man_all(&out, all, count);
    else if (completion && shell != STET_SHELLS) {
        stet_help_subjects(&subjects);
        stet_help_completion(&out, shell, all, count, stet_buf_as_view(&subjects));
        stet_buf_release(&subjects);
    }
    for (size_t i = 0; *name && i < count; i++)
        if (!strcmp(all[i].name, name))
            stet_help_man(&out, &all[i]);
    if (out.len)
        return stet_cli_print(&out, STET_EXIT_FINE);
    stet_say("stet: %s\n", man ? "--man takes a command" : "--completion is bash, zsh or fish");
    return STET_EXIT_USAGE;
}
