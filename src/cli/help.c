/* stet help SUBJECT: prints a page of the documentation. */
#include "cli/help.h"

#include "base/buf.h"
#include "base/fs.h"
#include "cause/cause.h"
#include "cli/command.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Finds share/doc/stet beside the executable's bin. */
static bool find_pages(char *out, size_t room)
{
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    char *slash;

    exe[n > 0 ? n : 0] = '\0';
    slash = strrchr(exe, '/');
    if (slash)
        *slash = '\0';
    return snprintf(out, room, "%s/../share/doc/stet", exe) < (int)room && stet_fs_exists(out);
}

/* Names of pages are words with dashes, so they cannot lead out of the folder. */
static bool is_name(const char *subject)
{
    return *subject && strspn(subject, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(subject);
}

static bool read_page(struct stet_buf *out, const char *folder, const char *below, const char *name)
{
    char path[PATH_MAX + 512];
    struct stet_file page;

    if (snprintf(path, sizeof path, "%s/%s%s.md", folder, below, name) >= (int)sizeof path ||
        stet_file_open(&page, path, NULL) != STET_OK)
        return false;
    stet_buf_view(out, page.bytes);
    stet_file_close(&page);
    return true;
}

static void list_causes(struct stet_buf *out)
{
    for (int c = STET_CAUSE_NONE + 1; c < STET_CAUSES; c++)
        stet_buf_printf(out, "%-24s %s\n", stet_cause_id((enum stet_cause)c),
                        stet_cause_about((enum stet_cause)c));
    stet_buf_str(out, "\n`stet help ID` prints the page that describes a cause.\n");
}

/* Reads the page that describes a cause. One page may describe several causes. */
static bool read_cause(struct stet_buf *out, const char *folder, const char *subject)
{
    const char *page = stet_cause_page(stet_cause_find(stet_view_str(subject)));
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(page, ".#"), page);
    return *name && read_page(out, folder, "", name);
}

static bool find_page(struct stet_buf *out, const char *folder, const char *subject)
{
    if (!strcmp(subject, "docs"))
        return read_page(out, folder, "", "README");
    if (!strcmp(subject, "traps"))
        return read_page(out, folder, "traps/", "README");
    return is_name(subject) &&
           (read_page(out, folder, "", subject) || read_page(out, folder, "traps/", subject) ||
            read_cause(out, folder, subject));
}

int stet_cli_help_page(const char *subject)
{
    struct stet_buf out = STET_BUF_INIT;
    char folder[PATH_MAX + 32];

    if (!strcmp(subject, "causes")) {
        list_causes(&out);
        return stet_cli_print(&out, STET_EXIT_FINE);
    }
    if (!find_pages(folder, sizeof folder)) {
        stet_say("stet: the pages are not installed: no folder %s\n", folder);
        return STET_EXIT_FAILURE;
    }
    if (find_page(&out, folder, subject))
        return stet_cli_print(&out, STET_EXIT_FINE);
    stet_say("stet: no page about '%s'; `stet help docs` lists the pages, `stet help traps` those "
             "of traps\n",
             subject);
    return STET_EXIT_USAGE;
}
