/* stet help SUBJECT: a page of the documentation. */
#include "cli/help.h"

#include "base/fs.h"
#include "cli/command.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* share/doc/stet beside the executable's bin. */
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

/* Names of pages are words with dashes: nothing that leads out of the folder. */
static bool is_name(const char *subject)
{
    return *subject && strspn(subject, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(subject);
}

static bool print_page(const char *folder, const char *below, const char *name)
{
    char path[PATH_MAX + 512];
    struct stet_file page;

    if (snprintf(path, sizeof path, "%s/%s%s.md", folder, below, name) >= (int)sizeof path ||
        stet_file_open(&page, path, NULL) != STET_OK)
        return false;
    fwrite(page.bytes.ptr, 1, page.bytes.len, stdout);
    stet_file_close(&page);
    return true;
}

int stet_help_page(const char *subject)
{
    char folder[PATH_MAX + 32];

    if (!find_pages(folder, sizeof folder)) {
        fprintf(stderr, "stet: the pages are not installed: no folder %s\n", folder);
        return STET_EXIT_FAILURE;
    }
    if (!strcmp(subject, "docs")    ? print_page(folder, "", "README")
        : !strcmp(subject, "traps") ? print_page(folder, "traps/", "README")
                                    : is_name(subject) && (print_page(folder, "", subject) ||
                                                           print_page(folder, "traps/", subject)))
        return STET_EXIT_FINE;
    fprintf(stderr,
            "stet: no page about '%s'; `stet help docs` lists the pages, `stet help traps` those "
            "of traps\n",
            subject);
    return STET_EXIT_USAGE;
}
